"""The blocked pass: every entry in every iteration, for any soft mask, any hard mask, and GMSC-n.

Per iteration and block: two thin matrix products through the spectrum and one fused elementwise pass.
"""

from __future__ import annotations

import numpy as np

from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.represent.affine import AffineStep
from masked_subspace.represent.continuation import Step
from masked_subspace.represent.dense.blocks import FinishedRow
from masked_subspace.represent.dense.kernels import masked_step
from masked_subspace.represent.dense.residual_model import ResidualModel
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.model import AdmmSettings, squared_weights

ARRAYS_PER_BLOCK = 6  # b × n each: A, T, R, Z, the last Z, the weights


class BlockedPass:
    """Samples start..stop of Algorithm 1. See `masked_step` for what the state arrays A, T and R hold."""

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
        self._A, self._T, self._R, self._Z, self._Z_last = (np.zeros(shape, dtype) for _ in range(5))
        self._weights = pair_weights(settings.mask_weight, hard_mask, soft_mask, start, stop, shape[1], dtype)
        self._residual_model = ResidualModel(X[start:stop], settings, spectrum) if settings.has_residual_model else None
        self._affine = AffineStep(spectrum.vectors, spectrum.values) if settings.affine else None
        self._resize(shape[0])

    def _resize(self, n_rows: int) -> None:
        dtype = self._A.dtype
        self._change, self._mask_residual, self._sparsity_residual, self._price = np.zeros((4, n_rows), dtype)
        self._n_nonzero = np.zeros(n_rows, np.int64)

    def step(self, step: Step) -> tuple[FloatArray, FloatArray]:
        V, s = self._spectrum.vectors, self._spectrum.values.astype(np.float64)
        dtype = V.dtype
        # Eq:b-Z: Z = R − (R − I)V diag(s/(s+2μ)) Vᵀ, with R the right side over 2μ and without G, which drops out
        projected = self._R @ V
        projected -= self._own
        coefficients = projected * (s / (s + 2 * step.mu)).astype(dtype)
        # (I − Z)V, since (I − Z)(G + 2μI) = 2μ(I − R)
        unexplained = projected * (-2 * step.mu / (s + 2 * step.mu)).astype(dtype)
        if self._residual_model is not None:
            self._residual_model.correct(coefficients, unexplained, step.mu)
        if self._affine is not None:
            # Eq:affine-Z: ν1ᵀ on the right side of Eq:b-Z is σ = ν/2μ on R and, through V, on its projection
            sigma = self._affine.shift(self._R, coefficients, step.mu)
            self._R += sigma.astype(dtype)[:, None]
            moved = np.outer(sigma, self._affine.ones)
            coefficients += (moved * (s / (s + 2 * step.mu))).astype(dtype)
            unexplained -= (moved * (2 * step.mu / (s + 2 * step.mu))).astype(dtype)
        self._Z, self._Z_last = self._Z_last, self._Z
        np.matmul(coefficients, V.T, out=self._Z)
        masked_step(
            self._Z,
            self._Z_last,
            self._R,
            self._A,
            self._T,
            self._weights,
            np.array(
                [
                    1 / step.mu,
                    1 / step.mu_next,
                    step.tau,
                    step.tau_last,
                    step.mu_last / step.mu,
                    step.mu / step.mu_next,
                    0.5,
                ],
                dtype,
            ),
            self._change,
            self._mask_residual,
            self._sparsity_residual,
            self._n_nonzero,
            self._price,
        )
        self._tau = dtype.type(step.tau)
        cost = self._settings.sparsity * self._n_nonzero + 0.5 * self._price.astype(np.float64)
        if self._residual_model is None:
            cost += 0.5 * ((unexplained.astype(np.float64) ** 2) @ s)
        else:
            cost += self._residual_model.update(unexplained)
        return cost, self._change

    def exact_change(self, rows: IntArray) -> FloatArray:
        return self._change[rows]

    def finish(self, rows: IntArray) -> list[FinishedRow]:
        finished = []
        for row in rows:
            kept = np.flatnonzero((np.abs(self._T[row]) > self._tau) & (self._weights[row] >= 0))
            noise, outliers = self._residual_model.row(row) if self._residual_model is not None else (None, None)
            finished.append(
                FinishedRow(
                    kept.astype(np.int32),
                    self._T[row, kept],
                    float(self._mask_residual[row]),
                    float(self._sparsity_residual[row]),
                    noise,
                    outliers,
                )
            )
        return finished

    def keep(self, rows: IntArray) -> None:
        for name in ("_A", "_T", "_R", "_Z", "_weights", "_own"):
            setattr(self, name, getattr(self, name)[rows])
        self._Z_last = np.empty_like(self._Z)
        if self._residual_model is not None:
            self._residual_model.keep(rows)
        self._resize(len(rows))


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
