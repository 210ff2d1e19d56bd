"""Word counts: which data look like them, their weights, and their topics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace import BMSC
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace.rows import words
from masked_subspace.rows.preparation import VIEWS, Preparation, like_words
from masked_subspace.rows.words import leading_directions


def texts(n_samples=120, n_words=400, n_kinds=3, length=25, seed=0, common=0.5):
    """Counts of words: half of each text is common to all kinds, the rest has the words of its kind."""
    rng = np.random.default_rng(seed)
    shared, own = rng.dirichlet(np.full(n_words, 0.1)), rng.dirichlet(np.full(n_words, 0.1), size=n_kinds)
    y = np.arange(n_samples) % n_kinds
    return np.array([rng.multinomial(length, common * shared + (1 - common) * own[k]) for k in y]).astype(float), y


def by_hand(X):
    """The formula of rows/words.py, written with loops."""
    unit = np.median([value for value in X.ravel() if value > 0])
    rows = np.zeros_like(X)
    for j in range(X.shape[1]):
        have = sum(X[i, j] > 0 for i in range(len(X)))
        for i in range(len(X)):
            rows[i, j] = np.log(1 + X[i, j] / unit) * (np.log((1 + len(X)) / (1 + have)) + 1)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def test_what_looks_like_words():
    X, _ = texts()
    assert like_words(X)
    assert like_words(SparseSamples.of(csr_array(X)))
    assert not like_words(-X)
    assert not like_words(X[:, X.any(axis=0)][:, :20])
    assert not like_words(np.zeros((30, 30)))


@pytest.mark.parametrize(("zeros", "like"), [(0.90, True), (0.89, False)])
def test_nine_in_ten_entries_are_zero(zeros, like):
    X = np.zeros((100, 100))
    X.ravel()[: round((1 - zeros) * X.size)] = 1
    assert like_words(X) is like
    assert like_words(SparseSamples.of(csr_array(X))) is like


def test_rows_are_the_weighted_words_along_their_singular_directions():
    X, _ = texts(n_samples=40, n_words=60)
    X[7] = 0
    learnt = Preparation.learn(X, VIEWS["topics"])
    weighted = by_hand(X)
    _, values, turned = np.linalg.svd(weighted, full_matrices=False)
    kept = values > 1e-4 * values[0]
    expected = weighted @ turned[kept].T
    expected /= np.maximum(np.linalg.norm(expected, axis=1, keepdims=True), 1e-300)
    rows = learnt.apply(X)
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-10)
    np.testing.assert_allclose(np.abs(rows[:, :5]), np.abs(expected[:, :5]), atol=1e-8)
    assert not rows[7].any()


@pytest.mark.parametrize(("n_samples", "n_words"), [(90, 700), (700, 600), (600, 700)])
@pytest.mark.parametrize("most", [words._MOST_NUMBERS, 1])
def test_leading_directions_are_singular_vectors_whichever_product_is_smaller(monkeypatch, n_samples, n_words, most):
    monkeypatch.setattr(words, "_MOST_NUMBERS", most)
    X, _ = texts(n_samples=n_samples, n_words=n_words)
    rows = np.log1p(X)
    found = leading_directions(csr_array(rows), 6)
    assert (found.turned is not None) == (most == 1 and n_words > n_samples)
    _, values, turned = np.linalg.svd(rows, full_matrices=False)
    assert values[5] > 1.01 * values[6]
    places = found.of(csr_array(rows))
    np.testing.assert_allclose(places @ places.T, rows @ turned[:6].T @ turned[:6] @ rows.T, atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(places, axis=0), values[:6], rtol=1e-5)


def test_samples_in_another_order_have_the_same_topics():
    X, _ = texts(n_samples=600, n_words=700)
    order = np.random.default_rng(1).permutation(len(X))
    rows, permuted = (Preparation.learn(one, VIEWS["topics"]).apply(one) for one in (X, X[order]))
    np.testing.assert_allclose(np.abs(rows[order][:, :5]), np.abs(permuted[:, :5]), atol=1e-4)


def test_new_samples_are_weighed_as_the_training_samples_are():
    X, _ = texts()
    learnt = Preparation.learn(X, VIEWS["topics"])
    np.testing.assert_allclose(learnt.apply(X[:3]), learnt.apply(X)[:3], atol=1e-12)


def test_a_new_sample_may_have_words_that_no_other_has():
    """They make it longer and lie along no topic: what is left of unit length is shorter and points where it did."""
    X, _ = texts(n_samples=90)
    X[:, -50:] = 0
    learnt = Preparation.learn(X, VIEWS["topics"], normalize=False)
    longer = X[:1].copy()
    longer[0, -1] = 3
    found, alone = learnt.apply(longer)[0], learnt.apply(X[:1])[0]
    assert learnt.weights[-1] == pytest.approx(np.log(91) + 1)
    assert found @ alone == pytest.approx(np.linalg.norm(found) * np.linalg.norm(alone))
    assert np.linalg.norm(found) < 0.9 * np.linalg.norm(alone)


def test_the_unit_of_the_counts_does_not_matter():
    X, _ = texts()
    rows, scaled = (Preparation.learn(one, VIEWS["topics"]).apply(one) for one in (X, 1000 * X))
    np.testing.assert_allclose(rows, scaled, atol=1e-10)


def test_entries_that_are_no_counts_are_not_weighed_again():
    X, _ = texts(n_samples=40, n_words=60)
    X /= 3
    weighted = np.log1p(X / np.median(X[X > 0]))
    weighted /= np.linalg.norm(weighted, axis=1, keepdims=True)
    rows = Preparation.learn(X, VIEWS["topics"]).apply(X)
    np.testing.assert_allclose(rows @ rows.T, weighted @ weighted.T, atol=1e-8)


def test_sparse_samples_and_arrays_have_the_same_rows():
    X, _ = texts()
    learnt = Preparation.learn(X, VIEWS["topics"])
    sparse = SparseSamples.of(csr_array(X))
    of_sparse = Preparation.learn(sparse, VIEWS["topics"])
    np.testing.assert_array_equal(learnt.apply(X), of_sparse.apply(sparse))


def test_the_view_can_be_asked_for_and_refuses_negative_entries():
    X, _ = texts()
    X = X + (X.sum(axis=1) == 0)[:, None]
    model = BMSC(3, view="topics", random_state=0).fit(X)
    assert model.view_ == "topics"
    assert len(np.unique(model.labels_)) == 3
    X[0, 0] = -1
    with pytest.raises(ValueError, match="topics"):
        BMSC(3, view="topics").fit(X)


def test_a_hundred_topics_at_most_and_fewer_if_asked_for():
    X, _ = texts(n_samples=150, n_words=300)
    assert Preparation.learn(X, VIEWS["topics"]).apply(X).shape == (150, 100)
    assert Preparation.learn(X, VIEWS["topics"], directions=7).apply(X).shape == (150, 7)


@pytest.mark.parametrize(("count", "kept_as_weights"), [(5, False), (6, True)])
def test_directions_of_too_many_numbers_are_kept_as_weights_of_the_rows(monkeypatch, count, kept_as_weights):
    monkeypatch.setattr(words, "_MOST_NUMBERS", 500)
    X, _ = texts(n_samples=40, n_words=100)
    assert (leading_directions(csr_array(X), count).turned is not None) is kept_as_weights
