"""The judge without labels, the families of views it chooses from, and the warning when nothing is found."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import adjusted_rand_score

from masked_subspace import BMSC, RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.label.agreement import agreement, prediction_strength, splits_for
from masked_subspace.metrics import adjusted_rand_index, clustering_accuracy
from masked_subspace.rounds.defaults import FINER_FROM, FINEST_FROM, cuts_for
from masked_subspace.rounds.judge import FAMILIES, strength_of, yardsticks
from masked_subspace.rounds.mixtures import MIXTURES
from masked_subspace.rows.preparation import VIEWS


def test_our_adjusted_rand_index_is_scikit_learns():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(0, 5, 60), rng.integers(0, 3, 60)
        assert adjusted_rand_index(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)
    assert adjusted_rand_index(np.zeros(4, int), np.zeros(4, int)) == 1


def test_agreement_is_one_for_equal_votes_and_near_zero_for_unrelated_ones():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 4, 400)
    assert agreement([one, (one + 1) % 4, one]) == 1
    assert abs(agreement([rng.integers(0, 4, 400) for _ in range(6)])) < 0.02
    assert agreement([one]) == 1


def test_agreement_counts_every_pair_of_votes():
    one, other = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    apart = adjusted_rand_index(one, other)
    assert agreement([other, one, one]) == pytest.approx((2 * apart + 1) / 3)


def test_subspaces_predict_themselves_and_random_labels_do_not():
    data = make_subspaces(n_subspaces=3, per_subspace=50, noise=0.02, random_state=0)
    X, y = data.data, data.target
    assert prediction_strength(X, y, 3) > 0.95
    assert prediction_strength(X, np.random.default_rng(0).integers(0, 3, 150), 3) < 0.1
    assert prediction_strength(X, np.zeros(150, int), 3) == 0  # a trivial partition would predict itself
    wide = np.hstack([X, np.zeros((150, 300))])
    assert strength_of(yardsticks(wide), y, 3) > 0.9


def test_few_samples_are_split_more_often():
    assert [splits_for(n) for n in (20, 200, 400, 1_000, 50_000)] == [16, 16, 8, 3, 3]


def test_cuts_go_finer_where_clusters_are_large():
    assert [cut.fineness for cut in cuts_for("auto", FINEST_FROM * 5, 5)] == [1.5, 2.0]
    assert [(cut.kind, cut.fineness) for cut in cuts_for("auto", FINER_FROM * 5, 5)] == [
        ("spectral", 1.0),
        ("modularity", 1.0),
        ("modularity", 1.5),
    ]
    assert [cut.kind for cut in cuts_for("auto", 50, 5)] == ["spectral", "modularity"]
    assert [cut.kind for cut in cuts_for("spectral", 5000, 5)] == ["spectral"]


def test_every_family_is_made_of_views():
    assert {view for views in FAMILIES.values() for view in views} <= set(VIEWS)


@pytest.mark.parametrize(("load", "least"), [(load_wine, 0.92), (load_breast_cancer, 0.92)])
def test_tables_are_seen_with_their_features_on_one_scale(load, least):
    data = load()
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    model = RMSC(len(data.target_names), random_state=0, n_jobs=1).fit(X)
    taken = [record for record in model.choices_ if record["taken"]]
    # Their features were given on one scale: distances, and the mixtures that vote on them, are standardized ones.
    assert [record["way"] for record in taken] in [[way] for way in ("standardized", "near", *MIXTURES)]
    assert clustering_accuracy(data.target, model.labels_) > least
    scored = [record for record in model.choices_ if "score" in record]
    assert taken[0]["score"] == max(record["score"] for record in scored)
    assert all(0 <= record["score"] <= 1 for record in scored)


def test_images_are_not_seen_standardized():
    digits = load_digits()
    model = RMSC(10, random_state=0, n_jobs=1).fit(digits.data[:600])
    assert next(record for record in model.choices_ if record["taken"])["way"] != "standardized"


def test_noise_warns_and_subspaces_do_not():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="may not be real: structure_ is"):
        RMSC(5, random_state=0, n_jobs=1).fit(rng.standard_normal((200, 20)))
    data = make_subspaces(n_subspaces=4, per_subspace=40, noise=0.05, random_state=0)
    X, _ = data.data, data.target
    for estimator in (RMSC, BMSC):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = estimator(4, random_state=0, n_jobs=1).fit(X)
        assert model.structure_ > 0.5


def test_memberships_sum_to_one_and_certain_ones_keep_their_label():
    data = make_subspaces(n_subspaces=4, per_subspace=40, noise=0.3, random_state=0)
    X, _ = data.data, data.target
    for estimator in (BMSC(4, random_state=0), RMSC(4, random_state=0)):
        model = estimator.fit(X)
        assert model.memberships_.shape == (160, 4)
        np.testing.assert_allclose(model.memberships_.sum(axis=1), 1)
        np.testing.assert_allclose(model.predict_proba(X[:9]).sum(axis=1), 1)
        # Training rows keep their labels and memberships; new ones are decided by their votes.
        new = X + 1e-3 * np.random.default_rng(0).standard_normal(X.shape)
        np.testing.assert_array_equal(model.predict_proba(new).argmax(axis=1), model.predict(new))
        np.testing.assert_allclose(model.predict_proba(X), model.memberships_)
        limit = float(np.median(model.certainty_))
        strict = estimator.set_params(min_certainty=limit).fit(X)
        np.testing.assert_array_equal(strict.labels_ == -1, strict.certainty_ < limit)
        assert (strict.predict(X) >= 0).all()
