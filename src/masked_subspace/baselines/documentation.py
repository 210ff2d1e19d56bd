"""What the parameters and attributes that all baselines share mean; `documented` puts them into each class.

What a parameter may be, and its meaning where that is the same, are those of the masked estimators.
"""

from __future__ import annotations

from masked_subspace._common.documentation import Parameter, described, in_words
from masked_subspace.estimators.base import SHARED_CONSTRAINTS
from masked_subspace.estimators.parameters import PARAMETERS
from masked_subspace.label.graph import KINDS
from masked_subspace.label.labeler import CUTS

_SHARED = {
    "n_clusters": Parameter(SHARED_CONSTRAINTS["n_clusters"], "int", "Number of clusters K."),
    "affinity": Parameter(
        SHARED_CONSTRAINTS["affinity"],
        "{" + ", ".join(f'"{kind}"' for kind in KINDS) + "}",
        "The graph of the codes Z, with C their absolute values; the default is the one this method was published "
        f"with. {in_words(KINDS)} (4 is `affinity_power`, where a method has it). All are made symmetric.",
    ),
    "n_links": Parameter(
        SHARED_CONSTRAINTS["n_links"],
        "int",
        'Links a sample keeps in "top-k" and "code-neighbors"; the other graphs do not read it.',
    ),
    "n_components": Parameter(
        SHARED_CONSTRAINTS["n_components"],
        'int, "auto" or None',
        'Eigenvectors in the spectral embedding. None: as many as clusters. "auto": up to four times as many, each '
        "weighted by a power of its eigenvalue.",
    ),
    "cut": Parameter(
        SHARED_CONSTRAINTS["cut"],
        PARAMETERS["cut"].kind,
        f"How the graph becomes K clusters: {in_words(CUTS)}. The methods were published with the spectral cut.",
    ),
    **{name: PARAMETERS[name] for name in ("center", "normalize", "constraints", "random_state", "n_jobs", "verbose")},
}

_ATTRIBUTES = """
labels_ : ndarray of shape (n_samples,)
    Cluster of each sample, from 0.
n_clusters_ : int
    The number of clusters.
representation_matrix_ : csr_array of shape (n_samples, n_samples)
    The codes; row i rebuilds sample i.
affinity_matrix_ : csr_array of shape (n_samples, n_samples)
    The graph that was cut: symmetric, nonnegative, zero diagonal.
embedding_ : ndarray of shape (n_samples, n_vectors)
    The spectral embedding, unit rows; with `cut="modularity"` the share of each sample's links in each cluster.
certainty_ : ndarray of shape (n_samples,)
    0 to 1: how much nearer a sample is to its own cluster's centre in the embedding than to the next.
view_ : str
    "plain": the samples were centred and scaled as `center` and `normalize` say.
subspaces_ : list of Bunch
    One record a cluster, in the features of X: `mean` (d,), `basis` (dim × d, orthonormal rows), `dim`, `explained`
    (share of the squared distances from the mean that lies in the subspace), `size`. Computed when first asked for.
n_iter_ : int
    Iterations of the solver (of its last round, where there are several).
n_rounds_ : int
    Rounds of representing and labelling; 1 for all but `SoftS3C`.
history_ : list of dict
    One record a round: objective, residuals, seconds.
round_affinities_ : list of csr_array of shape (n_samples, n_samples)
    The graph of each round.
round_labels_ : list of ndarray of shape (n_samples,)
    The labels of each round.
soft_mask_ : SoftMask or None
    The soft mask of the last round; None for all but `SoftS3C`.
n_features_in_ : int
    Features of the samples seen by `fit`.
feature_names_in_ : ndarray of shape (n_features,)
    Names of these features, where X was a data frame with text names.
"""

documented = described(_SHARED, _ATTRIBUTES)
