"""Leading eigenvectors of a graph in blocks: `_common.rows` with its rows spread over the workers.

A product needs the halo's rows of Y and nothing else; QR is by Cholesky, so that only b × b sums meet. The client sees
one number a vector and round: how far it is from an eigenvector.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masked_subspace._common.rows import eigenpairs
from masked_subspace._common.types import Array, BoolArray, FloatArray
from masked_subspace.distributed.graph import BlockGraph, GraphBlock
from masked_subspace.distributed.tasks import Result, Workers, task

_DEGREE = 14
_ROUNDS = 30
_PIECE = 16_384


def leading_eigenvectors(
    workers: Workers,
    S: BlockGraph,
    placed: list[Result],
    k: int,
    *,
    seed: int,
    tol: float,
    weigh_for: int | None = None,
) -> tuple[Result, list[Result]]:
    """The k largest eigenvalues, descending, and for each part its rows of the vectors; others than `placed` are 0.

    Rounds of: a Chebyshev polynomial damps [−1, cut], QR, Rayleigh–Ritz, a better cut. With `weigh_for` clusters an
    error counts as much as its vector will.
    """
    width = k + max(10, k // 10)
    Y = [task(random_rows)(flags, width, seed, p) for p, flags in enumerate(placed)]
    cut = 0.3
    for _ in range(_ROUNDS):
        Y = _orthonormal(_filtered(S, Y, cut))
        SY = _products(S, Y, None, 1.0, 0.0)
        ritz = task(ritz_pairs)([task(cross_sums)(y, sy) for y, sy in zip(Y, SY, strict=True)])
        rotated = [task(rotated_rows)(y, ritz) for y in Y]
        errors = [task(squared_errors)(y, sy, ritz, k) for y, sy in zip(rotated, SY, strict=True)]
        *Y, values, state = workers.keep(
            [*rotated, task(leading_values)(ritz, k), task(progress)(ritz, errors, k, weigh_for)]
        )
        ((worst, cut),) = workers.fetch([state])
        if worst < tol:
            break
    return values, [task(first_columns)(y, k) for y in Y]


def _filtered(S: BlockGraph, Y: list[Result], cut: float) -> list[Result]:
    """T_m((S − c)/e) Y with [c − e, c + e] = [−1, cut]: grows above the cut, stays bounded below it."""
    half, centre = (cut + 1) / 2, (cut - 1) / 2
    previous, current = Y, _products(S, Y, None, 1 / half, -centre / half)
    for _ in range(_DEGREE - 1):
        previous, current = current, _products(S, current, previous, 2 / half, -2 * centre / half)
    return current


def _products(S: BlockGraph, Y: list[Result], less: list[Result] | None, a: float, b: float) -> list[Result]:
    """a·S·Y + b·Y − less, block by block."""
    return [
        task(product_block)(block, Y[p], None if less is None else less[p], S.halo_values(Y, p), a, b)
        for p, block in enumerate(S.blocks)
    ]


def _orthonormal(Y: list[Result]) -> list[Result]:
    """Two passes of Cholesky QR."""
    for _ in range(2):
        factor = task(inverse_factor)([task(cross_sums)(y, y) for y in Y])
        Y = [task(times)(y, factor) for y in Y]
    return Y


def random_rows(placed: BoolArray, width: int, seed: int, part: int) -> npt.NDArray[np.float32]:
    """Where the iteration starts; samples that are not placed stay 0, as no link leads to them."""
    rows = np.random.default_rng([seed, part]).standard_normal((len(placed), width), dtype=np.float32)
    rows[~placed] = 0
    return rows


def product_block(
    block: GraphBlock, Y: FloatArray, less: FloatArray | None, halo: list[FloatArray], a: float, b: float
) -> FloatArray:
    """One block of a·S·Y + b·Y − less."""
    from masked_subspace._common.rows import Csr, product_rows

    out = np.zeros_like(Y) if less is None else less.copy()
    S, one = block.links, block.links.dtype.type
    everyone = np.concatenate([Y, *halo]) if halo else Y
    product_rows(Csr.of(S), everyone, out, one(a), one(b), 0, len(Y))
    return out


def cross_sums(left: FloatArray, right: FloatArray) -> npt.NDArray[np.float64]:
    """leftᵀ right in float64."""
    total = np.zeros((left.shape[1], right.shape[1]))
    for start in range(0, len(left), _PIECE):
        some = slice(start, start + _PIECE)
        total += left[some].astype(np.float64).T @ right[some].astype(np.float64)
    return total


def inverse_factor(sums: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """R⁻¹ of Y = QR, from the sums YᵀY of all parts."""
    from scipy.linalg import cholesky, solve_triangular

    gram = np.sum(sums, axis=0)
    scale = 1 / np.sqrt(np.maximum(np.diag(gram), np.finfo(np.float64).tiny))
    gram = gram * scale[:, None] * scale
    # A shift above rounding keeps the factor alive when columns are nearly dependent; the second pass mends the rest.
    gram[np.diag_indices(len(gram))] += 1e-10
    inverse: npt.NDArray[np.float64] = solve_triangular(cholesky(gram, lower=False), np.eye(len(gram)), lower=False)
    return scale[:, None] * inverse


def times(Y: FloatArray, factor: npt.NDArray[np.float64]) -> FloatArray:
    """Y @ factor, computed in float64 and kept in the type of Y."""
    out = np.empty((len(Y), factor.shape[1]), dtype=Y.dtype)
    for start in range(0, len(Y), _PIECE):
        some = slice(start, start + _PIECE)
        out[some] = Y[some].astype(np.float64) @ factor
    return out


def ritz_pairs(sums: list[npt.NDArray[np.float64]]) -> tuple[Array, Array]:
    """Eigenvalues of YᵀSY, descending, and the rotation to their vectors."""
    H = np.sum(sums, axis=0)
    values, rotation = eigenpairs(((H + H.T) / 2).astype(np.float64))
    return values[::-1], np.ascontiguousarray(rotation[:, ::-1])


def rotated_rows(Y: FloatArray, ritz: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Rows of the Ritz vectors."""
    rows: FloatArray = Y @ ritz[1].astype(Y.dtype)
    return rows


def squared_errors(
    rotated: FloatArray, SY: FloatArray, ritz: tuple[FloatArray, FloatArray], k: int
) -> npt.NDArray[np.float64]:
    """Σ (Sv − λv)² over the rows of a block for the first k vectors."""
    values, rotation = ritz
    total = np.zeros(k)
    for start in range(0, len(SY), _PIECE):
        some = slice(start, start + _PIECE)
        error = SY[some] @ rotation[:, :k].astype(SY.dtype) - rotated[some, :k] * values[:k].astype(SY.dtype)
        total += np.einsum("ij,ij->j", error, error, dtype=np.float64)
    return total


def leading_values(ritz: tuple[FloatArray, FloatArray], k: int) -> FloatArray:
    """The first k values."""
    values: FloatArray = ritz[0][:k]
    return values


def progress(
    ritz: tuple[FloatArray, FloatArray], errors: list[npt.NDArray[np.float64]], k: int, weigh_for: int | None
) -> tuple[float, float]:
    """The largest error of a vector, weighted if asked, and the next cut."""
    from masked_subspace.label.graph import diffusion_weights

    values = ritz[0]
    residual = np.sqrt(np.sum(errors, axis=0))
    if weigh_for is not None:
        residual = residual * diffusion_weights(values[:k], weigh_for)
    return float(residual.max()), float(np.clip(values[(k + len(values)) // 2], -0.9, 0.999))


def first_columns(Y: FloatArray, k: int) -> FloatArray:
    """The first k columns."""
    return np.ascontiguousarray(Y[:, :k])
