"""A report from Python: of one fitted model, or of several fitted clusterers of the same samples side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import Array, MatrixLike
from masked_subspace.report.fitted import run_from_estimator
from masked_subspace.report.page import write_page
from masked_subspace.report.profiles import feature_names_of
from masked_subspace.report.record import ReportContent, Run, Table
from masked_subspace.report.scoring import COUNTED, LEFT_OUT, agreement, cluster_modularity, in_clusters, scores

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


@overload
def write_report(model: ReportContent, X: str | Path) -> Path: ...
@overload
def write_report(model: BaseEstimator, X: MatrixLike, path: str | Path, **about: Any) -> Path: ...
def write_report(model: BaseEstimator, X: Any, path: str | Path | None = None, **about: Any) -> Path:
    """Write the page of a fitted model and its samples, or of a ready `ReportContent`.

    Parameters
    ----------
    model : fitted clusterer or ReportContent
        A clusterer with `labels_`, ours or any of scikit-learn's, or all that a page shows.
    X : array, sparse array or data frame of shape (n_samples, n_features), or None
        The samples it was fitted on; None if they are gone and the model has a graph. Of a `ReportContent`: the path.
    path : str or Path or None, default=None
        Where the page goes; None only with a `ReportContent`.
    **about : object
        What else is known: `y` (known classes), `names` of samples, `feature_names`, `class_names`, `images`, `title`,
        `seconds`; they are the parameters of `content_of`.

    Returns
    -------
    path : Path
        Of the written page.

    Raises
    ------
    TypeError
        If there is no path.
    ValueError
        If the model is not fitted, has neither a graph nor samples, or numbers of samples differ.

    Examples
    --------
    >>> from masked_subspace import BMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> from masked_subspace.report import write_report
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = BMSC(3, random_state=0).fit(X)
    >>> write_report(model, X, "page.html", title="Three subspaces").name
    'page.html'
    """
    if isinstance(model, ReportContent):
        return write_page(model, Path(X))
    if path is None:
        raise TypeError("write_report(model, X, path) needs a path; write_report(model, None, path) without samples.")
    return write_page(content_of({type(model).__name__: model}, X, **about), Path(path))


def compare(
    X: MatrixLike, models: Mapping[str, BaseEstimator], path: str | Path = "comparison.html", **about: Any
) -> Path:
    """Write one page about several fitted clusterers of the same samples, ours or any of scikit-learn's.

    A clusterer without `affinity_matrix_` is shown on the graph of the samples' nearest neighbors.

    Parameters
    ----------
    X : array, sparse array or data frame of shape (n_samples, n_features), or None
        The samples; None if they are gone and every model has a graph.
    models : mapping of str to fitted clusterer
        What each is called on the page.
    path : str or Path, default="comparison.html"
        Where the page goes.
    **about : object
        What else is known: `y` (known classes), `names` of samples, `feature_names`, `class_names`, `images`, `title`,
        `seconds`; they are the parameters of `content_of`.

    Returns
    -------
    path : Path
        Of the written page.

    Raises
    ------
    ValueError
        If there are no models, one is not fitted, or numbers of samples differ.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from masked_subspace import BMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> from masked_subspace.report import compare
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = BMSC(3, random_state=0).fit(X)
    >>> compare(X, {"BMSC": model, "k-means": KMeans(3, n_init=1, random_state=0).fit(X)}).name
    'comparison.html'
    """
    if not models:
        raise ValueError("models is empty; give fitted clusterers by name.")
    return write_page(content_of(models, X, **about), Path(path))


def content_of(
    models: Mapping[str, BaseEstimator],
    X: MatrixLike,
    *,
    y: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    images: Array | None = None,
    title: str | None = None,
    seconds: Mapping[str, float] | None = None,
) -> ReportContent:
    """What a page shows of fitted models.

    Parameters
    ----------
    models : mapping of str to fitted clusterer
        Clusterers of the same samples, by the name they get on the page.
    X : array, sparse array or data frame of shape (n_samples, n_features), or None
        The samples; None if they are gone and every model has a graph.
    y : array-like of shape (n_samples,) or None, default=None
        Known classes, numbers or texts; they are only compared with.
    names : sequence of str or None, default=None
        Names of the samples.
    feature_names : sequence of str or None, default=None
        Names of the columns; None: those of a data frame.
    class_names : sequence of str or None, default=None
        Names of the classes, where `y` holds their numbers.
    images : ndarray of uint8 of shape (n_samples, height, width) or None, default=None
        What the samples look like.
    title : str or None, default=None
        Heading of the page; None: made of the numbers.
    seconds : mapping of str to float or None, default=None
        How long each model took to fit.

    Returns
    -------
    content : ReportContent
        Everything on the page; `render` makes it one.

    Raises
    ------
    ValueError
        If a model is not fitted, or numbers of samples differ.

    Examples
    --------
    >>> from masked_subspace import BMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> from masked_subspace.report import content_of
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = BMSC(3, random_state=0).fit(X)
    >>> content_of({"BMSC": model}, X).title
    '60 samples by BMSC'
    """
    n = _same_length(models, X, y, names, images)
    target, classes = _coded(y, class_names)
    columns = feature_names if feature_names is not None else feature_names_of(X)
    runs = tuple(
        run_from_estimator(
            model,
            name,
            X=X if images is None or not hasattr(model, "affinity_matrix_") else None,
            feature_names=columns,
            seconds=(seconds or {}).get(name),
            scores=scores(np.asarray(model.labels_), target),
        )
        for name, model in models.items()
    )
    shape = getattr(X, "shape", None)
    facts = {"samples": n, **({} if shape is None else {"features": int(shape[1])})}
    several = len(runs) > 1
    return ReportContent(
        title=title or (f"{len(runs)} ways to cluster {n} samples" if several else f"{n} samples by {runs[0].name}"),
        facts=facts,
        names=names,
        target=target,
        class_names=classes,
        images=images,
        runs=runs,
        tables=(comparison_table(runs), agreement_table(runs)) if several else (),
    )


def comparison_table(runs: Sequence[Run]) -> Table:
    """Numbers of several runs side by side.

    Parameters
    ----------
    runs : sequence of Run
        Methods on one data set.

    Returns
    -------
    table : Table
        A row for each run: clusters, samples in none, scores, structure, modularity, seconds; columns that nobody
        fills are left out.

    Examples
    --------
    >>> from masked_subspace import BMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> from masked_subspace.report import comparison_table, run_from_estimator
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = BMSC(3, random_state=0).fit(X)
    >>> comparison_table([run_from_estimator(model, "BMSC")]).columns
    ('method', 'clusters', 'structure', 'modularity')
    """
    keys = list(dict.fromkeys(key for run in runs for key in run.scores))
    somebody_left_out = any((run.labels < 0).any() for run in runs)
    rows = []
    for run in runs:
        found, apart = len(np.unique(run.labels[run.labels >= 0])), cluster_modularity(run.affinity, run.labels)
        left_out = int((~in_clusters(run.labels)).sum()) if somebody_left_out else None
        scored = (run.scores.get(key) for key in keys)
        rows.append((run.name, found, left_out, *scored, run.structure, apart, run.seconds))
    columns = ("method", "clusters", LEFT_OUT, *keys, "structure", "modularity", "seconds")
    notes = ["Modularity is on each method's own graph, for methods without one on nearest neighbors."]
    notes += [f"Samples in no cluster: {COUNTED}."] if somebody_left_out and keys else []
    filled = [c for c in range(len(columns)) if c < 2 or any(row[c] is not None for row in rows)]
    decimals = (None, None, None, *(3 for _ in keys), 2, 2, 2)
    return Table(
        "Comparison",
        tuple(columns[c] for c in filled),
        tuple(tuple(row[c] for c in filled) for row in rows),
        notes=tuple(notes),
        decimals=tuple(decimals[c] for c in filled),
    )


def agreement_table(runs: Sequence[Run]) -> Table:
    """How far every two methods agree: the adjusted Rand index of their labels."""
    rows = tuple((one.name, *(agreement(one.labels, other.labels)[0] for other in runs)) for one in runs)
    notes = ["ARI of the labels of two methods: 1 is the same partition, 0 what chance would give."]
    if any((run.labels < 0).any() for run in runs):
        notes.append("Two methods are compared on the samples that both have in clusters.")
    return Table(
        "Who agrees with whom",
        ("method", *(run.name for run in runs)),
        rows,
        tuple(notes),
        (None, *(2 for _ in runs)),
    )


def _coded(y: npt.ArrayLike | None, class_names: Sequence[str] | None) -> tuple[Array | None, list[str] | None]:
    if y is None:
        return None, None
    values, codes = np.unique(np.asarray(y), return_inverse=True)
    if class_names is None:
        return codes, [str(value) for value in values]
    return np.asarray(y), [str(name) for name in class_names]


def _same_length(
    models: Mapping[str, BaseEstimator],
    X: MatrixLike,
    y: npt.ArrayLike | None,
    names: Sequence[str] | None,
    images: Array | None,
) -> int:
    """The number of samples, or an error that names who differs."""
    for name, model in models.items():
        if not hasattr(model, "labels_"):
            raise ValueError(f"models[{name!r}] is a {type(model).__name__} without labels_; fit it first.")
    lengths = {f"models[{name!r}].labels_": len(model.labels_) for name, model in models.items()}
    n = next(iter(lengths.values()))
    if X is not None:
        lengths["X"] = _length(X)
    lengths |= {
        key: _length(value) for key, value in (("y", y), ("names", names), ("images", images)) if value is not None
    }
    for key, length in lengths.items():
        if length != n:
            raise ValueError(f"{key} has {length} samples and {next(iter(lengths))} has {n}; give the same samples.")
    return n


def _length(values: MatrixLike) -> int:
    return int(np.shape(values)[0])
