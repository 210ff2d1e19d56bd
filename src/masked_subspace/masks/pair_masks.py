"""The soft and the hard mask that known pairs give."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import BoolArray, FloatArray, IntArray
from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.masks.pairs import KnownPairs


class PairMask(SoftMask):
    """Known pairs laid over another mask.

    Pairs that belong together cost base/strength, pairs that belong apart base·strength, all others what they cost
    before.

    Parameters
    ----------
    n_samples : int
        How many samples there are.
    must_link : array-like of int of shape (n_pairs, 2) or None, default=None
        Pairs of sample indices that belong together.
    cannot_link : array-like of int of shape (n_pairs, 2) or None, default=None
        Pairs of sample indices that belong apart.
    partial_labels : array-like of int of shape (n_samples,) or None, default=None
        Known labels, −1 where unknown: samples of one label belong together, samples of two apart.
    base : SoftMask or None, default=None
        The mask below; None: every pair costs 1.
    strength : float, default=30.0
        By how much known pairs are cheaper or dearer, 1 at least.

    Attributes
    ----------
    known : KnownPairs
        The pairs, closed transitively.

    Raises
    ------
    ValueError
        If pairs contradict each other, `strength` is below 1, or `base` is for another number of samples.

    Examples
    --------
    >>> from masked_subspace.masks import PairMask
    >>> PairMask(3, must_link=[[0, 1]], cannot_link=[[1, 2]], strength=4).block(0, 1).tolist()
    [[0.25, 0.25, 4.0]]
    """

    def __init__(
        self,
        n_samples: int,
        must_link: npt.ArrayLike | None = None,
        cannot_link: npt.ArrayLike | None = None,
        *,
        partial_labels: npt.ArrayLike | None = None,
        base: SoftMask | None = None,
        strength: float = 30.0,
    ) -> None:
        known = KnownPairs.of(n_samples, must_link, cannot_link, partial_labels)
        if known is None:
            known = KnownPairs(np.full(n_samples, -1, dtype=np.int64), 0, np.empty(0, dtype=np.int64))
        self._set(known, base, strength)

    @classmethod
    def over(cls, known: KnownPairs, base: SoftMask | None, strength: float = 30.0) -> PairMask:
        """Make the mask of pairs that are closed already.

        Parameters
        ----------
        known : KnownPairs
            The pairs.
        base : SoftMask or None
            The mask below; None: every pair costs 1.
        strength : float, default=30.0
            By how much known pairs are cheaper or dearer, 1 at least.

        Returns
        -------
        mask : PairMask
            The new mask.
        """
        mask = cls.__new__(cls)
        mask._set(known, base, strength)
        return mask

    def _set(self, known: KnownPairs, base: SoftMask | None, strength: float) -> None:
        if not strength >= 1:
            raise ValueError(f"strength is {strength!r}; it must be ≥ 1.")
        if base is not None and base.n_samples != len(known.group):
            raise ValueError(f"base has {base.n_samples} samples but the pairs speak of {len(known.group)}.")
        self.n_samples = len(known.group)
        self.known = known
        self.base = base
        self.strength = float(strength)

    def at(self, rows: IntArray, cols: IntArray) -> FloatArray:
        shape = np.broadcast_shapes(np.shape(rows), np.shape(cols))
        prices = np.ones(shape) if self.base is None else np.array(self.base.at(rows, cols), dtype=float)
        prices[self.known.together(rows, cols)] /= self.strength
        prices[self.known.apart(rows, cols)] *= self.strength
        return prices

    def change(self, other: SoftMask | None) -> float:
        # The known pairs never change between rounds, so only the bases can differ.
        if (
            isinstance(other, PairMask)
            and other.known is self.known
            and other.strength == self.strength
            and self.base is not None
            and other.base is not None
        ):
            return self.base.change(other.base)
        return super().change(other)


class ApartMask(HardMask):
    """Forbids pairs that are known to belong apart, and the diagonal.

    Parameters
    ----------
    known : KnownPairs
        What is known, closed transitively.

    Attributes
    ----------
    n_samples : int
        How many samples the mask is for.

    Examples
    --------
    >>> from masked_subspace.masks import ApartMask, KnownPairs
    >>> ApartMask(KnownPairs.of(3, cannot_link=[[0, 2]])).block(0, 1).astype(int).tolist()
    [[0, 1, 0]]
    """

    def __init__(self, known: KnownPairs) -> None:
        self.known = known
        self.n_samples = len(known.group)

    def allowed(self, rows: IntArray, cols: IntArray) -> BoolArray:
        return ~self.known.apart(rows, cols) & np.not_equal(rows, cols)
