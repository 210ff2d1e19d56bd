"""What holds the steps together, by value: easy data would absorb an error in it."""

import numpy as np
import pytest

from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace.baselines import LSR
from masked_subspace.label.graph import affinity_matrix
from masked_subspace.masks import KnownPairs, LabelMask
from masked_subspace.metrics import clustering_accuracy


def noisy(n_each=20, n_clusters=3, noise=0.25, seed=0):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.standard_normal((n_each, 3)) @ rng.standard_normal((3, 12)) for _ in range(n_clusters)])
    return X / np.linalg.norm(X, axis=1, keepdims=True) + noise * rng.standard_normal(X.shape) / np.sqrt(12)


def test_certainty_is_one_minus_the_ratio_of_distances():
    model = BMSC(3, random_state=0).fit(noisy())
    F, labels = model.embedding_, model.labels_
    centres = np.array([F[labels == k].mean(axis=0) for k in range(3)])
    distance = np.linalg.norm(F[:, None] - centres[None], axis=2)
    own = distance[np.arange(len(F)), labels]
    distance[np.arange(len(F)), labels] = np.inf
    np.testing.assert_allclose(model.certainty_, np.clip(1 - own / distance.min(axis=1), 0, 1), atol=1e-6)
    assert model.certainty_.std() > 0


def test_a_new_sample_that_nothing_rebuilds_asks_its_nearest():
    """Nearly orthogonal to every training sample: its code is empty, and the largest |cosine| decides."""
    rng = np.random.default_rng(0)
    X = np.zeros((40, 9))
    X[:20, :2], X[20:, 2:4] = rng.standard_normal((20, 2)), rng.standard_normal((20, 2))
    model = BMSC(2, center=False, random_state=0).fit(X)
    assert clustering_accuracy(np.repeat([0, 1], 20), model.labels_) == 1
    for member in (3, 30, 12, 25):
        new = np.zeros((1, 9))
        new[0, 8] = 1.0
        new[0] += 0.01 * X[member] / np.linalg.norm(X[member]) * (-1) ** member
        assert model.predict(new)[0] == model.labels_[member]


def test_a_round_works_under_the_mask_of_the_round_before():
    """Algorithm 2: round 2 is GMSC under ψ(labels of round 1), round 3 under those of round 2."""
    X = noisy(noise=1.0)
    settings = {"sparsity": 0.01, "penalty": 0.5, "mask_weight": 1.0, "mask_strength": 2.0, "random_state": 0}
    model = RMSC(3, members=1, max_rounds=3, mask_tol=0.0, view="plain", **settings).fit(X)
    assert model.n_rounds_ > 1
    for number in range(1, model.n_rounds_):
        mask = LabelMask(model.round_labels_[number - 1], 2.0)
        again = GMSC(3, soft_mask=mask, **settings).fit(X)
        assert abs(again.affinity_matrix_ - model.round_affinities_[number]).max() < 1e-6
    np.testing.assert_array_equal(model.soft_mask_.labels, mask.labels)
    first = GMSC(3, **settings).fit(X)
    assert abs(first.affinity_matrix_ - model.round_affinities_[1]).max() > 1e-3


def test_mask_change_is_the_largest_change_of_a_price():
    model = RMSC(3, members=1, max_rounds=3, mask_tol=0.0, view="plain", random_state=0).fit(noisy(noise=1.0))
    beta = model.get_params()["mask_strength"]
    for number, record in enumerate(model.history_[1:], start=1):
        moved = LabelMask(model.round_labels_[number], beta).change(LabelMask(model.round_labels_[number - 1], beta))
        assert record["mask_change"] == pytest.approx(moved)


def test_every_round_of_an_ensemble_draws_members_of_its_own():
    model = RMSC(3, members=4, max_rounds=2, view="plain", cut="spectral", random_state=0).fit(noisy(noise=1.5))
    assert model.n_rounds_ == 2
    first, second = ({one["penalty"] for one in record["members"]} for record in model.history_)
    assert len(first) == len(second) == 4
    assert not first & second
    # From round 2 on the mask is heard by every member: γ is at least the mean squared row norm, which is 1 here.
    assert min(one["mask_weight"] for one in model.history_[0]["members"]) < 0.99
    assert min(one["mask_weight"] for one in model.history_[1]["members"]) > 0.99


def test_the_mask_of_an_ensemble_is_the_agreement_of_its_members():
    model = RMSC(3, members=4, max_rounds=2, view="plain", cut="spectral", random_state=0).fit(noisy(noise=1.5))
    agreement = np.mean([labels[:, None] == labels[None, :] for labels in model.member_labels_], axis=0)
    assert len(model.member_labels_) == 4
    assert agreement.min() < 1
    assert model.soft_mask_.n_samples == len(model.labels_)
    assert model.soft_mask_.strength > 1
    assert len(model.soft_mask_.labelings) == 4


class EnoughError(Exception):
    """Raised where a test has seen enough of a fit."""


def task_of(monkeypatch, model, X, **known):
    """What a fit is about once everything is checked."""
    seen = []

    def cluster(self, task):
        seen.append(task)
        raise EnoughError

    monkeypatch.setattr(type(model), "_cluster", cluster)
    with pytest.raises(EnoughError):
        model.fit(X, **known)
    return seen[0]


def test_random_state_is_the_seed_of_the_work(monkeypatch):
    X = noisy()
    seeds = [task_of(monkeypatch, BMSC(3, random_state=state), X).seed for state in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]
    assert seeds[0] == np.random.RandomState(0).randint(2**31 - 1)


def test_constraints_say_how_strictly_pairs_are_kept(monkeypatch):
    X = noisy()
    for constraints in ("soft", "hard"):
        task = task_of(monkeypatch, BMSC(3, constraints=constraints), X, must_link=[[0, 1]])
        evidence = task.evidence(X)
        assert evidence.hard == (constraints == "hard")
        assert evidence.known.together(np.array(0), np.array(1))
    assert task_of(monkeypatch, BMSC(3), X).known is None


def test_known_labels_need_as_many_clusters():
    X = noisy()
    labels = np.full(len(X), -1)
    labels[[0, 20]] = [0, 3]
    assert BMSC((2, 6), random_state=0).fit(X, partial_labels=labels).n_clusters_ >= 4
    model = BMSC((2, 6))
    model._set_bounds(60, KnownPairs.of(60, partial_labels=labels), hard=False)
    assert model._bounds == (4, 6)


@pytest.mark.parametrize("estimator", [BMSC, LSR])
def test_links_of_the_graph_are_those_that_were_asked_for(estimator):
    X = noisy()
    for n_links in (2, 6):
        model = estimator(3, affinity="top-k", n_links=n_links, random_state=0).fit(X)
        expected = affinity_matrix(model.representation_matrix_, "top-k", n_links=n_links)
        assert abs(model.affinity_matrix_ - expected).max() == 0
        assert n_links <= model.affinity_matrix_.nnz / 60 <= 2 * n_links


def test_rows_are_prepared_as_asked():
    X = 5 * noisy()
    for model in (BMSC(3, center=False, normalize=False), LSR(3, center=False, normalize=False)):
        np.testing.assert_array_equal(model.fit(X)._rows, X)
    for model in (BMSC(3, center=True, normalize=False), LSR(3, center=True, normalize=False)):
        np.testing.assert_allclose(model.fit(X)._rows, X - X.mean(axis=0), atol=1e-12)


def test_the_limit_of_certainty_is_inside():
    X = noisy(noise=1.0)
    certainty = BMSC(3, random_state=0).fit(X).certainty_
    limit = float(np.sort(certainty)[30])
    strict = BMSC(3, min_certainty=limit, random_state=0).fit(X)
    assert (strict.labels_ >= 0).sum() == (certainty >= limit).sum() == 30


def test_a_view_in_which_the_root_is_taken_warns_of_negative_entries():
    X = np.abs(noisy())
    model = RMSC(3, view="root", members=2, random_state=0).fit(X)
    with pytest.warns(UserWarning, match="square root"):
        model.predict(X - 0.1)


def test_hard_pairs_that_cannot_be_kept_are_refused_before_any_work():
    apart = KnownPairs.of(5, cannot_link=[[0, 1], [1, 2], [0, 2]])
    with pytest.raises(ValueError, match="cannot_link cannot be kept with n_clusters=2"):
        BMSC(2)._set_bounds(5, apart, hard=True)
    BMSC(2)._set_bounds(5, apart, hard=False)
    BMSC((2, 3))._set_bounds(5, apart, hard=True)  # three clusters hold them
