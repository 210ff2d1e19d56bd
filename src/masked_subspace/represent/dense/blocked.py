"""The blocked pass: every entry in every iteration, for any soft mask, any hard mask, and GMSC-n.

Per iteration and block: two thin matrix products through the spectrum and one fused elementwise pass. GMSC-n has a
third product, for its dense noise ε and sparse outliers O.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.types import FloatArray, IntArray, Number
from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.represent.affine import AffineStep
from masked_subspace.represent.dense.kernels import Iteration, Residuals, RowReport, State, masked_step, residual_step
from masked_subspace.represent.dense.running import FinishedRow
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.model import AdmmSettings, Step, squared_weights

_SPARSE_SHARE = 0.1  # below this share of nonzeros a sparse product with O beats a dense one
ARRAYS_PER_BLOCK = 6  # b × n each: A, T, R, Z, the last Z, the weights


class ResidualModel:
    """ε and O, and their effect on the Z step: the target there is X − ε − O instead of X.

    Only (ε + O)W, in the eigen-directions W, enters the Z step. εW follows from coefficients that are at hand and OW
    from a sparse product, so GMSC-n needs one thin matrix product more than GMSC.
    """

    def __init__(self, X: FloatArray, settings: AdmmSettings, spectrum: Spectrum) -> None:
        dtype = spectrum.vectors.dtype
        self._settings, self._spectrum = settings, spectrum
        self._roots = np.sqrt(spectrum.values)
        self._noise, self._outliers = np.zeros((2, *X.shape), dtype)
        self._outliers_projected, self._both_projected = np.zeros((2, len(X), spectrum.rank), dtype)
        shrink = 0.0 if settings.noise is None else 1 / (1 + 2 * settings.noise)
        threshold = inf if settings.outliers is None else sqrt(2 * settings.outliers)
        self._shrink, self._threshold = dtype.type(shrink), dtype.type(threshold)

    def correct(self, coefficients: FloatArray, unexplained: FloatArray, mu: float) -> None:
        """Take (ε + O)Xᵀ out of the right side of Eq:b-Z, in eigen-coordinates."""
        s = self._spectrum.values.astype(np.float64)
        shift = self._both_projected * (np.sqrt(s) / (s + 2 * mu)).astype(coefficients.dtype)
        coefficients += shift
        unexplained += shift

    def update(self, unexplained: FloatArray) -> FloatArray:
        """The ε and O steps from (I − Z)V; returns each row's data term, noise and outlier prices."""
        projected = unexplained * self._roots  # (X − ZX)W
        residual = projected @ self._spectrum.right_vectors.T
        n_rows = len(residual)
        left, noise_square = np.zeros((2, n_rows), residual.dtype)
        n_outliers = np.zeros(n_rows, np.int64)
        parts = Residuals(self._noise, self._outliers, left, noise_square, n_outliers)
        residual_step(residual, parts, self._shrink, self._threshold)
        noise_projected = (projected - self._outliers_projected) * self._shrink
        self._outliers_projected = self._project_outliers(int(n_outliers.sum()))
        self._both_projected = noise_projected + self._outliers_projected
        return (
            0.5 * left.astype(np.float64)
            + (self._settings.noise or 0.0) * noise_square
            + (self._settings.outliers or 0.0) * n_outliers
        )

    def _project_outliers(self, n_outliers: int) -> FloatArray:
        W = self._spectrum.right_vectors
        if n_outliers == 0:
            return np.zeros_like(self._outliers_projected)
        if n_outliers < _SPARSE_SHARE * self._outliers.size:
            return np.asarray(csr_array(self._outliers) @ W)
        return np.asarray(self._outliers @ W)

    def row(self, row: int) -> tuple[FloatArray, FloatArray]:
        return self._noise[row].copy(), self._outliers[row].copy()

    def keep(self, rows: IntArray) -> None:
        for name in ("_noise", "_outliers", "_outliers_projected", "_both_projected"):
            setattr(self, name, getattr(self, name)[rows])


class BlockedPass:
    """Samples start..stop of Algorithm 1. See `kernels.State` for what its arrays hold."""

    def __init__(
        self,
        X: FloatArray,
        settings: AdmmSettings,
        spectrum: Spectrum,
        hard_mask: HardMask | None,
        soft_mask: SoftMask | None,
        start: int,
        stop: int,
    ) -> None:
        self.samples: IntArray = np.arange(start, stop)
        self._settings, self._spectrum = settings, spectrum
        self._own = spectrum.vectors[start:stop]  # the rows of V that belong to these samples
        shape, dtype = (stop - start, len(X)), spectrum.vectors.dtype
        weights = pair_weights(settings.mask_weight, hard_mask, soft_mask, start, stop, shape[1], dtype)
        Z, Z_last, R, A, T = (np.zeros(shape, dtype) for _ in range(5))
        self._state = State(Z, Z_last, R, A, T, weights)
        self._residual_model = ResidualModel(X[start:stop], settings, spectrum) if settings.has_residual_model else None
        self._affine = AffineStep(spectrum.vectors, spectrum.values) if settings.affine else None
        self._resize(shape[0])

    def _resize(self, n_rows: int) -> None:
        change, mask_residual, sparsity_residual, price = np.zeros((4, n_rows), self._state.Z.dtype)
        self._report = RowReport(change, mask_residual, sparsity_residual, price, np.zeros(n_rows, np.int64))

    def step(self, step: Step) -> tuple[FloatArray, FloatArray]:
        V, s = self._spectrum.vectors, self._spectrum.values.astype(np.float64)
        dtype = V.dtype
        # Eq:b-Z: Z = R − (R − I)V diag(s/(s+2μ)) Vᵀ, with R the right side over 2μ and without G, which drops out
        projected = self._state.R @ V
        projected -= self._own
        coefficients = projected * (s / (s + 2 * step.mu)).astype(dtype)
        # (I − Z)V, since (I − Z)(G + 2μI) = 2μ(I − R)
        unexplained = projected * (-2 * step.mu / (s + 2 * step.mu)).astype(dtype)
        if self._residual_model is not None:
            self._residual_model.correct(coefficients, unexplained, step.mu)
        if self._affine is not None:
            # Eq:affine-Z: ν1ᵀ on the right side of Eq:b-Z is σ = ν/2μ on R and, through V, on its projection
            sigma = self._affine.shift(self._state.R, coefficients, step.mu)
            self._state.R[:] += sigma.astype(dtype)[:, None]
            moved = np.outer(sigma, self._affine.ones)
            coefficients += (moved * (s / (s + 2 * step.mu))).astype(dtype)
            unexplained -= (moved * (2 * step.mu / (s + 2 * step.mu))).astype(dtype)
        self._state = self._state._replace(Z=self._state.Z_last, Z_last=self._state.Z)
        np.matmul(coefficients, V.T, out=self._state.Z)
        masked_step(_numbers(step, dtype.type), self._state, self._report)
        self._tau = dtype.type(step.tau)
        cost = self._settings.sparsity * self._report.n_nonzero + 0.5 * self._report.price.astype(np.float64)
        if self._residual_model is None:
            cost += 0.5 * ((unexplained.astype(np.float64) ** 2) @ s)
        else:
            cost += self._residual_model.update(unexplained)
        return cost, self._report.change

    def exact_change(self, rows: IntArray) -> FloatArray:
        return self._report.change[rows]

    def finish(self, rows: IntArray) -> list[FinishedRow]:
        finished = []
        T, weights = self._state.T, self._state.weights
        for row in rows:
            kept = np.flatnonzero((np.abs(T[row]) > self._tau) & (weights[row] >= 0))
            noise, outliers = self._residual_model.row(row) if self._residual_model is not None else (None, None)
            finished.append(
                FinishedRow(
                    kept.astype(np.int32),
                    T[row, kept],
                    float(self._report.mask_residual[row]),
                    float(self._report.sparsity_residual[row]),
                    noise,
                    outliers,
                )
            )
        return finished

    def keep(self, rows: IntArray) -> None:
        state, self._own = self._state, self._own[rows]
        kept = {name: getattr(state, name)[rows] for name in ("Z", "R", "A", "T", "weights")}
        self._state = State(**kept, Z_last=np.empty_like(kept["Z"]))
        if self._residual_model is not None:
            self._residual_model.keep(rows)
        self._resize(len(rows))


def _numbers(step: Step, number: Callable[[float], Number]) -> Iteration:
    return Iteration(
        inverse_mu=number(1 / step.mu),
        inverse_mu_next=number(1 / step.mu_next),
        tau=number(step.tau),
        tau_last=number(step.tau_last),
        ratio_last=number(step.mu_last / step.mu),
        ratio_next=number(step.mu / step.mu_next),
        half=number(0.5),
    )


def pair_weights(
    mask_weight: float,
    hard_mask: HardMask | None,
    soft_mask: SoftMask | None,
    start: int,
    stop: int,
    n_samples: int,
    dtype: np.dtype,
) -> FloatArray:
    """γ·Mˢ⊙Mˢ for the samples start..stop, and −1 for pairs that the hard mask forbids."""
    if soft_mask is None:
        weights = np.zeros((stop - start, n_samples), dtype)
    else:
        weights = squared_weights(mask_weight, soft_mask.block(start, stop), dtype).astype(dtype)
    if hard_mask is not None and not hard_mask.diagonal_only:
        weights[~hard_mask.block(start, stop)] = -1
    weights[np.arange(stop - start), np.arange(start, stop)] = -1
    return weights
