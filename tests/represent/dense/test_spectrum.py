"""The thin eigendecomposition."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.represent.dense.spectrum import Spectrum


@pytest.mark.parametrize("shape", [(40, 12), (12, 40), (20, 20)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_factors_rebuild_the_rows(shape, dtype):
    X = np.random.default_rng(0).normal(size=shape).astype(dtype)
    spectrum = Spectrum.of(X)
    atol = 1e-10 if dtype == np.float64 else 1e-4
    rebuilt = spectrum.vectors * np.sqrt(spectrum.values) @ spectrum.right_vectors.T
    assert spectrum.vectors.dtype == dtype
    assert spectrum.vectors.flags.c_contiguous
    assert (np.diff(spectrum.values) <= 0).all()
    np.testing.assert_allclose(rebuilt, X, atol=atol)
    np.testing.assert_allclose(spectrum.vectors.T @ spectrum.vectors, np.eye(spectrum.rank), atol=atol)


def test_only_the_rank_is_kept():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 25))
    X[:, [3, 7]] = 0.0
    spectrum = Spectrum.of(X)
    assert spectrum.rank == 4
    assert not spectrum.right_vectors[[3, 7]].any()


@pytest.mark.parametrize("shape", [(20, 12), (12, 20)])
@pytest.mark.parametrize(("dtype", "kept"), [(np.float64, 6), (np.float32, 4)])
def test_small_directions_count_until_rounding_explains_them(shape, dtype, kept):
    """In float64 down to 1e-14 of the first eigenvalue, in float32 to 1e-9: rounding of the rows is 1e-15 there."""
    rng = np.random.default_rng(0)
    values = np.array([1.0, 1e-3, 2e-7, 4e-9, 2.5e-10, 1e-12, 1e-16])
    U, V = (np.linalg.qr(rng.normal(size=(size, 7)))[0] for size in shape)
    X = (U * np.sqrt(values) @ V.T).astype(dtype)
    spectrum = Spectrum.of(X)
    assert spectrum.rank == kept
    np.testing.assert_allclose(spectrum.values, values[:kept], rtol=2e-2)
    np.testing.assert_allclose(np.abs(np.sum(spectrum.vectors * U[:, :kept], axis=0)), 1, atol=1e-2)
    np.testing.assert_allclose(np.abs(np.sum(spectrum.right_vectors * V[:, :kept], axis=0)), 1, atol=1e-2)
    if dtype == np.float32:
        # What float32 cannot decide is decided with all of them.
        assert spectrum.double.rank > kept


def test_inverse_through_the_spectrum():
    X = np.random.default_rng(2).normal(size=(15, 6))
    spectrum, mu = Spectrum.of(X), 0.3
    s, V = spectrum.values, spectrum.vectors
    inverse = np.eye(15) / (2 * mu) - V * (s / (2 * mu * (s + 2 * mu))) @ V.T
    np.testing.assert_allclose(inverse, np.linalg.inv(X @ X.T + 2 * mu * np.eye(15)), atol=1e-10)


def test_zero_rows_have_rank_zero():
    assert Spectrum.of(np.zeros((5, 3))).rank == 0
