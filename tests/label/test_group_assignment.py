from itertools import product

import numpy as np
import pytest

from masked_subspace.label.group_assignment import GroupAssigner
from masked_subspace.masks.pairs import KnownPairs


def cheapest(cost, n_clusters, known):
    """Every assignment tried: the cheapest that violates nothing."""
    best = None
    for labels in product(range(n_clusters), repeat=len(cost)):
        total = cost[np.arange(len(cost)), labels].sum()
        if known.violations(np.array(labels)) == 0 and (best is None or total < best):
            best = total
    return best


@pytest.mark.parametrize("seed", range(5))
def test_groups_that_all_exclude_each_other_are_assigned_at_the_least_cost(seed):
    rng = np.random.default_rng(seed)
    cost = rng.uniform(size=(6, 4))
    known = KnownPairs.of(6, [[0, 1], [2, 3], [4, 5]], [[0, 2], [0, 4], [2, 4]])
    labels = GroupAssigner(known, 4, np.full(6, -1)).assign(np.zeros(6, dtype=int), cost)
    assert known.violations(labels) == 0
    assert cost[np.arange(6), labels].sum() == pytest.approx(cheapest(cost, 4, known))


@pytest.mark.parametrize("n_clusters", [2, 3, 6])
@pytest.mark.parametrize("seed", range(4))
def test_any_pairs_that_can_be_kept_are_kept(seed, n_clusters):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_clusters, 300)
    pairs = rng.integers(0, 300, (400, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    known = KnownPairs.of(300, pairs[same], pairs[~same])
    anchors = known.anchors(n_clusters)
    # The costs point away from the truth.
    cost = rng.uniform(size=(300, n_clusters))
    cost[np.arange(300), truth] += 1
    labels = GroupAssigner(known, n_clusters, anchors).assign(cost.argmin(axis=1), cost)
    assert known.violations(labels) == 0
    np.testing.assert_array_equal(labels[anchors >= 0], anchors[anchors >= 0])
    free = known.group < 0
    np.testing.assert_array_equal(labels[free], cost.argmin(axis=1)[free])


def test_a_long_chain_of_conflicts_needs_no_luck():
    """Two clusters and 400 samples, each in conflict with the next: only the alternating labels will do."""
    chain = np.stack([np.arange(399), np.arange(1, 400)], axis=1)
    known = KnownPairs.of(400, None, np.random.default_rng(0).permutation(chain))
    cost = np.random.default_rng(1).uniform(size=(400, 2))
    labels = GroupAssigner(known, 2, np.full(400, -1)).assign(cost.argmin(axis=1), cost)
    assert (labels[:-1] != labels[1:]).all()


def test_pairs_that_cannot_be_kept_are_refused():
    known = KnownPairs.of(3, None, [[0, 1], [1, 2], [0, 2]])
    assigner = GroupAssigner(known, 2, np.full(3, -1))
    with pytest.raises(ValueError, match=r"n_clusters=2.*raise n_clusters"):
        assigner.assign(np.zeros(3, dtype=int), np.zeros((3, 2)))


def test_groups_that_do_not_all_exclude_each_other_may_share_a_cluster():
    """A chain of three: its ends want the same cluster and are not in conflict."""
    known = KnownPairs.of(3, None, [[0, 1], [1, 2]])
    cost = np.array([[0.0, 5, 5], [5, 0, 5], [0, 5, 5]])
    labels = GroupAssigner(known, 3, np.full(3, -1)).assign(np.zeros(3, dtype=int), cost)
    np.testing.assert_array_equal(labels, [0, 1, 0])


@pytest.mark.parametrize("pairs", [[[0, 1]], [[0, 1], [1, 2], [1, 3]]], ids=["exact", "greedy"])
def test_no_gain_of_another_group_moves_an_anchored_one(pairs):
    n = int(np.max(pairs)) + 1
    known = KnownPairs.of(n, None, pairs)
    cost = np.zeros((n, 2))
    cost[0], cost[1] = [5, 0], [-100, 1000]
    anchors = np.full(n, -1)
    anchors[0] = 0
    labels = GroupAssigner(known, 2, anchors).assign(np.zeros(n, dtype=int), cost)
    assert labels[0] == 0
    assert labels[1] == 1


def leads_nowhere(known, cost):
    """Always the group with the fewest clusters left, to the cheapest of them: whether one is left without any."""
    labels = np.full(8, -1)
    apart = [{int(b) for a, b in known.conflict_pairs() if a == group} for group in range(known.n_groups)]
    member = [int(np.flatnonzero(known.group == group)[0]) for group in range(known.n_groups)]
    for _ in member:
        left = {
            group: [k for k in range(3) if all(labels[member[other]] != k for other in apart[group])]
            for group in range(known.n_groups)
            if labels[member[group]] < 0
        }
        group = min(left, key=lambda one: (len(left[one]), -len(apart[one]), one))
        if not left[group]:
            return True
        labels[member[group]] = min(left[group], key=lambda k, one=group: cost[member[one], k])
    return False


@pytest.mark.parametrize("seed", [308, 371, 567, 803, 1431, 1497])
def test_a_choice_that_leads_nowhere_is_taken_back(seed):
    """Of 4,000 draws these are among the 23 in which the cheapest clusters first block what comes later."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 8)
    i, j = np.triu_indices(8, 1)
    pairs = np.stack([i, j], 1)[(truth[i] != truth[j]) & (rng.random(len(i)) < 0.6)]
    known, cost = KnownPairs.of(8, None, pairs), rng.random((8, 3))
    labels = GroupAssigner(known, 3, np.full(8, -1)).assign(np.zeros(8, dtype=int), cost)
    assert known.violations(labels) == 0
    assert leads_nowhere(known, cost)


def test_groups_that_all_exclude_each_other_share_the_clusters_at_the_least_cost():
    """The first group would take cluster 0 for 1 and leave cluster 1 for 10 to the second: together 2 + 0 is less."""
    known = KnownPairs.of(5, must_link=[[0, 1]], cannot_link=[[0, 2]])
    cost = np.array([[0.5, 1.0], [0.5, 1.0], [0.0, 10.0], [0.0, 0.0], [3.0, 0.0]])
    assigner = GroupAssigner(known, 2, np.full(5, -1))
    assert assigner.assign(np.zeros(5, dtype=np.int32), cost).tolist() == [1, 1, 0, 0, 0]
    held = GroupAssigner(known, 2, np.array([0, 0, -1, -1, -1]))
    assert held.assign(np.zeros(5, dtype=np.int32), cost).tolist() == [0, 0, 1, 0, 0]


def test_groups_that_exclude_some_others_take_the_cheapest_that_is_left():
    """0 excludes 1 and 1 excludes 2: a chain, whose middle has the most conflicts and chooses first."""
    known = KnownPairs.of(3, cannot_link=[[0, 1], [1, 2]])
    cost = np.array([[0.0, 1.0, 2.0], [0.0, 5.0, 5.0], [0.0, 3.0, 2.0]])
    found = GroupAssigner(known, 3, np.full(3, -1)).assign(np.zeros(3, dtype=np.int32), cost)
    assert found.tolist() == [1, 0, 2]
