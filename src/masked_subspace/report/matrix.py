"""The affinity matrix at a size a page can carry: a coarse picture of all of it, and the strongest links one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from masked_subspace._common.matrices import mean_cells
from masked_subspace._common.types import Array, Record
from masked_subspace.report.encoding import encoded
from masked_subspace.report.png import data_uri, gray_png

MAX_BINS = 400


@dataclass(frozen=True)
class CoarseMatrix:
    """A matrix in sorted order, as bins and as links; `scale` is the affinity that full brightness means."""

    bins: Array  # uint8, b × b
    bin_scale: float
    links: Array  # m × 2 positions in the sorted order, first < second
    strengths: Array  # uint8, m
    scale: float
    n_left_out: int

    def payload(self) -> Record:
        """As the page's script reads it."""
        return {
            "bins": data_uri(gray_png(self.bins)),
            "n_bins": int(self.bins.shape[0]),
            "bin_scale": self.bin_scale,
            "first": encoded(self.links[:, 0].astype("<u4")),
            "second": encoded(self.links[:, 1].astype("<u4")),
            "strength": encoded(self.strengths),
            "scale": self.scale,
            "left_out": self.n_left_out,
        }


def display_order(labels: Array, certainty: Array) -> Array:
    """Samples by cluster, within a cluster the certain ones first."""
    return np.lexsort((np.arange(len(labels)), -certainty, labels))


def coarse_matrix(affinity: csr_array, order: Array, max_links: int, scale: float | None = None) -> CoarseMatrix:
    """Bin the sorted matrix to at most 400 × 400 means and keep the `max_links` strongest links."""
    n = affinity.shape[0]
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    entries = coo_array(affinity)
    rows, columns = position[entries.row], position[entries.col]
    values = np.abs(entries.data.astype(np.float64))
    scale = _robust_top(values) if scale is None else scale
    bins, bin_scale = _bins(rows, columns, values, n)
    upper = np.flatnonzero((rows < columns) & (values > 0))
    strongest = upper[np.argsort(-values[upper], kind="stable")[:max_links]]
    strongest = strongest[np.lexsort((columns[strongest], rows[strongest]))]
    return CoarseMatrix(
        bins=bins,
        bin_scale=bin_scale,
        links=np.column_stack([rows[strongest], columns[strongest]]),
        strengths=_bytes(values[strongest], scale),
        scale=scale,
        n_left_out=len(upper) - len(strongest),
    )


def _robust_top(values: Array) -> float:
    """A value that few entries exceed, so that one giant does not darken the rest."""
    positive = values[values > 0]
    return float(np.quantile(positive, 0.98)) if positive.size else 1.0


def _bins(rows: Array, columns: Array, values: Array, n: int) -> tuple[Array, float]:
    means = mean_cells(rows, columns, values, n, MAX_BINS)
    top = _robust_top(means)
    return _bytes(means, top), top


def _bytes(values: Array, top: float) -> Array:
    """0..255 along the square root, which keeps weak links visible; only an exact zero becomes 0."""
    shades = np.ceil(255 * np.sqrt(np.clip(values / top, 0.0, 1.0)))
    return np.asarray(shades, dtype=np.uint8)
