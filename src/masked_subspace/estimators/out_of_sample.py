"""What a fitted clusterer says of samples: labels, places in the embedding, distances to the clusters' subspaces."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from masked_subspace._common.sparse.implicit import Rows
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, IntArray, MatrixLike
from masked_subspace.estimators.calibration import Remembered
from masked_subspace.estimators.voting import nearest_voters, placed_by, voters_of
from masked_subspace.label.agreement import adjusted_rand_index
from masked_subspace.label.nearest_subspace import NearestSubspace
from masked_subspace.label.sparse_subspaces import SparseSubspace
from masked_subspace.label.subspaces import Subspace, distances_to, subspaces_of
from masked_subspace.parallel.engine import limited_threads, thread_count
from masked_subspace.represent.neighbors.list_sizes import EXACT_UP_TO
from masked_subspace.represent.neighbors.listed_rows import ListedRows
from masked_subspace.rounds.flats import FlatsOfFit
from masked_subspace.rows.checks import SeenRows, check_samples, same_kind
from masked_subspace.rows.preparation import Preparation

if TYPE_CHECKING:
    from masked_subspace.distributed.fit import DistributedResult

PREDICT_METHODS = ("vote", "subspace")


class OutOfSampleMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):  # type: ignore[misc]
    """`predict`, `transform`, `score` and the subspaces of a clusterer that has kept its samples.

    The samples are referred to, not copied: the subspaces are computed from them when they are first asked for.
    """

    n_jobs: int | None
    n_candidates: int
    labels_: IntArray
    embedding_: FloatArray
    _preparation: Preparation
    _rows: Rows
    _labels_of_all: IntArray
    _samples: FloatArray | SparseSamples | None  # as given to fit; None where that was a graph
    _seen: SeenRows
    _calibration: Remembered
    _subspaces: list[Subspace] | None
    _nearest: NearestSubspace | None
    _flats: FlatsOfFit | None = None  # the subspaces of a table that were found as a whole
    n_features_in_: int
    _on_workers = False  # fitted on a Dask cluster: `_rows` are some of the prepared samples, the others stayed there

    def _keep_anchors(self, result: DistributedResult) -> None:
        """What new samples are placed by after a fit on a Dask cluster."""
        assert result.anchors is not None
        assert result.preparation is not None
        self._rows, self._labels_of_all = result.anchors.result()
        self._preparation = result.preparation.result()
        self._seen = SeenRows.of(np.empty((0, self._rows.shape[1]), dtype=self._rows.dtype))
        self._samples, self._subspaces, self._nearest, self._on_workers = None, None, None, True

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _refuse_graph(self, wanted: str) -> None:
        """An `AttributeError`, so that `hasattr` says what there is."""
        check_is_fitted(self)
        if self._on_workers and wanted != "predict":
            raise AttributeError(
                f"{wanted} needs all samples in one process, but {type(self).__name__} was fitted on a Dask cluster; "
                "labels_ has the clusters of its samples and predict(X) places others. Fit a sample of the rows as an "
                "array for the rest."
            )
        if self._samples is None and not self._on_workers:
            raise AttributeError(
                f'{wanted} needs samples, but {type(self).__name__} was fitted with affinity="precomputed" on a graph; '
                "labels_ has the clusters of its samples. Fit the samples themselves with another affinity."
            )

    def _checked_new(self, X: MatrixLike) -> FloatArray:
        X = same_kind(check_samples(self, X, reset=False), sparse=isinstance(self._samples, SparseSamples))
        X = self._completed_new(X)
        if self._preparation.view.root and X.min() < 0:
            warnings.warn(
                f"X has negative entries, down to {X.min():.2g}, where fit saw none; the square root that fit chose "
                'takes them for 0. Fit with view="plain" if they mean something.',
                UserWarning,
                stacklevel=4,
            )
        checked: FloatArray = X
        return checked

    def _completed_new(self, X: FloatArray) -> FloatArray:
        """New samples without unknown entries, where a class permits these."""
        return X

    def _voters(self, X: FloatArray) -> csr_array:
        """Row i: the shares of the training samples that rebuild row i of X, or that are nearest to it."""
        with limited_threads(1):
            return self._votes_of(self._rows, self._preparation.apply(X))

    def _votes_of(self, rows: Rows, new_rows: Rows) -> csr_array:
        """The same for prepared rows, with `rows` in the place of the training samples."""
        n_threads = thread_count(self.n_jobs)
        with limited_threads(1):
            by_distance = self._preparation.view.by_distance
            if by_distance and isinstance(rows, np.ndarray) and isinstance(new_rows, np.ndarray):
                return nearest_voters(rows, new_rows, n_threads=n_threads)
            listed = self._listed(n_threads) if rows is self._rows else None
            return voters_of(rows, new_rows, n_candidates=self.n_candidates, n_threads=n_threads, listed=listed)

    def _listed(self, n_threads: int) -> ListedRows | None:
        """Lists of many training rows, made when new samples are first compared with them; None for few."""
        if not isinstance(self._rows, np.ndarray) or len(self._rows) <= EXACT_UP_TO:
            return None
        if self._calibration.listed is None:
            self._calibration.listed = ListedRows.of(self._rows, n_threads=n_threads)
        return self._calibration.listed

    def _placed(self, X: FloatArray, of_training: FloatArray, voted: FloatArray) -> FloatArray:
        """Rows of `of_training` for samples that `fit` has seen; means of `voted` over the voters of the others."""
        known = self._seen.find(X)
        placed = np.asarray(of_training[np.maximum(known, 0)])
        new = np.flatnonzero(known < 0)
        if len(new):
            placed[new] = placed_by(self._voters(X[new]), voted)
        return placed

    def predict(self, X: MatrixLike, *, method: str = "vote") -> IntArray:
        """Labels of samples.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Samples as rows, with the features of those of `fit`.
        method : {"vote", "subspace"}, default="vote"
            "vote": each sample is rebuilt from the training samples, and they vote with their parts of it (the nearest
            vote where `fit` linked samples by distance; where it took whole subspaces of a table, the likeliest of
            these counts); a sample of
            `fit` keeps the cluster that `fit` gave it, also where `min_certainty` made its label −1; equal samples in
            several clusters have that of the first. "subspace": the
            cluster whose subspace is nearest in the view of the fit, also for samples of `fit`. There a cluster keeps
            the directions of `subspaces_` or fewer, by which of the two tells left-out training samples better.

        Returns
        -------
        labels : ndarray of int of shape (n_new,)
            Clusters from 0.

        Raises
        ------
        AttributeError
            If the fit was of a graph (`affinity="precomputed"`): it has no place for new samples.

        Notes
        -----
        New samples are taken as they are: `outliers="auto"` cleans the training samples only.

        Examples
        --------
        >>> from masked_subspace import BMSC
        >>> from masked_subspace.datasets import make_subspaces
        >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
        >>> model = BMSC(3, random_state=0).fit(X)
        >>> bool((model.predict(X) == model.labels_).all())
        True
        """
        if method not in PREDICT_METHODS:
            raise ValueError(f'method is {method!r}; choose "vote" or "subspace".')
        self._refuse_graph("predict" if method == "vote" else f"predict(method={method!r})")
        X = self._checked_new(X)
        if method == "subspace":
            return self._nearest_subspace().labels(self._preparation.apply(X)).astype(self.labels_.dtype)
        known = self._seen.find(X)
        labels: IntArray = self._labels_of_all[np.maximum(known, 0)]
        new = np.flatnonzero(known < 0)
        if len(new):
            labels[new] = self._shares(X[new], self._ballots()).argmax(axis=1)
        return labels

    def _shares(self, X: FloatArray, ballots: FloatArray) -> FloatArray:
        """What new samples have of each cluster: of the votes, or by the likeliest subspace of a table."""
        return placed_by(self._voters(X), ballots) if self._flats is None else self._flats.shares_of(X)

    def _ballots(self) -> FloatArray:
        """What each training sample has to say: 1 for its cluster."""
        return np.eye(int(self._labels_of_all.max()) + 1, dtype=self._rows.dtype)[self._labels_of_all]

    def transform(self, X: MatrixLike) -> FloatArray:
        """Where samples lie in the embedding that was cut.

        A sample of `fit` has its row of `embedding_`. A new one lies at the mean of the training samples that rebuild
        it, weighted by their parts of it; where the rows of `embedding_` are directions, of unit length,
        so is its row.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Samples as rows, with the features of those of `fit`.

        Returns
        -------
        embedding : ndarray of shape (n_new, n_vectors)
            A row for each sample; a data frame after `set_output(transform="pandas")`.

        Raises
        ------
        AttributeError
            If the fit was of a graph (`affinity="precomputed"`): it has no place for new samples.

        Examples
        --------
        >>> from masked_subspace import BMSC
        >>> from masked_subspace.datasets import make_subspaces
        >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
        >>> model = BMSC(3, random_state=0).fit(X)
        >>> model.transform(X[:5]).shape == model.embedding_[:5].shape
        True
        """
        self._refuse_graph("transform")
        return self._placed(self._checked_new(X), self.embedding_, self.embedding_)

    @property
    def subspaces_(self) -> list[Bunch]:
        """The subspace of each cluster, in the features of X.

        One record a cluster: `mean`, `basis` (dim × d, orthonormal rows), `dim`, `explained` (the share of the squared
        distances from the mean that lies in the subspace) and `size`. The dimension counts the directions whose
        variance is above what white noise can have (label/subspaces.py).
        """
        self._refuse_graph("subspaces_")
        return [one.record() if isinstance(one, SparseSubspace) else one for one in self._fitted_subspaces()]

    def subspace_residuals(self, X: MatrixLike) -> FloatArray:
        """Distances of samples from the subspace of each cluster.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Samples as rows, with the features of those of `fit`.

        Returns
        -------
        residuals : ndarray of shape (n_new, n_clusters)
            Euclidean distances in the features of X.

        Raises
        ------
        AttributeError
            If the fit was of a graph (`affinity="precomputed"`): it has no place for new samples.

        Examples
        --------
        >>> from masked_subspace import BMSC
        >>> from masked_subspace.datasets import make_subspaces
        >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
        >>> model = BMSC(3, random_state=0).fit(X)
        >>> model.subspace_residuals(X[:5]).shape
        (5, 3)
        """
        self._refuse_graph("subspace_residuals")
        X = self._checked_new(X)
        return distances_to(X, self._fitted_subspaces())

    def _fitted_subspaces(self) -> list[Subspace]:
        if self._subspaces is None:
            with limited_threads(1):
                samples = self._samples if isinstance(self._samples, SparseSamples) else np.asarray(self._samples)
                self._subspaces = subspaces_of(samples, self._labels_of_all, int(self._labels_of_all.max()) + 1)
        return self._subspaces

    def _nearest_subspace(self) -> NearestSubspace:
        """Learnt when first asked for."""
        if self._nearest is None:
            rows = self._rows
            # Directions of noise are counted among all features: coordinates of sparse rows are fewer than those.
            turned = self._preparation.view.turns
            width = rows.shape[1] if turned else self._preparation.n_columns(self.n_features_in_)
            with limited_threads(1):
                n_clusters = int(self._labels_of_all.max()) + 1
                self._nearest = NearestSubspace.learn(rows, self._labels_of_all, n_clusters, width)
        return self._nearest

    def score(self, X: MatrixLike, y: object = None) -> float:  # noqa: ARG002
        """How well the clusters describe samples, without labels: higher is better, 1 is best.

        The adjusted Rand index between `predict(X)` by votes and by subspaces. The two agree where clusters are
        subspaces that new samples lie in too; chance gives 0, and so does a single cluster. Clusters that are split
        lower it, clusters that are merged as a whole need not: it compares settings better than numbers of clusters.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Samples as rows, with the features of those of `fit`.
        y : object, default=None
            Not used; it is there for grid searches.

        Returns
        -------
        score : float
            1 at most.

        Raises
        ------
        AttributeError
            If the fit was of a graph (`affinity="precomputed"`): it has no place for new samples.

        Examples
        --------
        >>> from masked_subspace import BMSC
        >>> from masked_subspace.datasets import make_subspaces
        >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
        >>> model = BMSC(3, random_state=0).fit(X)
        >>> 0 <= model.score(X) <= 1
        True
        """
        voted, nearest = self.predict(X), self.predict(X, method="subspace")
        if len(np.unique(voted)) < 2:
            return 0.0
        return float(adjusted_rand_index(np.maximum(voted, 0), nearest))
