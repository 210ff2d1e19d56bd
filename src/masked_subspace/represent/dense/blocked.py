"""The blocked pass: every entry in every iteration, for any soft mask, any hard mask, and GMSC-n.

Per iteration and block: two thin matrix products through the spectrum and one fused elementwise pass.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from masked_subspace._common.types import FloatArray, IntArray, Number
from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.represent.affine import AffineStep
from masked_subspace.represent.dense.kernels import Iteration, RowReport, State, masked_step
from masked_subspace.represent.dense.residual_model import ResidualModel
from masked_subspace.represent.dense.running import FinishedRow
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.model import AdmmSettings, Step, squared_weights

ARRAYS_PER_BLOCK = 6  # b × n each: A, T, R, Z, the last Z, the weights


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
