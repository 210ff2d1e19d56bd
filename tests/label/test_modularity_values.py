"""Parts of the modularity cut against what they state, each written out."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from test_modularity import blocks

from masked_subspace.label.modularity import _merged, _search, _split, link_shares, modularity_cut
from masked_subspace.label.modularity_kernels import _refine


def quality(W, labels, resolution):
    """Weight inside clusters less what chance puts there, times the resolution."""
    degree, same = W.sum(axis=1), labels[:, None] == labels
    return float(((W - resolution * np.outer(degree, degree) / W.sum()) * same).sum())


@pytest.mark.parametrize("resolution", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_merger_is_the_one_that_costs_least(seed, resolution):
    W, _ = blocks([8, 20, 5, 12, 9], inside=0.4, outside=0.15, seed=seed)
    labels = np.random.default_rng(seed).integers(0, 7, W.shape[0])
    merged = [np.where(labels == b, a, labels) for a in range(7) for b in range(a + 1, 7)]
    expected = max(merged, key=lambda one: quality(W.toarray(), one, resolution))
    found = _merged(W, labels.astype(np.int32), 6, resolution)
    np.testing.assert_array_equal(found, np.unique(expected, return_inverse=True)[1])


@pytest.mark.parametrize("seed", range(6))
def test_several_mergers_are_each_the_one_that_costs_least(seed):
    W, _ = blocks([8, 20, 5, 12, 9], inside=0.4, outside=0.15, seed=seed)
    labels = np.random.default_rng(seed).integers(0, 7, W.shape[0])
    expected = labels
    for count in range(7, 3, -1):
        merged = [np.where(expected == b, a, expected) for a in range(count) for b in range(a + 1, count)]
        best = max(merged, key=lambda one: quality(W.toarray(), one, 1.5))
        expected = np.unique(best, return_inverse=True)[1]
    found = _merged(W, labels.astype(np.int32), 3, 1.5)
    assert len(np.unique(found)) == 3
    same = found[:, None] == found
    np.testing.assert_array_equal(same, expected[:, None] == expected)


def test_a_merged_cluster_has_the_links_and_degrees_of_both():
    """0 joins 1, of which nearly all links are; 2 is tied to 0 more than to 3, but no more than chance ties it."""
    W = csr_array(np.array([[0.0, 20, 4, 0], [20, 90, 0, 0], [4, 0, 5, 1], [0, 0, 1, 9]]))
    found = _merged(W, np.arange(4, dtype=np.int32), 2, 1.0)
    np.testing.assert_array_equal(found, [0, 0, 1, 1])


def test_the_cluster_with_most_samples_is_split_not_the_one_with_most_groups():
    W = np.zeros((6, 6))
    W[:4, :4], W[4:, 4:] = 1, 1
    sizes, labels = np.array([1, 1, 1, 1, 10, 10]), np.array([0, 0, 0, 0, 1, 1], dtype=np.int32)
    found = _split(csr_array(W), sizes, labels, 3, 1.0, np.arange(6, dtype=np.int32))
    assert len(set(found[:4].tolist())) == 1
    assert found[4] != found[5]


def test_the_partition_nearest_to_k_is_kept_on_the_way():
    """Numbers of communities jump from two to nine: of three and eight wanted, the nearer one is taken."""
    ones = np.ones(90, dtype=np.int64)
    few, many = np.arange(90) % 2, np.arange(90) % 9
    for wanted, expected in ((3, few), (8, many), (5, few)):
        found, resolution = _search(lambda one: few if one < 1.3 else many, ones, wanted, 1.0, 16)
        assert found is expected
        assert (resolution < 1.3) == (expected is few)


@pytest.mark.parametrize(("small", "own"), [(6, True), (3, False)])
def test_a_community_below_a_tenth_of_the_mean_size_is_no_cluster(small, own):
    """With 40 samples a cluster the limit is four: six samples are a cluster, three join another one."""
    W, y = blocks([57, 63 - small, small], inside=0.9, outside=0.005, seed=1)
    labels = modularity_cut(W, 3, seed=0)
    assert set(labels.tolist()) == {0, 1, 2}
    alone = set(np.flatnonzero(y == 2).tolist()) == set(np.flatnonzero(labels == labels[-1]).tolist())
    assert alone == own


def test_a_sample_without_links_belongs_to_its_own_cluster():
    W = csr_array(np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    np.testing.assert_array_equal(link_shares(W, np.array([0, 1, 1]), 2), [[0, 1], [1, 0], [0, 1]])


@pytest.mark.parametrize("resolution", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_refinement_joins_who_is_alone_to_the_part_that_gains_most(seed, resolution):
    """Counted again from the whole matrix at every step."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((40, 40)) * (rng.random((40, 40)) < 0.3), 1)
    W += W.T
    degree, community, order = W.sum(axis=1), rng.integers(0, 3, 40).astype(np.int32), rng.permutation(40)
    price, part = resolution / W.sum(), np.arange(40)
    for i in order:
        if np.count_nonzero(part == part[i]) == 1:
            gains = [
                W[i] @ (part == c) - price * degree[i] * degree[part == c].sum()
                if community[c] == community[i] and c != i
                else 0.0
                for c in range(40)
            ]
            part[i] = np.argmax(gains) if max(gains) > 0 else i
    graph = csr_array(W)
    found = _refine(graph.indptr, graph.indices, graph.data, degree, price, order, community)
    np.testing.assert_array_equal(found, part)
    assert 3 < len(np.unique(part)) < 40
