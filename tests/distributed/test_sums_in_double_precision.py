"""Sums over many rows in single precision are taken in double: added one by one in single they would be off by 1e-4."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.distributed.eigen import cross_sums, squared_errors, times
from masked_subspace.distributed.graph import degrees
from masked_subspace.distributed.lloyd import centre_sums, nearest_centre
from masked_subspace.distributed.preparation import block_facts, learn_preparation
from masked_subspace.distributed.spectral import best_centres, placed_sums

N = 50_000
ROWS = np.full((N, 2), 0.1, dtype=np.float32)
ONE = float(np.float32(0.1))


def test_the_mean_of_many_rows() -> None:
    total = block_facts(ROWS).total
    assert total.dtype == np.float64
    np.testing.assert_allclose(total, N * ONE, rtol=1e-12)
    X = np.concatenate([ROWS, ROWS + np.float32(1)])
    found = learn_preparation([block_facts(X[:60_000]), block_facts(X[60_000:])], center=True, normalize=False)
    np.testing.assert_allclose(found.mean, 0.6, rtol=1e-6)


def test_what_k_means_sums() -> None:
    centres = np.array([[0.0, 0.0], [9.0, 9.0]], dtype=np.float32)
    total, counts, inertia = centre_sums(ROWS, centres)
    np.testing.assert_allclose(total, [[N * ONE] * 2, [0, 0]], rtol=1e-12)
    assert counts.tolist() == [N, 0]
    assert inertia == pytest.approx(2 * N * ONE**2, rel=1e-6)
    assert nearest_centre(ROWS[:2], centres)[1].dtype == np.float64
    for placed in (np.ones(N, dtype=bool), np.arange(N) < N - 1):
        sums = placed_sums(ROWS, placed, centres)
        np.testing.assert_allclose(sums[3], placed.sum() * ONE, rtol=1e-12)
        assert sums[4] == pytest.approx(2 * placed.sum() * ONE**2, rel=1e-12)
    assert best_centres([ROWS[:3], ROWS[:4] + 5], 2, 0).dtype == np.float64


def test_what_the_iteration_for_eigenvectors_sums() -> None:
    sums = cross_sums(ROWS, 2 * ROWS)
    np.testing.assert_allclose(sums, np.full((2, 2), 2 * N * ONE**2), rtol=1e-12)
    ritz = np.array([0.5, 0.25]), np.eye(2)
    np.testing.assert_allclose(squared_errors(ROWS, ROWS, ritz, 2), N * (ONE * np.array([0.5, 0.75])) ** 2, rtol=1e-6)
    factor = np.array([[1.0, 1e-9], [0.0, 1.0]])
    assert times(ROWS, factor).dtype == np.float32


def test_degrees_are_in_double_precision() -> None:
    from scipy.sparse import csr_array

    from masked_subspace.distributed.graph import GraphBlock

    found = degrees(GraphBlock(csr_array(np.full((2, 2), 0.1, dtype=np.float32)), []))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, 2 * ONE, rtol=1e-6)
