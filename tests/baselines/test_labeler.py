from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.baselines.labeler import keep_mass, skinny_graph


def test_thr_keeps_the_largest_entries_that_reach_the_share():
    Z = np.array([[0.0, 5.0, -3.0, 2.0], [1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    kept = keep_mass(Z, 0.7).toarray()
    np.testing.assert_array_equal(kept[0], [0, 5, -3, 0])  # 5 + 3 is the first sum to reach 7
    assert np.count_nonzero(kept[1]) == 3  # two of three reach only 2/3
    assert not kept[2].any()


def test_thr_at_one_keeps_everything():
    Z = np.random.default_rng(0).standard_normal((6, 6))
    np.testing.assert_array_equal(keep_mass(Z, 1.0).toarray(), Z)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_thr_is_minimal(share):
    Z = np.random.default_rng(1).standard_normal((8, 20))
    kept = np.abs(keep_mass(Z, share).toarray())
    total = np.abs(Z).sum(axis=1)
    assert np.all(kept.sum(axis=1) >= share * total)
    smallest = np.where(kept > 0, kept, np.inf).min(axis=1)
    assert np.all(kept.sum(axis=1) - smallest < share * total)


def test_skinny_graph_uses_the_left_vectors_of_the_published_z():
    Z = np.random.default_rng(0).standard_normal((12, 4)) @ np.random.default_rng(1).standard_normal((4, 12))
    U, sigma, _ = np.linalg.svd(Z.T)  # the published Z has samples as columns
    M = U[:, :4] * np.sqrt(sigma[:4])
    M /= np.linalg.norm(M, axis=1, keepdims=True)
    expected = np.abs(M @ M.T) ** 4
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(skinny_graph(Z, 4.0).toarray(), expected / expected.max(), atol=1e-7)
