"""Communities by modularity, and the cut into exactly K of them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace import BMSC, RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.label.labeler import Evidence, label_graph
from masked_subspace.label.modularity import _merged, _two_parts, link_shares, modularity, modularity_cut
from masked_subspace.label.modularity_kernels import find_communities
from masked_subspace.metrics import adjusted_rand_index, clustering_accuracy


def blocks(sizes, inside=0.5, outside=0.02, seed=0):
    """A random graph of dense blocks with a few links between them, and the block of each sample."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(y[:, None] == y[None, :], inside, outside)
    upper = np.triu(rng.random(chance.shape) < chance, 1)
    W = (upper | upper.T) * (0.5 + rng.random(chance.shape))
    return csr_array((W + W.T) / 2), y


def gain_of_best_move(W, labels, resolution):
    """By how much Q would rise if one sample went to another community: written out over all of them."""
    dense, degree = W.toarray(), W.sum(axis=1)
    total = degree.sum()
    best = 0.0
    for i in range(len(labels)):
        for c in np.unique(labels):
            if c == labels[i]:
                continue
            own = (labels == labels[i]) & (np.arange(len(labels)) != i)
            other = labels == c
            gain = dense[i, other].sum() - dense[i, own].sum()
            gain -= resolution * degree[i] * (degree[other].sum() - degree[own].sum()) / total
            best = max(best, 2 * gain / total)
    return best


@pytest.mark.parametrize("resolution", [0.5, 1.0, 4.0])
def test_no_single_move_raises_the_modularity(resolution):
    W, _ = blocks([20, 30, 25], inside=0.3, outside=0.1)
    labels = find_communities(W, resolution, np.random.default_rng(0).permutation(75))
    assert gain_of_best_move(W, labels, resolution) < 1e-9


def test_clear_blocks_are_the_communities_and_parts_are_connected():
    W, y = blocks([30, 40, 50])
    labels = find_communities(W, 1.0, np.arange(120))
    assert adjusted_rand_index(labels, y) == 1
    assert modularity(W, labels) == pytest.approx(modularity(W, y))


def test_without_links_everybody_is_alone():
    labels = find_communities(csr_array((5, 5)), 1.0, np.arange(5))
    np.testing.assert_array_equal(labels, np.arange(5))


def test_as_good_as_the_library():
    leiden = pytest.importorskip("sknetwork.clustering").Leiden
    from scipy.sparse import csr_matrix

    W, _ = blocks([60] * 8, inside=0.15, outside=0.03, seed=1)
    ours = modularity(W, find_communities(W, 1.0, np.arange(480)))
    theirs = modularity(W, leiden(random_state=0).fit_predict(csr_matrix(W)))
    assert ours > theirs - 0.01


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 4, 7, 12])
def test_exactly_k_clusters_come_out(n_clusters):
    W, _ = blocks([30, 40, 50])
    labels = modularity_cut(W, n_clusters, seed=0)
    assert set(labels.tolist()) == set(range(n_clusters))


def test_pieces_of_a_disconnected_graph_are_merged_or_split_to_k():
    W, y = blocks([20] * 6, outside=0.0)
    three = modularity_cut(W, 3, seed=0)
    assert set(three.tolist()) == {0, 1, 2}
    for block in range(6):
        assert len(np.unique(three[y == block])) == 1  # blocks are merged, none is torn
    assert len(np.unique(modularity_cut(W, 9, seed=0))) == 9


def test_small_communities_follow_their_links_and_isolated_samples_are_placed():
    W, y = blocks([40, 40])
    lines = W.tolil()
    lines.resize((83, 83))
    lines[80, 0] = lines[0, 80] = 1.0  # hangs on the first block
    lines[81, 80] = lines[80, 81] = 1.0  # hangs on the one before
    labels = modularity_cut(csr_array(lines.tocsr()), 2, seed=0)
    assert labels[80] == labels[81] == labels[0]
    assert labels[82] == -1
    rows = np.vstack([np.where(y[:, None] == 0, [1.0, 0.0], [0.0, 1.0]), [[1, 0], [1, 0], [0.1, 1]]])
    found = label_graph(csr_array(lines.tocsr()), 2, None, Evidence(rows), 0, cut="modularity")
    assert found.labels[82] == found.labels[79]


def test_shares_of_links_sum_to_one():
    W, y = blocks([10, 20])
    shares = link_shares(W, y, 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    dense = W.toarray()
    np.testing.assert_allclose(shares[:, 0], dense[:, y == 0].sum(axis=1) / dense.sum(axis=1))


@pytest.fixture(scope="module")
def noisy():
    data = make_subspaces(n_subspaces=4, per_subspace=40, noise=0.05, random_state=0)
    return data.data, data.target


@pytest.mark.parametrize("estimator", [BMSC, RMSC])
def test_the_cut_is_a_parameter_and_keeps_what_is_known(estimator, noisy):
    X, y = noisy
    model = estimator(4, cut="modularity", random_state=0, n_jobs=1).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.9
    pairs = [[0, int(np.flatnonzero(y != y[0])[0])]]
    hard = estimator(4, cut="modularity", constraints="hard", random_state=0, n_jobs=1)
    assert len(set(hard.fit(X, must_link=pairs).labels_[pairs[0]])) == 1
    same = [[0, int(np.flatnonzero(y == y[0])[1])]]
    assert len(set(hard.fit(X, cannot_link=same).labels_[same[0]])) == 2
    known = np.full(len(y), -1)
    known[::10] = y[::10]
    np.testing.assert_array_equal(hard.fit(X, partial_labels=known).labels_[::10], y[::10])


def test_same_seed_same_labels_on_one_thread_or_two(noisy):
    one, two = (RMSC(4, cut="modularity", random_state=3, n_jobs=jobs).fit(noisy[0]).labels_ for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_the_two_clusters_are_merged_whose_union_costs_least():
    """Two large clusters and two small ones, each two tied by one link: chance alone would tie the large ones more."""
    W = np.zeros((28, 28))
    for start, size in ((0, 10), (10, 10), (20, 4), (24, 4)):
        W[start : start + size, start : start + size] = 1
    W[0, 10] = W[10, 0] = W[20, 24] = W[24, 20] = 1
    np.fill_diagonal(W, 0)
    labels = np.repeat(np.arange(4), (10, 10, 4, 4)).astype(np.int32)
    merged = _merged(csr_array(W), labels, 3, resolution=1.0)
    np.testing.assert_array_equal(merged, np.repeat([0, 1, 2, 2], (10, 10, 4, 4)))


def test_a_community_is_split_at_a_finer_resolution():
    """At the resolution at which it was found it is whole, so finer ones are tried."""
    W = np.kron(np.eye(2), np.ones((6, 6)))
    W[0, 6] = W[6, 0] = 1
    np.fill_diagonal(W, 0)
    order = np.arange(12, dtype=np.int32)
    assert find_communities(csr_array(W), 0.02, order).max() == 0
    part = _two_parts(csr_array(W), np.ones(W.shape[0], dtype=np.int64), 0.02, order)
    assert part is not None
    assert set(np.flatnonzero(part).tolist()) in (set(range(6)), set(range(6, 12)))
