"""Which features tell clusters apart, against plain means."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.report.profiles import SHOWN_FEATURES, cluster_profiles


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200)
    X = rng.standard_normal((200, 12))
    X[:, 5] += 4 * (labels == 1)
    X[:, 7] -= 4 * (labels == 2)
    X[:, 9] = 2.5  # constant
    return X, labels


def test_the_telling_features_come_first_with_their_means(table):
    X, labels = table
    profiles = cluster_profiles(X, labels)
    top = profiles[1]["features"][0]
    assert top["feature"] == "feature 5"
    assert top["here"] == pytest.approx(X[labels == 1, 5].mean())
    assert top["rest"] == pytest.approx(X[labels != 1, 5].mean())
    assert top["effect"] == pytest.approx((top["here"] - top["rest"]) / X[:, 5].std())
    assert profiles[2]["features"][0]["effect"] < -1
    assert all(len(one["features"]) <= SHOWN_FEATURES for one in profiles)
    assert all(feature["feature"] != "feature 9" for one in profiles for feature in one["features"])


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_what_is_telling_does_not_depend_on_the_unit(table, unit):
    X, labels = table
    for one, other in zip(cluster_profiles(X, labels), cluster_profiles(unit * X, labels), strict=True):
        assert [each["feature"] for each in one["features"]] == [each["feature"] for each in other["features"]]
        effects = [[each["effect"] for each in profile["features"]] for profile in (one, other)]
        assert effects[0] == pytest.approx(effects[1])


def test_sparse_rows_give_the_same(table):
    X, labels = table
    for dense, sparse in zip(cluster_profiles(X, labels), cluster_profiles(csr_array(X), labels), strict=True):
        assert [one["feature"] for one in dense["features"]] == [one["feature"] for one in sparse["features"]]
        assert [one["here"] for one in dense["features"]] == pytest.approx([one["here"] for one in sparse["features"]])


def test_unknown_entries_are_left_out(table):
    X, labels = table
    X = X.copy()
    X[::7, 5] = np.nan
    top = cluster_profiles(X, labels)[1]["features"][0]
    assert top["here"] == pytest.approx(np.nanmean(X[labels == 1, 5]))


def test_one_cluster_has_nothing_to_be_told_from(table):
    assert cluster_profiles(table[0], np.zeros(200, dtype=int)) == ()
