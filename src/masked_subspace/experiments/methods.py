"""The methods by the names that the command and the tables use. A new method is one line here."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

_CLASSES = {
    "bmsc": "masked_subspace.estimators:BMSC",
    "gmsc": "masked_subspace.estimators:GMSC",
    "rmsc": "masked_subspace.estimators:RMSC",
    "lrr": "masked_subspace.baselines:LRR",
    "ssc": "masked_subspace.baselines:SSC",
    "ssc-omp": "masked_subspace.baselines:SSCOMP",
    "ensc": "masked_subspace.baselines:EnSC",
    "lsr": "masked_subspace.baselines:LSR",
    "bdr": "masked_subspace.baselines:BDR",
    "edsc": "masked_subspace.baselines:EDSC",
    "ae-edsc": "masked_subspace.baselines:AutoencoderEDSC",
    "soft-s3c": "masked_subspace.baselines:SoftS3C",
    "knn": "masked_subspace.experiments.control:NeighborGraphClustering",
    "kmeans": "sklearn.cluster:KMeans",
}
METHODS = tuple(_CLASSES)


class SettingError(ValueError):
    """A method or parameter that does not exist, or a value that does not fit it."""


def method_class(name: str) -> Any:
    """The estimator class of a method."""
    if name not in _CLASSES:
        raise SettingError(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    module, _, attribute = _CLASSES[name].partition(":")
    return getattr(import_module(module), attribute)


def make_estimator(
    name: str, n_clusters: int, settings: Mapping[str, Any], seed: int, n_jobs: int | None = None
) -> Any:
    """An unfitted estimator; `seed` and `n_jobs` are given to those that take them."""
    cls = method_class(name)
    known = set(inspect.signature(cls).parameters)
    unknown = sorted(set(settings) - known)
    if unknown:
        raise SettingError(
            f"{name} has no parameter {unknown[0]!r}; it has {', '.join(sorted(known - {'n_clusters'}))}"
        )
    arguments = {"random_state": seed, "n_jobs": n_jobs, **settings}
    return cls(n_clusters, **{key: value for key, value in arguments.items() if key in known})
