import numpy as np
import pytest
from sklearn.cluster import KMeans, kmeans_plusplus

from masked_subspace.label import kmeans
from masked_subspace.label.kmeans import (
    cluster_means,
    cluster_rows,
    cluster_rows_from_anchors,
    spread_centres,
    squared_distances,
)
from masked_subspace.metrics import clustering_accuracy


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(5), 30)
    return rng.normal(scale=3, size=(5, 4))[truth] + rng.normal(scale=0.2, size=(150, 4)), truth


def test_free_clusters_are_found(blobs):
    rows, truth = blobs
    assert clustering_accuracy(truth, cluster_rows(rows, 5, 0)) == 1


def test_large_data_restart_on_a_sample_and_find_the_same_optimum(monkeypatch):
    monkeypatch.setattr(kmeans, "_SMALL", 3000)
    monkeypatch.setattr(kmeans, "_SAMPLE", 1500)
    monkeypatch.setattr(kmeans, "_SAMPLE_A_CLUSTER", 100)
    rng = np.random.default_rng(1)
    rows = (rng.normal(scale=3, size=(12, 6))[rng.integers(0, 12, 4000)] + rng.normal(size=(4000, 6))).astype("f4")
    labels = cluster_rows(rows, 12, 0)
    means = cluster_means(rows, labels, 12)
    best = KMeans(12, n_init=10, random_state=3).fit(rows).inertia_
    assert squared_distances(rows, means)[np.arange(len(rows)), labels].sum() == pytest.approx(best, rel=1e-3)
    np.testing.assert_array_equal(labels, cluster_rows(rows, 12, 0))


def test_identical_rows_still_give_k_clusters():
    assert len(np.unique(cluster_rows(np.ones((20, 3)), 4, 0))) == 4


def test_anchors_name_their_clusters_and_the_rest_is_found(blobs):
    rows, truth = blobs
    anchors = np.full(150, -1)
    anchors[[3, 40, 41]] = [4, 2, 2]
    labels = cluster_rows_from_anchors(rows, cluster_rows(rows, 5, 0), 5, anchors, 0)
    assert labels[3] == 4
    assert labels[40] == labels[41] == 2
    assert clustering_accuracy(truth, labels) == 1


def test_anchors_are_kept_against_the_distances(blobs):
    rows, _ = blobs
    anchors = np.full(150, -1)
    anchors[:4] = [0, 1, 2, 3]  # four samples of one blob
    labels = cluster_rows_from_anchors(rows, cluster_rows(rows, 5, 0), 5, anchors, 0)
    np.testing.assert_array_equal(labels[:4], anchors[:4])


def test_an_anchor_decides_between_equal_partitions():
    """Four corners of a square and two clusters: both cuts cost the same until one diagonal-free pair is tied."""
    rows = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    for tied, expected in (([0, 1], [0, 0, 1, 1]), ([0, 2], [0, 1, 0, 1])):
        anchors = np.full(4, -1)
        anchors[tied] = 0
        np.testing.assert_array_equal(
            cluster_rows_from_anchors(rows, cluster_rows(rows, 2, 0), 2, anchors, 0), expected
        )


def test_an_anchor_weighs_a_tenth_of_a_cluster():
    """A single sample at 4 that is known to belong to the left draws its centre so far that 5.1 follows; as one of
    fifty it would not."""
    rows = np.r_[np.zeros(50), np.full(50, 10.0), 4.0, 5.1][:, None]
    anchors = np.full(102, -1)
    anchors[100] = 0
    labels = cluster_rows_from_anchors(rows, (rows[:, 0] > 5).astype(int), 2, anchors, 0)
    assert labels[101] == labels[0] == 0


def test_no_cluster_stays_empty_beside_a_large_anchored_one():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(scale=10, size=(60, 2)), rng.normal(scale=0.1, size=(10, 2))])
    anchors = np.full(70, -1)
    anchors[:60] = 0
    labels = cluster_rows_from_anchors(rows, cluster_rows(rows, 8, 0), 8, anchors, 0)
    assert set(labels) == set(range(8))
    assert (labels[:60] == 0).all()


def test_same_seed_same_labels(blobs):
    rows, _ = blobs
    anchors = np.full(150, -1)
    anchors[0] = 0
    one, two = (cluster_rows_from_anchors(rows, cluster_rows(rows, 7, 3), 7, anchors, 3) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_means_skip_unlabelled_rows_and_keep_empty_clusters():
    rows = np.array([[1.0, 0], [3, 0], [100, 100]])
    means = cluster_means(rows, np.array([0, 0, -1]), 2, np.full((2, 2), 7.0))
    np.testing.assert_array_equal(means, [[2, 0], [7, 7]])


def test_squared_distances_agree_with_the_definition():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    np.testing.assert_allclose(squared_distances(a, b), ((a[:, None] - b[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("n_clusters", [1, 2, 7, 30])
def test_seeding_of_all_restarts_at_once_draws_the_centres_of_scikit_learn(n_clusters):
    rows = np.random.default_rng(n_clusters).normal(size=(300, 5))
    ours = spread_centres(rows, n_clusters, 4, np.random.RandomState(3))
    theirs = np.random.RandomState(3)
    for centres in ours:
        _, expected = kmeans_plusplus(rows, n_clusters, random_state=theirs)
        np.testing.assert_array_equal(centres, expected)


def test_cluster_rows_gives_the_labels_of_scikit_learn():
    rows = np.random.default_rng(0).normal(size=(400, 6))
    expected = KMeans(8, n_init=20, random_state=5).fit(rows).labels_
    np.testing.assert_array_equal(cluster_rows(rows, 8, seed=5), expected)


def test_seeding_with_as_many_centres_as_distinct_rows_takes_each_once():
    rows = np.repeat(np.eye(6), 3, axis=0)
    chosen = spread_centres(rows, 6, 5, np.random.RandomState(0))
    for centres in chosen:
        assert len(np.unique(rows[centres], axis=0)) == 6


@pytest.mark.parametrize(("place", "label"), [(4.35, 0), (4.7, 1)])
def test_an_anchor_weighs_as_much_as_a_tenth_of_a_mean_cluster(place, label):
    """Of 40 rows in two clusters that is 2. The anchor at −10 draws the centre of 19 rows at 0 to it, so that the
    border to the 19 at 10 lies between 4.38 and 4.64; with the weight 4 both places would be beyond it."""
    rows = np.concatenate([np.zeros(19), [-10.0], np.full(19, 10.0), [place]])[:, None]
    anchors = np.full(40, -1)
    anchors[19] = 0
    free = np.repeat([0, 1], 20).astype(np.int32)
    found = cluster_rows_from_anchors(rows, free, 2, anchors, seed=0)
    assert set(found[:20]) == {0}
    assert set(found[20:39]) == {1}
    assert found[39] == label


def test_the_partition_that_was_found_freely_is_one_of_the_starts():
    """Left and right are four times better than below and above, where the anchors lead: they lie in the middle."""
    corners = np.array([[-1, -0.5], [-1, 0.5], [1, -0.5], [1, 0.5]])
    rows = np.vstack([np.repeat(corners, 10, axis=0), [[-0.01, -0.5], [0.01, 0.5]]])
    anchors = np.full(42, -1)
    anchors[40:] = 0, 1
    right, above = (rows[:, 0] > 0).astype(np.int32), (rows[:, 1] > 0).astype(np.int32)
    np.testing.assert_array_equal(cluster_rows_from_anchors(rows, 1 - right, 2, anchors, seed=0), right)
    np.testing.assert_array_equal(cluster_rows_from_anchors(rows, above, 2, anchors, seed=0), above)


def repeated_rows(n=400, different=50, seed=2):
    """Rows of which most stand there several times, and every row once with its number of copies."""
    rng = np.random.default_rng(seed)
    some = rng.normal(size=(different, 3))
    place = np.concatenate([rng.permutation(different), rng.integers(different, size=n - different)])
    return some[place], some[place[:different]], np.bincount(place)[place[:different]].astype(float)


def test_equal_rows_are_one_row_of_that_weight():
    rows, once, weights = repeated_rows()
    peer = KMeans(7, n_init=20, random_state=4).fit(once, sample_weight=weights)
    labels = cluster_rows(rows, 7, seed=4)
    np.testing.assert_array_equal(labels[:50], peer.labels_)
    for row, label in zip(rows, labels, strict=True):
        assert label == labels[:50][(once == row).all(axis=1)][0]


def test_the_centres_of_weighted_rows_are_those_that_scikit_learn_draws():
    _, once, weights = repeated_rows()
    rows = once - np.average(once, axis=0, weights=weights)
    ours = spread_centres(rows, 9, 1, np.random.RandomState(6), weights)[0]
    _, theirs = kmeans_plusplus(rows, 9, sample_weight=weights, random_state=6)
    np.testing.assert_array_equal(ours, theirs)


def test_many_rows_with_few_different_ones_are_clustered_whole(monkeypatch):
    rows = repeated_rows()[0]
    expected = cluster_rows(rows, 7, seed=4)
    monkeypatch.setattr(kmeans, "_SMALL", 60)
    np.testing.assert_array_equal(cluster_rows(rows, 7, seed=4), expected)
    monkeypatch.setattr(kmeans, "_SMALL", 40)
    monkeypatch.setattr(kmeans, "_SAMPLE", 400)
    monkeypatch.setattr(kmeans, "_SAMPLE_A_CLUSTER", 1)
    of_sample = cluster_rows(rows, 7, seed=4)
    centres = np.array([rows[of_sample == k].mean(axis=0) for k in range(7)])
    np.testing.assert_array_equal(((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1), of_sample)
