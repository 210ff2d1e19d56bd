"""RMSC with several members: views, the prior, the consensus mask, determinism."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from masked_subspace import GMSC, RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.estimators import rmsc
from masked_subspace.masks import ConsensusMask
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.represent.model import AdmmSettings, FirstStep, mean_square
from masked_subspace.rounds.defaults import LINKS_OF_MANY
from masked_subspace.rounds.recursion import draw_members
from masked_subspace.rows.preparation import VIEWS, Preparation, View, evening_rotation


@pytest.fixture(scope="module")
def fitted(digits):
    return RMSC(10, random_state=0, n_jobs=1).fit(digits[0])


def test_members_stay_inside_the_prior_and_differ(digits):
    rows = Preparation.learn(digits[0], VIEWS["plain"]).apply(digits[0])
    rule = FirstStep(rows, 3)
    members = draw_members(rows, 12, AdmmSettings(1.0), seed=3, rule=rule, links=(3, 4, 5))
    scale = mean_square(rows)
    penalties = np.array([m.settings.penalty for m in members]) / scale
    weights = np.array([m.settings.mask_weight for m in members]) / scale
    assert 10**0.5 <= penalties.min() < penalties.max() <= 10**1.5
    assert 0.01 <= weights.min() < weights.max() <= 10**0.3
    assert {m.n_links for m in members} == {3, 4, 5}
    assert len({m.settings.sparsity for m in members}) == 12
    again = draw_members(rows, 4, AdmmSettings(1.0), seed=3, first=8, weight_floor=1.0, rule=rule, links=(3, 4, 5))
    assert [m.settings.penalty for m in again] == [m.settings.penalty for m in members[8:]]
    assert min(m.settings.mask_weight for m in again) >= scale


def test_quantile_rule_leaves_as_many_links_as_asked_for(digits):
    rows = Preparation.learn(digits[0], VIEWS["plain"]).apply(digits[0])
    G = rows @ rows.T
    for penalty, links in [(3.0, 4.0), (15.0, 6.0), (30.0, 10.0)]:
        lam = FirstStep(rows, 0).sparsity(penalty, links)
        Z = G @ np.linalg.inv(G + 2 * penalty * np.eye(len(G)))
        np.fill_diagonal(Z, 0)
        kept = (np.abs(Z) > np.sqrt(2 * lam / penalty)).sum() / len(G)
        assert kept == pytest.approx(links, rel=0.02)


def test_quantile_rule_agrees_on_both_sides_of_the_gram_matrix():
    X = np.random.default_rng(0).normal(size=(40, 60))
    wide = FirstStep(X, 0).sparsity(2.0, 5)
    padded = FirstStep(np.linalg.qr(X.T, mode="r").T.copy(), 0).sparsity(2.0, 5)
    assert wide == pytest.approx(padded, rel=1e-6)


def test_whitening_is_a_power_of_the_singular_values():
    rng = np.random.default_rng(0)
    for shape in [(50, 8), (8, 50)]:
        X = rng.normal(size=shape) * np.linspace(1, 5, shape[1])
        U, S, _ = np.linalg.svd(X, full_matrices=False)
        for power in (0.5, 1.0):
            found = X @ evening_rotation(X, View("power", whitening=power))
            np.testing.assert_allclose(found @ found.T, (U * S ** (2 - 2 * power)) @ U.T, atol=1e-6)


def test_new_rows_get_the_same_preparation(digits):
    X = digits[0]
    preparation = Preparation.learn(X, View("both", root=True, whitening=0.5))
    np.testing.assert_allclose(preparation.apply(X[:7]), preparation.apply(X)[:7], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(preparation.apply(X), axis=1), 1)


def test_the_root_needs_nonnegative_data(digits):
    with pytest.raises(ValueError, match='view is "root" but X has negative'):
        RMSC(10, view="root").fit(digits[0] - 1)
    shifted = RMSC(10, random_state=0, n_jobs=1).fit(digits[0] - 1)
    assert all("root" not in record["views"] for record in shifted.choices_)


@pytest.mark.parametrize("parameters", [{"penalty": 1.0}, {"mask_strength": 2.0}, {"members": 9, "sparsity": 0.1}])
def test_parameters_that_members_do_not_hear_are_named(subspaces, parameters):
    name = list(parameters)[-1]
    with pytest.warns(UserWarning, match=rf"{name}=.* has no effect with 9 members.*members=1"):
        RMSC(4, random_state=0, **parameters).fit(subspaces.data)


def test_the_consensus_is_recorded(fitted, digits):
    # 300 samples in ten clusters: nine graphs, each cut by its spectrum and by modularity
    assert len(fitted.member_labels_) == 18
    record = fitted.history_[-1]
    assert len(record["members"]) == 9
    assert {"view", "lambda", "penalty", "mask_weight", "n_links"} <= set(record["members"][0])
    # One name, one meaning: the round's sparsity is what came of the λ of its members.
    assert "sparsity" not in record["members"][0]
    Z = fitted.representation_matrix_
    assert record["sparsity"] == Z.nnz / Z.shape[0]
    assert 0 < record["member_agreement"] <= 1
    assert fitted.certainty_.shape == (300,)
    assert 0 <= fitted.certainty_.min() <= fitted.certainty_.max() <= 1


def test_the_one_round_of_a_default_fit_has_no_prices(digits):
    """The judge represents without a mask, and its votes are round 1: what it solved under is what the fit says."""
    model = RMSC(10, random_state=0, n_jobs=1).fit(digits[0])
    assert (model.n_rounds_, model.soft_mask_) == (1, None)
    again = RMSC(10, random_state=0, n_jobs=1, max_rounds=2).fit(digits[0])
    assert isinstance(again.soft_mask_, ConsensusMask)
    np.testing.assert_array_equal(again.soft_mask_.labelings, model.member_labels_)


def test_rounds_of_one_view_learn_a_consensus_mask(digits):
    model = RMSC(10, random_state=0, view="plain", members=3, n_jobs=1).fit(digits[0])
    assert model.n_rounds_ == 2
    assert isinstance(model.soft_mask_, ConsensusMask)
    votes = model.soft_mask_.labelings
    # The mask of the second round is the agreement of the first one's votes, not of the second's.
    assert len(votes) == len(model.member_labels_)
    assert any(not np.array_equal(a, b) for a, b in zip(votes, model.member_labels_, strict=True))


def test_certain_samples_are_right_more_often(fitted, digits):
    from masked_subspace.metrics import match_labels

    right = match_labels(digits[1], fitted.labels_) == digits[1]
    certain = fitted.certainty_ >= np.median(fitted.certainty_)
    assert right[certain].mean() > right[~certain].mean()


def test_the_default_beats_one_member_on_digits(digits):
    X, y = digits
    several = [clustering_accuracy(y, RMSC(10, random_state=s).fit(X).labels_) for s in range(3)]
    one = [clustering_accuracy(y, GMSC(10, random_state=s).fit(X).labels_) for s in range(3)]
    assert np.mean(several) > np.mean(one)


def test_members_auto_depends_on_sparsity(digits):
    paper = RMSC(10, sparsity=1e-3, random_state=0).fit(digits[0])
    assert not hasattr(paper, "member_labels_")
    assert paper.view_ == "plain"


def test_dense_and_sparse_members_agree(digits):
    """Their rules for λ differ (the first step, and the end on candidates), so a few samples may fall otherwise."""
    common = {"members": 3, "n_candidates": 299, "view": "plain"}
    agreed = []
    for seed in range(3):  # of 300 digits one seed may split a cluster that the other solver does not
        models = [RMSC(10, solver=solver, random_state=seed, **common) for solver in ("dense", "sparse")]
        agreed.append(adjusted_rand_score(*(model.fit_predict(digits[0]) for model in models)))
    assert np.mean(agreed) > 0.85
    assert min(agreed) > 0.8


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_seed_and_any_thread_count_give_the_same_labels(digits, dtype):
    X = digits[0].astype(dtype)
    one, two = (RMSC(10, random_state=5, n_jobs=jobs, members=4).fit(X).labels_ for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_known_pairs_survive_the_consensus(digits):
    X, y = digits
    labels = np.full(len(y), -1)
    labels[:60] = y[:60]
    model = RMSC(10, random_state=0, members=4, constraints="hard").fit(X, partial_labels=labels)
    same_class = y[:60, None] == y[None, :60]
    same_cluster = model.labels_[:60, None] == model.labels_[None, :60]
    np.testing.assert_array_equal(same_cluster, same_class)


@pytest.mark.parametrize(("each", "n_links", "expected"), [(45, "auto", 4), (20, "auto", 6), (20, 8, 8)])
def test_members_keep_one_link_less_as_many_and_one_more(each, n_links, expected):
    X = make_subspaces(n_subspaces=3, per_subspace=each, noise=0.1, random_state=0).data
    model = RMSC(3, members=3, view="plain", n_links=n_links, max_rounds=1, random_state=0, n_jobs=1).fit(X)
    links = sorted(member["n_links"] for member in model.history_[0]["members"])
    assert links == [expected - 1, expected, expected + 1]


@pytest.mark.parametrize(("n_links", "expected"), [("auto", LINKS_OF_MANY), (7, (6, 7, 8))])
def test_many_samples_vote_in_one_view_with_wider_graphs(monkeypatch, digits, n_links, expected):
    for name, value in {"ONE_VIEW_FROM": 100, "JUDGED_SAMPLES": 80, "JUDGED_A_CLUSTER": 8}.items():
        monkeypatch.setattr(rmsc, name, value)
    model = RMSC(10, n_links=n_links, random_state=0, n_jobs=1).fit(digits[0][:150])
    members = model.history_[0]["members"]
    assert {member["view"] for member in members} == {model.view_}
    assert {member["n_links"] for member in members} == set(expected)
