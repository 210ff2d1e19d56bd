"""The number of clusters by value: which looks are compared, what predictions count, and the score of clouds."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_number_of_clusters import planted_links

from masked_subspace.label import number_of_clusters as module
from masked_subspace.label.number_of_clusters import (
    Cells,
    _coarsest,
    _Family,
    _prediction,
    number_of_clear_clouds,
    number_of_clusters,
    part_of_links,
)
from masked_subspace.label.separation import CLEAR, Clouds
from masked_subspace.label.shared_information import SharedInformation


def test_what_several_pairs_share_is_a_mean():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, 3000), rng.integers(0, 3, 3000)
    one, other = SharedInformation.of([(a, a)], rng), SharedInformation.of([(b, b)], rng)
    both = SharedInformation.of([(a, a), (b, b)], rng)
    assert both.information == pytest.approx((one.information + other.information) / 2, rel=1e-2)
    assert both.agreement == pytest.approx(1)


def test_looks_of_one_view_are_compared_only_where_there_is_no_other():
    graphs = [planted_links(3, 20, seed)[0] for seed in (0, 1, 2)]
    assert _Family.of(graphs[:1], 0, 1).pairs == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert _Family.of(graphs[:2], 0, 1).pairs == [(0, 2), (0, 3), (1, 2), (1, 3)]
    three = _Family.of(graphs, 0, 1)
    assert len(three.looks) == 6
    assert len(three.pairs) == 12
    assert all(a // 2 != b // 2 for a, b in three.pairs)


def test_looks_are_different_halves_of_the_links():
    family = _Family.of([planted_links(3, 20, 0)[0]], 0, 1)
    assert all(abs(one.W - family.looks[0].W).max() > 0 for one in family.looks[1:])
    again = _Family.of([planted_links(3, 20, 0)[0]], 1, 1)
    assert abs(again.looks[0].W - family.looks[0].W).max() > 0


def test_half_of_the_eight_strongest_links_are_kept():
    links, _ = planted_links(3, 60, 0, inside=12, outside=0)
    part = part_of_links(links, np.random.default_rng(0))
    dense = links.toarray()
    eighth = np.sort(dense, axis=1)[:, -8][:, None]
    strong = dense >= eighth
    assert not (part.toarray() > 0)[~(strong | strong.T)].any()
    kept = (np.triu(part.toarray()) > 0).sum() / 180
    # The strongest and half of the other seven, 4.5 a sample; a link that both ends keep counts once.
    assert 3.9 < kept < 4.5


def test_predictions_are_made_by_three_quarters_of_the_samples(monkeypatch):
    folds = []

    def predicted(samples, labels, n_clusters, fold):
        folds.append(fold)
        return labels

    monkeypatch.setattr(module, "predicted_labels", predicted)
    looks = _Family.of([planted_links(3, 20, 0)[0]], 0, 1).looks
    _prediction(looks, 3, [np.eye(60), np.eye(60)], seed=0)
    assert np.bincount(folds[0]).tolist() == [15, 15, 15, 15]
    np.testing.assert_array_equal(folds[0], folds[1])


def test_the_score_is_what_looks_share_beyond_the_price():
    links, labels = planted_links(4, 25, 0, outside=3)
    rows = 4 * np.eye(20)[labels] + np.random.default_rng(0).normal(size=(100, 20))
    plain, predicting = (number_of_clusters([[links]], 2, 8, 0, samples=samples) for samples in ([], [rows]))
    assert plain.records == predicting.records
    for one in plain.records:
        assert one["score"] == pytest.approx((one["agreement"] - 0.65) * one["information"])


def test_samples_name_a_coarser_number_where_the_score_is_flat(monkeypatch):
    links, _ = planted_links(8, 12, 0, outside=6)
    finest = number_of_clusters([[links]], 2, 20, 0)
    assert finest.n_clusters == 8
    monkeypatch.setattr(module, "_FLAT", 0.5)
    monkeypatch.setattr(module, "_prediction", lambda looks, k, samples, seed: 1.0)  # noqa: ARG005
    assert number_of_clusters([[links]], 2, 20, 0, samples=[np.eye(96)]).candidates[:2] != [8, 7]
    agreed = {one["n_clusters"]: one["agreement"] for one in finest.records}
    finest_scores = {one["n_clusters"]: one["score"] for one in finest.records}
    assert agreed[8] > max(agreed[7], agreed[9])
    record = _Family._record
    level = {"agreement": 0.9}
    monkeypatch.setattr(_Family, "_record", lambda self, *of: record(self, *of) | level)
    monkeypatch.setattr(_Family, "score", lambda self, k: finest_scores[k])  # noqa: ARG005
    found = number_of_clusters([[links]], 2, 20, 0, samples=[np.eye(96)])
    assert (found.n_clusters, found.candidates[:2]) == (8, [8, 7])


def test_a_flat_score_leads_down_to_eight_tenths_of_the_best_number_and_no_further():
    flat, level = np.array([0.99, 0.99, 1.0]), [0.8, 0.8, 0.8]
    assert _coarsest([7, 8, 10], flat, level, lambda k: 0.9) == 1  # noqa: ARG005
    assert _coarsest([7, 8, 10], np.array([0.99, 0.94, 1.0]), level, lambda k: 0.9) == 2  # noqa: ARG005
    assert _coarsest([8, 9, 10], flat, level, {8: 0.89, 9: 0.9, 10: 0.9}.__getitem__) == 1


@pytest.fixture(scope="module")
def clouds():
    links, labels = planted_links(4, 25, 0)
    rows = 20 * np.random.default_rng(1).normal(size=(4, 3))[labels] + np.random.default_rng(0).normal(size=(100, 3))
    return links, labels, rows


@pytest.mark.parametrize("permuted", [False, True])
def test_clouds_are_counted_by_how_far_they_stand_apart_times_their_entropy(clouds, permuted):
    links, labels, rows = clouds
    order = np.random.default_rng(2).permutation(100) if permuted else None
    places = np.arange(0, 100, 2)
    found = number_of_clusters([[links]], 2, 12, 0, order=order, cells=Cells(rows[places], places, [0]))
    assert found.n_clusters == 4
    record = next(one for one in found.records if one["n_clusters"] == 4)
    assert record["separation"] == pytest.approx(Clouds.like(rows[places], 0).excess(labels[places]))
    entropy = -sum(share * np.log(share) for share in np.bincount(labels[places]) / 50)
    assert record["score"] == pytest.approx(record["separation"] * entropy)
    # Numbers are tried until four in turn are below half of the best.
    assert len(found.records) < 11


@pytest.mark.parametrize("permuted", [False, True])
def test_clouds_that_stand_apart_are_counted_without_other_families(clouds, permuted):
    links, _, rows = clouds
    order = np.random.default_rng(2).permutation(100) if permuted else None
    cells = Cells(rows, np.arange(100), [0])
    found = number_of_clear_clouds([[links]], 2, 12, 0, cells=cells, order=order)
    assert found == number_of_clusters([[links]], 2, 12, 0, cells=cells, order=order)
    assert found.n_clusters == 4
    # The same graph over one cloud: its cells do not stand apart.
    one_cloud = Cells(np.random.default_rng(0).normal(size=(100, 3)), np.arange(100), [0])
    assert number_of_clear_clouds([[links]], 2, 12, 0, cells=one_cloud) is None


@pytest.mark.parametrize(("separation", "taken"), [(CLEAR, True), (CLEAR - 0.01, False)])
def test_clouds_are_clear_where_those_of_the_number_that_is_taken_stand_apart(clouds, monkeypatch, separation, taken):
    links, _, rows = clouds
    others = 1 - CLEAR if taken else CLEAR + 0.1
    records = [{"n_clusters": k, "separation": separation if k == 4 else others} for k in (3, 4, 5)]
    monkeypatch.setattr(module, "_number_of_clouds", lambda *_: module.Number(4, [], records))
    found = number_of_clear_clouds([[links]], 2, 12, 0, cells=Cells(rows, np.arange(100), [0]))
    assert (found is not None) == taken


def test_a_number_of_clouds_has_its_score_or_a_bound_below_half_of_the_best(clouds):
    links, _, rows = clouds
    found = number_of_clusters([[links]], 2, 12, 0, cells=Cells(rows, np.arange(100), [0]))
    exact = Clouds.like(rows, 0)
    looks, bounds = _Family.of([links], 0, 1).looks, 0
    for record in found.records:
        excess = exact.excess(module._consensus(looks, record["n_clusters"], 0))
        if record["separation"] != pytest.approx(excess):
            bounds += 1
            assert excess < record["separation"]
            assert record["score"] < max(one["score"] for one in found.records) / 2
    assert bounds > 0


def test_other_families_than_those_that_see_clouds_count_in_the_usual_way(clouds):
    links, _, rows = clouds
    usual = number_of_clusters([[links]], 2, 12, 0)
    assert number_of_clusters([[links]], 2, 12, 0, cells=Cells(rows, np.arange(100), [1])) == usual


def test_a_cloud_that_stands_alone_is_not_cut_in_two_because_the_halves_say_more():
    place = module._apart_if_as_good
    assert place(np.array([0.64, 1.098, 1.102]), np.array([1.0, 1.0, 0.83])) == 1
    assert place(np.array([0.64, 0.97, 1.102]), np.array([1.0, 1.0, 0.83])) == 2  # too far behind
    assert place(np.array([0.64, 1.098, 1.102]), np.array([1.0, 0.98, 0.83])) == 2  # these touch, too
    assert place(np.array([1.0, 1.098, 1.102]), np.array([1.0, 1.0, 1.0])) == 2  # nor do the best ones touch
    assert place(np.array([1.02, 1.098, 1.102]), np.array([1.0, 1.0, 0.5])) == 1
    assert place(np.array([1.2, 1.1]), np.array([0.5, 1.0])) == 0  # only numbers below it


def test_chance_is_drawn_anew_for_every_number():
    """What chance would give is measured with another permutation for each K; the same K has the same one."""
    family = _Family.of([planted_links(3, 20, 0)[0]], 5, 1)
    rng = np.random.default_rng(0)
    cuts = [rng.integers(0, 4, 60) for _ in family.looks]
    pairs = [(cuts[a], cuts[b]) for a, b in family.pairs]
    for k in (4, 7):
        expected = SharedInformation.of(pairs, np.random.default_rng(5 + k))
        record = family._record(cuts, k)
        assert (record["agreement"], record["information"]) == (expected.agreement, expected.information)
    assert family._record(cuts, 4)["agreement"] != family._record(cuts, 7)["agreement"]


def test_of_many_views_about_twelve_pairs_of_looks_are_compared():
    graphs = [planted_links(3, 20, seed)[0] for seed in range(5)]
    assert len(_Family.of(graphs[:4], 0, 1).pairs) == 12  # of 24, every second
    five = _Family.of(graphs, 0, 1).pairs
    assert len(five) == 14  # of 40, every third
    assert all(a // 2 != b // 2 for a, b in five)


def counted_clouds(monkeypatch, scores, high):
    """The number of clouds for scores that are written down, and what was asked of the clouds."""
    entropy = {k: -sum(s * np.log(s) for s in np.bincount(np.arange(60) % k) / 60) for k in range(2, 20)}
    asked = []

    def excess(labels, enough):
        k = int(labels.max()) + 1
        asked.append((k, enough * entropy[k] if np.isfinite(enough) else enough))
        return scores[k] / entropy[k]

    monkeypatch.setattr(module, "_consensus", lambda _looks, k, _seed: np.arange(60) % k)
    monkeypatch.setattr(module.Clouds, "like", lambda *_: SimpleNamespace(excess=excess))
    family = SimpleNamespace(looks=[], try_all=lambda _: None, records={k: {"agreement": 0.5} for k in range(20)})
    cells = Cells(np.zeros((60, 2)), np.arange(60), [0])
    return module._number_of_clouds([family], 1, high, cells, 0, None), asked


def test_numbers_of_clouds_are_tried_until_four_in_turn_have_less_than_half_of_the_best(monkeypatch):
    scores = {2: 0.1, 3: 1.0, 4: 0.76, 5: 0.49, 6: 0.3, 7: 0.3, 8: 0.3, 9: 9.0}
    found, asked = counted_clouds(monkeypatch, scores, 9)
    assert [one["n_clusters"] for one in found.records] == [2, 3, 4, 5, 6, 7, 8]
    assert (found.n_clusters, found.candidates) == (3, [3, 4])
    # A number is measured only as far as it could have half of the best score.
    assert [enough for _, enough in asked] == pytest.approx([-np.inf, 0.05, *[0.5] * 5])
    longer, _ = counted_clouds(monkeypatch, scores | {5: 0.51, 9: 0.2, 10: 9.0}, 10)
    assert longer.records[-1]["n_clusters"] == 9


@pytest.mark.parametrize(("score", "candidates"), [(0.76, [3, 4]), (0.74, [3])])
def test_numbers_of_clouds_with_three_quarters_of_the_best_score_are_named(monkeypatch, score, candidates):
    found, _ = counted_clouds(monkeypatch, {2: 0.1, 3: 1.0, 4: score}, 4)
    assert found.candidates == candidates


@pytest.mark.parametrize(("score", "tried"), [(0.16, 11), (0.14, 5)])
def test_where_nothing_stands_apart_the_search_ends_soon(monkeypatch, score, tried):
    """Scores below half of .3 are those of one cloud."""
    found, _ = counted_clouds(monkeypatch, dict.fromkeys(range(2, 13), score), 12)
    assert len(found.records) == tried
