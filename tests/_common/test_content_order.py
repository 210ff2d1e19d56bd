"""The order by content does not depend on where rows stand."""

import numpy as np
import pytest

from masked_subspace._common.rows import content_order, drawn_by_content


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_permuted_rows_have_the_same_order(dtype):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 7)).astype(dtype)
    places = rng.permutation(200)
    np.testing.assert_array_equal(places[content_order(rows[places])], content_order(rows))


def test_rounding_moves_nobody_far():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 7)).astype(np.float32)
    rank, rounded = (np.argsort(content_order(one)) for one in (rows, rows * (1 + np.float32(3e-7))))
    assert np.abs(rank - rounded).max() <= 1


def test_equal_rows_keep_their_order():
    np.testing.assert_array_equal(content_order(np.ones((5, 2))), np.arange(5))


def test_the_same_samples_are_drawn_wherever_they_stand():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 7))
    places = rng.permutation(200)
    first = drawn_by_content(rows, 30, np.random.default_rng(5))
    second = drawn_by_content(rows[places], 30, np.random.default_rng(5))
    assert len(set(first.tolist())) == 30
    assert (np.diff(first) > 0).all()
    assert set(places[second].tolist()) == set(first.tolist())
    assert set(drawn_by_content(rows, 30, np.random.default_rng(6)).tolist()) != set(first.tolist())
    np.testing.assert_array_equal(drawn_by_content(rows, 200, rng), np.arange(200))
    np.testing.assert_array_equal(drawn_by_content(rows, 500, rng), np.arange(200))
