"""The closed form by value: its graph, its gap, its Z, and when it is looked at at all."""

import numpy as np
import pytest

from masked_subspace._common.progress import SilentEvents
from masked_subspace._common.rows import unit_rows
from masked_subspace.label.agreement import prediction_strength
from masked_subspace.label.labeler import Evidence
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.metrics import adjusted_rand_index
from masked_subspace.rounds import low_rank
from masked_subspace.rounds.low_rank import (
    CLEAR_GAP,
    ClosedForm,
    clearest_cuts,
    cut_of_rank,
    cuts_of_ranks,
    gaps_of_numbers,
    low_rank_rows,
    number_of_low_rank,
    power_graph_of,
    ranks_for,
)


def subspaces(n_clusters=3, each=20, dim=3, ambient=16, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(each, dim)) @ rng.normal(size=(dim, ambient)) for _ in range(n_clusters)])
    return X + noise * rng.normal(size=X.shape), np.repeat(np.arange(n_clusters), each)


def power_graph(rows):
    W = np.abs(rows @ rows.T) ** 4
    np.fill_diagonal(W, 0)
    return W


def test_graph_and_gap_of_a_rank_are_those_that_are_written_down():
    directions = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 8)))[0]
    found = cut_of_rank(directions, 5, 3, 0)
    M = directions[:, :5] / np.linalg.norm(directions[:, :5], axis=1, keepdims=True)
    W = power_graph(M)
    degree = W.sum(axis=1)
    values = np.linalg.eigvalsh(W / np.sqrt(np.outer(degree, degree)))[::-1]
    np.testing.assert_allclose(found.graph.toarray(), W, atol=1e-7)
    assert found.gap == pytest.approx((1 - values[3]) / (1 - values[2] + 1e-3), rel=1e-5)
    assert found.vectors.shape == (30, 3)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1)


def test_as_many_samples_as_clusters_have_no_gap():
    """No eigenvalue follows the K-th, and nothing can be said."""
    directions = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 2)))[0]
    assert cut_of_rank(directions, 2, 3, 0).gap == 0


def test_many_samples_have_the_same_graph_on_the_links_that_are_looked_at(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(40, 6))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    monkeypatch.setattr(low_rank, "_ALL_PAIRS", 10)
    monkeypatch.setattr(low_rank, "_NEIGHBOURS", 39)
    np.testing.assert_allclose(power_graph_of(rows).toarray(), power_graph(rows), atol=1e-6)


def test_ranks_are_spread_evenly_in_their_logarithm_and_ten_at_most():
    assert ranks_for(8, 1000) == [round(16 * 2.5 ** (step / 9)) for step in range(10)]
    assert ranks_for(2, 1000) == sorted({round(4 * 2.5 ** (step / 6)) for step in range(7)})


@pytest.fixture
def closed():
    X, y = subspaces(noise=0.05)
    directions = low_rank_rows(X, 15, only_if_low=False)[0][1]
    cuts = cuts_of_ranks(directions, 3, 0)
    return ClosedForm(directions, cuts, 3, Evidence(directions), 0), y


def test_z_is_the_projection_onto_the_best_rank_on_the_links_of_its_graph(closed):
    form, _ = closed
    U = form.directions[:, : form.cuts[0].rank]
    assert form.cuts[0].rank < form.directions.shape[1]
    Z = form.play(1, None, SilentEvents()).solution.representation.toarray()
    np.testing.assert_allclose(Z, np.where(form.cuts[0].graph.toarray() > 0, U @ U.T, 0), atol=1e-10)


def test_the_clearest_rank_labels_and_all_of_them_vote(closed):
    form, y = closed
    gaps = [one.gap for one in form.cuts]
    assert gaps == sorted(gaps, reverse=True)
    unrelated = cut_of_rank(np.linalg.qr(np.random.default_rng(1).normal(size=(60, 6)))[0], 6, 3, 0)
    outcome = ClosedForm(form.directions, [form.cuts[0], unrelated], 3, form.evidence, 0).play(1, None, SilentEvents())
    assert adjusted_rand_index(outcome.labeling.labels, y) == 1
    assert len(outcome.votes) == 2
    assert adjusted_rand_index(outcome.votes[1], y) < 0.5
    assert outcome.certainty.mean() < 0.9
    assert outcome.details["ranks"] == [{"rank": one.rank, "gap": one.gap} for one in (form.cuts[0], unrelated)]


def test_known_pairs_join_its_graph(closed):
    form, _ = closed
    known = KnownPairs.of(60, must_link=[[0, 59]], cannot_link=[[0, 1]])
    W = form.cuts[0].graph.toarray()
    assert W[0, 1] > 0
    found = ClosedForm(form.directions, form.cuts[:1], 3, Evidence(form.directions, known), 0)
    joined = found.play(1, None, SilentEvents()).labeling.affinity.toarray()
    assert joined[0, 1] == joined[1, 0] == 0
    assert joined[0, 59] == joined[59, 0] == W.max()


@pytest.mark.parametrize(("clear", "asked", "looked_at"), [(True, False, 660), (False, False, 300), (False, True, 660)])
def test_many_samples_are_looked_at_only_where_the_gap_of_a_sample_is_clear(clear, asked, looked_at):
    X, _ = subspaces(3, 220, dim=2, ambient=8)
    if not clear:
        X = np.random.default_rng(0).normal(size=X.shape)
    _, cuts = clearest_cuts(X, 3, 0, asked=asked)
    assert (cuts[0].gap >= CLEAR_GAP) == clear
    assert cuts[0].graph.shape == (looked_at, looked_at)


def test_the_sample_that_is_looked_at_is_drawn_with_the_seed():
    X = np.random.default_rng(0).normal(size=(660, 8))
    gaps = [clearest_cuts(X, 3, seed, asked=False)[1][0].gap for seed in (0, 0, 1)]
    assert gaps[0] == gaps[1] != gaps[2]


def test_many_clusters_are_no_motions_unless_asked_for():
    X = np.random.default_rng(0).normal(size=(60, 5))
    assert clearest_cuts(X, 21, 0, asked=False) is None
    assert clearest_cuts(X, 20, 0, asked=False) is not None
    assert clearest_cuts(X, 21, 0, asked=True) is not None


def test_a_rank_below_twice_k_speaks_for_k_where_there_is_no_higher_one():
    """Six directions in all: of five clusters the gap is that of rank 6, though 2K is 10."""
    directions = low_rank_rows(subspaces(3, 20, dim=2, ambient=6)[0], 6, only_if_low=False)[0][1]
    found = gaps_of_numbers(directions, 2, 5, 0)
    for number in (3, 4, 5):
        assert found[number] == pytest.approx(cut_of_rank(directions, 6, number, 0).gap, rel=1e-6)


def test_the_number_of_motions_needs_twelve_features_unless_it_is_asked_for():
    for ambient, told in ((11, False), (12, True)):
        X, _ = subspaces(3, 40, dim=2, ambient=ambient)
        assert (number_of_low_rank(X, 2, 6, 0, only_if_low=True) is not None) == told
        assert number_of_low_rank(X, 2, 6, 0, only_if_low=False).n_clusters == 3


def test_up_to_ten_subspaces_are_counted_by_the_gap_where_ten_planes_have_room():
    assert number_of_low_rank(subspaces(8, 30, dim=2, ambient=19)[0], 2, 40, 0, only_if_low=True) is None
    X, _ = subspaces(8, 30, dim=2, ambient=20)
    found = number_of_low_rank(X, 2, 40, 0, only_if_low=True)
    assert found.n_clusters == 8
    assert [record["n_clusters"] for record in found.records] == list(range(2, 11))
    within = number_of_low_rank(X, 4, 7, 0, only_if_low=False)
    assert [record["n_clusters"] for record in within.records] == [4, 5, 6, 7]
    assert number_of_low_rank(subspaces(4, 30, dim=2, ambient=20)[0], 2, 40, 0, only_if_low=True).n_clusters == 4


def test_numbers_with_a_clear_gap_are_candidates_and_others_are_not():
    found = number_of_low_rank(subspaces(3, 40, dim=2, ambient=20, noise=0.3)[0], 2, 6, 0, only_if_low=False)
    gaps = {record["n_clusters"]: record["score"] for record in found.records}
    assert list(gaps) == [2, 3, 4, 5, 6]
    clear = sorted((number for number in gaps if gaps[number] >= CLEAR_GAP), key=lambda number: -gaps[number])
    assert found.n_clusters == max(gaps, key=gaps.get)
    assert found.candidates == (clear or [found.n_clusters])[:3]
    assert len(found.candidates) < 3


def test_weights_below_1e8_of_the_largest_are_no_links():
    """|cos|⁴ is 2·10⁻⁸ and 4·10⁻⁹ of the largest, 1."""
    seen, unseen = 2e-8**0.25, 4e-9**0.25
    rows = np.array(
        [[1, 0, 0], [1, 0, 0], [seen, np.sqrt(1 - seen**2), 0], [unseen, 0, np.sqrt(1 - unseen**2)]],
    )
    W = power_graph_of(rows).toarray()
    np.testing.assert_allclose(W[0], [0, 1, 2e-8, 0], rtol=1e-9)
    assert W[2, 3] == 0


@pytest.mark.parametrize("n", [40, 700])
def test_values_of_a_rank_are_those_of_its_graph(n):
    rows = unit_rows(np.random.default_rng(0).normal(size=(n, 4)))
    rows[3] = 0  # a sample without links
    found = low_rank._leading_values(rows, 6, 0)
    np.testing.assert_allclose(found, low_rank._spectrum(power_graph_of(rows), 6, 0)[0], atol=1e-6)


@pytest.mark.parametrize("number", [3, 5])
def test_the_gap_of_a_single_number_is_the_clearer_of_both_lifts(number):
    X, _ = subspaces(3, 20, noise=0.05)
    found = low_rank._gaps_of_samples(X, number, number, 0, only_if_low=False)
    both = [
        gaps_of_numbers(rows, number, number, 0)[number] for _, rows in low_rank_rows(X, 5 * number, only_if_low=False)
    ]
    assert found == {number: pytest.approx(max(both))}
    assert both[0] != both[1]
    assert low_rank._gaps_of_samples(X, number + 1, number, 0, only_if_low=False) == {}


def two_planes(noise):
    """Unit rows along the two directions of one of two planes, some of them turned into the other plane."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    directions = np.zeros((200, 4))
    directions[:100, :2], directions[100:, 2:] = rng.normal(size=(2, 100, 2))
    return directions + noise * rng.normal(size=(200, 4)), y


def test_strength_along_the_directions_is_that_of_their_unit_rows():
    directions, y = two_planes(0.4)
    rows = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    found = low_rank.own_strength(directions * np.linspace(1, 9, 200)[:, None], y, 2)
    assert found == pytest.approx(prediction_strength(rows, y, 2))
    assert 0.1 < found < 0.9


def test_a_gap_is_sure_if_it_is_large_or_its_clusters_foretell_each_other():
    clear, y = two_planes(0.01)
    blurred, _ = two_planes(0.4)
    assert low_rank.is_sure(1.8, clear, y, 2)
    assert low_rank.is_sure(2.5, blurred, y, 2)
    assert not low_rank.is_sure(2.49, blurred, y, 2)


def test_strength_as_large_as_asked_for_is_sure(monkeypatch):
    for strength, sure in ((0.9, True), (0.899, False)):
        monkeypatch.setattr(low_rank, "own_strength", lambda *_, found=strength: found)
        assert low_rank.is_sure(2.0, np.eye(4), np.zeros(4, int), 2) is sure
