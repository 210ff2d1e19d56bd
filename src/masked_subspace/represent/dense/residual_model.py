"""Dense noise ε and sparse outliers O of `eq:gmsc-n` for one block of samples."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.represent.dense.kernels import Residuals, residual_step
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.model import AdmmSettings

_SPARSE_SHARE = 0.1  # below this share of nonzeros a sparse product with O beats a dense one


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
