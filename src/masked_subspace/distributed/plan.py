"""Which lists live together: parts of the samples between which few links run.

Samples are numbered anew, part by part and list by list; inside a list in the order in which they were given. That
numbering depends on the lists alone and not on how the input is cut into blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace._common.types import IndexArray, IntArray

_NEAREST_CENTRES = 8


@dataclass(frozen=True)
class Plan:
    """Where every list lives, in the new numbering."""

    part_of: IndexArray  # of each list
    starts: npt.NDArray[np.int64]  # the number of the first sample of each list
    counts: npt.NDArray[np.int64]  # samples of each list
    offsets: npt.NDArray[np.int64]  # where each part begins; one more than there are parts

    @classmethod
    def of(cls, part_of: IndexArray, counts: npt.NDArray[np.int64]) -> Plan:
        order = np.lexsort((np.arange(len(counts)), part_of))
        starts = np.empty(len(counts), dtype=np.int64)
        starts[order] = np.concatenate([[0], np.cumsum(counts[order])[:-1]])
        sizes = np.bincount(part_of, counts, minlength=int(part_of.max()) + 1)
        return cls(part_of, starts, counts, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    @property
    def n_parts(self) -> int:
        return len(self.offsets) - 1

    def size(self, part: int) -> int:
        return int(self.offsets[part + 1] - self.offsets[part])

    def cut(self, numbers: IntArray) -> list[IntArray]:
        """Sorted sample numbers, part by part."""
        return np.split(numbers, np.searchsorted(numbers, self.offsets[1:-1]))


def make_plan(centres: npt.NDArray[np.float32], counts: list[IntArray], n_parts: int) -> Plan:
    """Group the lists into parts of about equal size by bisecting the graph of their nearest centres."""
    from masked_subspace.represent.neighbors.search import nearest_in

    total = np.sum(counts, axis=0).astype(np.int64)
    part_of = np.zeros(len(centres), dtype=np.int32)
    if n_parts > 1:
        k = min(_NEAREST_CENTRES, len(centres) - 1)
        near = nearest_in(centres, centres, k, own=np.arange(len(centres)))
        near = np.where(near < 0, np.arange(len(centres))[:, None], near)
        links = csr_array(
            (np.ones(near.size), near.ravel(), np.arange(0, near.size + 1, k)), shape=(len(centres), len(centres))
        )
        _bisect(csr_array(links + links.T), total, np.arange(len(centres)), 0, n_parts, part_of)
    return Plan.of(part_of, total)


def _bisect(
    links: csr_array, counts: IntArray, members: IntArray, first: int, n_parts: int, part_of: IndexArray
) -> None:
    """Parts first … first + n_parts − 1 for the lists `members`: halves by the second eigenvector, and so on."""
    from masked_subspace._common.rows import leading_eigenpairs
    from masked_subspace.label.graph import normalized_graph

    if n_parts == 1:
        part_of[members] = first
        return
    inner = csr_array(links[members][:, members])
    _, vectors = leading_eigenpairs(normalized_graph(inner), 2)
    degree = np.maximum(np.asarray(inner.sum(axis=1)).ravel(), 1)
    order = np.argsort(vectors[:, 1] / np.sqrt(degree), kind="stable")
    left = n_parts // 2
    mass = np.cumsum(counts[members[order]])
    place = int(np.searchsorted(mass, mass[-1] * left / n_parts)) + 1
    place = int(np.clip(place, left, len(members) - (n_parts - left)))
    _bisect(links, counts, np.sort(members[order[:place]]), first, left, part_of)
    _bisect(links, counts, np.sort(members[order[place:]]), first + left, n_parts - left, part_of)
