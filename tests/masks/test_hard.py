import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.masks import AllOf, DiagonalMask, NeighborMask, PatternMask
from masked_subspace.masks.hard import resolve_hard_mask


def test_the_diagonal_is_always_forbidden():
    pattern = np.ones((4, 4))
    for mask in (DiagonalMask(4), PatternMask(pattern), PatternMask(csr_array(pattern)), AllOf([DiagonalMask(4)])):
        expected = ~np.eye(4, dtype=bool)
        np.testing.assert_array_equal(mask.block(0, 4), expected)
        np.testing.assert_array_equal(mask.allowed(np.arange(4)[:, None], np.arange(4)[None]), expected)


def test_pattern_and_its_complement_agree():
    pattern = np.random.default_rng(0).uniform(size=(6, 6)) > 0.5
    permits, forbids = PatternMask(pattern), PatternMask(~pattern, forbids=True)
    np.testing.assert_array_equal(permits.block(1, 5), forbids.block(1, 5))
    rows, cols = np.arange(6)[:, None], np.arange(6)[None]
    np.testing.assert_array_equal(permits.allowed(rows, cols), forbids.allowed(rows, cols))


def test_all_of_permits_what_every_part_permits():
    rng = np.random.default_rng(1)
    a, b = (PatternMask(rng.uniform(size=(5, 5)) > 0.4) for _ in range(2))
    both = AllOf([a, b])
    np.testing.assert_array_equal(both.block(0, 5), a.block(0, 5) & b.block(0, 5))
    assert not both.diagonal_only
    assert AllOf([DiagonalMask(3), DiagonalMask(3)]).diagonal_only


def test_bad_patterns_are_refused():
    with pytest.raises(ValueError, match="hard_mask has shape"):
        resolve_hard_mask(np.ones((3, 4)), 3)
    with pytest.raises(ValueError, match="hard_mask is for 4 samples but X has 3"):
        resolve_hard_mask(np.ones((4, 4)), 3)
    with pytest.raises(ValueError, match="hard_mask has shape"):
        resolve_hard_mask("neighbours", 3)
    with pytest.raises(ValueError, match="n_neighbors is 0"):
        NeighborMask(0)
    with pytest.raises(ValueError, match="search"):
        NeighborMask(3, search="guess")


def test_together_masks_forbid_the_diagonal_only_if_each_does():
    """Solvers that see True look at no pair: one part that forbids more must be heard."""
    diagonal, pattern = DiagonalMask(3), PatternMask(np.tri(3))
    assert AllOf([diagonal, diagonal]).diagonal_only
    assert not AllOf([diagonal, pattern]).diagonal_only
    assert not AllOf([pattern, diagonal]).diagonal_only
