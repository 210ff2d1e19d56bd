"""What is refused or warned of before any work starts, just at its limits."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace.rows.checks import refuse_degenerate, refuse_vanished, warn_of_copies

ROWS = np.random.default_rng(0).normal(size=(40, 3))


@pytest.mark.parametrize("form", [np.asarray, lambda X: SparseSamples.of(csr_array(X))], ids=["array", "sparse"])
def test_rows_that_are_all_the_same_are_refused_where_they_are_centred(form):
    same = np.full((5, 3), 2.0)
    with pytest.raises(ValueError, match="X is constant: all its rows are the same"):
        refuse_degenerate(form(same), center=True, counts=False)
    refuse_degenerate(form(same), center=False, counts=False)
    same[4, 1] = 3.0
    refuse_degenerate(form(same), center=True, counts=False)


@pytest.mark.parametrize("form", [np.asarray, lambda X: SparseSamples.of(csr_array(X))], ids=["array", "sparse"])
def test_the_first_row_of_zeros_is_named_unless_zero_is_a_value(form):
    X = np.ones((5, 3))
    X[2] = X[4] = 0
    with pytest.raises(ValueError, match="X has a row of zeros, row 2;"):
        refuse_degenerate(form(X), center=False, counts=False)
    refuse_degenerate(form(X), center=False, counts=True)
    refuse_degenerate(form(X), center=False, counts=False, zero_rows=True)


@pytest.mark.parametrize(
    ("dtype", "size", "taken"),
    [(np.float32, 1e18, True), (np.float32, 1e19, False), (np.float32, 1e-20, False), (np.float64, 1e-150, True)],
)
def test_entries_whose_squares_leave_the_range_are_refused(dtype, size, taken):
    """The sum of all squares is at most 3.4e38 in float32, and a square at least 1.2e-38."""
    X = np.full((10, 10), 0.5 * size, dtype=dtype)
    X[0, 0] = -size
    if taken:
        refuse_degenerate(X, center=True, counts=False)
    else:
        with pytest.raises(ValueError, match="whose squares leave the range"):
            refuse_degenerate(X, center=True, counts=False)


@pytest.mark.parametrize(("n_copies", "warned"), [(3, False), (4, True)])
@pytest.mark.parametrize("form", [np.asarray, lambda X: SparseSamples.of(csr_array(X))], ids=["array", "sparse"])
def test_more_copies_than_a_tenth_of_the_rows_are_warned_of(form, n_copies, warned):
    X = ROWS.copy()
    X[1 : n_copies + 1] = X[0]  # with the first row one more
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_copies(form(X))
    assert bool(caught) is warned
    if warned:
        assert f"{n_copies + 1} of the 40 rows of X have an identical copy" in str(caught[0].message)


def test_rows_of_which_nothing_is_left_are_refused():
    with pytest.raises(ValueError, match="X is constant up to rounding"):
        refuse_vanished(np.zeros((4, 2)))
    refuse_vanished(np.eye(4)[:, :2])


def test_sparse_samples_are_canonical_and_what_was_given_stays():
    given = csr_array((np.array([1.0, 2.0, 4.0, 0.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3))
    found = SparseSamples.of(given).matrix
    assert (found.indices.tolist(), found.data.tolist(), found.indptr.tolist()) == ([0, 2], [2.0, 5.0], [0, 2, 2])
    assert given.nnz == 4
