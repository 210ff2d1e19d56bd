"""What a view learns from the rows."""

import numpy as np
import pytest

from masked_subspace.rows.preparation import Preparation, whitening_rotation
from masked_subspace.rows.views import VIEWS


@pytest.mark.parametrize("name", ["homogeneous", "lifted", "distance"])
def test_the_constant_column_is_as_long_as_a_mean_row_times_what_the_view_says(name):
    X = 5 * np.random.default_rng(0).normal(size=(40, 6)) + 1
    view = VIEWS[name]
    shifted = X - X.mean(axis=0) if view.center else X
    expected = view.constant * np.sqrt((shifted**2).sum() / len(X))
    assert Preparation.learn(X, view).constant == pytest.approx(expected)


@pytest.mark.parametrize("shape", [(40, 8), (8, 40)], ids=["tall", "wide"])
def test_whitened_rows_have_equal_directions(shape):
    """rows @ V S^-1 = U: its columns are orthonormal, whichever of the two products was decomposed."""
    rows = np.random.default_rng(0).normal(size=shape)
    whitened = rows @ whitening_rotation(rows, 1.0)
    np.testing.assert_allclose(whitened.T @ whitened, np.eye(8), atol=1e-8)
