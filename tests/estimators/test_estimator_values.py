"""What holds the steps together, by value: easy data would absorb an error in it."""

import numpy as np
import pytest

from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace.masks import LabelMask
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
