"""What a report shows, apart from how: plain records, made from fitted estimators or read back from a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.provenance import versions
from masked_subspace._common.types import Array, Record, RecordView

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# How `Run.certainty` was computed.
MARGIN = "margin"  # 1 − (distance to the own centre) / (distance to the next), in the embedding
AGREEMENT = "agreement"  # how far several members put a sample into the same company


@dataclass(frozen=True)
class Round:
    """One turn of Algorithm 2: what the mask of that turn made of the graph.

    Parameters
    ----------
    title : str
        What the page calls it.
    affinity : csr_array of shape (n_samples, n_samples)
        The graph.
    labels : ndarray of int of shape (n_samples,) or None, default=None
        The clusters of that turn.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from masked_subspace.report import Round
    >>> Round("round 1", csr_array((60, 60))).title
    'round 1'
    """

    title: str
    affinity: csr_array
    labels: Array | None = None


@dataclass(frozen=True)
class Subspace:
    """The affine subspace of one cluster.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        A point of the subspace.
    basis : ndarray of shape (dim, n_features)
        Directions, orthonormal rows.
    dim : int
        How many there are.
    explained : float or None, default=None
        Share of the squared distances from the mean that lies in the subspace.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.report import Subspace
    >>> Subspace(np.zeros(3), np.eye(3)[:2], dim=2, explained=0.9).basis.shape
    (2, 3)
    """

    mean: Array
    basis: Array
    dim: int
    explained: float | None = None


@dataclass(frozen=True)
class Run:
    """One method on one data set. What a method does not know stays empty, and its panel stays away.

    Parameters
    ----------
    name : str
        What the page calls it.
    labels : ndarray of int of shape (n_samples,)
        Clusters; −1: assigned to none.
    affinity : csr_array of shape (n_samples, n_samples)
        The graph that was cut.
    embedding : ndarray of shape (n_samples, n_vectors)
        Where the samples lie in the cut.
    certainty : ndarray of shape (n_samples,)
        0 to 1; 1 is no doubt.
    parameters : mapping of str to object, optional
        Settings of the method.
    rounds : tuple of Round, default=()
        The turns of Algorithm 2; empty: the final affinity is all there is.
    history : tuple of mapping, default=()
        One record a round.
    scores : mapping of str to float, optional
        Scores against known classes, by name.
    seconds : float or None, default=None
        How long the fit took.
    certainty_kind : {"margin", "agreement"}, default="margin"
        How the certainty was computed: from distances in the embedding, or from the votes of several members.
    structure : float or None, default=None
        0 to 1, how far the clusters are real.
    choices : tuple of mapping, default=()
        Ways that were judged: view, cut, links, agreement, score, taken.
    n_clusters_scores : tuple of mapping, default=()
        Candidates for the number of clusters.
    n_clusters_candidates : tuple of int, default=()
        The number that was chosen and others with nearly as much evidence.
    memberships : ndarray of shape (n_samples, n_clusters) or None, default=None
        How far each sample belongs to each cluster; rows sum to 1.
    subspaces : tuple of Subspace, default=()
        One for each cluster.
    profiles : tuple of mapping, default=()
        What tells each cluster apart.
    call : str, default=""
        Python that makes the estimator again.
    graph_kind : {"own", "neighbors"}, default="own"
        "neighbors": the method has no graph, nearest neighbors of the samples stand in for it.
    missing : mapping of str to object, optional
        Unknown entries of X: count, share, error of entries hidden for a test. Empty where all are known.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from masked_subspace.report import Run
    >>> run = Run("mine", np.array([0, 0, 1]), csr_array((3, 3)), np.eye(3), certainty=np.ones(3))
    >>> run.structure is None
    True
    """

    name: str
    labels: Array
    affinity: csr_array
    embedding: Array
    certainty: Array
    parameters: RecordView = field(default_factory=dict)
    rounds: tuple[Round, ...] = ()
    history: tuple[RecordView, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    certainty_kind: str = MARGIN
    structure: float | None = None
    choices: tuple[RecordView, ...] = ()
    n_clusters_scores: tuple[RecordView, ...] = ()
    n_clusters_candidates: tuple[int, ...] = ()
    memberships: Array | None = None
    subspaces: tuple[Subspace, ...] = ()
    profiles: tuple[RecordView, ...] = ()
    call: str = ""
    graph_kind: str = "own"
    missing: RecordView = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A table whose columns sort.

    Parameters
    ----------
    title : str
        What stands above it.
    columns : tuple of str
        Names of the columns.
    rows : tuple of tuple
        The cells: numbers, texts or None.
    notes : tuple of str, default=()
        What stands below it.
    decimals : tuple of int or None, default=()
        Digits behind the point, by column; None or missing: as they come.

    Examples
    --------
    >>> from masked_subspace.report import Table
    >>> Table("Scores", ("method", "accuracy"), (("RMSC", 0.9),), decimals=(None, 2)).columns
    ('method', 'accuracy')
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    notes: tuple[str, ...] = ()
    decimals: tuple[int | None, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A picture made elsewhere.

    Parameters
    ----------
    title : str
        What stands above it.
    png : bytes
        The picture as a PNG file.
    description : str
        What it shows, for those who cannot see it.

    Examples
    --------
    >>> from masked_subspace.report import Figure
    >>> Figure("A map", b"", "samples by cluster").description
    'samples by cluster'
    """

    title: str
    png: bytes
    description: str


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _version() -> str:
    return versions()["masked-subspace"]


@dataclass(frozen=True)
class ReportContent:
    """Everything one page shows.

    Parameters
    ----------
    title : str
        The heading.
    subtitle : str, default=""
        What stands below it.
    facts : mapping of str to object, optional
        Numbers about the data, by name.
    names : sequence of str or None, default=None
        Names of the samples.
    target : ndarray of int of shape (n_samples,) or None, default=None
        Known classes, numbered from 0.
    class_names : sequence of str or None, default=None
        Their names.
    images : ndarray of uint8 of shape (n_samples, height, width) or None, default=None
        What the samples look like.
    runs : tuple of Run, default=()
        The methods that are shown.
    tables : tuple of Table, default=()
        Tables between them.
    figures : tuple of Figure, default=()
        Pictures made elsewhere.
    notes : tuple of str, default=()
        What a reader should know.
    command : str, default=""
        What was typed, to paste.
    created : str, optional
        Date and time; now, if left out.
    version : str, optional
        Version of the package; this one, if left out.

    Examples
    --------
    >>> from masked_subspace.report import ReportContent
    >>> ReportContent("A title", facts={"samples": 60}).runs
    ()
    """

    title: str
    subtitle: str = ""
    facts: RecordView = field(default_factory=dict)
    names: Sequence[str] | None = None
    target: Array | None = None
    class_names: Sequence[str] | None = None
    images: Array | None = None
    runs: tuple[Run, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""
    created: str = field(default_factory=_now)
    version: str = field(default_factory=_version)


def readable_parameters(estimator: BaseEstimator) -> Record:
    """Parameters as JSON can hold them; anything larger by its type and shape."""
    if not hasattr(estimator, "get_params"):
        return {}
    return {key: readable(value) for key, value in estimator.get_params(deep=False).items()}


def readable(value: object) -> object:
    """One of them."""
    if isinstance(value, np.generic):  # a float64 is also a float of Python
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple) and len(value) <= 16:
        return [readable(item) for item in value]
    shape = getattr(value, "shape", None)
    return repr(value)[:200] if shape is None else f"{type(value).__name__} {tuple(shape)}"


def plain_record(record: RecordView) -> Record:
    """A record as JSON holds it: numbers, texts, curves, scores by name, and lists of members' settings."""
    plain = {str(key): _plain_value(value) for key, value in record.items()}
    return {key: value for key, value in plain.items() if value is not _LEFT_OUT}


_LEFT_OUT = object()


def _plain_value(value: object) -> object:
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
