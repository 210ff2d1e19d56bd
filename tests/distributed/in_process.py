"""The task graphs of a distributed fit run one after the other in this process, so that a stage can be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from masked_subspace.distributed.graph import BlockGraph, GraphBlock
from masked_subspace.distributed.tasks import Workers, task


@dataclass(frozen=True)
class Done:
    """A future that has come."""

    value: Any
    status = "finished"

    def done(self) -> bool:
        return True


class SerialClient:
    """What `Workers` asks of a client, without processes."""

    def get(self, graph: dict[Any, Any], keys: list[Any], sync: bool) -> list[Done]:
        from dask.local import get_sync

        assert not sync
        return [Done(value) for value in get_sync({key: _plain(call) for key, call in graph.items()}, keys)]

    def gather(self, futures: list[Done]) -> list[Any]:
        return [future.value for future in futures]


def _plain(value: Any) -> Any:
    if isinstance(value, Done):
        return (lambda: value.value,)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return (value[0], *(_plain(one) for one in value[1:])) if isinstance(value, tuple) and callable(value[0]) else value


WORKERS = Workers(SerialClient())


def in_blocks(W: csr_array, bounds: list[int]) -> BlockGraph:
    """A graph of one process cut into blocks."""
    blocks = []
    for first, last in pairwise(bounds):
        mine = csr_array(W[first:last])
        foreign = np.unique(mine.indices[(mine.indices < first) | (mine.indices >= last)])
        order = np.concatenate([np.arange(first, last), foreign])
        halo = [foreign[(foreign >= a) & (foreign < b)].astype(np.int64) - a for a, b in pairwise(bounds)]
        blocks.append(GraphBlock(csr_array(mine[:, order]), halo))
    sizes = [block.n_own for block in blocks]
    counts = np.array([[len(one) for one in block.halo] for block in blocks])
    kept = WORKERS.keep([task(lambda block=block: block)() for block in blocks])
    return BlockGraph(kept, sizes, counts).keep(WORKERS)


def subspaces(
    n: int, n_clusters: int = 4, dim: int = 3, ambient: int = 20, seed: int = 0, noise: float = 0.1
) -> tuple[Any, Any]:
    """Shuffled samples of random subspaces with noise, and where each comes from."""
    rng = np.random.default_rng(seed)
    bases = np.stack([np.linalg.qr(rng.standard_normal((ambient, dim)))[0].T for _ in range(n_clusters)])
    y = rng.integers(0, n_clusters, n)
    inside = rng.standard_normal((n, dim))
    inside /= np.linalg.norm(inside, axis=1, keepdims=True)
    X = np.einsum("nk,nkd->nd", inside, bases[y]) + noise / np.sqrt(ambient) * rng.standard_normal((n, ambient))
    return X.astype(np.float32), y
