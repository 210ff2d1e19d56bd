"""Sparse samples, without ever making them dense: coordinates in their own row space.

Everything a baseline does to samples (centring, unit length, distances, codes) depends on their inner products alone.
So X, n × d and sparse, may be exchanged for any n × r rows with the same inner products: with XᵀX = VSVᵀ or
XXᵀ = USUᵀ, whichever is smaller, these are XV = US^½, and r ≤ min(n, d).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse
from sklearn.utils import Bunch

from masked_subspace._common.matrices import as_dense
from masked_subspace._common.symmetric_eigen import eigenpairs
from masked_subspace._common.types import FloatArray, MatrixLike

# Beyond it the eigendecomposition takes hours and the coordinates gigabytes.
MOST_DIRECTIONS = 10_000


@dataclass(frozen=True)
class RowSpace:
    """The directions of sparse samples; `coordinates` of the samples themselves have their inner products."""

    samples: csr_array | None  # None where `directions` are in feature space
    directions: FloatArray
    n_features: int

    @classmethod
    def of(cls, X: csr_array) -> RowSpace:
        n_samples, n_features = X.shape
        if min(n_samples, n_features) > MOST_DIRECTIONS:
            raise ValueError(
                f"X is sparse with {n_samples} samples and {n_features} features; with more than {MOST_DIRECTIONS} of "
                "both, bring it to fewer features first, e.g. with sklearn.decomposition.TruncatedSVD."
            )
        by_features = n_features <= n_samples
        gram = (X.T @ X if by_features else X @ X.T).toarray().astype(np.float64)
        values, vectors = eigenpairs(gram)
        kept = values > len(gram) * np.finfo(X.dtype).eps * max(float(values[-1]), np.finfo(np.float64).tiny)
        if not kept.any():
            kept[-1] = True
        values, vectors = values[kept], vectors[:, kept]
        # XV by features; by samples V = XᵀUS^-½, so that XV = XXᵀ · US^-½.
        directions = vectors if by_features else vectors / np.sqrt(np.maximum(values, np.finfo(np.float64).tiny))
        return cls(None if by_features else X, directions.astype(X.dtype), n_features)

    def coordinates(self, X: csr_array) -> FloatArray:
        """Rows with the inner products of X, as far as they lie in this space."""
        products = X if self.samples is None else X @ self.samples.T
        rows: FloatArray = np.ascontiguousarray(products @ self.directions)
        return rows

    def in_features(self, coordinates: FloatArray) -> FloatArray:
        """Coordinates as vectors of features: an isometry."""
        vectors = coordinates @ self.directions.T
        features: FloatArray = vectors if self.samples is None else np.asarray((self.samples.T @ vectors.T).T)
        return features


def as_sparse(X: MatrixLike) -> csr_array:
    """X as CSR of floats; float32 stays, whole numbers become float64; NaN and infinity are refused."""
    rows = csr_array(X)
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    if not np.isfinite(rows.data).all():
        raise ValueError("X is sparse and contains NaN or infinity (inf); remove such samples.")
    return rows


def _refuse_empty(samples: csr_array) -> None:
    empty = np.flatnonzero(abs(samples).sum(axis=1) == 0)
    if len(empty):
        raise ValueError(
            f"X is sparse and has a row without entries, row {empty[0]}; such a sample has no direction: remove it "
            "(an empty document, for instance)."
        )


class SparseSamplesMixin:
    """`fit`, `predict` and the like for sparse X, in front of a clusterer for dense X.

    scikit-learn's tag `sparse` promises that rows without entries are taken too; they are refused here, so it is not
    set.
    """

    n_features_in_: int
    _row_space: RowSpace | None = None

    def fit(
        self,
        X: MatrixLike,
        y: object = None,
        *,
        must_link: npt.ArrayLike | None = None,
        cannot_link: npt.ArrayLike | None = None,
        partial_labels: npt.ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_samples, n_features)
            Samples as rows. Sparse samples are never made dense: rows with the same inner products take their place.
        y : object, default=None
            Not used; it is there for pipelines.
        must_link : array-like of int of shape (n_pairs, 2) or None, default=None
            Pairs of sample indices that belong together.
        cannot_link : array-like of int of shape (n_pairs, 2) or None, default=None
            Pairs of sample indices that belong apart.
        partial_labels : array-like of int of shape (n_samples,) or None, default=None
            Known labels from 0 to n_clusters − 1, −1 where unknown.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If X has infinite or missing values, a row of zeros, only equal rows or fewer rows than clusters, if known
            pairs contradict each other, or `n_clusters` cannot keep them.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before its tolerance.
        UserWarning
            If many rows have an identical copy.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> from masked_subspace.baselines import LSR
        >>> from masked_subspace.datasets import make_subspaces
        >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
        >>> LSR(3, random_state=0).fit(csr_array(X)).labels_.shape
        (60,)
        """
        known = {"must_link": must_link, "cannot_link": cannot_link, "partial_labels": partial_labels}
        if not issparse(X):
            super().fit(X, y, **known)  # type: ignore[misc]
            self.__dict__.pop("_row_space", None)
            return self
        self._refuse_sparse()
        samples = as_sparse(X)
        _refuse_empty(samples)
        space = RowSpace.of(samples)
        super().fit(space.coordinates(samples), y, **known)  # type: ignore[misc]
        self._row_space, self.n_features_in_ = space, space.n_features
        return self

    def _refuse_sparse(self) -> None:
        """Raise if the method looks at more than inner products."""

    def _checked_new(self, X: MatrixLike) -> FloatArray:
        """New samples, dense or sparse, as the fit saw its own."""
        space = self._row_space
        if space is None:
            return super()._checked_new(as_dense(X) if issparse(X) else X)  # type: ignore[misc,no-any-return]
        samples = as_sparse(X)
        if samples.shape[1] != space.n_features:
            raise ValueError(
                f"X has {samples.shape[1]} features, but {type(self).__name__} is expecting {space.n_features} "
                "features as input."
            )
        return space.coordinates(samples)

    def _in_features(self, subspaces: list[Bunch]) -> list[Bunch]:
        """Subspaces in the features of X; the fit saw coordinates in their row space."""
        space = self._row_space
        if space is None:
            return subspaces
        return [
            Bunch(**{**one, "mean": space.in_features(one.mean[None])[0], "basis": space.in_features(one.basis)})
            for one in subspaces
        ]


def refuse_entrywise(name: str, reason: str) -> None:
    """The error of a method that looks at single entries."""
    raise TypeError(
        f"X is sparse, but {name} {reason}, which inner products of samples do not tell; give a dense X "
        "(X.toarray()) or leave that out."
    )
