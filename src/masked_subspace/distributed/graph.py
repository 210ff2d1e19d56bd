"""The graph as blocks of rows, and what travels between blocks: the values of the samples to which links lead.

A block numbers its own samples 0 … n − 1 and behind them its halo: samples of other parts that have a link into it,
part by part. Whatever is computed on the graph (degrees, pieces, eigenvectors, moves) asks for the halo's values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.distributed.plan import Plan
from masked_subspace.distributed.shuffle import Parts
from masked_subspace.distributed.tasks import Result, Workers, pick, task


@dataclass(frozen=True)
class GraphBlock:
    """Rows of W (or of D^-½ W D^-½) for the samples of one part."""

    links: csr_array  # own samples × (own samples, then the halo)
    halo: list[npt.NDArray[np.int64]]  # for each part, which of its samples are in the halo, counted from its first

    @property
    def n_own(self) -> int:
        return int(self.links.shape[0])


class BlockGraph:
    """A symmetric graph on the workers."""

    def __init__(self, blocks: list[Result], sizes: list[int], halo_sizes: npt.NDArray[np.int64]) -> None:
        self.blocks = blocks
        self.sizes = sizes
        self.neighbors = [np.flatnonzero(line).tolist() for line in halo_sizes]
        self._halos = [
            {q: task(halo_of)(block, q) for q in near} for block, near in zip(blocks, self.neighbors, strict=True)
        ]

    @property
    def n_samples(self) -> int:
        return sum(self.sizes)

    def keep(self, workers: Workers) -> BlockGraph:
        """The same with its halos computed once."""
        flat = [halo for near in self._halos for halo in near.values()]
        kept = iter(workers.keep(flat) if flat else [])
        self._halos = [{q: next(kept) for q in near} for near in self._halos]
        return self

    def with_blocks(self, blocks: list[Result]) -> BlockGraph:
        """Other weights on the same links."""
        other = object.__new__(BlockGraph)
        other.blocks, other.sizes, other.neighbors, other._halos = blocks, self.sizes, self.neighbors, self._halos
        return other

    def halo_values(self, values: list[Result], part: int) -> list[Result]:
        """Values of the samples in the halo of a part, in the order of its columns."""
        return [task(pick)(values[q], halo) for q, halo in self._halos[part].items()]


def build_graph(workers: Workers, parts: Parts, links: list[Result]) -> BlockGraph:
    """W = (L + Lᵀ)/2 as blocks: each part gets the transposed links that lead into it."""
    plan = parts.plan
    reached = [np.unique(plan.part_of[flags]).tolist() for flags in parts.looks_into]
    blocks = []
    for p in range(plan.n_parts):
        into = [q for q in range(plan.n_parts) if p in reached[q]]
        arriving = [task(transposed_links)(links[q], parts.planned, q, p) for q in into]
        blocks.append(task(symmetric_block)(links[p], arriving, parts.planned, p))
    blocks = workers.keep(blocks)
    halo_sizes = np.stack(workers.fetch([task(halo_counts)(block) for block in blocks]))
    return BlockGraph(blocks, [plan.size(p) for p in range(plan.n_parts)], halo_sizes).keep(workers)


def transposed_links(links: csr_array, plan: Plan, source: int, target: int) -> csr_array:
    """The links of one part that lead into another, seen from there; columns in the numbering of the plan."""
    first, last = plan.offsets[target], plan.offsets[target + 1]
    rows = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    inside = (links.indices >= first) & (links.indices < last)
    columns = (rows[inside] + plan.offsets[source]).astype(np.int32)
    entries = (links.data[inside], ((links.indices[inside] - first).astype(np.int32), columns))
    return csr_array(entries, shape=(int(last - first), links.shape[1]))


def symmetric_block(links: csr_array, arriving: list[csr_array], plan: Plan, part: int) -> GraphBlock:
    """(L + Lᵀ)/2 for the samples of one part, with its halo numbered."""
    W = links
    for one in arriving:
        W = W + one
    W = csr_array(W * links.dtype.type(0.5))
    first, last = plan.offsets[part], plan.offsets[part + 1]
    foreign = np.unique(W.indices[(W.indices < first) | (W.indices >= last)])
    inside = (W.indices >= first) & (W.indices < last)
    columns = np.where(inside, W.indices - first, last - first + np.searchsorted(foreign, W.indices))
    local = csr_array((W.data, columns.astype(np.int32), W.indptr), shape=(W.shape[0], W.shape[0] + len(foreign)))
    local.sort_indices()
    halo = [numbers.astype(np.int64) - plan.offsets[q] for q, numbers in enumerate(plan.cut(foreign))]
    return GraphBlock(local, halo)


def halo_counts(block: GraphBlock) -> npt.NDArray[np.int64]:
    """How many samples of each part are in the halo."""
    return np.array([len(numbers) for numbers in block.halo], dtype=np.int64)


def halo_of(block: GraphBlock, part: int) -> npt.NDArray[np.int64]:
    """The halo's samples of one part."""
    return block.halo[part]


def degrees(block: GraphBlock) -> npt.NDArray[np.float64]:
    """Sum of the links of each sample."""
    return np.asarray(block.links.sum(axis=1), dtype=np.float64).ravel()


def normalized(graph: BlockGraph) -> BlockGraph:
    """D^-½ W D^-½ as blocks."""
    own = [task(degrees)(block) for block in graph.blocks]
    return graph.with_blocks(
        [task(scaled_block)(block, own[p], graph.halo_values(own, p)) for p, block in enumerate(graph.blocks)]
    )


def scaled_block(block: GraphBlock, own: FloatArray, halo: list[FloatArray]) -> GraphBlock:
    """Rows and columns divided by the roots of their degrees; an isolated sample keeps an empty row."""
    degree = np.concatenate([own, *halo])
    scale = (1 / np.sqrt(np.where(degree > 0, degree, 1))).astype(block.links.dtype)
    W = block.links
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    data = W.data * scale[rows] * scale[W.indices]
    return GraphBlock(csr_array((data, W.indices, W.indptr), shape=W.shape), block.halo)


def summarized(
    block: GraphBlock, groups: npt.NDArray[np.int64], halo: list[npt.NDArray[np.int64]]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Weights between groups of samples, from one block: the rows of its groups in the small graph, as COO triples.

    Groups bear numbers that are unique over all parts; −1 is no group, and its links are left out.
    """
    W = block.links
    everyone = np.concatenate([groups, *halo])
    pairs = np.stack([groups[np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))], everyone[W.indices]])
    known = (pairs >= 0).all(axis=0)
    pairs = pairs[:, known]
    names, codes = np.unique(pairs, return_inverse=True)
    codes = codes.reshape(pairs.shape)
    small = csr_array((W.data[known].astype(np.float64), (codes[0], codes[1])), shape=(len(names), len(names)))
    rows = np.repeat(np.arange(len(names)), np.diff(small.indptr))
    return names[rows], names[small.indices], small.data


def small_graph(summaries: list[tuple[IntArray, IntArray, FloatArray]], n_groups: int) -> csr_array:
    """The graph between groups, from the summaries of all blocks."""
    rows, columns, data = (np.concatenate([one[k] for one in summaries]) for k in range(3))
    return csr_array((data, (rows, columns)), shape=(n_groups, n_groups))
