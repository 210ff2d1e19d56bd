"""What a fit leaves behind: votes, scores and predictions by value, and nothing of an earlier fit."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace._common.rows import unit_rows
from masked_subspace.baselines import LSR
from masked_subspace.datasets import make_subspaces
from masked_subspace.estimators import out_of_sample, voting
from masked_subspace.estimators.base import Fit
from masked_subspace.estimators.voting import nearest_voters, parts_of_rebuilt, voters_of
from masked_subspace.label.agreement import agreement_with
from masked_subspace.label.graph import embedding_margin
from masked_subspace.metrics import adjusted_rand_index
from masked_subspace.rows.missing import Completion


class EnoughError(Exception):
    """Raised where a test has seen enough."""


def clouds(n=60, noise=1.0, seed=0):
    """Three noisy subspaces that nobody parts without errors."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(n // 3, 3)) @ rng.normal(size=(3, 12)) for _ in range(3)])
    return X / np.linalg.norm(X, axis=1, keepdims=True) + noise * rng.normal(size=X.shape) / np.sqrt(12)


@pytest.fixture(scope="module")
def doubtful():
    """A fit in which a third of the samples is in no cluster, and the same without that limit."""
    X = clouds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = BMSC(3, random_state=0).fit(X)
        limit = float(np.sort(plain.certainty_)[20])
        return X, plain, BMSC(3, min_certainty=limit, random_state=0).fit(X)


def test_samples_in_no_cluster_still_shape_clusters_and_vote(doubtful):
    X, plain, strict = doubtful
    assert (strict.labels_ < 0).sum() == 20
    new = clouds(seed=1)
    for method in ("vote", "subspace"):
        np.testing.assert_array_equal(strict.predict(new, method=method), plain.predict(new, method=method))
    np.testing.assert_array_equal(strict.predict(X), plain.labels_)
    np.testing.assert_allclose(strict.subspace_residuals(new), plain.subspace_residuals(new))
    np.testing.assert_allclose(strict.memberships(new), plain.memberships(new))
    assert [one.size for one in strict.subspaces_] == np.bincount(plain.labels_).tolist()


def test_the_score_is_how_far_votes_and_subspaces_agree(doubtful):
    X, plain, _ = doubtful
    for some in (X, clouds(seed=1)):
        voted, nearest = plain.predict(some), plain.predict(some, method="subspace")
        expected = adjusted_rand_index(voted, nearest)
        assert expected < 0.99
        assert plain.score(some) == pytest.approx(expected)


def test_labels_of_either_method_have_the_type_of_the_fit(doubtful):
    X, plain, _ = doubtful
    assert plain.predict(X).dtype == plain.predict(X, method="subspace").dtype == plain.labels_.dtype


def test_only_a_root_minds_negative_entries(doubtful):
    X, plain, _ = doubtful
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain.predict(X - 1)


@pytest.mark.parametrize(("view", "center", "taken"), [("homogeneous", False, True), ("plain", False, False)])
def test_a_row_of_zeros_is_a_sample_where_rows_are_lifted(view, center, taken):
    X = clouds()
    X[7] = 0
    model = BMSC(3, view=view, center=center, random_state=0)
    assert model._gives_zeros_a_direction() == taken
    assert BMSC(3, view="lifted", center=False)._gives_zeros_a_direction()
    assert BMSC(3, view="plain")._gives_zeros_a_direction()
    if taken:
        assert len(model.fit(X).labels_) == len(X)
    else:
        with pytest.raises(ValueError, match="row of zeros, row 7"):
            model.fit(X)


def test_votes_do_not_depend_on_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    rows, new, codes = rng.normal(size=(20, 6)), rng.normal(size=(9, 6)), csr_array(rng.normal(size=(9, 20)))
    whole, nearest = parts_of_rebuilt(codes, rows, new).toarray(), nearest_voters(rows, new, n_threads=1).toarray()
    monkeypatch.setattr(voting, "row_blocks", lambda n, _: [(0, 2), (2, 7), (7, n)])
    np.testing.assert_allclose(parts_of_rebuilt(codes, rows, new).toarray(), whole)
    np.testing.assert_allclose(nearest_voters(rows, new, n_threads=1).toarray(), nearest)


def test_votes_have_the_type_of_the_training_rows():
    rng = np.random.default_rng(0)
    rows, new = unit_rows(rng.normal(size=(20, 6))).astype(np.float32), rng.normal(size=(5, 6))
    for votes in (voters_of(rows, new, n_candidates=9, n_threads=1), nearest_voters(rows, new, n_threads=1)):
        assert votes.dtype == np.float32


def test_copies_of_the_nearest_vote_alike():
    """Seven copies at no distance: no division by 0, and each has a seventh."""
    rows = np.vstack([np.ones((7, 2)), -np.ones((3, 2))])
    votes = nearest_voters(rows, np.ones((1, 2)), n_threads=1).toarray()
    np.testing.assert_allclose(votes, [[1 / 7] * 7 + [0] * 3])
    assert nearest_voters(rows[:3], np.ones((1, 2)), n_threads=1).shape == (1, 3)


def test_new_samples_see_as_many_candidates_as_the_parameter_says(monkeypatch):
    asked = []

    def noted(rows, new_rows, *, n_candidates, n_threads, listed):
        asked.append((n_candidates, n_threads))
        return csr_array(np.eye(len(new_rows), len(rows)))

    model = BMSC(3, n_candidates=9, n_jobs=1, random_state=0).fit(make_subspaces(3, 3, 12, 20, random_state=0).data)
    monkeypatch.setattr(out_of_sample, "voters_of", noted)
    model.predict(clouds())
    assert asked == [(9, 1)]
    assert LSR(3).n_candidates == 64


def test_what_only_some_fits_know_does_not_outlive_them():
    X = make_subspaces(3, 3, 12, 20, random_state=0).data
    model = RMSC((2, 4), members=3, view="plain", max_rounds=1, random_state=0).fit(X)
    assert {"choices_", "member_labels_", "n_clusters_scores_", "n_clusters_candidates_"} <= set(vars(model))
    model.set_params(n_clusters=3, members=1).fit(X)
    gone = ("choices_", "member_labels_", "n_clusters_scores_", "n_clusters_candidates_", "noise_", "outliers_")
    assert not set(gone) & set(vars(model))
    model.set_params(noise=1.0, outliers=0.5).fit(X)
    assert {"noise_", "outliers_"} <= set(vars(model))
    model.set_params(noise=None, outliers=None).fit(X)
    assert not set(gone) & set(vars(model))


def test_errors_of_unknown_entries_do_not_outlive_their_fit():
    X = make_subspaces(3, 3, 12, 20, random_state=0).data
    gaps = X.copy()
    gaps[::7, 3] = np.nan
    model = BMSC(3, missing="ignore", random_state=0).fit(gaps)
    assert model.n_missing_ == 9
    assert {"completed_", "missing_error_"} <= set(vars(model))
    model.fit(X)
    assert model.n_missing_ == 0
    assert not {"completed_", "missing_error_"} & set(vars(model))


def test_what_new_samples_lack_is_learnt_with_the_seed_of_the_fit(monkeypatch):
    X = make_subspaces(3, 3, 12, 20, random_state=0).data
    model = BMSC(3, missing="ignore", random_state=6, n_jobs=1).fit(X)
    asked = []

    def learn(rows, *, seed, n_threads):
        asked.append((rows.shape, seed, n_threads))
        raise EnoughError

    monkeypatch.setattr(Completion, "learn", learn)
    gaps = X[:2].copy()
    gaps[0, 1] = np.nan
    with pytest.raises(EnoughError):
        model.predict(gaps)
    assert asked == [((60, 12), np.random.RandomState(6).randint(2**31 - 1), 1)]


def test_a_model_cleaned_of_outliers_knows_its_samples_as_they_were_given():
    X = make_subspaces(3, 2, 12, 20, outliers=0.02, random_state=0).data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (GMSC(3, outliers="auto", random_state=0), RMSC(3, outliers="auto", members=2, random_state=0)):
            model.fit(X)
            assert model.outliers_.nnz > 0
            np.testing.assert_array_equal(model._samples, X)
            np.testing.assert_array_equal(model.predict(X), model._labels_of_all)


def test_the_certainty_of_several_members_is_their_agreement():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RMSC(3, members=4, view="plain", max_rounds=1, cut="spectral", random_state=0).fit(clouds())
    np.testing.assert_allclose(model.certainty_, agreement_with(model.labels_, model.member_labels_))
    assert not np.allclose(model.certainty_, embedding_margin(model.embedding_, model.labels_), atol=0.05)


def test_clusters_that_agree_less_than_by_chance_have_no_structure():
    y = np.arange(60) % 2
    votes = [(np.arange(60) // 2) % 2]  # each of two clusters holds half of either
    assert adjusted_rand_index(y, votes[0]) < 0
    fit = Fit(None, None, np.eye(60), SimpleNamespace(last=SimpleNamespace(votes=votes)))
    model = RMSC(2)
    model.n_clusters_, model._labels_of_all = 2, y
    with pytest.warns(UserWarning, match=r"structure_ is 0\.00 "):
        assert model._how_real(fit) == 0
