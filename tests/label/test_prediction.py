"""The rows on which clusters predict each other, when there are more features than needed."""

import numpy as np
import pytest

from masked_subspace.label import prediction
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


def test_columns_of_zeros_have_no_part_in_the_leading_rows():
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(300, 120))
    bordered = np.zeros((300, 150))
    bordered[:, 10:130] = rows
    np.testing.assert_allclose(np.abs(leading_rows(bordered)), np.abs(leading_rows(rows)), atol=1e-8)


@pytest.mark.parametrize("size", [4, 9, 30])
def test_clusters_of_one_size_together_have_the_subspaces_they_have_alone(size):
    rng = np.random.default_rng(size)
    clusters = [rng.normal(size=(size, 2)) @ rng.normal(size=(2, 12)) + rng.normal(size=12) for _ in range(3)]
    clusters.append(rng.normal(size=(size + 1, 12)))
    together = prediction._affine_subspaces(clusters)
    for (mean, basis), rows in zip(together, clusters, strict=True):
        np.testing.assert_allclose(mean, rows.mean(axis=0))
        centred = rows - mean
        directions, singular, _ = np.linalg.svd(centred.T, full_matrices=False)
        share = np.cumsum(singular**2) / (singular**2).sum()
        rank = min(int(np.searchsorted(share, 0.9)) + 1, 9, len(rows) - 1, 6)
        assert basis.shape == (12, rank)
        np.testing.assert_allclose(basis @ basis.T, directions[:, :rank] @ directions[:, :rank].T, atol=1e-8)
