"""Fitting any clusterer so that its labels are there afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from masked_subspace._common.types import Matrix, RecordView

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def fit_for_labels(estimator: BaseEstimator, X: Matrix, known: RecordView | None = None) -> BaseEstimator:
    """Fit; a clusterer that keeps no `labels_` (a mixture of scikit-learn, say) gets those of its `fit_predict`."""
    estimator.fit(X, **(known or {}))
    if not hasattr(estimator, "labels_"):
        estimator.labels_ = np.asarray(estimator.fit_predict(X))
    if len(estimator.labels_) != X.shape[0]:
        raise ValueError(
            f"{type(estimator).__name__} gave {len(estimator.labels_)} labels for {X.shape[0]} samples; a clusterer "
            "must give one for each"
        )
    return estimator
