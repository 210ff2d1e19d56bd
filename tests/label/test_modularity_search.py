"""How a resolution with K communities is looked for, and what becomes of communities too small or too large."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.label.modularity import (
    ManyCuts,
    _attached,
    _cut,
    _guess,
    _large_only,
    _search,
    _split,
    _two_parts,
    between,
    cut_of_groups,
    modularity_cut,
)

OCTAVE = 2 ** (1 / 8)  # resolutions lie on a grid of eight steps from one to its double


def test_with_both_ends_known_the_number_grows_as_a_power_of_the_resolution():
    """Two communities at 1 and eight at 16: a power law has four at 4."""
    assert _guess(1.0, 16.0, 2, 8, 4) == pytest.approx(4.0)
    assert _guess(1.0, 16.0, 2, 32, 4) == pytest.approx(2.0)
    # No community is large at the lower end: that counts as half of one.
    assert _guess(1.0, 16.0, 0, 8, 2) == pytest.approx(4.0)


def test_a_guess_stays_away_from_the_ends_that_are_known():
    """15 % of the way at least, 85 % at most: of four octaves .6 and 3.4, on the grid 5 and 27 eighths."""
    assert _guess(1.0, 16.0, 2, 10_000, 3) == pytest.approx(OCTAVE**5)
    assert _guess(1.0, 16.0, 2, 1_000, 999) == pytest.approx(OCTAVE**27)


def test_with_one_end_unknown_the_number_grows_with_the_resolution_and_a_step_of_the_grid():
    assert _guess(1e-3, 1.0, None, 8, 4) == pytest.approx(0.5 / OCTAVE)
    assert _guess(1.0, 1e3, 4, None, 8) == pytest.approx(2 * OCTAVE)
    assert _guess(1.0, 1e3, 0, None, 2) == pytest.approx(2 * OCTAVE)
    # At most by a factor of six, 21 steps of the grid.
    assert _guess(1e-3, 1.0, None, 100, 2) == pytest.approx(OCTAVE**-21)
    assert _guess(1.0, 1e3, 1, None, 50) == pytest.approx(OCTAVE**21)
    # And not beyond what was found or what is permitted.
    assert _guess(1e-3, 2e-3, None, 100, 2) == pytest.approx(1e-3)
    assert _guess(900.0, 1e3, 1, None, 50) == pytest.approx(1e3)


def test_between_neighbours_of_the_grid_the_place_itself_is_taken():
    low, high = OCTAVE**4, OCTAVE**5
    found = _guess(low, high, 2, 8, 4)
    assert found == pytest.approx(np.sqrt(low * high))


@pytest.mark.parametrize(("size", "steps"), [(3, 1), (2, 16)])
def test_a_community_of_just_a_tenth_of_the_mean_size_counts(size, steps):
    """Sizes of 90 samples and K = 3: the limit is three of them."""
    sizes = np.array([50, 40 - size, size])
    asked = []

    def communities(resolution):
        asked.append(resolution)
        return np.arange(3)

    found, resolution = _search(communities, sizes, 3, 3.0, None)
    assert len(asked) == steps
    assert (resolution, found.tolist()) == (1.0, [0, 1, 2])


def test_halvings_visit_the_middle_of_what_is_left():
    """From 1e-3 … 1e3, by the geometric mean: searches for neighbouring numbers meet the same resolutions."""
    asked = []

    def communities(resolution):
        asked.append(resolution)
        return np.arange(60) % max(1, round(10 * resolution))

    _search(communities, np.ones(60, dtype=np.int64), 4, 1.0, 5)
    np.testing.assert_allclose(np.log10(asked), [0, -1.5, -0.75, -0.375], atol=1e-9)


def test_every_third_step_halves_where_guesses_do_not_meet():
    """A number that jumps from 1 to 50 at 1.9: guesses alone would creep up from below."""
    asked = []

    def communities(resolution):
        asked.append(resolution)
        return np.arange(60) % (1 if resolution < 1.9 else 50)

    _, resolution = _search(communities, np.ones(60, dtype=np.int64), 3, 1.0, None)
    assert len(asked) == 16
    assert resolution < 1.9
    below, above = max(one for one in asked if one < 1.9), min(one for one in asked if one >= 1.9)
    assert above / below < 1.02  # told apart to two in a hundred
    # 1, then a factor of three and a step of the grid; the fourth is the geometric mean of the ends known by then.
    assert asked[:2] == pytest.approx([1.0, OCTAVE ** round(np.log2(3) * 8 + 1)])
    ends = max(one for one in asked[:3] if one < 1.9), min(one for one in asked[:3] if one > 1.9)
    assert asked[3] == pytest.approx(np.sqrt(ends[0] * ends[1]))


def test_large_communities_are_named_from_the_largest_and_small_ones_are_nobodys():
    found, sizes = np.array([0, 1, 1, 2, 3, 3]), np.array([5, 1, 1, 7, 1, 2])
    np.testing.assert_array_equal(_large_only(found, sizes, 3.0), [1, -1, -1, 0, 2, 2])
    np.testing.assert_array_equal(_large_only(found, sizes, 5.0), [1, -1, -1, 0, -1, -1])
    np.testing.assert_array_equal(_large_only(found, sizes, 99.0), [-1, -1, -1, 0, -1, -1])  # one is always there


def test_weights_between_clusters_count_both_directions_and_nobody_without_a_cluster():
    W = csr_array(np.array([[2.0, 3, 5, 1], [3, 0, 7, 1], [5, 7, 0, 1], [1, 1, 1, 0]]))
    np.testing.assert_array_equal(between(W, np.array([0, 0, 1, -1]), 2), [[8, 12], [12, 0]])


def test_small_communities_go_where_most_of_their_links_lead_one_step_after_the_other():
    W = np.zeros((6, 6))
    for a, b, weight in ((0, 2, 1.0), (1, 2, 3.0), (2, 3, 9.0), (3, 4, 0.5), (0, 3, 0.1)):
        W[a, b] = W[b, a] = weight
    found = _attached(csr_array(W), np.array([0, 1, -1, -1, -1, -1], dtype=np.int32))
    # 2 follows 1. In the same step 3 sees only 0, though it hangs on 2; 4 follows 3; 5 has no path.
    np.testing.assert_array_equal(found, [0, 1, 1, 0, 0, -1])


def test_one_cluster_is_everybody_and_nothing_is_looked_for():
    W = csr_array((4, 4))
    labels, resolution = cut_of_groups(W, np.ones(4, dtype=np.int64), 1, 0)
    assert (labels.tolist(), resolution) == ([0, 0, 0, 0], 1.0)


@pytest.mark.parametrize(("small", "expected"), [(4, {0, 1, 2}), (3, {0, 1})])
def test_the_limit_is_a_tenth_of_the_mean_cluster_in_samples_not_in_groups(small, expected):
    """Three groups of 60, 60 − small and `small` samples; 120 samples and three clusters have a limit of four."""
    W, sizes = csr_array(np.diag([9.0, 9.0, 9.0])), np.array([60, 60 - small, small])
    found, _ = _cut(W, sizes, 3, np.arange(3), lambda resolution: np.arange(3))  # noqa: ARG005
    assert set(found[found >= 0].tolist()) == expected


def test_what_cannot_be_split_is_left_whole_and_the_next_largest_is_split():
    """A clique of two joined by a link is one community until a high resolution; single samples are never split."""
    W = np.zeros((7, 7))
    W[:4, :4] = np.kron(np.eye(2), np.ones((2, 2)))
    np.fill_diagonal(W, 0)
    W[4, 4] = 8.0  # a group of ten samples: one node
    sizes, labels = np.array([1, 1, 1, 1, 10, 1, 1]), np.array([0, 0, 0, 0, 1, 2, 2], dtype=np.int32)
    found = _split(csr_array(W), sizes, labels, 4, 1.0, np.arange(7, dtype=np.int32))
    assert found[4] == 1
    assert found[0] == found[1] != found[2] == found[3]
    assert set(found.tolist()) == {0, 1, 2, 3}
    single = np.array([0, 1], dtype=np.int32)
    alone = _split(csr_array((2, 2)), np.ones(2, dtype=np.int64), single, 5, 1.0, np.arange(2))
    np.testing.assert_array_equal(alone, [0, 1])


def test_a_community_is_tried_at_eight_resolutions_each_twice_the_one_before(monkeypatch):
    asked = []

    def find(_, resolution, order):
        asked.append(resolution)
        return np.zeros(len(order), dtype=np.int32)

    monkeypatch.setattr("masked_subspace.label.modularity.find_communities", find)
    assert _two_parts(csr_array((3, 3)), np.ones(3, dtype=np.int64), 0.5, np.arange(3)) is None
    assert asked == [0.5 * 2**step for step in range(8)]


def test_many_cuts_are_the_single_ones_and_find_each_resolution_once(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 15)
    upper = np.triu(rng.random((60, 60)) < np.where(y[:, None] == y, 0.5, 0.05), 1)
    W = csr_array((upper | upper.T).astype(float))
    expected = [modularity_cut(W, k, seed=3) for k in (2, 4, 6)]
    cuts = ManyCuts(W, 3)
    for k, labels in zip((2, 4, 6), expected, strict=True):
        np.testing.assert_array_equal(cuts.cut(k), labels)
    found = len(cuts._found)
    monkeypatch.setattr(
        "masked_subspace.label.modularity.find_communities", lambda *_: pytest.fail("this resolution is known")
    )
    np.testing.assert_array_equal(cuts.cut(4), expected[1])
    assert len(cuts._found) == found


@pytest.mark.parametrize(("slack", "steps", "count"), [(0, 4, 20), (1, 3, 21), (3, 2, 23)])
def test_a_search_with_slack_ends_at_the_first_number_within_it(slack, steps, count):
    asked = []

    def communities(resolution):
        asked.append(resolution)
        return np.arange(60) % [10, 23, 21, 20][len(asked) - 1]

    found, resolution = _search(communities, np.ones(60, dtype=np.int64), 20, 1.0, None, slack=slack)
    assert (len(asked), len(np.unique(found))) == (steps, count)
    assert resolution == asked[-1]


def test_a_finer_cut_has_about_as_many_parts_as_asked_and_merges_or_splits_none(monkeypatch):
    """Twenty and a tenth: 22 parts are taken as they were found, 23 are not, and who is in none follows its links."""
    n = 230
    ring = csr_array((np.ones(2 * n), (np.r_[:n, :n], np.r_[np.roll(np.arange(n), 1), np.roll(np.arange(n), -1)])))
    numbers = iter([23, 22])
    made = {}

    def find(_, resolution, order):
        made[resolution] = (np.arange(n) * next(numbers) // n).astype(np.int32)
        made[resolution][-1] = 22  # alone, and so no large community
        return made[resolution]

    monkeypatch.setattr("masked_subspace.label.modularity.find_communities", find)
    labels = ManyCuts(ring, 0).cut_about(20)
    assert len(made) == 2
    assert sorted(np.unique(labels)) == list(range(22))
    assert labels[-1] in (labels[0], labels[-2])
