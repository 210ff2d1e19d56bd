"""The elastic net of every sample over a shared dictionary, by active sets: SSC, EnSC and Soft S³C stand on it.

For each sample x (a row) over the atoms a_j (rows of A), its own atom excluded:

    min_c ½‖x − cA‖² + l₁ Σ_j w_j |c_j| + l₂/2 ‖c‖²

A round solves the problem on a short list of atoms exactly, then looks with one matrix product for a whole block of
samples for atoms that break the optimality condition |a_jᵀ(x − cA)| ≤ l₁ w_j, and adds the worst. No n × n array
outlives a block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.baselines.elastic_net_kernels import add_violators, improve_block, residual_block
from masked_subspace.baselines.result import block_length
from masked_subspace.parallel.blocks import block_ranges
from masked_subspace.parallel.engine import local_engine

_GRAM_BYTES = 1 << 28  # a Gram matrix below this is kept: reading it is cheaper than products for each active set
_ATOMS_A_ROUND = 32

WeightBlock = Callable[[int, int], FloatArray]


@dataclass(frozen=True)
class ElasticNetProblem:
    """Targets over a dictionary. `own[i]` is the atom that sample i may not use (−1: it may use all)."""

    dictionary: FloatArray
    targets: FloatArray
    lasso: FloatArray  # l₁ of each sample
    ridge: FloatArray  # l₂ of each sample
    own: IntArray
    weights: WeightBlock | None = None  # (start, stop) → the w_j of those samples as a dense block

    def __post_init__(self) -> None:
        if not (self.lasso > 0).all():
            raise ValueError("every ℓ₁ price must be positive; a price of 0 makes the active set the whole dictionary.")


@dataclass(frozen=True)
class ElasticNetSolution:
    coefficients: csr_array
    n_rounds: int
    violation: float  # the largest excess of |a_jᵀr| over l₁w_j, as a share of l₁
    converged: bool


def solve_elastic_net(
    problem: ElasticNetProblem,
    *,
    start: csr_array | None = None,
    tol: float = 1e-5,
    max_rounds: int = 100,
    n_threads: int = 1,
    block_size: int | None = None,
    gram: FloatArray | None = None,
) -> ElasticNetSolution:
    """Solve every sample's problem. `start` is a warm start; `gram` an already computed A Aᵀ."""
    dictionary = np.ascontiguousarray(problem.dictionary)
    n_atoms = len(dictionary)
    if gram is None and n_atoms**2 * dictionary.itemsize <= _GRAM_BYTES:
        gram = dictionary @ dictionary.T
    tol = max(tol, 20 * float(np.finfo(dictionary.dtype).eps))

    shared = _Shared(problem, dictionary, gram, start, tol, max_rounds)
    blocks = list(block_ranges(len(problem.targets), block_size or block_length(n_atoms)))
    parts = list(local_engine(n_threads).run(_solve_block, shared, blocks))
    return ElasticNetSolution(
        coefficients=csr_array(vstack([part.coefficients for part in parts], format="csr")),
        n_rounds=max(part.n_rounds for part in parts),
        violation=float(np.max([part.violation for part in parts])),
        converged=all(part.converged for part in parts),
    )


class _ActiveSets:
    """The list of atoms of each sample of a block, in arrays that grow together."""

    def __init__(self, n_samples: int, capacity: int) -> None:
        self.support = np.zeros((n_samples, capacity), dtype=np.int64)
        self.coef = np.zeros((n_samples, capacity))
        self.size = np.zeros(n_samples, dtype=np.int64)

    def fill(self, start: csr_array) -> None:
        self.reserve(int(np.diff(start.indptr).max(initial=0)))
        for i in range(len(self.size)):
            piece = slice(start.indptr[i], start.indptr[i + 1])
            self.size[i] = piece.stop - piece.start
            self.support[i, : self.size[i]] = start.indices[piece]
            self.coef[i, : self.size[i]] = start.data[piece]

    def reserve(self, extra: int) -> None:
        short = int(self.size.max(initial=0)) + extra - self.support.shape[1]
        if short > 0:
            wider = ((0, 0), (0, max(short, self.support.shape[1] // 2)))
            self.support = np.pad(self.support, wider)
            self.coef = np.pad(self.coef, wider)

    def to_csr(self, n_columns: int, dtype: np.dtype) -> csr_array:
        taken = np.arange(self.support.shape[1]) < self.size[:, None]
        indptr = np.concatenate([[0], np.cumsum(self.size)])
        matrix = csr_array(
            (self.coef[taken].astype(dtype), self.support[taken].astype(np.int32), indptr),
            shape=(len(self.size), n_columns),
        )
        matrix.sort_indices()
        return matrix


@dataclass(frozen=True)
class _Shared:
    problem: ElasticNetProblem
    dictionary: FloatArray
    gram: FloatArray | None
    start: csr_array | None
    tol: float
    max_rounds: int


def _solve_block(shared: _Shared, block: tuple[int, int]) -> ElasticNetSolution:
    problem, dictionary, tol = shared.problem, shared.dictionary, shared.tol
    piece = slice(*block)
    targets = np.ascontiguousarray(problem.targets[piece], dtype=dictionary.dtype)
    lasso, ridge = problem.lasso[piece].astype(np.float64), problem.ridge[piece].astype(np.float64)
    own = problem.own[piece].astype(np.int64)
    has_weights = problem.weights is not None
    weights = problem.weights(*block) if problem.weights is not None else np.empty((1, 1))
    has_gram = shared.gram is not None
    gram = shared.gram if shared.gram is not None else np.empty((1, 1), dtype=dictionary.dtype)

    sets = _ActiveSets(len(targets), 2 * _ATOMS_A_ROUND)
    if shared.start is not None:
        sets.fill(shared.start[piece])
    rows = np.arange(len(targets))
    worst, left = np.zeros(len(targets)), np.zeros(len(targets))
    n_rounds = 0
    while len(rows) and n_rounds < shared.max_rounds:
        n_rounds += 1
        if n_rounds > 1 or shared.start is not None:
            left[rows] = improve_block(
                rows, dictionary, targets, gram, has_gram, lasso, ridge, weights, has_weights,
                sets.support, sets.size, sets.coef, 0.1 * tol,
            )  # fmt: skip
        sets.reserve(_ATOMS_A_ROUND)
        residual = np.empty((len(rows), targets.shape[1]), dtype=dictionary.dtype)
        residual_block(rows, dictionary, targets, sets.support, sets.size, sets.coef, residual)
        worst[rows] = add_violators(
            rows, residual @ dictionary.T, own, lasso, weights, has_weights,
            sets.support, sets.size, sets.coef, _ATOMS_A_ROUND, tol,
        )  # fmt: skip
        rows = rows[worst[rows] > 0]
    # Lists of unfinished samples end with atoms that were added but never tried: their coefficient is 0.
    coefficients = sets.to_csr(len(dictionary), dictionary.dtype)
    coefficients.eliminate_zeros()
    violation = float(np.maximum(worst / lasso, left).max(initial=0.0))
    return ElasticNetSolution(coefficients, n_rounds, violation, len(rows) == 0 and violation <= tol)
