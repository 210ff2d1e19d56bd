"""The number of clusters: what looks share, and planted numbers that are found."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_mutual_info_score

from masked_subspace.label.labeler import bounds_of
from masked_subspace.label.modularity import ManyCuts, modularity_cut
from masked_subspace.label.number_of_clusters import (
    _candidates,
    _coarsest,
    _Family,
    _favourites,
    _hopeful,
    _leading,
    _nearly_best,
    _prediction,
    number_of_clusters,
    part_of_links,
)
from masked_subspace.label.numbers_tried import between_neighbours, every_fourth, first_numbers, promising
from masked_subspace.label.shared_information import SharedInformation


def planted_links(n_clusters, each, seed, inside=8, outside=1):
    """Each sample links to `inside` others of its own cluster and `outside` of any."""
    rng = np.random.default_rng(seed)
    n = n_clusters * each
    labels = np.repeat(np.arange(n_clusters), each)
    rows, cols = [], []
    for i in range(n):
        own = np.flatnonzero((labels == labels[i]) & (np.arange(n) != i))
        others = np.flatnonzero(labels != labels[i])
        chosen = [*rng.choice(own, inside, replace=False), *rng.choice(others, outside, replace=False)]
        rows += [i] * len(chosen)
        cols += chosen
    return csr_array((rng.uniform(0.5, 1, len(rows)), (rows, cols)), shape=(n, n)), labels


def test_what_is_shared_is_the_adjusted_mutual_information():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 6, 4000)
    b = np.where(rng.random(4000) < 0.7, a, rng.integers(0, 6, 4000))
    found = SharedInformation.of([(a, b)], rng)
    assert found.agreement == pytest.approx(adjusted_mutual_info_score(a, b), abs=0.01)
    same = SharedInformation.of([(a, a)], rng)
    assert same.agreement == pytest.approx(1)
    assert same.information == pytest.approx(np.log(6), abs=0.02)
    assert SharedInformation.of([(a, rng.permutation(a))], rng).agreement == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("n_clusters", [3, 7, 15])
def test_planted_numbers_are_found(n_clusters):
    views = [planted_links(n_clusters, 30, seed)[0] for seed in (0, 1)]
    for families in ([views], [views[:1]]):
        found = number_of_clusters(families, 2, 40, seed=0)
        assert found.n_clusters == n_clusters
        assert found.candidates[0] == n_clusters
        best = max(found.records, key=lambda record: record.get("score", -np.inf))
        assert best["n_clusters"] == n_clusters
        assert best["agreement"] > 0.95


def test_numbers_above_the_dense_part_are_refined():
    found = number_of_clusters([[planted_links(33, 12, 0)[0], planted_links(33, 12, 1)[0]]], 2, 80, seed=0)
    assert found.n_clusters == 33


def test_a_family_that_sees_nothing_has_no_say():
    rng = np.random.default_rng(0)
    good = [planted_links(6, 30, seed)[0] for seed in (0, 1)]
    noise = [csr_array(planted_links(6, 30, seed)[0][rng.permutation(180)]) for seed in (2, 3)]
    assert number_of_clusters([noise, good], 2, 30, seed=0).n_clusters == 6


def test_clusters_that_are_in_one_place_do_not_predict():
    """Looks agree on four parts, but only two of them are different places."""
    links, labels = planted_links(4, 40, 0, outside=0)
    rng = np.random.default_rng(0)
    place = 9 * np.eye(30)[labels // 2]
    looks = [ManyCuts(part_of_links(links, rng), seed) for seed in (0, 1)]
    found = _prediction(looks, 4, [place + rng.normal(size=(160, 30))], seed=0)
    assert found < 0.8
    apart = 9 * np.eye(30)[labels]
    assert _prediction(looks, 4, [apart + rng.normal(size=(160, 30))], seed=0) > 0.95


def test_where_the_score_is_flat_the_coarser_number_is_the_one_that_predicts_as_well():
    score = np.array([0.99, 0.98, 0.97, 1.0])
    predicted = {7: 0.9, 8: 0.8, 9: 0.9, 10: 0.9}
    assert _coarsest([7, 8, 9, 10], score, [0.9] * 4, predicted.__getitem__) == 2
    assert _coarsest([9, 10], np.array([0.94, 1.0]), [0.9] * 2, predicted.__getitem__) == 1
    assert _coarsest([8, 10], np.array([0.99, 1.0]), [0.9] * 2, predicted.__getitem__) == 1


def test_a_number_on_which_looks_agree_more_than_on_its_neighbours_stands():
    score, predicted = np.array([0.99, 0.99, 1.0, 0.99]), dict.fromkeys([8, 9, 10, 11], 0.9)
    assert _coarsest([8, 9, 10, 11], score, [0.9, 0.8, 0.81, 0.8], predicted.__getitem__) == 2
    assert _coarsest([8, 9, 10, 11], score, [0.9, 0.8, 0.81, 0.82], predicted.__getitem__) == 0
    assert _coarsest([8, 9, 10, 11], score, [0.9, 0.82, 0.81, 0.8], predicted.__getitem__) == 0


def test_a_far_number_is_not_asked_what_it_predicts():
    asked = []
    score = np.array([0.99, 0.99, 0.99, 1.0])
    assert _coarsest([4, 6, 9, 10], score, [0.9] * 4, lambda k: asked.append(k) or k) == 3
    assert asked == [9, 10]


def test_the_same_seed_gives_the_same_number_on_any_number_of_threads():
    views = [planted_links(5, 20, seed, outside=4)[0] for seed in (0, 1)]
    one, two = (number_of_clusters([views], 2, 20, seed=3, n_threads=threads) for threads in (1, 2))
    assert one == two


def test_many_cuts_are_the_cuts():
    links = part_of_links(planted_links(6, 20, 0)[0], np.random.default_rng(0))
    many = ManyCuts(links, 4)
    for n_clusters in (2, 5, 6, 11):
        assert np.array_equal(many.cut(n_clusters), modularity_cut(links, n_clusters, 4))


def test_part_of_links_is_symmetric_and_keeps_the_strongest():
    links, _ = planted_links(3, 20, 0)
    part = part_of_links(links, np.random.default_rng(0))
    assert abs(part - part.T).max() == 0
    strongest = links.toarray().argmax(axis=1)
    assert (part[np.arange(60), strongest] > 0).all()
    assert part.nnz < (links + links.T).nnz


def test_numbers_that_are_tried():
    assert first_numbers(2, 9) == list(range(2, 10))
    tried = first_numbers(2, 200)
    assert tried[:20] == list(range(2, 22))
    assert tried[-1] == 200
    assert max(np.diff(tried[20:]) / tried[20:-1]) < 0.15
    assert first_numbers(30, 34)[0] == 30


def test_near_the_best_all_numbers_are_tried_or_twenty_of_them():
    assert between_neighbours([2, 3, 4], np.array([0.1, 1.0, 0.2]), 0.05) == []
    assert between_neighbours([21, 23, 26, 29], np.array([0.1, 0.2, 1.0, 0.5]), 0.05) == [24, 25, 27, 28]
    # 21 is as good as 26: what lies between may be better than both.
    assert between_neighbours([21, 23, 26, 29], np.array([0.96, 0.9, 1.0, 0.5]), 0.05) == [22, 24, 25, 27, 28]
    near = between_neighbours([91, 102, 115, 128], np.array([0.1, 0.2, 1.0, 0.3]), 0.05)
    assert len(near) == 20
    assert (near[0], near[-1]) == (103, 127)
    assert np.diff(near).max() <= 2


def test_numbers_between_two_poor_ones_are_left_out():
    tried = list(range(2, 20))
    assert every_fourth(tried) == [2, 3, 7, 11, 15, 19]
    one, other = [0.1, 0.2, 1.0, 0.4, 0.1, 0.0], [0.0, 0.1, 0.2, 0.3, 0.4, 1.0]
    assert promising(tried, [one]) == [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 19]
    # What one family hopes for all try, so that they can be compared.
    assert promising(tried, [one, other]) == [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 16, 17, 18, 19]
    assert promising(tried, [one, [-0.1] * 6]) == tried  # nothing is half of nothing
    assert promising([5, 6], [[0.1, 1.0]]) == [5, 6]


def test_candidates_differ_and_are_near_the_best():
    score = np.array([0.1, 0.95, 0.3, 1.0, 0.99, 0.2, 0.5, 0.92])
    assert _candidates([2, 3, 4, 20, 21, 25, 30, 40], score) == [20, 3, 40]
    assert _candidates([2, 3], np.array([0.1, 1.0])) == [3]
    # 20 predicts as well as 21, on which looks agree most: both are named.
    assert _candidates([2, 20, 21, 40], np.array([0.95, 0.99, 1.0, 0.1]), coarser=20) == [21, 20, 2]


@pytest.mark.parametrize(
    ("wanted", "bounds"), [(4, (4, 4)), ("auto", (2, 20)), ((3, 9), (3, 9)), ([1, 2], (1, 2)), (np.int64(3), (3, 3))]
)
def test_bounds(wanted, bounds):
    assert bounds_of(wanted, 100) == bounds


@pytest.mark.parametrize("wrong", [(3,), (5, 3), (0, 4), (2.0, 3), (True, 3), (1, 2, 3)])
def test_a_range_that_is_none_is_refused(wrong):
    with pytest.raises(ValueError, match=r"a range is \(low, high\)"):
        bounds_of(wrong, 100)


def family(top, at, *, held_back=False):
    """A family whose score is `top` at one number and .1 less with each step from it."""
    return SimpleNamespace(score=lambda k: top - 0.1 * abs(k - at), held_back=held_back)


def test_families_that_see_little_do_not_label_clouds():
    best, near, far = family(1.0, 4), family(0.95, 3), family(0.5, 3)
    assert _nearly_best([best, near, far], [2, 3, 4]) == [best, near]


def test_the_family_that_finds_most_again_decides_and_one_that_agrees_easily_must_lead_by_three_tenths():
    several, single, clear = family(0.4, 3), family(0.5, 4, held_back=True), family(0.53, 4, held_back=True)
    assert _leading([several, single], [2, 3, 4]) is several
    assert _leading([several, clear], [2, 3, 4]) is clear
    # Where the others find nothing, it is not held back.
    nothing, little = family(-0.3, 2), family(-0.1, 4, held_back=True)
    assert _leading([nothing, little], [2, 3, 4]) is little


def test_families_that_agree_easily_decide_together():
    """One finds a little at 9, the other a little at 2: what both find is at 2."""

    class Look:
        def __init__(self, W):
            self.W = W

        def cut(self, k):
            return self.cuts[k]

    rng = np.random.default_rng(0)
    two, nine = rng.integers(0, 2, 900), rng.integers(0, 9, 900)
    W = csr_array(np.eye(900))

    def family(at_two, at_nine):
        """Looks that agree on so much of the samples."""
        looks = []
        for _ in range(3):
            look = Look(W)
            look.cuts = {
                k: np.where(rng.random(900) < share, labels, rng.integers(0, k, 900))
                for k, labels, share in ((2, two, at_two), (9, nine, at_nine))
            }
            looks.append(look)
        made = _Family(looks, [(0, 1), (0, 2), (1, 2)], 0, 1, held_back=True)
        made.try_all([2, 9])
        return made

    finer, coarser, little = family(0.98, 0.92), family(0.97, 0.5), family(0.9, 0.5)
    assert finer.score(9) > max(finer.score(2), coarser.score(2)) > 0.7 * finer.score(9) / 1.3
    assert _leading([finer, little], [2, 9]) is finer  # the other one finds nothing
    assert little.score(2) < 0
    coarser = family(0.99, 0.5)
    together = _leading([finer, coarser], [2, 9])
    assert len(together.looks) == 6
    assert together.pairs == [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]
    assert max([2, 9], key=together.score) == 2
    several = family(0.98, 0.97)
    several.held_back = False
    assert _leading([several, coarser, finer], [2, 9]) is several  # it is not of their kind, and leads


def test_of_a_family_that_finds_nothing_each_fourth_number_is_tried():
    views = [planted_links(5, 30, seed)[0] for seed in (0, 1)]
    noise = [planted_links(1, 150, seed, inside=8, outside=0)[0] for seed in (2, 3)]
    tried = list(range(2, 22))
    clear, nothing = _Family.of(views, 0, 1), _Family.of(noise, 0, 1)
    assert _hopeful([nothing, clear], tried) == [clear]
    assert list(nothing.records) == [2, 3, 7, 11, 15, 19]
    assert _hopeful([nothing], tried) == [nothing]
    assert number_of_clusters([noise, views], 2, 21, seed=0).n_clusters == 5


def test_families_that_find_nearly_as_much_name_their_best_numbers():
    families = [family(0.8, 3), family(0.6, 9), family(1.0, 6)]
    assert _favourites(families, range(2, 12), 0.7) == [6, 3]
    assert _favourites(families, range(2, 12), 0.5) == [6, 3, 9]
    assert _favourites(families, range(2, 12), -0.5) == []
    score = np.array([0.1, 0.95, 0.3, 1.0])
    assert _candidates([2, 3, 4, 20], score, favourites=[20, 19, 40]) == [20, 40, 3]
    assert _candidates([2, 3, 4, 20], score, favourites=[40, 60, 80]) == [20, 40, 60]


def test_families_of_one_view_and_those_of_distances_are_held_back():
    graphs = [planted_links(3, 20, seed)[0] for seed in (0, 1)]
    assert not _Family.of(graphs, 0, 1).held_back
    assert _Family.of(graphs[:1], 0, 1).held_back
    assert _Family.of(graphs, 0, 1, by_distance=True).held_back
    # Four clusters by codes, five by distances, found again as well: log 5 is less than 1.3 log 4.
    four, five = ([planted_links(count, 100 // count, seed)[0] for seed in (0, 1)] for count in (4, 5))
    assert number_of_clusters([four, five], 2, 20, seed=0).n_clusters == 5
    assert number_of_clusters([four, five], 2, 20, seed=0, by_distance=[1]).n_clusters == 4


def test_evidence_that_is_split_shows_in_the_candidates():
    """One family sees six clusters, another four."""
    six = [planted_links(6, 30, seed)[0] for seed in (0, 1)]
    four = [planted_links(4, 45, seed)[0] for seed in (2, 3)]
    found = number_of_clusters([six, four], 2, 30, seed=0)
    assert (found.n_clusters, found.candidates[:2]) == (6, [6, 4])


@pytest.mark.parametrize(("n_samples", "high"), [(4, 2), (14, 2), (15, 3), (999, 199), (1_000, 200), (9_000, 200)])
def test_auto_goes_to_200_clusters_and_no_lower_than_five_samples_each(n_samples, high):
    assert bounds_of("auto", n_samples) == (2, high)


def test_scores_below_zero_are_flat_by_their_size_too():
    """−1 is within 5 % of itself only: −1.04 counts as good, −1.06 does not."""
    score = np.array([-1.04, -1.0, -2.0])
    assert _coarsest([9, 10, 11], score, [0.9] * 3, lambda k: 1.0) == 0  # noqa: ARG005
    assert _coarsest([9, 10, 11], score - [0.02, 0, 0], [0.9] * 3, lambda k: 1.0) == 1  # noqa: ARG005
    tried = [4, 8, 12, 16, 20]
    assert between_neighbours(tried, np.array([-9.0, -9.0, -1.0, -9.0, -1.04]), 0.05) == [
        9,
        10,
        11,
        13,
        14,
        15,
        17,
        18,
        19,
    ]
    assert between_neighbours(tried, np.array([-9.0, -9.0, -1.0, -9.0, -1.06]), 0.05) == [9, 10, 11, 13, 14, 15]
