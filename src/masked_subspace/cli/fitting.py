"""Fitting with a clock, with the warnings kept, and with scores where the truth is known."""

from __future__ import annotations

import json
import sys
import time
import warnings
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masked_subspace.cli.exits import CommandError, Exit


@dataclass(frozen=True)
class Fit:
    """A fitted estimator and what it cost."""

    estimator: Any
    seconds: float
    cpu_seconds: float
    warnings: tuple[str, ...]


def fit(estimator: Any, X: npt.NDArray[Any], known: Mapping[str, Any] | None = None) -> Fit:
    """Fit; a refusal of the estimator (bad values, too few samples) is an input error."""
    started, cpu_started = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.fit(X, **(known or {}))
        except ValueError as error:
            raise CommandError(str(error), Exit.INPUT) from error
    texts = dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning))
    return Fit(estimator, time.perf_counter() - started, time.process_time() - cpu_started, tuple(texts))


def scores(labels: npt.NDArray[Any], target: npt.NDArray[Any] | None) -> dict[str, float]:
    """Accuracy, NMI and BCA against the known classes."""
    if target is None:
        return {}
    from masked_subspace.metrics import binary_clustering_accuracy, clustering_accuracy, normalized_mutual_info

    return {
        "accuracy": clustering_accuracy(target, labels),
        "NMI": normalized_mutual_info(target, labels),
        "BCA": binary_clustering_accuracy(target, labels),
    }


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """`NAME=VALUE` pairs; values as JSON where they are JSON, else as text."""
    settings: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise CommandError(f"--set {text!r} must look like NAME=VALUE")
        try:
            settings[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[name.strip()] = {"None": None, "True": True, "False": False}.get(value, value)
    return settings


def wants_progress(options: Namespace) -> int:
    """The `verbose` of estimators: bars on a terminal, nothing elsewhere or if somebody asked for quiet."""
    return int(not options.quiet and not options.json and sys.stderr.isatty())


def as_pictures(X: npt.NDArray[Any], shape: tuple[int, ...] | None) -> npt.NDArray[np.uint8] | None:
    """Rows as gray pictures 0..255; colour becomes its mean; None if rows are no pictures."""
    if shape is None or len(shape) not in (2, 3):
        return None
    low, high = float(X.min()), float(X.max())
    pictures = ((X - low) * (255.0 / (high - low if high > low else 1.0))).reshape(len(X), *shape)
    if len(shape) == 3:
        pictures = pictures.mean(axis=1 if shape[0] in (1, 3) and shape[2] not in (1, 3) else 3)
    return np.asarray(pictures, dtype=np.uint8)
