"""The subspaces of a run as the page shows them: numbers for all, pictures where samples are pictures."""

from __future__ import annotations

import numpy as np

from masked_subspace._common.types import Array, Record
from masked_subspace.report.png import data_uri, gray_png, shrunk
from masked_subspace.report.record import Run, Subspace

SHOWN_DIRECTIONS = 6
_SIDE = 40
_MOST_CLUSTERS = 60  # with pictures; beyond that the page would be mostly these


def subspace_panel(run: Run, images: Array | None) -> list[Record]:
    """Of each cluster: dimension, share explained, the mean and the leading directions as one strip."""
    means = _mean_images(run, images)
    panel = []
    clusters = [cluster for cluster in np.unique(run.labels).tolist() if cluster >= 0]
    for k, cluster in enumerate(clusters):
        subspace = run.subspaces[k] if k < len(run.subspaces) else None
        pictures = [] if means is None else [means[k], *_directions(subspace, means[k].shape, images)]
        if subspace is None and not pictures:
            continue
        panel.append(
            {
                "cluster": str(cluster),
                "dim": None if subspace is None else subspace.dim,
                "features": None if subspace is None else int(subspace.basis.shape[1]),
                "explained": None if subspace is None else subspace.explained,
                "strip": data_uri(gray_png(_side_by_side(pictures))) if pictures else None,
                "pictures": len(pictures),
            }
        )
    return panel


def _side_by_side(pictures: list[Array]) -> Array:
    """Pictures in a row with a white line between them, a twelfth of their width wide."""
    gap = np.full((pictures[0].shape[0], max(1, pictures[0].shape[1] // 12)), 255, dtype=np.uint8)
    return np.hstack([part for picture in pictures for part in (picture, gap)][:-1])


def _mean_images(run: Run, images: Array | None) -> list[Array] | None:
    clusters = [cluster for cluster in np.unique(run.labels).tolist() if cluster >= 0]
    if images is None or not 0 < len(clusters) <= _MOST_CLUSTERS:
        return None
    height, width = _size(images)
    means = np.stack([images[run.labels == cluster].mean(axis=0) for cluster in clusters]).astype(np.float32)
    return list(shrunk(means, height, width))


def _size(images: Array) -> tuple[int, int]:
    shrink = max(1.0, max(images.shape[1:]) / _SIDE)
    return max(1, round(images.shape[1] / shrink)), max(1, round(images.shape[2] / shrink))


def _directions(subspace: Subspace | None, shape: tuple[int, ...], images: Array | None) -> list[Array]:
    """Directions around middle gray: brighter is more, darker is less."""
    if subspace is None or images is None or subspace.basis.shape[1] != images.shape[1] * images.shape[2]:
        return []
    if len(subspace.basis) == 0:  # a cluster of one sample, or of samples that are all the same
        return []
    shown = subspace.basis[:SHOWN_DIRECTIONS].reshape(-1, *images.shape[1:])
    top = np.maximum(np.abs(shown).max(axis=(1, 2), keepdims=True), 1e-30)
    return list(shrunk((127.5 + 127.5 * shown / top).astype(np.float32), *shape))
