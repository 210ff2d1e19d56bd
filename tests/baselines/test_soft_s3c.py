from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.baselines import SSC, SoftS3C
from masked_subspace.baselines.soft_s3c import WeightedSparseRepresenter
from masked_subspace.estimators import BilevelClustering
from masked_subspace.masks.soft import ArrayMask, ConstantMask, EmbeddingMask


def test_one_round_is_ssc(noisy_rows):
    one = SoftS3C(3, max_rounds=1, normalize=False, random_state=0).fit(noisy_rows)
    ssc = SSC(3, normalize=False, random_state=0).fit(noisy_rows)
    assert abs(one.representation_matrix_ - ssc.representation_matrix_).max() < 1e-12
    np.testing.assert_array_equal(one.labels_, ssc.labels_)


def test_later_rounds_pay_the_embedding_s_prices(noisy_rows):
    model = SoftS3C(3, max_rounds=2, mask_tol=0.0, structure_weight=0.5, random_state=0).fit(noisy_rows)
    assert model.n_rounds_ == 2
    assert isinstance(model.soft_mask_, EmbeddingMask)
    rows = noisy_rows / np.linalg.norm(noisy_rows, axis=1, keepdims=True)
    cold = WeightedSparseRepresenter(structure_weight=0.5).prepare(rows).represent(model.soft_mask_)
    assert abs(model.representation_matrix_ - cold.representation).max() < 1e-4


@pytest.mark.parametrize("solver", ["active-set", "admm"])
def test_weights_move_codes_away_from_dear_pairs(noisy_rows, solver):
    prepared = WeightedSparseRepresenter(structure_weight=1.0, solver=solver).prepare(noisy_rows)
    free = prepared.represent(ConstantMask(90, 0.0)).representation
    prices = np.zeros((90, 90))
    prices[:45, 45:] = prices[45:, :45] = 2.0
    masked = prepared.represent(ArrayMask(prices)).representation
    assert abs(masked[:45][:, 45:]).sum() < 0.7 * abs(free[:45][:, 45:]).sum()


def test_its_representer_fits_the_bilevel_frame(subspaces):
    model = BilevelClustering(WeightedSparseRepresenter(), n_clusters=4, random_state=0).fit(subspaces.data)
    assert model.labels_.max() == 3
