"""Masks and known pairs by value: seeds of clusterers, changes under pairs, edges of groups, anchors."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin

from masked_subspace.masks import ConsensusMask, KnownPairs, LabelMask, NeighborMask, PairMask, PatternMask
from masked_subspace.masks.hard import resolve_hard_mask
from masked_subspace.masks.soft import ArrayMask, ConstantMask, EmbeddingMask, first_soft_mask, resolve_soft_mask

ONE, OTHER = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2])


class Seeded(ClusterMixin, BaseEstimator):
    """A clusterer whose labels say which seed it was given."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit_predict(self, X, y=None):
        return (np.arange(len(X)) < self.random_state).astype(int)

    def fit(self, X, y=None):
        self.labels_ = self.fit_predict(X)
        return self


def test_clusterers_of_a_list_get_seeds_of_their_own_unless_they_have_one():
    X = np.zeros((9, 2))
    mask = resolve_soft_mask(
        [Seeded(), Seeded(), Seeded(7), ONE.repeat(2)[:9]], X, strength=2.0, orientation="corrected", seed=3
    )
    sizes = [int((one == one[0]).sum()) for one in mask.labelings[:3]]
    assert sizes == [3, 4, 7]
    single = resolve_soft_mask(Seeded(), X, strength=2.0, orientation="paper", seed=5)
    assert int((single.labels == single.labels[0]).sum()) == 5
    assert (single.inside, single.outside) == (2.0, 0.5)


def test_without_a_mask_every_pair_costs_one_in_the_first_round():
    mask = first_soft_mask(None, np.zeros((4, 2)), 2.0, "corrected", 0, "init")
    assert isinstance(mask, ConstantMask)
    np.testing.assert_array_equal(mask.block(0, 4), 1.0)


def test_pairs_over_two_masks_change_as_these_do():
    known = KnownPairs.of(6, [[0, 1]], [[2, 5]])
    new, old = (PairMask.over(known, LabelMask(labels, 1.5)) for labels in (ONE, OTHER))
    expected = np.abs(LabelMask(ONE, 1.5).block(0, 6) - LabelMask(OTHER, 1.5).block(0, 6)).max()
    assert new.change(old) == pytest.approx(expected) == pytest.approx(1.5 - 1 / 1.5)
    assert new.change(new) == 0
    assert new.change(None) == pytest.approx(np.abs(new.block(0, 6)).max())
    stronger = PairMask.over(known, LabelMask(ONE, 1.5), strength=60.0)
    assert stronger.change(new) == pytest.approx(np.abs(stronger.block(0, 6) - new.block(0, 6)).max()) != 0


@pytest.mark.parametrize("pair", [(LabelMask, OTHER), (ConsensusMask, [OTHER, ONE, ONE]), (EmbeddingMask, None)])
def test_a_change_of_masks_is_that_of_their_largest_entry(pair):
    kind, of = pair
    mask = EmbeddingMask(np.eye(3)[OTHER]) if of is None else kind(of, 2.0)
    for before in (None, ConstantMask(6, 0.3), LabelMask(ONE, 1.7), ConsensusMask([ONE, OTHER], 1.2)):
        old = 0 if before is None else before.block(0, 6)
        assert mask.change(before) == pytest.approx(np.abs(mask.block(0, 6) - old).max())


@pytest.mark.parametrize(("links", "hops"), [(2, [1]), (4, [1, 2]), (10, [1, 2, 4, 8, 16])])
def test_a_group_is_tied_by_a_ring_with_chords_of_doubling_length(links, hops):
    """Half as many hops as links a sample may have: each sample is at both ends of each."""
    known = KnownPairs.of(40, [[i, i + 1] for i in range(5, 37)])  # one group, samples 5 … 37
    source, target = known.must_link_edges(links)
    found = {(int(a), int(b)) for a, b in zip(source, target, strict=True)}
    assert found == {(5 + i, 5 + (i + hop) % 33) for i in range(33) for hop in hops}
    few = KnownPairs.of(5, [[0, 1], [1, 2]])
    source, target = few.must_link_edges(10)
    assert {frozenset(pair) for pair in zip(source.tolist(), target.tolist(), strict=True)} == {
        frozenset(pair) for pair in ((0, 1), (1, 2), (0, 2))
    }


def test_groups_that_all_exclude_each_other_are_anchored_the_largest_first():
    known = KnownPairs.of(8, [[0, 1], [1, 2], [3, 4]], [[0, 3], [0, 5], [3, 5], [6, 7]])
    np.testing.assert_array_equal(known.anchors(3), [0, 0, 0, 1, 1, 2, -1, -1])
    np.testing.assert_array_equal(known.anchors(2), [0, 0, 0, 1, 1, -1, -1, -1])
    labels = KnownPairs.of(5, [[0, 1]], partial_labels=[2, -1, 0, -1, 2])
    np.testing.assert_array_equal(labels.anchors(3), [2, 2, 0, -1, 2])
    assert labels.together(np.array(1), np.array(4))
    assert labels.apart(np.array(1), np.array(2))
    assert not labels.apart(np.array(1), np.array(3))


@pytest.mark.parametrize(
    ("largest", "gap", "taken"), [(0.01, 5e-7, True), (1.0, 2e-6, False), (100.0, 5e-5, True), (100.0, 2e-4, False)]
)
def test_prices_are_symmetric_to_a_millionth_of_one_or_of_the_largest(largest, gap, taken):
    prices = np.full((3, 3), largest)
    prices[0, 2] -= gap
    if taken:
        np.testing.assert_array_equal(ArrayMask(prices).block(0, 3), prices)
    else:
        with pytest.raises(ValueError, match=r"not symmetric: \[0, 2\]"):
            ArrayMask(prices)


def test_weights_of_labelings_are_shares():
    mask = ConsensusMask([ONE, OTHER, ONE], 2.0, weights=[1, 2, 5])
    together = (6 * (ONE[:, None] == ONE) + 2 * (OTHER[:, None] == OTHER)) / 8
    np.testing.assert_allclose(mask.agreement(np.arange(6)[:, None], np.arange(6)[None]), together)
    np.testing.assert_allclose(mask.block(0, 6), 2.0 ** (1 - 2 * together))


def test_masks_of_other_known_pairs_differ_where_the_pairs_do():
    """Over one base: a pair outside its clusters costs 1.5, and a thirtieth of that where it is known."""
    base = LabelMask(ONE, 1.5)
    one, other = (PairMask.over(KnownPairs.of(6, pairs), base) for pairs in ([[0, 3]], [[1, 4]]))
    assert one.change(other) == pytest.approx(1.5 - 1.5 / 30)


@pytest.mark.parametrize(
    "spec", [None, NeighborMask(2), np.ones((4, 4)), csr_array(np.ones((4, 4))), PatternMask(np.ones((4, 4)))]
)
def test_known_conflicts_are_forbidden_beside_any_hard_mask(spec):
    known = KnownPairs.of(4, None, [[0, 2]])
    expected = ~np.eye(4, dtype=bool)
    np.testing.assert_array_equal(resolve_hard_mask(spec, 4).block(0, 4), expected)
    expected[[0, 2], [2, 0]] = False
    mask = resolve_hard_mask(spec, 4, known)
    np.testing.assert_array_equal(mask.block(0, 4), expected)
    assert not mask.diagonal_only
