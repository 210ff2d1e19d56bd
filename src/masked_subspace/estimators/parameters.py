"""Every parameter of the masked estimators once: what it may be, and what it means. A new parameter is one entry here.

`described` puts them into the docstring of a class and among its constraints (_common/documentation.py).
"""

from __future__ import annotations

from numbers import Integral, Real

from masked_subspace._common import documentation
from masked_subspace._common.documentation import Parameter, in_words
from masked_subspace._common.validation import Interval, StrOptions
from masked_subspace.label.graph import KINDS
from masked_subspace.label.labeler import CUTS
from masked_subspace.rows.preparation import VIEWS

_COUNT = Interval(Integral, 1, None, closed="left")
_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
_POSITIVE = Interval(Real, 0, None, closed="neither")
_AUTO = StrOptions({"auto"})
# The affinity of which X is the graph itself.
PRECOMPUTED = "precomputed"


PARAMETERS: dict[str, Parameter] = {
    "n_clusters": Parameter(
        [_COUNT, _AUTO, tuple, list],
        'int, "auto" or (low, high)',
        'Number of clusters K. "auto" or a range: as many as different looks at the graph find again, chosen without '
        "labels.",
    ),
    "init": Parameter(
        "no_validation",
        "mask, labels, array, clusterer, list or None",
        "The first soft mask: a mask, labels, an n × n array, a clusterer (its labels), or a list of clusterers and "
        "labels (their consensus). None: every pair costs the same.",
    ),
    "soft_mask": Parameter(
        "no_validation",
        "mask, labels, array, clusterer, list or None",
        "Mˢ, a price for each pair: a mask, labels, an n × n array, a clusterer (its labels), or a list of clusterers "
        "and labels (their consensus). None: every pair costs the same; zeros: BMSC.",
    ),
    "members": Parameter(
        [_COUNT, _AUTO],
        'int or "auto"',
        "How many graphs vote: of several views with several numbers of links or, where `view` is given, of several "
        'settings. 1 is the paper\'s RMSC. "auto": 1 if `sparsity` is a number, else 9; where `view` is "auto" and '
        "clusters have 90 samples or more, two wider graphs of each view vote too (15 of three views).",
    ),
    "sparsity": Parameter(
        [_NOT_NEGATIVE, _AUTO],
        'float or "auto"',
        'λ, the price of one nonzero of Z. "auto": from the samples alone. The dense solver takes the λ that keeps six '
        "entries a row in its first step, of which the later steps make more (30 to 100 on images and tables); the "
        "sparse solver the λ that leaves about 24 of its candidates in the end. The graph keeps `n_links` of them. "
        "Several members have the same rule in each view; where `view` is given, each draws a level of its own.",
    ),
    "mask_weight": Parameter(
        [_NOT_NEGATIVE, _AUTO],
        'float or "auto"',
        'γ, the weight of the soft-mask term; 1 is the paper with rows as given, "auto" a hundredth of the mean '
        "squared row norm. Several members have that too; where `view` is given, each draws one of its own.",
    ),
    "mask_strength": Parameter(
        [Interval(Real, 1, None, closed="left")],
        "float",
        "β of ψ: pairs of one cluster cost 1/β, others β. Several members use 3 for their consensus.",
    ),
    "mask_orientation": Parameter(
        [StrOptions({"corrected", "paper"})],
        '{"corrected", "paper"}',
        'Whether links inside a cluster are cheap ("corrected") or dear ("paper", as printed: see the errata).',
    ),
    "max_rounds": Parameter(
        [_COUNT, _AUTO],
        'int or "auto"',
        'Most rounds of Algorithm 2. "auto": 5 of one member; of several, 2 in one view and 1 in several.',
    ),
    "mask_tol": Parameter(
        [_NOT_NEGATIVE], "float", "Algorithm 2 stops when the mask changes by no more than this (one member)."
    ),
    "view": Parameter(
        [Interval(Real, 0, 1, closed="both"), StrOptions({"auto", *VIEWS})],
        'float or {"auto", ' + ", ".join(f'"{name}"' for name in VIEWS) + "}",
        'How rows are prepared. "plain" centres them; "root" takes square roots first; "whitened" weakens strong '
        'directions, a number by that power; "standardized" puts features on one scale; "lifted" and "homogeneous" add '
        'a constant column; "uncentered…" and "homogeneous…" keep the mean; "…ridge" evens directions out as least '
        'squares do; "leading" evens out the first thirty and leaves the others out; "distance…" links the nearest; '
        '"topics" is for word counts; "low-rank" is a closed form, for motions. With several members "auto" lets the '
        'judge choose among families of views and says in `choices_` what it found; with one it is "plain".',
    ),
    "affine": Parameter(
        ["boolean"],
        "bool",
        "Whether rows of Z sum to 1, so that samples are affine combinations of others: for subspaces that do not pass "
        "through the origin.",
    ),
    "penalty": Parameter(
        [_POSITIVE, _AUTO],
        'float or "auto"',
        'μ₀, where the continuation of Algorithm 1 starts; "auto" is 15 times the mean squared row norm.',
    ),
    "penalty_growth": Parameter([Interval(Real, 1, None, closed="left")], "float", "p, by which μ grows a step."),
    "max_iter": Parameter([_COUNT], "int", "T, most iterations of Algorithm 1."),
    "tol": Parameter([_NOT_NEGATIVE], "float", "Algorithm 1 stops when no entry changes by more than this."),
    "noise": Parameter([_POSITIVE, None], "float or None", "λ₁, the price of dense noise ε (v2). None leaves ε out."),
    "outliers": Parameter(
        [_POSITIVE, _AUTO, None],
        'float, "auto" or None',
        'λ₂, the price of a gross error O (v2). None leaves O out; "auto" finds λ₂ from the residuals and takes O out '
        "of the samples themselves, so that no corrupted entry rebuilds anything.",
    ),
    "hard_mask": Parameter(
        "no_validation",
        "array, sparse array, NeighborMask or None",
        "Mʰ, which pairs are permitted: an n × n pattern of 0 and 1, or a `NeighborMask`. None: all but the diagonal.",
    ),
    "affinity": Parameter(
        [StrOptions({*KINDS, PRECOMPUTED})],
        "{" + ", ".join(f'"{kind}"' for kind in (*KINDS, PRECOMPUTED)) + "}",
        f"The graph φ(Z), with C the absolute values of Z: {in_words(KINDS)}. All are made symmetric. "
        '"precomputed": X is the graph, n × n, and is only cut; RMSC takes the consensus of several cuts. New samples '
        "have no place in it.",
    ),
    "n_links": Parameter(
        [_COUNT, _AUTO],
        'int or "auto"',
        'The k of "top-k" and "code-neighbors"; several members use k − 1, k and k + 1. "auto": 5 for one member; 4 '
        "for several, 6 where clusters have fewer than 40 samples. Several views vote with 6 and 8 links too where "
        "clusters have 90 samples or more; in sets of more than 2,000, with 4, 5, 6, 8 and 10 where they have 500.",
    ),
    "n_components": Parameter(
        [_COUNT, _AUTO, None],
        'int, "auto" or None',
        'Eigenvectors of the spectral cut. None: K; "auto" weights up to 4K of them softly.',
    ),
    "cut": Parameter(
        [StrOptions(set(CUTS))],
        "{" + ", ".join(f'"{cut}"' for cut in CUTS) + "}",
        f"How the graph becomes K clusters: {in_words(CUTS)}. Several members also vote with cuts finer than K where "
        "clusters have 40 samples or more, and with both cuts where they have fewer.",
    ),
    "center": Parameter(["boolean"], "bool", "Whether the mean row is subtracted first."),
    "normalize": Parameter(["boolean"], "bool", "Whether rows are scaled to unit length."),
    "solver": Parameter(
        [StrOptions({"auto", "dense", "sparse"})],
        '{"auto", "dense", "sparse"}',
        '"dense" is exact, "sparse" lets each sample see its nearest only. "auto": dense up to 2,000 samples with one '
        "member, sparse otherwise.",
    ),
    "n_candidates": Parameter([_COUNT], "int", "How many nearest samples the sparse solver sees, also in `predict`."),
    "constraints": Parameter(
        [StrOptions({"soft", "hard"})],
        '{"soft", "hard"}',
        'What known pairs given to `fit` do: "soft" lets them shape the graph, "hard" never violates one.',
    ),
    "min_certainty": Parameter(
        [Interval(Real, 0, 1, closed="both"), None],
        "float or None",
        "Samples with a `certainty_` below this get the label −1. None: every sample keeps its cluster.",
    ),
    "missing": Parameter(
        [StrOptions({"error", "ignore"})],
        '{"error", "ignore"}',
        'NaN entries of X: "error" refuses them; "ignore" takes them for unknown and estimates them from the subspaces '
        "of the samples, by codes fitted to observed entries. `predict` does the same. In a sparse X "
        "NaN is refused.",
    ),
    "random_state": Parameter(
        ["random_state"],
        "int, RandomState or None",
        "Seed of everything random; the same seed gives the same labels, and permuted rows the same partition up to "
        "rounding.",
    ),
    "n_jobs": Parameter(
        [Integral, None],
        "int or None",
        "Threads. None: one for each core, but no more than OMP_NUM_THREADS allows. −1: one for each core.",
    ),
    "verbose": Parameter(["verbose"], "int", "1 shows what is being done, 0 nothing."),
}

_ATTRIBUTES = """
labels_ : ndarray of shape (n_samples,)
    Cluster of each sample, from 0; −1 only below `min_certainty`.
representation_matrix_ : csr_array of shape (n_samples, n_samples)
    Z; row i rebuilds sample i. With several members that of the member nearest to the consensus.
affinity_matrix_ : csr_array of shape (n_samples, n_samples)
    The graph that was cut: symmetric, nonnegative, zero diagonal. With several members the mean of their graphs.
embedding_ : ndarray of shape (n_samples, n_vectors)
    Where the samples lie in the cut: eigenvectors, shares of links, or the agreement of the votes.
n_clusters_ : int
    The number of clusters: as given, or chosen.
n_clusters_scores_ : list of dict
    Where it was chosen, one record for each number tried: n_clusters, score, agreement, information, modularity; of
    data of low rank n_clusters and score, which is the gap.
n_clusters_candidates_ : list of int
    Where it was chosen, that number and up to two others with nearly as much evidence.
memberships_ : ndarray of shape (n_samples, n_clusters)
    How far each sample belongs to each cluster; rows sum to 1, and the largest entry is the sample's own cluster.
certainty_ : ndarray of shape (n_samples,)
    0 to 1. With several members how far they agree on the sample, else how much nearer its own cluster is. 0 for a row
    of zeros in views that neither centre nor have a constant column: nothing says where it belongs.
structure_ : float
    0 to 1, how far the clusters are real: agreement × prediction strength, and up to 20 features × separation (whether
    one cloud would be cut as cleanly; of whole subspaces agreement counts from that of a cloud on). A low value warns.
subspaces_ : list of Bunch
    One record a cluster, in the features of X: `mean` (d,), `basis` (dim × d, orthonormal rows), `dim`, `explained`
    (share of the squared distances from the mean that lies in the subspace), `size`. Computed when first asked for.
n_missing_ : int
    How many entries of X were NaN.
completed_ : ndarray of shape (n_samples, n_features)
    X with estimates where it was NaN, if it was anywhere.
missing_error_ : float
    If X had NaN: the root mean square error of known entries that were hidden for a test; 1 is that of their means.
view_ : str
    The view of the rows that `predict` uses.
n_iter_ : int
    Iterations of Algorithm 1 in the last round.
n_rounds_ : int
    Rounds of Algorithm 2.
history_ : list of dict
    One record a round: objective, residuals, mask change, sparsity (nonzeros a row of Z), seconds. With several members
    also `members`, one record a graph: view, lambda, penalty, mask_weight, n_links, links.
round_affinities_ : list of csr_array of shape (n_samples, n_samples)
    The graph of each round.
round_labels_ : list of ndarray of shape (n_samples,)
    The labels of each round.
soft_mask_ : SoftMask or None
    The mask of the last round; None where it was played without prices, as the one round of a default RMSC is.
n_features_in_ : int
    Features of the samples seen by `fit`.
feature_names_in_ : ndarray of shape (n_features,)
    Names of these features, where X was a data frame with text names.
"""

described = documentation.described(PARAMETERS, _ATTRIBUTES)
