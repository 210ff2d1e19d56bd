"""Rows that were seen before are found by their bits, in any process and either precision."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace import BMSC
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace.rows.checks import SeenRows, check_samples, row_hashes, warn_of_copies


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_row_finds_itself_and_a_changed_row_finds_nobody(dtype):
    X = np.random.default_rng(0).normal(size=(500, 7)).astype(dtype)
    seen = SeenRows.of(X)
    order = np.random.default_rng(1).permutation(500)
    np.testing.assert_array_equal(seen.find(X[order]), order)
    moved = np.nextafter(X, dtype(10))
    moved[:, 1:] = X[:, 1:]
    assert (seen.find(moved) == -1).all()
    assert (seen.find(X[:, ::-1]) == -1).all()


def test_of_equal_rows_the_first_is_found_and_zero_has_no_sign():
    X = np.array([[1.0, 0.0], [2.0, 1.0], [1.0, -0.0]])
    np.testing.assert_array_equal(SeenRows.of(X).find(X), [0, 1, 0])


def test_rows_fitted_in_float32_are_found_in_float64():
    X = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_array_equal(SeenRows.of(X.astype(np.float32)).find(X), np.arange(20))


def test_hashes_do_not_collide_on_a_grid_of_small_numbers():
    X = np.stack(np.meshgrid(np.arange(400.0), np.arange(400.0)), axis=-1).reshape(-1, 2)
    assert len(np.unique(row_hashes(X))) == len(X)


def test_another_process_has_the_same_hashes():
    code = (
        "import numpy as np; from masked_subspace.rows.checks import row_hashes; "
        "print(row_hashes(np.arange(12.0).reshape(3, 4)).tolist())"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str(row_hashes(np.arange(12.0).reshape(3, 4)).tolist())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_have_the_hashes_of_arrays(dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(30, 9)) * (rng.random((30, 9)) < 0.3)).astype(dtype)
    sparse = check_samples(BMSC(2), csr_array(X), reset=True)
    np.testing.assert_array_equal(row_hashes(sparse), row_hashes(X))
    np.testing.assert_array_equal(SeenRows.of(X).find(sparse), SeenRows.of(X).find(X))


def test_before_any_row_is_seen_none_is_found():
    assert SeenRows.of(np.empty((0, 3))).find(np.ones((2, 3))).tolist() == [-1, -1]


def test_both_halves_of_a_hash_tell_rows_apart():
    hashes = row_hashes(np.random.default_rng(0).normal(size=(200, 3)))
    for half in (hashes >> np.uint64(32), hashes & np.uint64(2**32 - 1)):
        assert len(np.unique(half)) == 200


def test_all_rows_that_have_a_copy_are_counted_and_named_from_a_tenth_on():
    """Three copies of one row and two of another are five rows of forty; three are below a tenth of them."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[[5, 9]] = X[0]
    for form in (X, SparseSamples.of(csr_array(X))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_of_copies(form)
    X[20] = X[30]
    for form in (X, SparseSamples.of(csr_array(X))):
        with pytest.warns(UserWarning, match="5 of the 40 rows"):
            warn_of_copies(form)
