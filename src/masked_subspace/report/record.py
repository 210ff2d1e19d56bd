"""What a report shows, apart from how: plain records, made from fitted estimators or read back from a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.provenance import versions
from masked_subspace._common.types import Array, Record

# How `Run.certainty` was computed.
MARGIN = "margin"  # 1 − (distance to the own centre) / (distance to the next), in the embedding
AGREEMENT = "agreement"  # how far several members put a sample into the same company


@dataclass(frozen=True)
class Round:
    """One turn of Algorithm 2: what the mask of that turn made of the graph."""

    title: str
    affinity: csr_array
    labels: Array | None = None


@dataclass(frozen=True)
class Subspace:
    """The affine subspace of one cluster; rows of `basis` are orthonormal."""

    mean: Array
    basis: Array
    dim: int
    explained: float | None = None  # share of the cluster's energy that the subspace holds


@dataclass(frozen=True)
class Run:
    """One method on one data set. What a method does not know stays empty, and its panel stays away."""

    name: str
    labels: Array  # −1: assigned to no cluster
    affinity: csr_array
    embedding: Array
    certainty: Array  # (n,), 1 = no doubt
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rounds: tuple[Round, ...] = ()  # empty: the final affinity is all there is
    history: tuple[Mapping[str, Any], ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    certainty_kind: str = MARGIN
    structure: float | None = None  # 0 … 1, how far the clusters are real
    choices: tuple[Mapping[str, Any], ...] = ()  # ways that were judged: view, cut, links, agreement, score, taken …
    n_clusters_scores: tuple[Mapping[str, Any], ...] = ()  # candidates for the number of clusters
    memberships: Array | None = None  # n × K, rows sum to 1
    subspaces: tuple[Subspace, ...] = ()
    profiles: tuple[Mapping[str, Any], ...] = ()  # of `cluster_profiles`: what tells each cluster apart
    call: str = ""  # Python that makes the estimator again
    graph_kind: str = "own"  # "neighbors": the method has no graph, nearest neighbors of the samples stand in for it


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


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _version() -> str:
    return versions()["masked-subspace"]


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
    created: str = field(default_factory=_now)
    version: str = field(default_factory=_version)


def readable_parameters(estimator: Any) -> Record:
    """Parameters as JSON can hold them; anything larger by its type and shape."""
    if not hasattr(estimator, "get_params"):
        return {}
    return {key: readable(value) for key, value in estimator.get_params(deep=False).items()}


def readable(value: Any) -> Any:
    """One of them."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple) and len(value) <= 16:
        return [readable(item) for item in value]
    shape = getattr(value, "shape", None)
    return repr(value)[:200] if shape is None else f"{type(value).__name__} {tuple(shape)}"


def plain_record(record: Mapping[str, Any]) -> Record:
    """A record as JSON holds it: numbers, texts, curves, scores by name, and lists of members' settings."""
    plain = {str(key): _plain_value(value) for key, value in record.items()}
    return {key: value for key, value in plain.items() if value is not _LEFT_OUT}


_LEFT_OUT = object()


def _plain_value(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return plain_record(value)
    if isinstance(value, np.ndarray | list | tuple) and np.ndim(value) <= 1:
        items = [_plain_value(item) for item in value]
        return _LEFT_OUT if _LEFT_OUT in items else items
    return _LEFT_OUT
