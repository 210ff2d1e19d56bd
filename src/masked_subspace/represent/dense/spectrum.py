"""The one factorisation of a fit: X = V diag(√s) Wᵀ, which gives (G + 2μI)⁻¹ for every μ and every round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masked_subspace._common.rows import eigenpairs
from masked_subspace._common.types import Array, FloatArray
from masked_subspace.parallel.engine import limited_threads

_SMALL = 2000  # a Gram matrix up to this size is factored by one thread in a second or two


@dataclass(frozen=True)
class Spectrum:
    """Thin eigendecomposition G = XXᵀ = V diag(s) Vᵀ of the Gram matrix, directions with s ≈ 0 left out.

    With it (G + 2μI)⁻¹ = I/2μ − V diag(s / (2μ(s + 2μ))) Vᵀ, so a Z step costs two thin products and no inverse.
    """

    values: FloatArray  # s, descending
    vectors: FloatArray  # V, n × r, C-contiguous
    right_vectors: FloatArray  # W, d × r: the same directions among the features
    double: Spectrum | None = None  # s and V in float64 if these are float32, for what float32 cannot decide

    @property
    def rank(self) -> int:
        return len(self.values)

    @classmethod
    def of(cls, X: npt.ArrayLike, *, n_threads: int = 1) -> Spectrum:
        """Factor the prepared rows X through the smaller of XᵀX and XXᵀ; float32 stays float32.

        The eigenproblem itself is always solved in float64: in float32 its error, about 1e-7·s₁ / 4μ² in a Z step,
        would decide near-ties of the hard threshold.
        """
        X = np.asarray(X)
        # On a busy machine BLAS threads wait for each other: half a second where one needs a sixth.
        with limited_threads(limits=n_threads if min(X.shape) > _SMALL else 1):
            return cls._of(X)

    @classmethod
    def _of(cls, X: Array) -> Spectrum:
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        n_samples, n_features = X.shape
        # Features that are zero everywhere (border pixels) would only enlarge the eigenproblem.
        used = np.flatnonzero(X.any(axis=0))
        rows: FloatArray = np.ascontiguousarray(X[:, used], dtype=np.float64)
        if len(used) < n_samples:
            values, right = _descending(rows.T @ rows)
            vectors: FloatArray = rows @ (right / np.sqrt(values))
        else:
            values, vectors = _descending(rows @ rows.T)
            right = rows.T @ (vectors / np.sqrt(values))
        right_vectors = np.zeros((n_features, len(values)))
        right_vectors[used] = right
        double = cls(values, vectors, right_vectors)
        return double if dtype == np.float64 else double._in_single()

    def _in_single(self) -> Spectrum:
        """In float32, which has no use for s below 1e-9·s₁.

        s well below float32's 1e-7·s₁ still count: an early Z step (μ₀ = .1, s₁ = 400) shrinks them by s/2μ = 1e-4, and
        without them its error would be thirty times that of rounding (docs/findings/performance.md).
        """
        rank = int((self.values > 1e-9 * self.values.max(initial=0)).sum())
        parts = (self.values[:rank], self.vectors[:, :rank], self.right_vectors[:, :rank])
        values, vectors, right_vectors = (np.ascontiguousarray(part, dtype=np.float32) for part in parts)
        double = Spectrum(self.values, self.vectors, self.right_vectors[:0].copy())
        return Spectrum(values, vectors, right_vectors, double)


def _descending(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenpairs of a Gram matrix, largest first, without those that rounding alone explains."""
    if len(gram) == 0:
        return np.zeros(0), np.zeros((0, 0))
    values, vectors = eigenpairs(gram)
    kept = values > 1e-14 * max(float(values[-1]), 0.0)  # errors of an eigenvalue are near 1e-16·s₁·√n
    return values[kept][::-1].copy(), np.ascontiguousarray(vectors[:, kept][:, ::-1])
