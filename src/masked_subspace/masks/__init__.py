"""Masks: prices (soft) and permissions (hard) for pairs of samples."""

from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.masks.hard import AllOf, DiagonalMask, NeighborMask, PatternMask
from masked_subspace.masks.pair_masks import ApartMask, PairMask
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.masks.soft import ArrayMask, ConsensusMask, ConstantMask, EmbeddingMask, LabelMask

__all__ = [
    "AllOf",
    "ApartMask",
    "ArrayMask",
    "ConsensusMask",
    "ConstantMask",
    "DiagonalMask",
    "EmbeddingMask",
    "HardMask",
    "KnownPairs",
    "LabelMask",
    "NeighborMask",
    "PairMask",
    "PatternMask",
    "SoftMask",
]
