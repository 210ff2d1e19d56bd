"""Fitting with a clock, with the warnings kept, and with scores where the truth is known."""

from __future__ import annotations

import inspect
import json
import sys
import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from masked_subspace._common.labels import fit_for_labels
from masked_subspace._common.matrices import as_dense
from masked_subspace._common.types import Matrix, Record, RecordView
from masked_subspace.cli.exits import CommandError, Exit

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.utils import InputTags


@dataclass(frozen=True)
class TimedFit:
    """A fitted estimator and what it cost; compiling, which happens once after an installation, is counted apart."""

    estimator: BaseEstimator
    seconds: float
    cpu_seconds: float
    warnings: tuple[str, ...]
    compile_seconds: float = 0.0


def fit(estimator: BaseEstimator, X: Matrix, known: RecordView | None = None) -> TimedFit:
    """Fit; a refusal of the estimator (bad values, too few samples) is an input error, of a parameter a usage error."""
    from masked_subspace._common.validation import InvalidParameterError

    name = type(estimator).__name__
    ours = type(estimator).__module__.startswith("masked_subspace.")
    started, cpu_started = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught, _compile_clock(ours) as compiled:
        warnings.simplefilter("always")
        try:
            fit_for_labels(estimator, X, known)
        except InvalidParameterError as error:
            raise CommandError(str(error), Exit.USAGE) from error
        except (ValueError, TypeError) as error:
            raise CommandError(str(error), Exit.INPUT) from error
        except MemoryError as error:
            raise CommandError(f"{name} needs more memory than there is: {error}", Exit.INPUT) from error
        except Exception as error:
            if ours:  # a defect of ours keeps its traceback
                raise
            raise CommandError(f"{name} failed: {type(error).__name__}: {error}", Exit.INPUT) from error
    seconds = time.perf_counter() - started
    texts = dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning))
    compiling = min(seconds, compiled())
    return TimedFit(estimator, seconds - compiling, time.process_time() - cpu_started, tuple(texts), compiling)


@contextmanager
def _compile_clock(wanted: bool) -> Iterator[Callable[[], float]]:
    """Seconds that numba compiled inside the block; what it reads from the disk is not compiled."""
    if not wanted:
        yield lambda: 0.0
        return
    from numba.core import event

    with event.install_recorder("numba:compile") as recorder:
        yield lambda: _outermost([(moment, one.is_start) for moment, one in recorder.buffer])


def _outermost(marks: Sequence[tuple[float, bool]]) -> float:
    """The time between starts and ends, a compilation inside another one counted once."""
    total, depth, began = 0.0, 0, 0.0
    for moment, is_start in marks:
        if is_start and depth == 0:
            began = moment
        depth += 1 if is_start else -1
        if not is_start and depth == 0:
            total += moment - began
    return total


def estimator_for(options: Namespace, X: Matrix) -> BaseEstimator:
    """The method that was asked for, ready for this data."""
    from masked_subspace.registry import make_estimator, resolve

    settings = parse_settings(options.settings)
    method = resolve(options.method)
    known = set(inspect.signature(method.load()).parameters)
    if not {"n_clusters", "n_components"} & known and options.clusters != "auto":
        raise CommandError(f"--method {options.method} has no n_clusters: it finds the number itself; --clusters auto")
    if options.missing == "ignore" and np.isnan(X.data if issparse(X) else X).any():
        if "missing" in known:
            settings.setdefault("missing", "ignore")
        elif not _tags(method.load()()).allow_nan:
            raise CommandError(f"--method {options.method} cannot ignore missing values; --impute median fills them in")
    # registry.make_estimator passes the number on as it is: "auto" and (low, high) are the estimator's to understand.
    estimator = make_estimator(options.method, options.clusters, settings, options.seed, options.jobs)
    if not isinstance(options.clusters, int):
        _refuse_if_it_cannot_choose(estimator, options.method)
    if "verbose" in known and type(estimator).__module__.startswith("masked_subspace."):
        estimator.set_params(verbose=wants_progress(options))
    return estimator


def _refuse_if_it_cannot_choose(estimator: BaseEstimator, name: str) -> None:
    from masked_subspace._common.validation import InvalidParameterError

    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        if "'n_clusters'" in str(error):
            raise CommandError(
                f"--method {name} cannot choose the number of clusters: give one, as in --clusters 5, or take bmsc, "
                "gmsc or rmsc"
            ) from error


def accepted_by(estimator: BaseEstimator, X: Matrix, limit: int) -> tuple[Matrix, tuple[str, ...]]:
    """X as the estimator takes it: a sparse matrix becomes dense only where it must and where it fits."""
    if not issparse(X) or _tags(estimator).sparse:
        return X, ()
    needed = X.shape[0] * X.shape[1] * X.dtype.itemsize
    if needed > limit:
        raise CommandError(
            f"{type(estimator).__name__} needs a dense matrix, which would take {needed / 1e9:.1f} GB; "
            "choose another --method or raise --max-gb",
            Exit.INPUT,
        )
    return as_dense(X), (f"the sparse matrix is made dense for {type(estimator).__name__}",)


def _tags(estimator: BaseEstimator) -> InputTags:
    from sklearn.utils import get_tags

    return get_tags(estimator).input_tags


def parse_settings(texts: Sequence[str]) -> Record:
    """`NAME=VALUE` pairs; values as JSON where they are JSON, else as text."""
    settings: Record = {}
    instead = {"n_clusters": "--clusters", "random_state": "--seed", "n_jobs": "--jobs", "verbose": "--quiet"}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise CommandError(f"--set {text!r} must look like NAME=VALUE")
        if name.strip() in instead:
            raise CommandError(f"--set {text!r}: use {instead[name.strip()]} for that")
        try:
            settings[name.strip()] = json.loads(value)
        except (json.JSONDecodeError, RecursionError):
            settings[name.strip()] = {"None": None, "True": True, "False": False}.get(value, value)
    return settings


def wants_progress(options: Namespace) -> int:
    """The `verbose` of estimators: bars on a terminal, nothing elsewhere or if somebody asked for quiet."""
    return int(not options.quiet and not options.json and sys.stderr.isatty())


def as_pictures(X: Matrix, shape: tuple[int, ...] | None) -> npt.NDArray[np.uint8] | None:
    """Rows as gray pictures 0..255; colour becomes its mean; None if rows are no pictures."""
    if shape is None or len(shape) not in (2, 3) or issparse(X):
        return None
    X = np.nan_to_num(X)
    low, high = float(X.min()), float(X.max())
    pictures = ((X - low) * (255.0 / (high - low if high > low else 1.0))).reshape(len(X), *shape)
    if len(shape) == 3:
        pictures = pictures.mean(axis=1 if shape[0] in (1, 3) and shape[2] not in (1, 3) else 3)
    return np.asarray(pictures, dtype=np.uint8)
