"""From labels by part to labels of the samples as given: isolated samples, numbers, order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from masked_subspace._common.rows import unit_rows
from masked_subspace._common.types import BoolArray, IndexArray, Rows32
from masked_subspace.distributed.spectral import sampled_places
from masked_subspace.distributed.tasks import Result, Workers, pick, task

Labels = IndexArray

_ANCHORS, _ANCHORS_A_CLUSTER = 20_000, 500
_ROWS_AT_ONCE = 1 << 12


def draw_anchors(
    rows: list[Result], labels: list[Result], placed: list[Result], sizes: list[int], n_clusters: int, seed: int
) -> Result:
    """A seeded sample of the placed samples, rows and labels: who knows no link asks the nearest of them."""
    share = min(1.0, max(_ANCHORS, _ANCHORS_A_CLUSTER * n_clusters) / sum(sizes))
    picked = []
    for p, size in enumerate(sizes):
        places = task(sampled_places)(placed[p], int(np.ceil(share * size)), seed, p)
        picked.append([task(pick)(rows[p], places), task(pick)(labels[p], places)])
    return task(joined)(picked)


def joined(picked: list[tuple[Rows32, Labels]]) -> tuple[Rows32, Labels]:
    """Rows and labels of all parts."""
    return np.concatenate([one[0] for one in picked]), np.concatenate([one[1] for one in picked])


def attached(labels: Labels, placed: BoolArray, rows: Rows32, anchors: tuple[Rows32, Labels]) -> Labels:
    """Samples that are not placed take the label of their nearest anchor by |cosine|."""
    alone = np.flatnonzero(~placed)
    if len(alone) == 0:
        return labels
    labels, (theirs, known) = labels.copy(), anchors
    unit = unit_rows(theirs).T
    for start in range(0, len(alone), _ROWS_AT_ONCE):
        some = alone[start : start + _ROWS_AT_ONCE]
        labels[some] = known[np.abs(rows[some] @ unit).argmax(axis=1)]
    return labels


def first_seen(labels: Labels, ids: npt.NDArray[np.int64], n_clusters: int) -> npt.NDArray[np.int64]:
    """The smallest number in the input of each cluster's samples in a part."""
    first = np.full(n_clusters, np.iinfo(np.int64).max)
    np.minimum.at(first, labels, ids)
    return first


def names_by_appearance(firsts: list[npt.NDArray[np.int64]]) -> Labels:
    """Cluster 0 is that of the first sample, 1 that of the first sample outside it, and so on."""
    names = np.empty(len(firsts[0]), dtype=np.int32)
    names[np.argsort(np.min(firsts, axis=0), kind="stable")] = np.arange(len(names))
    return names


def labels_by_block(workers: Workers, labels: list[Result], ids: list[Result], block_sizes: list[int]) -> list[Result]:
    """Labels in the order of the input, one array for each of its blocks."""
    ends = np.concatenate([[0], np.cumsum(block_sizes)]).tolist()
    cut = [task(cut_by_block)(one, theirs, ends) for one, theirs in zip(labels, ids, strict=True)]
    return workers.keep([task(block_labels)([one[b] for one in cut], size) for b, size in enumerate(block_sizes)])


def cut_by_block(
    labels: Labels, ids: npt.NDArray[np.int64], ends: list[int]
) -> list[tuple[npt.NDArray[np.int64], Labels]]:
    """The labels of a part, block of the input by block: places in the block, and labels."""
    order = np.argsort(ids, kind="stable")
    bounds = np.searchsorted(ids[order], ends)
    spans = [order[bounds[b] : bounds[b + 1]] for b in range(len(ends) - 1)]
    return [(ids[span] - ends[b], labels[span]) for b, span in enumerate(spans)]


def block_labels(pieces: list[tuple[npt.NDArray[np.int64], Labels]], size: int) -> Labels:
    """The labels of one block of the input."""
    out = np.full(size, -1, dtype=np.int32)
    for places, labels in pieces:
        out[places] = labels
    return out


def named_anchors(anchors: tuple[Rows32, Labels], names: Labels) -> tuple[Rows32, Labels]:
    """The anchors with the final names of their clusters."""
    return anchors[0], names[anchors[1]]


def write_npy(labels: Labels, folder: str, number: int, _start: int) -> None:
    """One block of labels as a file."""
    np.save(_file(folder, number, "npy"), labels)


def write_parquet(labels: Labels, folder: str, number: int, start: int) -> None:
    """One block of labels as a file, with the numbers of its samples."""
    from pyarrow import parquet, table

    columns = {"sample": np.arange(start, start + len(labels)), "label": labels}
    parquet.write_table(table(columns), _file(folder, number, "parquet"))


def _file(folder: str, number: int, kind: str) -> str:
    return str(Path(folder) / f"labels-{number:06d}.{kind}")
