"""Connected pieces of a graph in blocks: pieces inside each block, joined in the small graph between them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from masked_subspace._common.types import BoolArray, FloatArray, IntArray
from masked_subspace.distributed.graph import BlockGraph, GraphBlock, small_graph, summarized
from masked_subspace.distributed.tasks import Result, task


def placed_samples(graph: BlockGraph, n_clusters: int, most: int) -> list[Result]:
    """For each part which of its samples lie in pieces large enough to carry an eigenvector (see `large_pieces`)."""
    inner = [task(inner_pieces)(block) for block in graph.blocks]
    sizes = [task(np.bincount)(one) for one in inner]
    firsts = task(first_numbers)(sizes)
    groups = [task(numbered)(one, firsts, p) for p, one in enumerate(inner)]
    summaries = [
        task(summarized)(block, groups[p], graph.halo_values(groups, p)) for p, block in enumerate(graph.blocks)
    ]
    large = task(large_groups)(sizes, summaries, n_clusters, most)
    return [task(take_flags)(one, large) for one in groups]


def inner_pieces(block: GraphBlock) -> npt.NDArray[np.int64]:
    """The piece of each sample when links to other parts are left out, numbered from 0."""
    inner = csr_array(block.links[:, : block.n_own])
    pieces: npt.NDArray[np.int64] = connected_components(inner, directed=False)[1].astype(np.int64)
    return pieces


def first_numbers(sizes: list[IntArray]) -> list[int]:
    """Where the numbers of each part's groups begin, and behind the last one how many there are."""
    firsts: list[int] = np.concatenate([[0], np.cumsum([len(one) for one in sizes])]).tolist()
    return firsts


def numbered(inner: IntArray, firsts: list[int], part: int) -> IntArray:
    """Group numbers that are unique over all parts."""
    return inner + firsts[part]


def large_groups(
    sizes: list[IntArray], summaries: list[tuple[IntArray, IntArray, FloatArray]], n_clusters: int, most: int
) -> BoolArray:
    """Which of the numbered inner pieces belong to a piece of the whole graph that is large enough."""
    from masked_subspace.label.graph import large_enough

    size = np.concatenate(sizes)
    n_pieces, piece = connected_components(small_graph(summaries, len(size)), directed=False)
    if n_pieces <= n_clusters:
        return np.ones(len(size), dtype=bool)
    whole = np.bincount(piece, size, minlength=n_pieces)
    large: BoolArray = large_enough(whole, n_clusters, most)[piece]
    return large


def take_flags(groups: IntArray, large: BoolArray) -> BoolArray:
    """The flag of each sample's group."""
    flags: BoolArray = large[groups]
    return flags
