import numpy as np
import pytest

from masked_subspace.masks import ApartMask, KnownPairs, PairMask
from masked_subspace.masks.soft import LabelMask

EVERY = np.arange(8)


def brute_force_together(n, must):
    """Transitive closure by Warshall's algorithm."""
    linked = np.eye(n, dtype=bool)
    for i, j in must:
        linked[i, j] = linked[j, i] = True
    for k in range(n):
        linked |= linked[:, [k]] & linked[[k], :]
    return linked


def brute_force_apart(n, must, cannot):
    together = brute_force_together(n, must)
    apart = np.zeros((n, n), dtype=bool)
    for i, j in cannot:
        apart |= np.outer(together[i], together[j]) | np.outer(together[j], together[i])
    return apart


@pytest.mark.parametrize("seed", range(5))
def test_closure_agrees_with_brute_force(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 20)
    pairs = rng.integers(0, 20, (25, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    must, cannot = pairs[same], pairs[~same]
    known = KnownPairs.of(20, must, cannot)
    i, j = np.arange(20)[:, None], np.arange(20)[None, :]
    mentioned = np.isin(np.arange(20), pairs)
    expected = brute_force_together(20, must) & mentioned[:, None] & mentioned[None, :]
    np.testing.assert_array_equal(known.together(i, j), expected)
    np.testing.assert_array_equal(known.apart(i, j), brute_force_apart(20, must, cannot))
    assert known.violations(truth) == 0


def test_partial_labels_are_pairs():
    labels = np.array([2, -1, 2, 0, -1, 0, -1, -1])
    known = KnownPairs.of(8, partial_labels=labels)
    i, j = EVERY[:, None], EVERY[None, :]
    both = (labels[i] >= 0) & (labels[j] >= 0)
    np.testing.assert_array_equal(known.together(i, j), both & (labels[i] == labels[j]))
    np.testing.assert_array_equal(known.apart(i, j), both & (labels[i] != labels[j]))


def test_nothing_known_is_none():
    assert KnownPairs.of(5) is None
    assert KnownPairs.of(5, [], np.empty((0, 2))) is None
    assert KnownPairs.of(5, partial_labels=[-1] * 5) is None


def test_contradiction_names_the_pairs():
    with pytest.raises(ValueError, match=r"cannot_link has \(0, 2\).*\(0, 1\), \(1, 2\)"):
        KnownPairs.of(4, [[0, 1], [1, 2]], [[0, 2]])
    with pytest.raises(ValueError, match="sample 3 with itself"):
        KnownPairs.of(4, None, [[3, 3]])
    with pytest.raises(ValueError, match="samples 0 and 2 are tied together but bear the labels 0 and 1"):
        KnownPairs.of(4, [[0, 1], [1, 2]], None, [0, -1, 1, -1])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[0, 9]], r"must_link\[0\] is \[0, 9\] but X has 8 samples"),
        ([[0, -1]], "indices go from 0 to 7"),
        ([0, 1, 2], "m × 2"),
        ([[0.0, 1.0]], "whole numbers"),
    ],
)
def test_bad_pairs_are_refused(pairs, message):
    with pytest.raises(ValueError, match=message):
        KnownPairs.of(8, pairs)


@pytest.mark.parametrize("number", [-2, -100])
def test_only_minus_one_is_unknown(number):
    with pytest.raises(ValueError, match=f"partial_labels holds {number}"):
        KnownPairs.of(4, partial_labels=[0, 1, -1, number])


def test_labels_beyond_the_clusters_are_refused_and_not_renumbered():
    known = KnownPairs.of(4, partial_labels=[0, 5, -1, 2])
    with pytest.raises(ValueError, match="partial_labels holds 5, but with n_clusters=4"):
        known.anchors(4)
    np.testing.assert_array_equal(known.anchors(6), [0, 5, -1, 2])


def test_bad_partial_labels_are_refused():
    with pytest.raises(ValueError, match=r"one label a sample \(8\)"):
        KnownPairs.of(8, partial_labels=[0, 1])
    with pytest.raises(ValueError, match="dtype float64"):
        KnownPairs.of(8, partial_labels=[0.5] * 8)


def test_violations_count_torn_groups_and_meetings():
    known = KnownPairs.of(6, [[0, 1], [2, 3]], [[0, 2]])
    assert known.violations(np.array([0, 0, 1, 1, 0, 1])) == 0
    assert known.violations(np.array([0, 1, 2, 2, 0, 0])) == 1
    assert known.violations(np.array([0, 0, 0, 0, 1, 1])) == 1


def test_anchors_keep_the_names_of_labels_that_fit():
    known = KnownPairs.of(6, [[1, 4]], None, [3, -1, 3, 0, -1, -1])
    np.testing.assert_array_equal(known.anchors(4), [3, -1, 3, 0, -1, -1])
    with pytest.raises(ValueError, match="2 different labels but n_clusters=1"):
        known.anchors(1)


def test_anchors_reach_what_is_linked_to_a_label():
    known = KnownPairs.of(5, [[0, 4]], None, [2, 1, -1, -1, -1])
    np.testing.assert_array_equal(known.anchors(3), [2, 1, -1, -1, 2])


def test_anchors_of_pairs_are_groups_that_all_exclude_each_other():
    #  {0,1,2} against {3,4}, both against {5}; {6,7} excludes only {5}
    known = KnownPairs.of(8, [[0, 1], [1, 2], [3, 4], [6, 7]], [[0, 3], [0, 5], [4, 5], [6, 5]])
    np.testing.assert_array_equal(known.anchors(3), [0, 0, 0, 1, 1, 2, -1, -1])
    np.testing.assert_array_equal(known.anchors(2), [0, 0, 0, 1, 1, -1, -1, -1])


@pytest.mark.parametrize("links", [2, 4, 10])
def test_must_link_edges_join_every_group_and_no_other(links):
    labels = np.repeat([0, 1, 2, -1], [30, 2, 1, 7])
    known = KnownPairs.of(40, partial_labels=labels)
    source, target = known.must_link_edges(links)
    np.testing.assert_array_equal(labels[source], labels[target])
    reached = brute_force_together(40, zip(source.tolist(), target.tolist(), strict=True))
    assert reached[:30, :30].all()
    assert reached[30, 31]
    assert len(source) <= 40 * links / 2


def test_pair_mask_prices_over_a_base():
    base = LabelMask([0, 0, 1, 1], 2.0)
    mask = PairMask(4, [[0, 2]], [[1, 2]], base=base, strength=10.0)
    prices, plain = mask.block(0, 4), base.block(0, 4)
    assert prices[0, 2] == prices[2, 0] == plain[0, 2] / 10
    assert prices[1, 2] == plain[1, 2] * 10
    assert prices[0, 1] == plain[0, 1] * 10  # 0 goes with 2, and 1 must not
    assert prices[1, 3] == plain[1, 3]


def test_pair_mask_change_is_that_of_its_base():
    known = KnownPairs.of(4, [[0, 2]])
    first = PairMask.over(known, LabelMask([0, 0, 1, 1]))
    assert first.change(PairMask.over(known, LabelMask([1, 1, 0, 0]))) == 0
    assert first.change(PairMask.over(known, LabelMask([0, 1, 1, 1]))) > 0


def test_pair_mask_refuses_nonsense():
    with pytest.raises(ValueError, match=r"strength is 0\.5"):
        PairMask(4, [[0, 1]], strength=0.5)
    with pytest.raises(ValueError, match="base has 3 samples"):
        PairMask(4, [[0, 1]], base=LabelMask([0, 0, 1]))


def test_apart_mask_forbids_cannot_links_and_the_diagonal():
    known = KnownPairs.of(4, [[0, 1]], [[1, 2]])
    allowed = ApartMask(known).block(0, 4)
    forbidden = np.eye(4, dtype=bool)
    forbidden[[0, 1, 2, 2], [2, 2, 0, 1]] = True
    np.testing.assert_array_equal(allowed, ~forbidden)


@pytest.mark.parametrize("size", [2, 3, 4, 8, 9])
def test_no_edge_ties_a_sample_to_itself(size):
    known = KnownPairs.of(12, [[0, i] for i in range(1, size)])
    source, target = known.must_link_edges(12)
    assert len(source) > 0
    assert (source != target).all()
