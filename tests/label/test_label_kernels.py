"""Compiled parts of the labelling step against plain loops over dense matrices."""

from collections import deque

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.label.boundary_moves import settled_labels
from masked_subspace.label.kmeans import _take_best, _take_nearest
from masked_subspace.label.modularity_kernels import _aggregate, _move, _refine, _renumber, find_communities


def random_graph(n, share, seed, loops=False):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < share), 1)
    return W + W.T + np.diag(rng.random(n) * 5 * loops)


def as_csr(W):
    graph = csr_array(W)
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data


def best_of(W, degree, price, i, own, labels, targets, least):
    """The community of `targets` where i gains most, and whether that is more than where it is."""
    others = np.arange(len(labels)) != i

    def value(c):
        there = (labels == c) & others
        return W[i, there].sum() - price * degree[i] * degree[there].sum()

    best, gain = own, least if least is not None else value(own)
    for c in targets:
        if value(c) > gain + 1e-12 * degree[i]:
            best, gain = c, value(c)
    return best


def plain_move(W, degree, price, order, labels):
    """Everybody waits in line; who moves calls those of its neighbours that are elsewhere."""
    queue, moved = deque(order), False
    while queue:
        i = queue.popleft()
        near = [j for j in np.flatnonzero(W[i]) if j != i]
        best = best_of(W, degree, price, i, labels[i], labels, dict.fromkeys(labels[near].tolist()), None)
        if best != labels[i]:
            labels[i], moved = best, True
            queue.extend(j for j in near if labels[j] != best and j not in queue)
    return moved


def plain_refine(W, degree, price, order, community):
    part = np.arange(len(W))
    for i in order:
        if np.count_nonzero(part == i) == 1 and part[i] == i:
            near = [j for j in np.flatnonzero(W[i]) if j != i and community[j] == community[i]]
            part[i] = best_of(W, degree, price, i, i, part, dict.fromkeys(part[near].tolist()), 0.0)
    return part


def by_appearance(labels):
    names = {c: k for k, c in enumerate(dict.fromkeys(labels.tolist()))}
    return np.array([names[c] for c in labels.tolist()], dtype=np.int32)


def plain_leiden(W, resolution, order):
    """The steps of the algorithm, each level a dense matrix."""
    whole, n, all_order = W, len(W), order
    degree, price = W.sum(axis=1), resolution / W.sum()
    member, community = np.arange(n), np.arange(n)
    levels = 0
    while True:
        moved = plain_move(W, degree, price, order, community)
        community = by_appearance(community)
        if not moved or community.max() + 1 == len(W):
            break
        part = by_appearance(plain_refine(W, degree, price, order, community))
        if part.max() + 1 == len(W):
            break
        P = np.eye(part.max() + 1)[part]
        order = np.array(list(dict.fromkeys(part[order].tolist())))
        W, degree, member = P.T @ W @ P, degree @ P, part[member]
        community = np.array([community[part == p][0] for p in range(P.shape[1])])
        levels += 1
    labels = community[member]
    while plain_move(whole, whole.sum(axis=1), price, all_order, labels):
        pass
    return by_appearance(labels), levels


@pytest.mark.parametrize("resolution", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_communities_are_those_of_the_algorithm_step_by_step(seed, resolution):
    W, order = random_graph(60, 0.12, seed), np.random.default_rng(seed).permutation(60)
    expected, levels = plain_leiden(W, resolution, order)
    assert levels >= 1
    np.testing.assert_array_equal(find_communities(csr_array(W), resolution, order), expected)


@pytest.mark.parametrize("seed", range(4))
def test_samples_move_in_line_until_nobody_waits(seed):
    """With loops, which count in degrees and tie nobody to anywhere."""
    W, order = random_graph(40, 0.2, seed, loops=True), np.random.default_rng(seed).permutation(40).astype(np.int32)
    degree, price = W.sum(axis=1), 1.5 / W.sum()
    expected = np.random.default_rng(seed + 50).integers(0, 12, 40).astype(np.int32)
    found = expected.copy()
    assert plain_move(W, degree, price, order, expected)
    assert _move(*as_csr(W), degree, price, order, found)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(4))
def test_loops_do_not_tie_a_sample_to_its_own_part(seed):
    W, order = random_graph(40, 0.2, seed, loops=True), np.random.default_rng(seed).permutation(40).astype(np.int32)
    community = np.random.default_rng(seed + 50).integers(0, 3, 40).astype(np.int32)
    degree, price = W.sum(axis=1), 0.8 / W.sum()
    found = _refine(*as_csr(W), degree, price, order, community)
    np.testing.assert_array_equal(found, plain_refine(W, degree, price, order, community))


def test_of_communities_as_good_but_for_rounding_the_one_seen_first_is_taken():
    """0.1 + 0.2 is more than 0.3 in the last bit alone."""
    W = np.array([[0, 0.3, 0.1 + 0.2], [0.3, 0, 0], [0.1 + 0.2, 0, 0]])
    order, labels = np.arange(3, dtype=np.int32), np.arange(3, dtype=np.int32)
    part = _refine(*as_csr(W), W.sum(axis=1), 0.0, order, np.zeros(3, np.int32))
    assert part.tolist() == [1, 1, 1]
    _move(*as_csr(W), W.sum(axis=1), 0.0, order, labels)
    assert labels.tolist() == [1, 1, 1]
    one = csr_array(W[:1])
    assert settled_labels(one, np.array([-1, 0, 1]), np.ones(2), 0.0).tolist() == [0]


def test_the_graph_of_the_parts_holds_all_weight_between_and_inside_them():
    W, part = random_graph(30, 0.3, 0, loops=True), by_appearance(np.random.default_rng(1).integers(0, 6, 30))
    parts = part.max() + 1
    P = np.eye(parts)[part]
    degree = np.random.default_rng(2).random(30)
    indptr, indices, data, found = _aggregate(*as_csr(W), degree, part, parts)
    assert len(indices) == len(data) == indptr[-1]
    np.testing.assert_allclose(csr_array((data, indices, indptr), shape=(parts, parts)).toarray(), P.T @ W @ P)
    np.testing.assert_allclose(found, degree @ P)


def test_names_are_given_in_the_order_of_the_first_samples():
    labels = np.array([7, 2, 7, 0, 2, 5], dtype=np.int32)
    assert _renumber(labels) == 4
    assert labels.tolist() == [0, 1, 0, 2, 1, 3]


@pytest.mark.parametrize("seed", range(6))
def test_moves_of_one_part_are_those_of_a_plain_loop(seed):
    rng = np.random.default_rng(seed)
    W = (rng.random((15, 25)) * (rng.random((15, 25)) < 0.3)).astype(np.float32)
    labels, totals, price = rng.integers(-1, 5, 25), rng.uniform(5, 9, 5), 0.05
    expected, mass, degree = labels.copy(), totals.copy(), W.sum(axis=1, dtype=np.float64)
    for _ in range(20):
        before = expected.copy()
        for i in range(15):
            if expected[i] >= 0:
                mass[expected[i]] -= degree[i]
            weight = [W[i, (expected == c) & (np.arange(25) != i)].sum(dtype=np.float64) for c in range(5)]
            value = np.array(weight) - price * degree[i] * mass
            tried = [c for c in range(5) if weight[c] > 0 or c == expected[i]]
            if tried:
                expected[i] = max(tried, key=lambda c: value[c])
                mass[expected[i]] += degree[i]
        if (before == expected).all():
            break
    found = settled_labels(csr_array(W), labels, totals, price)
    assert (found != labels[:15]).any()
    np.testing.assert_array_equal(found, expected[:15])


def test_a_label_goes_one_link_in_each_of_twenty_sweeps():
    n = 30
    W = csr_array((np.ones(n, dtype=np.float32), (np.arange(n), np.arange(1, n + 1))), shape=(n, n + 1))
    labels = np.full(n + 1, -1)
    labels[n] = 0
    np.testing.assert_array_equal(settled_labels(W, labels, np.ones(1), 0.0), np.repeat([-1, 0], [n - 20, 20]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_trial_that_leaves_least_distance_is_taken(dtype):
    rng = np.random.default_rng(1)
    rows, weights = rng.standard_normal((20, 3)).astype(dtype), rng.uniform(0.5, 3, 20) ** 4
    nearest, tried = rng.uniform(0.5, 6, (4, 20)).astype(dtype), rng.integers(0, 20, (4, 5))
    apart = ((rows[tried][:, :, None] - rows) ** 2).sum(axis=3)
    left = np.minimum(nearest[:, None], apart)
    expected = (left @ weights).argmin(axis=1)
    best, inner = np.zeros(4, np.int64), (rows[tried.ravel()] @ rows.T).reshape(4, 5, 20)
    _take_best(inner, (rows**2).sum(axis=1), tried, nearest, best, weights)
    np.testing.assert_array_equal(best, expected)
    assert len(set(expected.tolist())) > 1
    assert (expected != left.sum(axis=2).argmin(axis=1)).any()  # the weights decide
    np.testing.assert_allclose(nearest, left[np.arange(4), expected], atol=1e-5)


def test_no_squared_distance_is_below_zero():
    """Products of equal rows that are rounded up."""
    nearest, best = np.full((1, 2), 9.0), np.zeros(1, np.int64)
    _take_best(np.full((1, 1, 2), 1 + 1e-9), np.ones(2), np.zeros((1, 1), np.int64), nearest, best, np.ones(2))
    assert nearest.tolist() == [[0.0, 0.0]]


def test_rows_go_to_the_nearest_centre_of_each_restart_with_their_weight():
    rng = np.random.default_rng(0)
    rows, centres, weights = rng.standard_normal((12, 2)), rng.standard_normal((3, 4, 2)), rng.uniform(0.5, 3, 12)
    labels, sums, mass = np.full((3, 12), -1, np.int32), np.ones((3, 4, 2)), np.ones((3, 4))
    flat = centres.reshape(12, 2)
    _take_nearest(rows @ flat.T, (flat**2).sum(axis=1), rows, weights, labels, sums, mass, 1e-12)
    for restart in range(3):
        expected = ((rows[:, None] - centres[restart]) ** 2).sum(axis=2).argmin(axis=1)
        held = np.eye(4)[expected] * weights[:, None]
        np.testing.assert_array_equal(labels[restart], expected)
        np.testing.assert_allclose(mass[restart], 1 + held.sum(axis=0))
        np.testing.assert_allclose(sums[restart], 1 + held.T @ rows)
