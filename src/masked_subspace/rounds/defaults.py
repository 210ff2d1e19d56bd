"""The recipe of the default fit: in which order what happens, and its constants with their unit and where they were
measured.

`RMSC(K).fit(X)` with several members, the default:

    estimators/base.py     fit              X is checked
    estimators/rmsc.py     _cluster_into    are these motions? (rounds/low_rank.py: then a closed form, and that is all)
                           _judge           every family of views on X, or on a sample of many
    rounds/judge.py          families_of    each view is prepared and represented: codes, or links that need none
                             judged_ways    graphs are cut, votes compared; the best way gets its consensus
    estimators/rmsc.py     _vote            the judge's votes are round 1; of a sample's, members are asked again
    rounds/recursion.py      run_rounds     one round: consensus, labels (a second only for members of one view)
    estimators/masked.py   _set_fitted      memberships, certainty, structure

A Family has views and Looks (X in one view) with Members (settings, links), who fill a Ballot (solutions, graphs,
votes); a Way is a Family cut into K clusters. The Ensemble plays rounds with the Recipe that its members share.

Who votes, where neither links nor members are given (estimators/rmsc.py asks, the functions below answer):

    the judge saw all samples   _with_votes_of_judge  nine graphs of the family's views, with three links in turn
                                                      (`links_for`), and `wider_links_for` of each view of codes
    it saw a sample of them     _asked_again          of each view one graph for each of `voting_links`
    the view was given          _asked_again          nine graphs of it, with settings drawn from the prior
    over `ONE_VIEW_FROM`        _asked_again          in either case of one view one graph for each of `LINKS_OF_MANY`

Every graph votes once for each of `cuts_for`. Graphs by cosine keep `links_by_cosine_for` throughout; of mixtures and
topics the models vote in the place of cuts (`votes_of_model`).

Constants of one step stand beside its code: links of one graph (`LINKS`, label/graph.py), restarts of k-means
(label/kmeans.py), λ, μ₀ and γ of one graph (represent/model.py), by how much a family must lead (rounds/judge.py),
what a mixture, topics and the closed form take (rounds/mixtures.py, topics.py, low_rank.py), from where on a cut is by
modularity (label/labeler.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from masked_subspace.label.labeler import MODULARITY_FROM, Cut

# RMSC with nothing set: how many graphs vote, before the wider ones below. Nine of three views, or of nine settings
# where one view is given (docs/findings/accuracy.md, "Consensus").
MEMBERS = 9
# Samples a cluster from which cuts finer than K help, and from which they are enough (USPS and MNIST: 100 a cluster,
# COIL: 72, ORL: 10).
FINER_FROM, FINEST_FROM = 40, 90
# Links a sample in the members' graphs: k − 1, k and k + 1 in turn, by the samples a cluster. 4 ± 1 give COIL20 (72 a
# cluster) 1.000 where 5 ± 1 give .92; 6 ± 1 give Palm (20) .97 where 4 ± 1 give .91.
LINKS_OF_MEMBERS, LINKS_OF_SMALL_CLUSTERS = 4, 6
# From `FINEST_FROM` samples a cluster on, wider graphs help too: they vote beside them once the views are chosen:
# MNIST-1000 .741 → .753, USPS-1000 .919 → .936, USPS random .816 → .837 (draws 0–7, one, 0–13).
WIDER_LINKS = (6, 8)
# The prior from which the members of one given view draw settings, evenly between the two ends: powers of ten of μ₀ and
# of γ in mean squared row norms, and the level at which λ is looked for (links a sample of the dense solver, a quarter
# of the candidates that stay in the sparse one). Members of several views share one setting (represent/model.py).
PRIOR_OF_PENALTY, PRIOR_OF_LEVEL, PRIOR_OF_WEIGHT = (0.5, 1.5), (4.0, 10.0), (-2.0, 0.3)
# How exactly any member is solved: μ doubles, and votes are settled long before values are. A smaller `max_iter` and a
# larger `tol` of the user count.
MEMBER_GROWTH, MEMBER_ITERATIONS, MEMBER_TOL = 2.0, 60, 1e-5
# From the second round on the mask must be followed: γ is at least this, in mean squared row norms.
WEIGHT_UNDER_A_MASK = 1.0
# β of the consensus mask between rounds, no unit (docs/findings/accuracy.md).
CONSENSUS_STRENGTH = 3.0
# Rounds: with one member until the mask stays; several members of one view have a second one, which lifts them, several
# views do not gain by it (ORL .876 → .868). They stop when their consensus moves by less than this (1 − adjusted Rand
# index).
ROUNDS_OF_ONE, ROUNDS_OF_ONE_VIEW = 5, 2
SETTLED = 1e-3
# Links a sample in graphs by |cosine|, the codes of least squares: most entries of such a code are small and few are 0.
# Palm (20 a cluster) .999 with these and .92 with 4; ORL (10 a cluster) .88 with these and .85 with 10, 12 and 14.
LINKS_BY_COSINE = (6, 8, 10)
# Samples a cluster from which these are taken; smaller clusters have as many fewer, so that links stay inside: faces of
# ORL, 5 a person 71.9 → 78.0, 7 a person 77.9 → 83.7; Palm, 8 of each of 20, 98.8 → 100 (four draws each).
SAMPLES_OF_THESE_LINKS = 10
# Samples on which ways are judged, or so many a cluster if that is more (docs/findings/judge.md, "On a sample").
JUDGED_SAMPLES, JUDGED_A_CLUSTER = 2_000, 25
# Samples on which the number of clusters is looked for, where it is not given (docs/findings/number_of_clusters.md).
NUMBERED_SAMPLES = 4_000
# Above so many samples one view of the family votes, in graphs of one solution (docs/findings/scaling.md, "Views").
ONE_VIEW_FROM = 100_000
# Links a sample in those graphs: where samples are many, more of them are of the same cluster. MNIST 70,000, one
# solution: 3, 4, 5 links .966, these .970; two draws of 25,000: .959 and .928, .963 and .963.
LINKS_OF_MANY = (4, 5, 6, 8, 10)
# Samples a cluster from which these are the links of fewer samples, too: MNIST 10,000, three draws and three seeds of a
# fourth, .957 .925 .916 .906 .903 .952 with 3, 4, 5, 6, 8 and .962 .921 .919 .952 .950 .953 with these; USPS .970 both.
MANY_A_CLUSTER = 500
# A fit whose structure is below this warns: how often noise does is in docs/findings/judge.md, "Trust".
DOUBTFUL_STRUCTURE = 0.22
# The code that rebuilds a new sample from training samples, which then vote (`predict`): λ and μ₀ in mean squared
# norms of the training rows, and the factor of μ. Chosen on 26 halves of sets (docs/findings/calibration.md, "Votes or
# subspaces"): a larger μ₀ has more voters, which gains on digits and loses where clusters have five samples.
VOTE_SPARSITY, VOTE_PENALTY, VOTE_GROWTH = 1e-3, 0.3, 1.5


def cuts_for(cut: str, n_samples: int, n_clusters: int) -> list[Cut]:
    """The cuts that vote, for `cut` as the user gave it."""
    if cut not in ("auto", "modularity"):
        return [Cut(cut)]
    each = n_samples / n_clusters
    finenesses = (1.5, 2.0) if each >= FINEST_FROM else (1.0, 1.5) if each >= FINER_FROM else (1.0,)
    finer = [Cut("modularity", fineness) for fineness in finenesses]
    # Spectral cuts of many samples are dear and, at that size, the worse ones.
    alone = cut == "modularity" or each >= FINEST_FROM or n_samples > MODULARITY_FROM
    return finer if alone else [Cut("spectral"), *finer]


def links_for(n_links: int | str, n_samples: int, n_clusters: int) -> tuple[int, int, int]:
    """Links a sample in the members' graphs, for `n_links` as the user gave it."""
    middle = n_links
    if isinstance(middle, str):
        middle = LINKS_OF_MEMBERS if n_samples >= FINER_FROM * n_clusters else LINKS_OF_SMALL_CLUSTERS
    return max(1, middle - 1), middle, middle + 1


def links_by_cosine_for(n_links: int | str, n_samples: int, n_clusters: int) -> tuple[int, ...]:
    """The same in graphs by |cosine|: where a cluster has fewer than ten samples, by its size."""
    if not isinstance(n_links, str):
        return links_for(n_links, n_samples, n_clusters)
    share = min(1.0, n_samples / (SAMPLES_OF_THESE_LINKS * n_clusters))
    return tuple(max(2, round(share * count)) for count in LINKS_BY_COSINE)


def wider_links_for(n_samples: int, n_clusters: int) -> tuple[int, ...]:
    """Links of the graphs that vote beside those where clusters are large."""
    return WIDER_LINKS if n_samples >= FINEST_FROM * n_clusters else ()


def voting_links(links: Sequence[int], n_samples: int, n_clusters: int) -> tuple[int, ...]:
    """Links of the graphs that vote where the judge saw a sample: wider ones beside these or, where clusters are very
    large, none of the narrowest."""
    if n_samples >= MANY_A_CLUSTER * n_clusters:
        return LINKS_OF_MANY
    return (*links, *wider_links_for(n_samples, n_clusters))
