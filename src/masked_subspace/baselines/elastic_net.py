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

from masked_subspace._common.rows import block_ranges
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.baselines.elastic_net_kernels import (
    Codes,
    Samples,
    add_violators,
    improve_block,
    residual_block,
)
from masked_subspace.baselines.result import block_length
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


def _started(start: csr_array | None, n_samples: int) -> Codes:
    """Lists with the atoms of `start`, and room for more."""
    longest = 0 if start is None else int(np.diff(start.indptr).max(initial=0))
    shape = (n_samples, max(longest, 2 * _ATOMS_A_ROUND))
    codes = Codes(np.zeros(shape, np.int64), np.zeros(shape), np.zeros(n_samples, np.int64))
    if start is not None:
        for i in range(n_samples):
            piece = slice(start.indptr[i], start.indptr[i + 1])
            codes.size[i] = size = piece.stop - piece.start
            codes.support[i, :size] = start.indices[piece]
            codes.coef[i, :size] = start.data[piece]
    return codes


def _with_room(codes: Codes, extra: int) -> Codes:
    """The same with room for `extra` atoms in each list."""
    capacity = codes.support.shape[1]
    short = int(codes.size.max(initial=0)) + extra - capacity
    if short <= 0:
        return codes
    wider = ((0, 0), (0, max(short, capacity // 2)))
    return Codes(np.pad(codes.support, wider), np.pad(codes.coef, wider), codes.size)


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
    weights = problem.weights(*block) if problem.weights is not None else np.empty((0, 0))
    gram = shared.gram if shared.gram is not None else np.empty((0, 0), dtype=dictionary.dtype)
    own = problem.own[piece].astype(np.int64)
    samples = Samples(dictionary, targets, lasso, ridge, own, gram, weights)

    codes = _started(None if shared.start is None else shared.start[piece], len(targets))
    rows = np.arange(len(targets))
    worst, left = np.zeros(len(targets)), np.zeros(len(targets))
    n_rounds = 0
    while len(rows) and n_rounds < shared.max_rounds:
        n_rounds += 1
        if n_rounds > 1 or shared.start is not None:
            left[rows] = improve_block(rows, samples, codes, 0.1 * tol)
        codes = _with_room(codes, _ATOMS_A_ROUND)
        residual = np.empty((len(rows), targets.shape[1]), dtype=dictionary.dtype)
        residual_block(rows, dictionary, targets, codes, residual)
        worst[rows] = add_violators(rows, residual @ dictionary.T, samples, codes, _ATOMS_A_ROUND, tol)
        rows = rows[worst[rows] > 0]
    # Lists of unfinished samples end with atoms that were added but never tried: their coefficient is 0.
    coefficients = codes.to_csr(len(dictionary), dictionary.dtype)
    coefficients.eliminate_zeros()
    violation = float(np.maximum(worst / lasso, left).max(initial=0.0))
    return ElasticNetSolution(coefficients, n_rounds, violation, len(rows) == 0 and violation <= tol)
