"""The two mask protocols: a soft mask is a price for each pair, a hard mask a permission for each pair.

Neither is ever asked for an n × n array: a dense solver asks for a block of rows, a sparse one for single pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from masked_subspace._common.rows import row_blocks
from masked_subspace._common.types import BoolArray, FloatArray, IntArray


class SoftMask(ABC):
    """A price for each pair of samples: Mˢ of `eq:gmsc`.

    `at(i, j)` is the price factor of rebuilding sample i with sample j, never negative. A subclass sets `n_samples` and
    defines `at`; nothing ever asks for all pairs at once.

    Attributes
    ----------
    n_samples : int
        How many samples the mask is for.

    References
    ----------
    .. [Song2025] Song, J. and Ling, H. (2025). Masked subspace clustering methods. arXiv:2505.06863,
       equations (3) and (6).

    Examples
    --------
    Pairs cost the more, the further apart they stand in the order of the samples:

    >>> import numpy as np
    >>> from masked_subspace.masks import SoftMask
    >>> class Distance(SoftMask):
    ...     def __init__(self, n_samples):
    ...         self.n_samples = n_samples
    ...
    ...     def at(self, rows, cols):
    ...         return np.abs(rows - cols) / self.n_samples
    >>> Distance(4).block(0, 2).tolist()
    [[0.0, 0.25, 0.5, 0.75], [0.25, 0.0, 0.25, 0.5]]
    """

    n_samples: int

    @abstractmethod
    def at(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Prices of pairs.

        Parameters
        ----------
        rows : ndarray of int
            Indices i of samples that are rebuilt.
        cols : ndarray of int
            Indices j of samples that rebuild, of a shape that fits `rows` by broadcasting.

        Returns
        -------
        prices : ndarray of float
            Of the shape to which `rows` and `cols` broadcast.
        """

    def block(self, start: int, stop: int) -> FloatArray:
        """Prices of several rows of the mask.

        Parameters
        ----------
        start : int
            The first row.
        stop : int
            The row behind the last.

        Returns
        -------
        prices : ndarray of float of shape (stop − start, n_samples)
            Dense.
        """
        return self.at(np.arange(start, stop)[:, None], np.arange(self.n_samples)[None, :])

    def change(self, other: SoftMask | None) -> float:
        """The stopping value of Algorithm 2: how far this mask is from the one before.

        Parameters
        ----------
        other : SoftMask or None
            The mask before; None counts as zero.

        Returns
        -------
        change : float
            ‖Mˢ_new − Mˢ_old‖∞.
        """
        largest = 0.0
        for start, stop in row_blocks(self.n_samples):
            difference = self.block(start, stop)
            if other is not None:
                difference = difference - other.block(start, stop)
            largest = max(largest, float(np.abs(difference).max(initial=0.0)))
        return largest


class HardMask(ABC):
    """A permission for each pair of samples: Mʰ of `eq:bmsc`.

    `allowed(i, j)` says whether sample j may rebuild sample i; a sample never rebuilds itself. A subclass sets
    `n_samples` and defines `allowed`.

    Attributes
    ----------
    n_samples : int
        How many samples the mask is for.
    diagonal_only : bool
        Whether nothing but the diagonal is forbidden, so that solvers need not ask.

    References
    ----------
    .. [Song2025] Song, J. and Ling, H. (2025). Masked subspace clustering methods. arXiv:2505.06863,
       equation (5).

    Examples
    --------
    Samples of odd and of even index are kept apart:

    >>> import numpy as np
    >>> from masked_subspace.masks import HardMask
    >>> class SameParity(HardMask):
    ...     def __init__(self, n_samples):
    ...         self.n_samples = n_samples
    ...
    ...     def allowed(self, rows, cols):
    ...         return ((rows - cols) % 2 == 0) & (rows != cols)
    >>> SameParity(4).block(0, 1).astype(int).tolist()
    [[0, 0, 1, 0]]
    """

    n_samples: int
    diagonal_only: bool = False

    @abstractmethod
    def allowed(self, rows: IntArray, cols: IntArray) -> BoolArray:
        """Permissions of pairs.

        Parameters
        ----------
        rows : ndarray of int
            Indices i of samples that are rebuilt.
        cols : ndarray of int
            Indices j of samples that rebuild, of a shape that fits `rows` by broadcasting.

        Returns
        -------
        permitted : ndarray of bool
            Of the shape to which `rows` and `cols` broadcast; False where i = j.
        """

    def block(self, start: int, stop: int) -> BoolArray:
        """Permissions of several rows of the mask.

        Parameters
        ----------
        start : int
            The first row.
        stop : int
            The row behind the last.

        Returns
        -------
        permitted : ndarray of bool of shape (stop − start, n_samples)
            Dense.
        """
        return self.allowed(np.arange(start, stop)[:, None], np.arange(self.n_samples)[None, :])
