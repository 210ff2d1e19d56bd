"""Anyone's graph through our cuts and their consensus."""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np
from scipy.sparse import csr_array, eye_array, issparse
from sklearn.utils import check_random_state

from masked_subspace._common.rows import unit_rows
from masked_subspace._common.types import IntArray, MatrixLike, RandomSeed
from masked_subspace.label.agreement import agreement_with
from masked_subspace.label.graph import Components, normalized_graph, without_diagonal
from masked_subspace.label.labeler import CUTS, Cut, Evidence, NumberWanted, bounds_of, label_graph
from masked_subspace.label.number_of_clusters import Number, number_of_clusters
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.parallel.engine import thread_count
from masked_subspace.represent.model import SolverResult
from masked_subspace.rounds.defaults import cuts_for
from masked_subspace.rounds.recursion import Ballot, Outcome, consensus

# Weights w_ij and w_ji count as equal if they differ by less than this share of the largest weight.
_SYMMETRIC = 1e-5
# Columns of the sketch that stands in for rows of samples.
_SKETCH = 64


def cluster_graph(
    W: MatrixLike,
    n_clusters: NumberWanted,
    *,
    cut: str = "auto",
    n_components: Components = "auto",
    random_state: RandomSeed = None,
    n_jobs: int | None = None,
) -> IntArray:
    """Clusters of a weighted graph of any origin.

    Parameters
    ----------
    W : array or sparse array of shape (n_samples, n_samples)
        Symmetric, nonnegative weights; the diagonal is not looked at.
    n_clusters : int, "auto" or (low, high)
        Number of clusters K; if it is not one number, it is chosen without labels.
    cut : {"auto", "spectral", "modularity"}, default="auto"
        "spectral": eigenvectors and k-means. "modularity": communities; where clusters have 40 samples or more, the
        consensus of cuts into more than K parts. "auto": the consensus of both, from 90 samples a cluster on of the
        finer modularity cuts alone.
    n_components : int, "auto" or None, default="auto"
        Eigenvectors of the spectral cut. None: K; "auto" weights up to 4K of them softly.
    random_state : int, RandomState or None, default=None
        Seed of everything random; the same seed gives the same labels.
    n_jobs : int or None, default=None
        Threads. None: one for each core, but no more than OMP_NUM_THREADS allows. −1: one for each core.

    Returns
    -------
    labels : ndarray of int of shape (n_samples,)
        Clusters from 0.

    Raises
    ------
    ValueError
        If W is not square, not symmetric, has negative or infinite weights, no links, or fewer samples than clusters.

    Warns
    -----
    UserWarning
        If samples have no links: nothing says where they belong.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace import cluster_graph
    >>> two_triangles = np.kron(np.eye(2), np.ones((3, 3)))
    >>> cluster_graph(two_triangles, 2, random_state=0).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    if cut not in CUTS:
        raise ValueError(f"cut is {cut!r}; choose one of {', '.join(map(repr, CUTS))}.")
    graph = check_graph(W, n_clusters, "W")
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    evidence = evidence_of(graph, None, hard=False, n_threads=thread_count(n_jobs))
    bounds = bounds_of(n_clusters, graph.shape[0])
    number = number_of_graph(graph, bounds, seed, evidence.n_threads)
    taken = bounds[0] if number is None else number.n_clusters
    cuts = cuts_for(cut, graph.shape[0], taken)
    return outcome_of_cuts(graph, taken, cuts, n_components, evidence, seed).labeling.labels


def number_of_graph(graph: csr_array, bounds: tuple[int, int], seed: int, n_threads: int) -> Number | None:
    """How many clusters a graph has; None where only one number is permitted."""
    return None if bounds[0] == bounds[1] else number_of_clusters([[graph]], *bounds, seed, n_threads=n_threads)


def check_graph(W: MatrixLike, n_clusters: NumberWanted, name: str) -> csr_array:
    """W as CSR without its diagonal; what is no graph is refused, samples without a link are named in a warning."""
    is_range = n_clusters == "auto" or isinstance(n_clusters, (tuple, list))
    if not is_range and (not isinstance(n_clusters, Integral) or n_clusters < 1):
        raise ValueError(f'n_clusters is {n_clusters!r}; it must be a whole number ≥ 1, "auto" or (low, high).')
    most = 2 if n_clusters == "auto" else bounds_of(n_clusters, 0)[1]
    dense = None if issparse(W) else np.asarray(W)
    shape = np.shape(W)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{name} has shape {shape}; a graph is n × n: one row and one column a sample.")
    if shape[0] < max(2, most):
        raise ValueError(f"{name} has n_samples={shape[0]}; it should be >= n_clusters={most} and at least 2.")
    graph = csr_array(W if dense is None else dense)
    if graph.dtype.kind not in "buif":
        raise ValueError(f"{name} has dtype {graph.dtype}; weights must be real numbers.")
    graph = csr_array(graph, dtype=graph.dtype if graph.dtype in (np.float32, np.float64) else np.float64, copy=True)
    graph.sum_duplicates()
    if not np.isfinite(graph.data).all():
        raise ValueError(f"{name} contains NaN or infinity (inf); give missing links the weight 0.")
    if graph.data.min(initial=0) < 0:
        raise ValueError(f"{name} has negative weights, down to {graph.data.min():.2g}; take abs({name}) or clip at 0.")
    largest = float(graph.data.max(initial=0))
    apart = abs(graph - graph.T)
    if apart.nnz and float(apart.max()) > _SYMMETRIC * largest:
        raise ValueError(f"{name} is not symmetric: entries differ by {apart.max():.2g}; take ({name} + {name}.T) / 2.")
    graph = without_diagonal(graph)
    if graph.nnz == 0:
        raise ValueError(f"{name} has no links between different samples: there is nothing to cut.")
    isolated = int((np.diff(graph.indptr) == 0).sum())
    if isolated:
        warnings.warn(
            f"{isolated} of the {shape[0]} samples of {name} have no links; nothing says where they belong, and they "
            "are put into any cluster.",
            UserWarning,
            stacklevel=3,
        )
    return graph


def evidence_of(graph: csr_array, known: KnownPairs | None, *, hard: bool, n_threads: int) -> Evidence:
    """What labelers need besides a graph. Rows of samples are not known: a sketch of the graph's rows takes their
    place, in which samples with the same neighbours are alike."""
    n = graph.shape[0]
    directions = np.random.default_rng(0).normal(size=(n, min(_SKETCH, n))).astype(graph.dtype)
    walk = normalized_graph(graph) + eye_array(n, dtype=graph.dtype)
    return Evidence(unit_rows(csr_array(walk) @ directions), known, hard, n_threads)


def outcome_of_cuts(
    graph: csr_array, n_clusters: int, cuts: list[Cut], n_components: Components, evidence: Evidence, seed: int
) -> Outcome:
    """One cut as it is, the consensus of several; the graph stands in the place of a representation."""
    solution = SolverResult(graph, 1, True, 0.0, 0.0, 0.0, np.zeros(0), 0.0)
    if len(cuts) == 1 and cuts[0].fineness == 1:
        labeling = label_graph(graph, n_clusters, n_components, evidence, seed, cut=cuts[0].kind)
        return Outcome(solution, labeling, None, float("nan"))
    alone = Evidence(evidence.X, None, False, evidence.n_threads)
    votes = [
        label_graph(graph, one.parts(n_clusters, graph.shape[0]), n_components, alone, seed, cut=one.kind).labels
        for one in cuts
    ]
    labeling = consensus(Ballot([], [solution], [graph], votes), n_clusters, evidence, seed)
    certainty = agreement_with(labeling.labels, votes)
    return Outcome(solution, labeling, None, float("nan"), {}, votes, certainty)
