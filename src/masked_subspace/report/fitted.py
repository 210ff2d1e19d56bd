"""From a fitted clusterer, ours or anybody's, to the record that a report shows. Nothing else reads estimators."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace._common.types import Array, MatrixLike, Record
from masked_subspace.label.graph import embedding_margin
from masked_subspace.report.profiles import cluster_profiles
from masked_subspace.report.record import (
    AGREEMENT,
    MARGIN,
    Round,
    Run,
    Subspace,
    plain_record,
    readable,
    readable_parameters,
)
from masked_subspace.report.scoring import in_clusters
from masked_subspace.report.stand_in import neighbor_graph, principal_rows

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def run_from_estimator(
    estimator: BaseEstimator,
    name: str,
    *,
    seconds: float | None = None,
    scores: Mapping[str, float] | None = None,
    X: MatrixLike | None = None,
    feature_names: Sequence[str] | None = None,
) -> Run:
    """Gather what a fitted clusterer knows into a record that a report can show.

    Parameters
    ----------
    estimator : fitted clusterer
        Only `labels_` must be there.
    name : str
        What the page calls it.
    seconds : float or None, default=None
        How long it took to fit.
    scores : mapping of str to float or None, default=None
        Scores against known classes, by name.
    X : array, sparse array or data frame of shape (n_samples, n_features) or None, default=None
        The samples, needed where the clusterer has no graph of its own. With them the record also says which features
        tell each cluster apart; leave them out for rows that are pictures.
    feature_names : sequence of str or None, default=None
        Names of the columns; None: those the estimator saw.

    Returns
    -------
    run : Run
        The record.

    Raises
    ------
    ValueError
        If the clusterer has no graph and there is no X.

    Examples
    --------
    >>> from masked_subspace import BMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> from masked_subspace.report import run_from_estimator
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = BMSC(3, random_state=0).fit(X)
    >>> run_from_estimator(model, "BMSC", seconds=0.5).labels.shape
    (60,)
    """
    labels = np.asarray(estimator.labels_)
    own_graph = hasattr(estimator, "affinity_matrix_") and hasattr(estimator, "embedding_")
    if own_graph:
        affinity = csr_array(estimator.affinity_matrix_)
        embedding = np.asarray(estimator.embedding_, dtype=np.float64)
    elif X is None:
        raise ValueError(f"{type(estimator).__name__} has no affinity_matrix_ and X is None; pass the samples as X.")
    else:
        embedding = principal_rows(X)
        affinity = neighbor_graph(embedding)
    names = feature_names if feature_names is not None else getattr(estimator, "feature_names_in_", None)
    return Run(
        name=name,
        labels=labels,
        affinity=affinity,
        embedding=embedding,
        certainty=_certainty(estimator, embedding, labels),
        parameters=readable_parameters(estimator),
        rounds=_rounds(estimator) if own_graph else (),
        history=_records(estimator, "history_"),
        scores=dict(scores or {}),
        seconds=seconds,
        certainty_kind=AGREEMENT if hasattr(estimator, "member_labels_") else MARGIN,
        structure=_number(getattr(estimator, "structure_", None)),
        choices=_records(estimator, "choices_"),
        n_clusters_scores=_records(estimator, "n_clusters_scores_"),
        n_clusters_candidates=tuple(int(one) for one in getattr(estimator, "n_clusters_candidates_", ())),
        memberships=_memberships(estimator),
        subspaces=_subspaces(estimator),
        profiles=() if X is None else cluster_profiles(X, labels, names),
        call=call_text(estimator),
        missing=_missing(estimator),
        graph_kind="own" if own_graph else "neighbors",
    )


def call_text(estimator: BaseEstimator) -> str:
    """The constructor call with all that differs from the defaults, to paste into Python."""
    if not hasattr(estimator, "get_params"):
        return ""
    usual = inspect.signature(type(estimator).__init__).parameters
    given = []
    for key, value in estimator.get_params(deep=False).items():
        default = usual[key].default if key in usual else inspect.Parameter.empty
        shown = readable(value)
        if type(value) is type(default) and shown == readable(default):
            continue
        text = repr(shown) if isinstance(value, str) or not isinstance(shown, str) else f"…  # {shown}"
        if isinstance(value, tuple) and isinstance(shown, list):
            text = repr(tuple(shown))  # JSON has no tuples, Python does
        given.append(f"{key}={text}")
    lines = "".join(f"    {one.partition('  #')[0]},{''.join(one.partition('  #')[1:])}\n" for one in given)
    return f"{type(estimator).__name__}(\n{lines})" if "#" in lines or len(lines) > 100 else _one_line(estimator, given)


def _one_line(estimator: BaseEstimator, given: Sequence[str]) -> str:
    return f"{type(estimator).__name__}({', '.join(given)})"


def _certainty(estimator: BaseEstimator, embedding: Array, labels: Array) -> Array:
    """The estimator's own; else the margin between the two nearest centres, 0 for samples in no cluster."""
    own = getattr(estimator, "certainty_", None)
    if own is not None:
        return np.clip(np.asarray(own, dtype=np.float64), 0.0, 1.0)
    certainty, inside = np.zeros(len(labels)), in_clusters(labels)
    if inside.any():  # samples in no cluster have no centre to be near to
        _, codes = np.unique(labels[inside], return_inverse=True)
        certainty[inside] = embedding_margin(embedding[inside], codes)
    return certainty


def _number(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _records(estimator: BaseEstimator, attribute: str) -> tuple[Record, ...]:
    found = getattr(estimator, attribute, None)
    return tuple(plain_record(record) for record in found) if found is not None else ()


def _missing(estimator: BaseEstimator) -> Record:
    """How many entries were unknown, their share, and how far hidden entries were missed; empty where all are known."""
    count = int(getattr(estimator, "n_missing_", 0))
    if not count:
        return {}
    share = count / estimator.completed_.size
    return {"count": count, "share": share, "error": float(estimator.missing_error_)}


def _memberships(estimator: BaseEstimator) -> Array | None:
    found = getattr(estimator, "memberships_", None)
    return None if found is None else np.asarray(found, dtype=np.float64)


def _subspaces(estimator: BaseEstimator) -> tuple[Subspace, ...]:
    """Records with attributes or with keys; `explained` may be one share or one for each direction."""

    def part(one: object, name: str) -> npt.ArrayLike | None:
        return one.get(name) if isinstance(one, Mapping) else getattr(one, name, None)

    found = []
    for one in getattr(estimator, "subspaces_", None) or ():
        basis = np.atleast_2d(np.asarray(part(one, "basis"), dtype=np.float64))
        explained, dim = part(one, "explained"), part(one, "dim")
        share = None if explained is None or np.size(explained) == 0 else float(np.sum(explained))
        found.append(
            Subspace(np.asarray(part(one, "mean")), basis, len(basis) if dim is None else int(np.asarray(dim)), share)
        )
    return tuple(found)


def _rounds(estimator: BaseEstimator) -> tuple[Round, ...]:
    affinities = getattr(estimator, "round_affinities_", ())
    labels = getattr(estimator, "round_labels_", ())
    pairs = zip(affinities, labels, strict=True)
    return tuple(Round(f"round {number}", csr_array(one), of) for number, (one, of) in enumerate(pairs, start=1))
