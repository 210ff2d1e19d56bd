"""Computing one cell: the samples, the fit, the scores, and what it cost."""

from __future__ import annotations

import contextlib
import hashlib
import time
import warnings
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from masked_subspace._common.labels import fit_for_labels
from masked_subspace._common.peak_memory import peak_bytes, reset_peak
from masked_subspace._common.provenance import code_version, provenance
from masked_subspace._common.types import Array, Record
from masked_subspace.datasets import load_protocol
from masked_subspace.experiments.results import as_json
from masked_subspace.experiments.settings import Cell, FitSetting
from masked_subspace.parallel.engine import limited_threads
from masked_subspace.registry import make_estimator
from masked_subspace.report.record import readable_parameters
from masked_subspace.report.scoring import scores

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


@dataclass(frozen=True)
class Trial:
    """The samples of one trial, and a hash that names them."""

    X: npt.NDArray[np.float32]
    target: npt.NDArray[np.int64]
    images_shape: tuple[int, ...]
    origin: str
    hash: str

    @property
    def n_clusters(self) -> int:
        """As many as there are classes."""
        return len(np.unique(self.target))


_recent: OrderedDict[tuple[str, int], Trial] = OrderedDict()


def load_trial(dataset: str, trial: int) -> Trial:
    """Load the samples of a trial, pixels from 0 to 1; the last few are kept."""
    if (dataset, trial) not in _recent:
        bunch = load_protocol(dataset, trial)
        X = np.ascontiguousarray(bunch.data, dtype=np.float32)
        X /= max(float(np.abs(X).max()), 1e-12)  # pixels 0..1, as settings without unit rows expect
        digest = hashlib.sha256(
            repr(X.shape).encode() + X.tobytes() + np.asarray(bunch.target, dtype=np.int64).tobytes()
        )
        loaded = Trial(X, bunch.target, tuple(bunch.images_shape), str(bunch.origin), digest.hexdigest()[:16])
        _recent[dataset, trial] = loaded
        while len(_recent) > 2:
            _recent.popitem(last=False)
    return _recent[dataset, trial]


def cell_keys(cell: Cell, data_hash: str) -> tuple[str, str]:
    """The key of a cell, and the same without the code version. No setting's name in them: equal fits are one cell."""
    determined_by = {"data": data_hash, "fit": cell.fit.plain(), "seed": cell.trial}
    loose = hashlib.sha256(as_json(determined_by).encode()).hexdigest()[:32]
    exact = hashlib.sha256(as_json({**determined_by, "code": code_version()}).encode()).hexdigest()[:32]
    return exact, loose


def identity(cell: Cell, trial: Trial) -> Record:
    """The columns that say what a cell is."""
    return {
        "loose_key": cell_keys(cell, trial.hash)[1],
        "dataset": cell.dataset,
        "trial": cell.trial,
        "data_hash": trial.hash,
        "origin": trial.origin,
        "method": cell.fit.method,
        "fit": as_json(cell.fit.plain()),
        "n_clusters": trial.n_clusters,
        "seed": cell.trial,
        "code_version": code_version(),
    }


def fit_estimator(fit: FitSetting, X: Array, n_clusters: int, seed: int, threads: int) -> BaseEstimator:
    """A fitted estimator, its first mask coming from another fit's labels if the setting says so."""
    estimator = prepared_estimator(fit, X, n_clusters, seed, threads)
    with warnings.catch_warnings(), limited_threads(limits=threads):
        warnings.simplefilter("ignore")
        return fit_for_labels(estimator, X)


def prepared_estimator(fit: FitSetting, X: Array, n_clusters: int, seed: int, threads: int) -> BaseEstimator:
    """The estimator before its fit; the labels that its mask comes from are computed here, outside its clock."""
    parameters = dict(fit.parameters)
    if fit.mask_from is not None:
        source = fit_estimator(fit.mask_from, X, n_clusters, seed, threads)
        parameters["init" if fit.method == "rmsc" else "soft_mask"] = source.labels_
    return make_estimator(fit.method, n_clusters, parameters, seed, threads)


def compute(cell: Cell, trial: Trial, threads: int) -> Record:
    """Fit and score; the result's columns. `seconds` is the time of the affinity, without the last spectral step."""
    _warm_up(cell.fit, threads)
    estimator = prepared_estimator(cell.fit, trial.X, trial.n_clusters, cell.trial, threads)
    facts = provenance(threads)
    reset_peak()
    with warnings.catch_warnings(record=True) as caught, limited_threads(limits=threads):
        warnings.simplefilter("always")
        started, cpu_started = time.perf_counter(), time.process_time()
        fit_for_labels(estimator, trial.X)
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    labels = np.asarray(estimator.labels_)
    found = scores(labels, trial.target)
    notes = list(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning)))
    return {
        "state": "done",
        "accuracy": found["accuracy"],
        "nmi": found.get("NMI", 0.0),  # of a method that puts nobody into a cluster
        "bca": found.get("BCA", 0.0),
        "seconds": max(0.0, wall - _last_labeling_seconds(estimator)),
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "peak_mb": peak_bytes() / 2**20,
        "n_iter": int(getattr(estimator, "n_iter_", 0)),
        "n_rounds": int(getattr(estimator, "n_rounds_", 1)),
        "labels": zlib.compress(labels.astype("<i4").tobytes()),
        "details": as_json({"warnings": notes, "parameters": readable_parameters(estimator)}),
        "error": None,
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "provenance": as_json(facts),
    }


def failure(error: Exception, threads: int) -> Record:
    """The columns of a cell that could not be computed."""
    return {
        "state": "failed",
        "error": f"{type(error).__name__}: {error}",
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "provenance": as_json(provenance(threads)),
    }


def _last_labeling_seconds(estimator: BaseEstimator) -> float:
    """The last spectral step. With several members none is left out: their graphs come out of all these steps."""
    history = getattr(estimator, "history_", None) or [{}]
    last = history[-1]
    if "members" in last:
        return 0.0
    return float(last.get("seconds", 0.0)) - float(last.get("solver_seconds", last.get("seconds", 0.0)))


_warm: set[str] = set()


def _warm_up(fit: FitSetting, threads: int) -> None:
    """Let just-in-time compilation happen before the clock starts: the same fit on a few random samples."""
    name = as_json(fit.plain())
    if name in _warm:
        return
    _warm.add(name)
    X = np.random.default_rng(0).standard_normal((60, 12)).astype(np.float32)
    with contextlib.suppress(ValueError, np.linalg.LinAlgError):
        fit_estimator(fit, X, 3, 0, threads)
