"""Lloyd's iterations of all restarts at once are scikit-learn's, one restart after the other."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

from masked_subspace.label import kmeans
from masked_subspace.label.kmeans import all_of_starts, best_of_starts


def starts_of(rows, restarts, n_clusters, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rows[rng.choice(len(rows), n_clusters, replace=False)] for _ in range(restarts)])


@pytest.mark.parametrize(("n", "d", "n_clusters"), [(400, 6, 8), (150, 2, 3), (90, 20, 30)])
def test_every_restart_ends_where_scikit_learn_does(n, d, n_clusters):
    rows = np.random.default_rng(n).normal(size=(n, d))
    starts = starts_of(rows, 6, n_clusters)
    for found, centres in zip(all_of_starts(rows, starts), starts, strict=True):
        peer = KMeans(n_clusters, init=centres, n_init=1).fit(rows)
        np.testing.assert_array_equal(found.labels, peer.labels_)
        np.testing.assert_allclose(found.centres, peer.cluster_centers_, atol=1e-12)
        assert found.inertia == pytest.approx(peer.inertia_)


def test_the_best_start_wins_and_of_equal_ones_the_first():
    rows = np.array([[0.0], [1], [10], [11], [20], [21]])
    good, bad = np.array([[0.0], [10], [20]]), np.array([[0.0], [1], [20]])
    found = best_of_starts(rows, np.stack([bad, good, good[::-1]]))
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert found.inertia == pytest.approx(1.5)


def test_blocks_of_rows_change_nothing(monkeypatch):
    rows = np.random.default_rng(1).normal(size=(203, 4))
    starts = starts_of(rows, 3, 5)
    whole = best_of_starts(rows, starts)
    monkeypatch.setattr(kmeans, "_PRODUCTS_AT_ONCE", 15 * 17)
    parts = best_of_starts(rows, starts)
    np.testing.assert_array_equal(whole.labels, parts.labels)
    np.testing.assert_allclose(whole.centres, parts.centres, atol=1e-13)


def test_an_empty_cluster_takes_the_row_farthest_from_its_centre():
    rows = np.array([[0.0], [1], [2], [50]])
    # Nobody is nearest to the second centre; 50 is farthest from its own.
    (found,) = all_of_starts(rows, np.array([[[1.0], [-1000]]]))
    assert found.labels.tolist() == [0, 0, 0, 1]
    np.testing.assert_allclose(found.centres, [[1.0], [50]])


def test_more_centres_than_different_rows_leave_clusters_empty():
    rows = np.repeat([[0.0], [1]], 3, axis=0)
    (found,) = all_of_starts(rows, np.array([[[0.0], [1], [5]]]))
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.inertia == 0


def test_clusters_that_no_row_can_fill_take_none_from_the_others():
    """Every row stands on a centre: the third cluster joins the largest, and the row that is alone keeps its own."""
    rows = np.array([[1.0], [0], [0]])
    (found,) = all_of_starts(rows, np.array([[[1.0], [0], [5]]]))
    assert found.labels.tolist() == [0, 1, 1]
    np.testing.assert_array_equal(found.centres, [[1.0], [0], [0]])
    assert found.inertia == 0


def test_centres_that_hardly_move_stop_and_the_labels_are_those_of_the_last_ones(monkeypatch):
    rows = np.random.default_rng(2).normal(size=(500, 2))
    starts = starts_of(rows, 1, 4)
    monkeypatch.setattr(kmeans, "_TOLERANCE", 10.0)  # one iteration
    (found,) = all_of_starts(rows, starts)
    peer = KMeans(4, init=starts[0], n_init=1, tol=10.0).fit(rows)
    np.testing.assert_array_equal(found.labels, peer.labels_)
    np.testing.assert_array_equal(found.labels, ((rows[:, None] - found.centres) ** 2).sum(axis=2).argmin(axis=1))


def test_rows_as_far_from_two_centres_go_to_the_first_however_the_rows_are_turned():
    """Rounding would choose for them, another way on every CPU and for every order of the members' clusters."""
    rng = np.random.default_rng(0)
    # Between the first two places lie the rows of the third, at exactly the same distance from both.
    rows = np.repeat([[1.0, 0, 0], [-1, 0, 0], [0, 0.9, 0], [0, 0, 3]], [9, 9, 4, 6], axis=0)
    for _ in range(30):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        turned = rows @ turn
        (found,) = all_of_starts(turned, turned[None, [0, 9, 22]])
        assert found.labels.tolist() == [0] * 9 + [1] * 9 + [0] * 4 + [2] * 6
        # The least difference that counts is far below any that means something.
        (near,) = all_of_starts(turned - 1e-8 * turn[0], (turned)[None, [0, 9, 22]])
        assert near.labels[18:22].tolist() == [1] * 4


def test_weights_are_those_of_scikit_learn():
    rng = np.random.default_rng(5)
    rows, weights = rng.normal(size=(120, 3)), rng.integers(1, 30, size=120).astype(float)
    starts = starts_of(rows, 5, 6)
    for found, centres in zip(all_of_starts(rows, starts, weights), starts, strict=True):
        peer = KMeans(6, init=centres, n_init=1).fit(rows, sample_weight=weights)
        np.testing.assert_array_equal(found.labels, peer.labels_)
        np.testing.assert_allclose(found.centres, peer.cluster_centers_, atol=1e-12)
        assert found.inertia == pytest.approx(peer.inertia_)


def test_an_empty_cluster_takes_a_row_with_its_weight():
    rows, weights = np.array([[0.0], [1], [4]]), np.array([5.0, 3, 2])
    (found,) = all_of_starts(rows, np.array([[[0.0], [100]]]), weights)
    assert found.labels.tolist() == [0, 0, 1]
    np.testing.assert_allclose(found.centres, [[3 / 8], [4]])
    assert found.inertia == pytest.approx(5 * (3 / 8) ** 2 + 3 * (5 / 8) ** 2)


@pytest.mark.parametrize("seed", range(3))
def test_centres_stand_where_those_of_scikit_learn_stand(seed):
    """Many rows without clusters converge slowly, so that the tolerance decides when: a ten-thousandth of the mean
    variance of a column."""
    rng = np.random.default_rng(seed)
    rows = rng.random((3000, 8)) * np.linspace(1, 3, 8)
    rows -= rows.mean(axis=0)
    starts = rows[rng.choice(3000, (2, 12), replace=False)]
    for start, found in zip(starts, all_of_starts(rows, starts), strict=True):
        theirs = KMeans(12, init=start, n_init=1).fit(rows)
        np.testing.assert_allclose(found.centres, theirs.cluster_centers_, atol=1e-10)
        np.testing.assert_array_equal(found.labels, theirs.labels_)
        assert found.inertia == pytest.approx(theirs.inertia_, rel=1e-6)


def test_centres_of_a_sample_stand_among_the_rows_and_not_about_their_mean():
    rows = np.repeat([[100.0, 7.0], [102.0, 9.0]], 30, axis=0) + 0.1 * np.random.default_rng(0).normal(size=(60, 2))
    centres = kmeans._best_of_sample(rows, 2, 0, 3)
    expected = np.array([rows[:30].mean(axis=0), rows[30:].mean(axis=0)])
    np.testing.assert_allclose(centres[np.argsort(centres[:, 0])], expected, atol=1e-9)


@pytest.mark.parametrize(("n_clusters", "trials"), [(2, 2), (3, 3), (8, 4)])
def test_away_from_anchors_the_best_of_two_and_a_logarithm_of_draws_is_a_centre(n_clusters, trials):
    """Drawn in proportion to the squared distance from the centres before; the one that leaves least distance wins."""
    rows = np.arange(12.0)[:, None]
    anchors = np.full(12, -1)
    anchors[0] = 0
    asked = []

    class Drawn:
        def choice(self, count, size, p):
            asked.append((count, size, p))
            return np.array([5, 11, 1, 2, 3][:size])

    centres = kmeans._centres_from_anchors(rows, n_clusters, anchors, np.array([0]), Drawn())
    assert [size for _, size, _ in asked] == [trials] * (n_clusters - 1)
    np.testing.assert_allclose(asked[0][2], rows[:, 0] ** 2 / (rows[:, 0] ** 2).sum())
    best = min((5, 11), key=lambda one: np.minimum(rows[:, 0] ** 2, (rows[:, 0] - one) ** 2).sum())
    np.testing.assert_array_equal(centres[:2, 0], [0, best])


def test_a_row_that_fills_an_empty_cluster_leaves_its_own():
    """Two empty clusters take the two farthest rows, 10 and −6; who stays has a mean of its own."""
    rows = np.array([[0.0], [1.0], [10.0], [-6.0], [2.0]])
    labels, centres = np.zeros(5, dtype=np.int32), np.zeros((3, 1))
    found = kmeans._means(rows, np.ones(5), labels, np.array([[7.0], [0], [0]]), np.array([5.0, 0, 0]), centres)
    np.testing.assert_allclose(found, [[1.0], [10.0], [-6.0]])
    # Where no row is away from its centre an empty cluster joins the largest.
    labels, sums = np.zeros(3, np.int32), np.array([[3.0], [0]])
    same = kmeans._means(np.ones((3, 1)), np.ones(3), labels, sums, np.array([3.0, 0]), np.ones((2, 1)))
    np.testing.assert_allclose(same, [[1.0], [1.0]])
