"""Votes are parts of the rebuilt sample, and new samples land where the clusters are."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from masked_subspace import BMSC, RMSC
from masked_subspace._common.rows import unit_rows
from masked_subspace._common.sparse.implicit import ImplicitRows
from masked_subspace.datasets import make_subspaces
from masked_subspace.estimators import out_of_sample
from masked_subspace.estimators.voting import is_shares, parts_of_rebuilt, placed_by, voters_of


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(30, 12))


def test_parts_add_up_to_what_was_rebuilt_along_the_sample(rows):
    rng = np.random.default_rng(1)
    new, codes = rng.normal(size=(7, 12)), rng.normal(size=(7, 30)) * (rng.random((7, 30)) < 0.3)
    parts = parts_of_rebuilt(csr_array(codes), rows, new).toarray()
    expected = codes * (new @ rows.T)
    np.testing.assert_allclose(parts, np.maximum(expected, 0), atol=1e-12)
    np.testing.assert_allclose(expected.sum(axis=1), np.einsum("ij,ij->i", codes @ rows, new))


def test_sparse_rows_have_the_parts_of_arrays(rows):
    X = np.where(np.abs(rows) > 0.4, rows, 0)
    codes = csr_array(np.random.default_rng(2).normal(size=(5, 30)))
    mean = X.mean(axis=0)
    implicit = ImplicitRows.of(csr_array(X), mean, 0.0)
    dense = parts_of_rebuilt(codes, X - mean, X[:5] - mean)
    assert abs(parts_of_rebuilt(codes, implicit, implicit[:5]) - dense).max() < 1e-12


def test_a_sample_that_only_corrects_others_has_no_vote():
    # x = a − ½ b: b is subtracted, though ⟨x, b⟩ > 0, and a alone votes.
    rows = np.array([[1.0, 0.2, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    parts = parts_of_rebuilt(csr_array([[1.0, -0.5, 0.0]]), rows, (rows[0] - 0.5 * rows[1])[None])
    assert (parts.toarray() > 0).tolist() == [[True, False, False]]


def test_shares_sum_to_one_and_a_row_of_zeros_goes_to_somebody(rows):
    rows = unit_rows(rows)
    shares = voters_of(rows, np.vstack([rows[:3], np.zeros((1, 12))]), n_candidates=10, n_threads=1)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares[:3].toarray().argmax(axis=1).tolist() == [0, 1, 2]


def test_new_digits_get_the_clusters_that_neighbours_have():
    X = load_digits().data[np.random.default_rng(1).permutation(1000)]
    model = RMSC(10, random_state=0, n_jobs=1).fit(X[::2])
    new = X[1::2]
    near = KNeighborsClassifier(5, metric="cosine").fit(model._rows, model.labels_)
    told = near.predict(model._preparation.apply(new))
    assert np.mean(model.predict(new) == told) > 0.95
    # All directions above noise, 25 to 40 of 64 features, agreed on fewer than half.
    assert np.mean(model.predict(new, method="subspace") == told) > 0.9


def test_the_nearest_vote_where_the_fit_linked_by_distance():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(3, 4)) * 8
    X = np.vstack([centre + rng.normal(size=(60, 4)) for centre in centres])
    new = np.vstack([centre + rng.normal(size=(20, 4)) for centre in centres])
    model = RMSC(3, view="distance-standardized", random_state=0).fit(X)
    voters = model._voters(new).toarray()
    np.testing.assert_allclose(voters.sum(axis=1), 1, rtol=1e-5)
    assert ((voters > 0).sum(axis=1) == 7).all()
    rows, there = model._rows, model._preparation.apply(new)
    squared = ((there[:, None] - rows) ** 2).sum(axis=2)
    nearest = np.sort(np.argsort(squared, axis=1)[:, :7], axis=1)
    np.testing.assert_array_equal(np.nonzero(voters)[1].reshape(-1, 7), nearest)
    weights = np.exp(-np.take_along_axis(squared, nearest, 1) / np.sort(squared, axis=1)[:, 6:7])
    expected = weights / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.take_along_axis(voters, nearest, 1), expected, rtol=1e-3)
    truth = model.labels_[[0, 60, 120]].repeat(20)
    np.testing.assert_array_equal(model.predict(new), truth)


def test_votes_have_no_unit_and_no_more_voters_than_candidates(rows):
    new = np.random.default_rng(3).normal(size=(6, 12))
    plain = voters_of(rows, new, n_candidates=8, n_threads=1)
    assert abs(plain - voters_of(30 * rows, 30 * new, n_candidates=8, n_threads=1)).max() < 1e-9
    assert np.diff(plain.indptr).max() <= 8
    nearest = np.argsort(-np.abs(new @ unit_rows(rows).T), axis=1)[:, :8]
    for voters, near in zip(plain.toarray(), nearest, strict=True):
        assert set(np.flatnonzero(voters)) <= set(near)


def test_a_sample_without_a_code_has_the_vote_of_its_nearest_whichever_side_it_lies_on(rows):
    rows = unit_rows(np.hstack([rows, np.zeros((30, 1))]))
    new = np.zeros((2, 13))
    new[:, 12] = 1
    new += 1e-3 * np.array([[1], [-1]]) * rows[[4, 17]]
    shares = voters_of(rows, new, n_candidates=30, n_threads=1).toarray()
    np.testing.assert_array_equal(shares.argmax(axis=1), [4, 17])
    np.testing.assert_allclose(shares.max(axis=1), 1)


def test_shares_stay_shares_and_directions_keep_their_length():
    voters = csr_array([[0.5, 0.5], [0.25, 0.75]])
    shares = np.array([[1.0, 0.0], [0.2, 0.8]])
    np.testing.assert_allclose(placed_by(voters, shares), [[0.6, 0.4], [0.4, 0.6]])
    isolated = np.array([[1.0, 0.0], [0.0, 0.0]])  # a row of zeros is one of a sample without links
    np.testing.assert_allclose(placed_by(voters, isolated), [[0.5, 0], [0.25, 0]])
    directions = np.array([[1.0, 0.0], [0.0, -1.0]])
    np.testing.assert_allclose(np.linalg.norm(placed_by(voters, directions), axis=1), 1)


def test_many_training_rows_are_listed_once_and_vote_as_all_of_them_do(monkeypatch):
    X = make_subspaces(n_subspaces=3, per_subspace=200, random_state=0).data
    model = BMSC(3, random_state=0).fit(X[::2])
    expected = model.predict(X[1::2])
    monkeypatch.setattr(out_of_sample, "EXACT_UP_TO", 100)
    made = []
    of = out_of_sample.ListedRows.of
    monkeypatch.setattr(out_of_sample.ListedRows, "of", lambda *one, **more: made.append(1) or of(*one, **more))
    np.testing.assert_array_equal(model.predict(X[1::2]), expected)
    np.testing.assert_array_equal(model.predict(X[1::2][:5]), expected[:5])
    assert made == [1]


def test_new_samples_are_rebuilt_with_the_numbers_of_the_documents(monkeypatch, rows):
    """λ a thousandth and μ₀ three tenths of the mean squared row, μ growing by half; no more candidates than rows."""
    asked = []

    def noted(rows, new_rows, settings, *, n_candidates, n_threads, listed):
        asked.append((settings, n_candidates, n_threads, listed))
        return csr_array((len(new_rows), len(rows)))

    monkeypatch.setattr("masked_subspace.estimators.voting.represent_over", noted)
    for unit in (1.0, 3.0):
        voters_of(unit * rows, rows[:2], n_candidates=10_000, n_threads=2)
        settings, n_candidates, n_threads, listed = asked.pop()
        square = unit**2 * (rows**2).sum() / len(rows)
        assert settings.sparsity == pytest.approx(1e-3 * square)
        assert settings.penalty == pytest.approx(0.3 * square)
        assert (settings.penalty_growth, n_candidates, n_threads, listed) == (1.5, len(rows), 2, None)


@pytest.mark.parametrize(("error", "shares"), [(5e-5, True), (5e-4, False)])
def test_rows_are_shares_if_they_sum_to_one_within_a_ten_thousandth(error, shares):
    assert is_shares(np.array([[0.6, 0.4 + error], [0.0, 0.0]])) is shares
    assert is_shares(np.array([[0.6, 0.4 - error], [0.0, 1.0]])) is shares
    assert not is_shares(np.array([[1.2, -0.2]]))
