"""Affine combinations: the rows of Z sum to 1 (`affine=True`), for clusters that are flats and not subspaces.

The problem of `eq:bmsc`, `eq:gmsc` or `eq:gmsc-n` gets the constraint Z1 = 1, and Algorithm 1 keeps it in the Z step
alone. There a row z minimises a quadratic with the matrix G + 2μI and the right side b of Eq:b-Z subject to z1 = 1;
with a multiplier ν of that constraint

    z (G + 2μI) = b + ν1ᵀ,   so   z = z₀ + ν aᵀ,   z₀ = b (G + 2μI)⁻¹,   a = (G + 2μI)⁻¹ 1,
    ν = (1 − z₀1) / (1ᵀa).                                                                       Eq:affine-Z

Elhamifar & Vidal (2013) put the constraint into the augmented Lagrangian of SSC instead, with a multiplier of its own
that needs iterations to take effect. Here the Z step is a linear system whose factorisation is at hand: the exact
solution costs one number a row, the constraint holds in every iteration, and no further penalty has to be chosen.
In the shared factorisation it means that σ = ν/2μ is added to the row of R that the blocked pass keeps; a small problem
of the sparse solver adds ν to its right side, in the coordinates of its eigenvectors.

1 counts every variable of Z: the diagonal and pairs that the hard mask forbids are variables too, which Mʰ⊙C takes to
zero. Places of a candidate list that hold no candidate are none.

What is returned is Q, which equals Z only in the limit. Off by ‖Q − Z‖∞ in each entry, a row of v variables sums to 1
within v·‖Q − Z‖∞ plus what is left on forbidden pairs. `onto_affine` removes that: it moves the kept entries of each
row to the nearest ones that sum to 1. A row without entries stays empty: nothing permitted rebuilds that sample.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.types import FloatArray


class AffineStep:
    """σ of Eq:affine-Z for rows that share the factorisation G = V diag(s) Vᵀ."""

    def __init__(self, vectors: FloatArray, values: FloatArray) -> None:
        self._n_samples = len(vectors)
        self.ones = vectors.sum(axis=0, dtype=np.float64)  # Vᵀ1
        self._values = values.astype(np.float64)
        self._outside = max(0.0, self._n_samples - float(self.ones @ self.ones))  # ‖1‖² outside the span of V

    def shift(self, R: FloatArray, coefficients: FloatArray, mu: float) -> FloatArray:
        """σ = ν/2μ of each row, where z₀ = R − coefficients·Vᵀ."""
        sums = R.sum(axis=1, dtype=np.float64) - coefficients @ self.ones
        # 2μ·1ᵀa, written as a sum of nonnegative terms: no cancellation where s is much larger than μ
        total = self._outside + float((self.ones**2 * (2 * mu / (self._values + 2 * mu))).sum())
        sigma: FloatArray = (1 - sums) / total
        return sigma


def onto_affine(representation: csr_array) -> csr_array:
    """The nearest matrix with the same nonzeros whose rows sum to 1; empty rows stay empty."""
    counts = np.diff(representation.indptr)
    row_of = np.repeat(np.arange(len(counts)), counts)
    sums = np.bincount(row_of, weights=representation.data, minlength=len(counts))
    missing = (1 - sums) / np.maximum(counts, 1)
    data = (representation.data + missing[row_of]).astype(representation.dtype)
    return csr_array((data, representation.indices, representation.indptr), shape=representation.shape)
