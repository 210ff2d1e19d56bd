"""SSC by orthogonal matching pursuit (You, Robinson & Vidal 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.utils._param_validation import Interval

from masked_subspace.baselines.base import NOT_NEGATIVE, BaselineClusterer
from masked_subspace.baselines.elastic_net_kernels import residual_block
from masked_subspace.baselines.omp_kernels import grow_codes
from masked_subspace.baselines.result import FloatArray, IntArray, Progress, Representation, block_length
from masked_subspace.estimators.base import SHARED_CONSTRAINTS
from masked_subspace.parallel.blocks import block_ranges
from masked_subspace.parallel.engine import local_engine


@dataclass(frozen=True)
class _Pursuit:
    X: FloatArray
    n_nonzero: int
    tol: float
    n_passes: int


def represent_omp(
    X: FloatArray,
    *,
    n_nonzero: int = 10,
    tol: float = 1e-6,
    n_threads: int = 1,
    block_size: int | None = None,
) -> Representation:
    """At most `n_nonzero` atoms a sample, chosen greedily; a sample stops when ‖x − cX‖² < tol.

    With no more features than `n_nonzero` any sample is rebuilt exactly by its nearest atom and a few tiny corrections,
    and the graph of the codes falls to pieces. Only then the pursuit is repeated without the atoms already used, until
    `n_nonzero` are, and the codes are averaged.
    """
    X = np.ascontiguousarray(X)
    n_samples, n_features = X.shape
    atoms = min(n_nonzero, n_samples - 1)
    n_passes = -(-atoms // n_features)
    blocks = list(block_ranges(n_samples, block_size or block_length(n_samples)))
    job = _Pursuit(X, min(atoms, n_features), tol, n_passes)
    parts = list(local_engine(n_threads).run(_pursue_block, job, blocks))
    codes = csr_array(vstack([code for code, _ in parts], format="csr"))
    return Representation(codes, n_iter=job.n_nonzero, stopping_value=float(np.max([left for _, left in parts])))


def _pursue_block(job: _Pursuit, block: tuple[int, int]) -> tuple[csr_array, float]:
    """The codes of one block of samples (the mean over its passes), and the largest ‖x − cX‖² left."""
    banned = np.arange(*block)[:, None]
    code, left, used = _pursue_once(job, block, banned)
    for _ in range(job.n_passes - 1):
        banned = np.hstack([banned, used])
        another, _, used = _pursue_once(job, block, banned)
        code = csr_array(code + another)
    return csr_array(code / job.n_passes) if job.n_passes > 1 else code, left


def _pursue_once(job: _Pursuit, block: tuple[int, int], banned: IntArray) -> tuple[csr_array, float, IntArray]:
    X, k = job.X, job.n_nonzero
    targets = X[slice(*block)]
    count = len(targets)
    support = np.full((count, k), -1, dtype=np.int64)
    size = np.zeros(count, dtype=np.int64)
    factor, projection, coef = np.zeros((count, k, k)), np.zeros((count, k)), np.zeros((count, k))
    rows = np.arange(count)
    left = np.zeros(count)
    residual = targets.copy()
    for step in range(k + 1):
        left[rows] = np.einsum("ij,ij->i", residual, residual)
        going = (left[rows] >= job.tol) & (size[rows] == step)
        rows, residual = rows[going], residual[going]
        if step == k or not len(rows):
            break
        # One product finds the next atom of the whole block.
        grow_codes(rows, step, residual @ X.T, banned, X, targets, support, size, factor, projection, coef)
        residual_block(rows, X, targets, support, size, coef, residual)
    taken = np.arange(k) < size[:, None]
    indptr = np.concatenate([[0], np.cumsum(size)])
    code = csr_array((coef[taken].astype(X.dtype), support[taken].astype(np.int32), indptr), shape=(count, len(X)))
    code.sort_indices()
    return code, float(left.max(initial=0.0)), support


class SSCOMP(BaselineClusterer):
    """Sparse subspace clustering by orthogonal matching pursuit.

        min_c ‖x − cX‖²   subject to   ‖c‖₀ ≤ k,   for each sample x, itself excluded, greedily

    A block of samples takes its next atoms from one matrix product and refits by a Cholesky factor that grows by one
    row, so there is no Python loop over samples and no n × n array.

    Parameters
    ----------
    n_clusters : number of clusters K
    n_nonzero : k, the most atoms a sample may use (10 for digits, 5 for faces in the paper)
    tol : a sample stops when its squared residual is below this
    affinity : graph of Z; the published one is the plain "symmetric"
    n_links, n_components, center, normalize, constraints, random_state, n_jobs, verbose : as in `BMSC`
    """

    _parameter_constraints = {
        **SHARED_CONSTRAINTS,
        "n_nonzero": [Interval(Integral, 1, None, closed="left")],
        "tol": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_nonzero: int = 10,
        tol: float = 1e-6,
        affinity: str = "symmetric",
        n_links: int = 5,
        n_components: int | str | None = None,
        center: bool = False,
        normalize: bool = True,
        constraints: str = "soft",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters, affinity, n_links, n_components, center, normalize, constraints, random_state, n_jobs, verbose
        )
        self.n_nonzero = n_nonzero
        self.tol = tol

    def _solve(self, rows: FloatArray, seed: int, n_threads: int, progress: Progress) -> Representation:  # noqa: ARG002
        return represent_omp(rows, n_nonzero=self.n_nonzero, tol=self.tol, n_threads=n_threads)
