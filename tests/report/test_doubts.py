"""What a graph says against a clustering, on graphs whose blocks are known."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.label.modularity import modularity
from masked_subspace.report.doubts import ClusterFacts, best_split, block_weights, examine, very_small


def blocks(sizes, inside=0.6, between=0.0, seed=0):
    """A random graph of blocks; `between` is the density of links from one block to the others."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(len(sizes)), sizes)
    density = np.where(of[:, None] == of[None, :], inside, between)
    upper = np.triu(rng.random(density.shape) < density, 1).astype(float)
    return csr_array(upper + upper.T), of


def test_a_cluster_of_two_blocks_is_seen():
    graph, of = blocks([40, 30, 50], between=0.004)
    merged = np.array([0, 0, 1])[of]
    facts = examine(graph, merged, np.ones(len(of)))
    assert facts[0].smaller_part == 30
    assert 0 < facts[0].between_parts < 0.02
    assert facts[1].smaller_part == 0


def test_blocks_without_any_link_are_seen_as_well():
    graph, _ = blocks([40, 30])
    assert best_split(graph) == (30, 0.0)
    assert best_split(blocks([70])[0])[1] > 0.2


def test_a_small_appendix_is_no_block():
    graph, _ = blocks([95, 5], between=0.002)
    part, share = best_split(graph)
    assert part == 0 or share > 0.2


def test_rivals_and_what_leaves_a_cluster():
    graph, of = blocks([40, 40, 40])
    torn = of.copy()
    torn[:20] = 3  # half of cluster 0 becomes a cluster of its own
    facts = examine(graph, torn, np.linspace(0, 1, len(of)))
    assert facts[3].rival == 0
    assert facts[0].rival == 3
    assert facts[3].to_rival == pytest.approx(facts[3].outside)
    assert facts[3].to_rival > 0.4
    assert facts[1].rival == -1
    assert facts[1].certainty == pytest.approx(np.linspace(0, 1, 120)[40:80].mean())


def test_modularity_is_that_of_the_definition():
    graph, of = blocks([20, 30], between=0.05)
    W = graph.toarray()
    degree, total = W.sum(axis=1), W.sum()
    expected = ((W - np.outer(degree, degree) / total) * (of[:, None] == of[None, :])).sum() / total
    assert modularity(graph, of) == pytest.approx(expected)
    assert block_weights(graph, of).sum() == pytest.approx(total)


def test_a_graph_without_links_has_no_doubts():
    facts = examine(csr_array((30, 30)), np.repeat([0, 1], 15), np.ones(30))
    assert [fact.rival for fact in facts] == [-1, -1]
    assert [(fact.outside, fact.to_rival, fact.smaller_part, fact.certainty) for fact in facts] == [(0, 0, 0, 1)] * 2
    assert modularity(csr_array((30, 30)), np.repeat([0, 1], 15)) == 0


def two_cliques(first, second, link):
    """Two cliques of unit weights with one link between them."""
    n = first + second
    W = np.zeros((n, n))
    W[:first, :first] = W[first:, first:] = 1
    np.fill_diagonal(W, 0)
    W[0, n - 1] = W[n - 1, 0] = link
    return W


@pytest.mark.parametrize(("first", "second", "link"), [(10, 14, 1.0), (12, 8, 3.0), (4, 20, 0.5)])
def test_the_share_that_a_split_cuts_is_that_of_the_smaller_part(first, second, link):
    """A clique of m has the volume m(m − 1), and the link is counted once."""
    small = min(first, second)
    part, share = best_split(csr_array(two_cliques(first, second, link)))
    assert part == small
    assert share == pytest.approx(link / (small * (small - 1) + link))


def test_parts_below_a_share_of_the_cluster_and_clusters_of_few_samples_are_not_looked_at():
    assert best_split(csr_array(two_cliques(5, 6, 0.1))) == (0, 1.0)
    assert best_split(csr_array(two_cliques(5, 7, 0.1)))[0] == 5
    part, share = best_split(csr_array(two_cliques(3, 20, 0.1)))  # 3 of 23 are less than 15 %: the split must be wider
    assert part >= 4
    assert share > 0.1
    apart = np.zeros((23, 23))
    apart[:20, :20], apart[20:, 20:] = 1, 1
    np.fill_diagonal(apart, 0)
    assert best_split(csr_array(apart))[1] > 0.1  # a piece so small is passed over, too


@pytest.mark.parametrize(
    ("between", "outside", "two"),
    [
        (0.005, 0.0, True),  # next to nothing is cut: two blocks, whatever lies outside
        (0.02, 0.0, False),
        (0.05, 0.08, True),  # less is cut than leads away
        (0.05, 0.03, False),
        (0.105, 0.5, False),  # too much is cut for two blocks
        (0.1, 0.5, False),  # as much as that is too much
    ],
)
def test_a_cluster_is_two_blocks_if_parting_them_cuts_less_than_leads_away(between, outside, two):
    link = 90 * between / (1 - between)
    inside = 180 + 2 * link
    away = inside * outside / (1 - outside)
    W = np.zeros((40, 40))
    W[:20, :20] = two_cliques(10, 10, link)
    W[20:, 20:] = 1 - np.eye(20)
    W[3, 30] = W[30, 3] = away
    fact = examine(csr_array(W), np.repeat([0, 1], 20), np.full(40, 0.7))[0]
    assert fact.between_parts == pytest.approx(between)
    assert fact.outside == pytest.approx(outside)
    assert fact.to_rival == pytest.approx(outside)
    assert fact.rival == (1 if outside else -1)
    assert (fact.size, fact.certainty) == (20, pytest.approx(0.7))
    assert fact.smaller_part == (10 if two else 0)


def test_where_nothing_can_be_split_the_share_is_all():
    """No links, too few samples, or no part large enough beside the pieces."""
    assert best_split(csr_array((20, 20))) == (0, 1.0)
    pieces = np.zeros((40, 40))
    for start in range(0, 38, 4):  # ten pieces of four samples; a part of 15 % needs six
        pieces[start : start + 4, start : start + 4] = 1 - np.eye(4)
    assert best_split(csr_array(pieces)) == (0, 1.0)


@pytest.mark.parametrize(("size", "block"), [(3, False), (4, True)])
def test_a_piece_counts_from_fifteen_hundredths_of_the_samples_on(size, block):
    """Of twenty samples these are three; of 21, rounded up, four."""
    n = 21
    W = np.zeros((n, n))
    W[: n - size, : n - size] = 1
    W[n - size :, n - size :] = 1
    np.fill_diagonal(W, 0)
    assert (best_split(csr_array(W)) == (size, 0.0)) == block
    three = np.zeros((20, 20))
    three[:17, :17], three[17:, 17:] = 1, 1
    np.fill_diagonal(three, 0)
    assert best_split(csr_array(three)) == (3, 0.0)


def test_of_three_pieces_the_smallest_that_counts_is_told():
    W = np.zeros((30, 30))
    for start, stop in ((0, 15), (15, 23), (23, 29), (29, 30)):
        W[start:stop, start:stop] = 1
    np.fill_diagonal(W, 0)
    assert best_split(csr_array(W)) == (6, 0.0)


def test_a_split_of_links_of_unlike_weights_is_the_best_of_all():
    """Against every cut along a line whose links are weak in one place."""
    weights = np.r_[np.full(9, 1.0), 0.05, np.full(10, 2.0)]
    n = len(weights) + 1
    W = np.zeros((n, n))
    W[np.arange(n - 1), np.arange(1, n)] = weights
    W = W + W.T
    part, share = best_split(csr_array(W))
    volumes = np.cumsum(W.sum(axis=1))
    assert part == 10
    assert share == pytest.approx(0.05 / min(volumes[9], volumes[-1] - volumes[9]))


def test_negative_weights_count_by_their_size():
    W = two_cliques(10, 10, 0.5)
    signs = np.sign(np.random.default_rng(0).normal(size=W.shape))
    signed = np.triu(W * signs, 1)
    facts, plain = (examine(csr_array(one), np.repeat([0, 1], 10), np.ones(20)) for one in (signed + signed.T, W))
    assert [(one.outside, one.to_rival) for one in facts] == [(one.outside, one.to_rival) for one in plain]
    merged = examine(csr_array(signed + signed.T), np.zeros(20, dtype=int), np.ones(20))
    assert merged[0].smaller_part == 10


def test_the_rival_is_who_gets_most_of_what_leaves():
    of = np.repeat([0, 1, 2], 10)
    W = np.kron(np.eye(3), 1 - np.eye(10))
    for a, b, weight in ((0, 10, 5.0), (1, 20, 15.0), (11, 21, 10.0)):
        W[a, b] = W[b, a] = weight
    facts = examine(csr_array(W), of, np.arange(30) / 30)
    assert [fact.rival for fact in facts] == [2, 2, 0]
    assert [fact.outside for fact in facts] == pytest.approx([20 / 110, 15 / 105, 25 / 115])
    assert [fact.to_rival for fact in facts] == pytest.approx([15 / 110, 10 / 105, 15 / 115])
    assert [fact.certainty for fact in facts] == pytest.approx([4.5 / 30, 14.5 / 30, 24.5 / 30])
    assert [fact.size for fact in facts] == [10, 10, 10]


def test_small_is_less_than_a_tenth_of_the_mean_or_of_three():
    def named(*sizes):
        facts = {str(k): ClusterFacts(size, 1.0, 0.0, -1, 0.0, 0, 0.0) for k, size in enumerate(sizes)}
        return very_small(facts)

    assert named(2, 3, 4) == ["0"]
    assert named(7, 7, 193, 193) == ["0", "1"]  # the mean is 100
    assert named(10, 10, 190, 190) == []
    assert named(9, 10, 190, 191) == ["0"]
