"""The task graphs of a distributed fit run one after the other in this process, so that a stage can be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from masked_subspace.distributed.tasks import Workers


@dataclass(frozen=True)
class Done:
    """A future that has come."""

    value: Any


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


def serial_workers() -> Workers:
    return Workers(SerialClient())


def subspaces(n: int, n_clusters: int = 4, dim: int = 3, ambient: int = 20, seed: int = 0) -> tuple[Any, Any]:
    """Shuffled samples of random subspaces with 10 % noise, and where each comes from."""
    rng = np.random.default_rng(seed)
    bases = np.stack([np.linalg.qr(rng.standard_normal((ambient, dim)))[0].T for _ in range(n_clusters)])
    y = rng.integers(0, n_clusters, n)
    inside = rng.standard_normal((n, dim))
    inside /= np.linalg.norm(inside, axis=1, keepdims=True)
    X = np.einsum("nk,nkd->nd", inside, bases[y]) + 0.1 / np.sqrt(ambient) * rng.standard_normal((n, ambient))
    return X.astype(np.float32), y
