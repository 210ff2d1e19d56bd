from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import orthogonal_mp_gram

from masked_subspace.baselines.omp import represent_omp


@pytest.mark.parametrize("n_nonzero", [1, 5, 12])
def test_agrees_with_scikit_learn(noisy_rows, n_nonzero):
    Z = represent_omp(noisy_rows, n_nonzero=n_nonzero, tol=0.0).matrix.toarray()
    G = noisy_rows @ noisy_rows.T
    for i in range(0, len(G), 9):
        others = np.delete(np.arange(len(G)), i)
        peer = orthogonal_mp_gram(G[np.ix_(others, others)], G[others, i], n_nonzero_coefs=n_nonzero)
        np.testing.assert_allclose(Z[i, others], peer, atol=1e-10)
        assert Z[i, i] == 0


def test_a_sample_stops_when_it_is_rebuilt(subspaces):
    found = represent_omp(subspaces.data, n_nonzero=10, tol=1e-6)
    assert np.diff(found.matrix.indptr).max() == 3  # the dimension of its subspace
    assert found.stopping_value < 1e-6


def test_blocks_and_threads_change_nothing(noisy_rows):
    whole = represent_omp(noisy_rows, n_nonzero=6).matrix
    pieces = represent_omp(noisy_rows, n_nonzero=6, block_size=11, n_threads=2).matrix
    assert abs(whole - pieces).max() < 1e-12


def test_duplicates_and_zero_rows_do_no_harm(noisy_rows):
    rows = np.vstack([noisy_rows[:20], noisy_rows[:1], np.zeros((1, 30))])
    Z = represent_omp(rows, n_nonzero=5).matrix.toarray()
    assert np.isfinite(Z).all()
    assert Z[0, 20] == pytest.approx(1.0)
    assert not Z[21].any()


def test_with_few_features_the_pursuit_is_repeated():
    angle = np.linspace(0, np.pi, 30, endpoint=False)
    rows = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    Z = represent_omp(rows, n_nonzero=8).matrix
    assert np.diff(Z.indptr).min() > 2
    np.testing.assert_allclose(Z @ rows, rows, atol=1e-6)


@pytest.mark.parametrize(("n_nonzero", "entries"), [(2, 2), (7, 8), (8, 8)])
def test_the_pursuit_is_repeated_until_as_many_atoms_are_used_as_asked_for(n_nonzero, entries):
    """In two features a pass takes two new atoms: four passes for seven. The code is the mean of the passes."""
    rows = np.random.default_rng(0).normal(size=(30, 2))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    Z = represent_omp(rows, n_nonzero=n_nonzero, tol=0.0).matrix
    np.testing.assert_array_equal(np.diff(Z.indptr), entries)
    np.testing.assert_allclose(Z @ rows, rows, atol=1e-9)


def test_atoms_that_are_nearly_the_same_are_both_used_where_both_are_needed():
    angle = np.array([0.5, 0.0, 0.01])
    rows = np.stack([np.cos(angle), np.sin(angle), np.zeros(3)], axis=1)
    Z = represent_omp(rows, n_nonzero=2, tol=0.0).matrix.toarray()
    np.testing.assert_allclose(Z[0] @ rows, rows[0], atol=1e-9)
