"""What a report shows, apart from how: plain records, made from fitted estimators or read back from a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Round:
    """One turn of Algorithm 2: what the mask of that turn made of the graph."""

    title: str
    affinity: csr_array
    labels: Array | None = None


@dataclass(frozen=True)
class Run:
    """One method on one data set."""

    name: str
    labels: Array
    affinity: csr_array
    embedding: Array
    certainty: Array  # (n,), 1 = no doubt
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rounds: tuple[Round, ...] = ()  # empty: the final affinity is all there is
    history: tuple[Mapping[str, Any], ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None


@dataclass(frozen=True)
class Table:
    """A table whose columns sort. A cell is a number, a text or nothing; `notes` stand below."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...] = ()
    decimals: tuple[int | None, ...] = ()  # digits behind the point, by column; None or missing: as they come


@dataclass(frozen=True)
class Figure:
    """A picture made elsewhere."""

    title: str
    png: bytes
    description: str


@dataclass(frozen=True)
class ReportContent:
    """Everything one page shows."""

    title: str
    subtitle: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    names: Sequence[str] | None = None
    target: Array | None = None
    class_names: Sequence[str] | None = None
    images: Array | None = None  # n × height × width, uint8
    runs: tuple[Run, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""  # what was typed, to paste


def run_from_estimator(
    estimator: Any,
    name: str,
    *,
    seconds: float | None = None,
    scores: Mapping[str, float] | None = None,
    X: Any = None,
    feature_names: Sequence[str] | None = None,  # noqa: ARG001
) -> Run:
    """Gather what a fitted clusterer knows; `X` is needed where it has no graph of its own."""
    history = tuple(dict(record) for record in getattr(estimator, "history_", ()) or ())
    labels = np.asarray(estimator.labels_)
    if hasattr(estimator, "affinity_matrix_") and hasattr(estimator, "certainty_"):
        affinity, embedding = csr_array(estimator.affinity_matrix_), np.asarray(estimator.embedding_, dtype=np.float64)
        certainty = np.clip(np.asarray(estimator.certainty_, dtype=np.float64), 0.0, 1.0)
    else:
        affinity, embedding, certainty = _stand_in(X, labels)
    return Run(
        name=name,
        labels=labels,
        affinity=affinity,
        embedding=embedding,
        certainty=certainty,
        parameters=readable_parameters(estimator),
        rounds=_rounds(estimator),
        history=tuple(_plain_record(record) for record in history),
        scores=dict(scores or {}),
        seconds=seconds,
    )


def _stand_in(X: Any, labels: Array) -> tuple[csr_array, Array, Array]:
    """For a clusterer without a graph: nearest neighbors, principal axes, and the share of neighbors in one cluster."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.neighbors import kneighbors_graph

    rank = min(16, min(X.shape) - 1)
    embedding = TruncatedSVD(rank, random_state=0).fit_transform(X) if rank > 0 else np.asarray(X)
    directed = csr_array(kneighbors_graph(embedding, min(10, len(labels) - 1)))
    agreeing = labels[directed.indices] == np.repeat(labels, np.diff(directed.indptr))
    certainty = np.add.reduceat(agreeing.astype(np.float64), directed.indptr[:-1]) / np.diff(directed.indptr)
    return csr_array(directed.maximum(directed.T)), np.asarray(embedding, dtype=np.float64), certainty


def readable_parameters(estimator: Any) -> dict[str, Any]:
    """Parameters as JSON can hold them; anything larger by its type and shape."""
    return {key: _readable(value) for key, value in estimator.get_params(deep=False).items()}


def _readable(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple) and len(value) <= 16:
        return [_readable(item) for item in value]
    shape = getattr(value, "shape", None)
    return (
        f"{type(value).__name__}{'' if shape is None else f' {tuple(shape)}'}"
        if shape is not None
        else repr(value)[:200]
    )


def _rounds(estimator: Any) -> tuple[Round, ...]:
    affinities = getattr(estimator, "round_affinities_", ())
    labels = getattr(estimator, "round_labels_", ())
    pairs = zip(affinities, labels, strict=True)
    return tuple(Round(f"round {number}", csr_array(one), of) for number, (one, of) in enumerate(pairs, start=1))


def _plain_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A history record as JSON holds it: numbers, texts, curves, scores by name, and lists of members' settings."""
    plain = {key: _plain_value(value) for key, value in record.items()}
    return {key: value for key, value in plain.items() if value is not _LEFT_OUT}


_LEFT_OUT = object()


def _plain_value(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return _plain_record(value)
    if isinstance(value, np.ndarray | list | tuple) and np.ndim(value) <= 1:
        items = [_plain_value(item) for item in value]
        return _LEFT_OUT if _LEFT_OUT in items else items
    return _LEFT_OUT
