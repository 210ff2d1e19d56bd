"""The rows on which clusters predict each other, when there are more features than needed."""

import numpy as np
import pytest

from masked_subspace.label.prediction import leading_rows


@pytest.mark.parametrize("shape", [(60, 150), (200, 150)], ids=["wide", "tall"])
def test_leading_rows_have_the_products_of_the_centred_rows(shape):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(shape[0], 20)) @ rng.normal(size=(20, shape[1])) + 3
    leading, centred = leading_rows(rows), rows - rows.mean(axis=0)
    assert leading.shape[1] <= 100
    np.testing.assert_allclose(leading @ leading.T, centred @ centred.T, atol=1e-8 * np.abs(centred @ centred.T).max())


def test_few_features_stay_as_they_are():
    rows = np.random.default_rng(0).normal(size=(30, 100))
    assert leading_rows(rows) is rows
