"""Block work on a Dask cluster: data are sent once, lost work is repeated, a dead cluster is an error and no wait.

For a fit that lives in the client and lends single loops to workers (`joblib.parallel_config(backend="dask")`); rows
and results are in the client's memory. Data that are larger than that are fitted by `distributed/`, a room of its own.
"""

from __future__ import annotations

import os
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from masked_subspace._common.peak_memory import peak_bytes
from masked_subspace._common.types import Array
from masked_subspace.parallel.engine import Block, MappedArray, Result, Shared, limited_threads

if TYPE_CHECKING:
    from distributed import Client, Future


Work = Callable[[Any, Any], object]
# Where the large arrays of a job are: on the workers, or in a file that they open.
Places: TypeAlias = "dict[str, Future | MappedArray]"
# Arrays from this size on are sent once and stay on the workers; smaller ones travel with the task.
_SCATTER_BYTES = 1 << 16
_MOST_ATTEMPTS = 5
_POLL_SECONDS = 0.5
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05


class ClusterLostError(RuntimeError):
    """The Dask cluster can no longer do the work."""


def alone_after(client: Client, alone_since: float | None, patience: float) -> float | None:
    """None while there are workers, else since when there are none; longer than `patience` seconds is an error."""
    try:
        workers = _open(client).scheduler_info(n_workers=-1)["workers"]
    except OSError as error:
        raise ClusterLostError("the Dask scheduler does not answer; start a cluster and fit again.") from error
    if workers:
        return None
    now = time.monotonic()
    alone_since = now if alone_since is None else alone_since
    if now - alone_since > patience:
        raise ClusterLostError(
            f"the Dask cluster has had no worker for {patience:.0f} s; start workers and fit again "
            "(nothing was written, and the estimator is as before the call)."
        )
    return alone_since


def _open(client: Client | None) -> Client:
    if client is None or client.status != "running":
        raise ClusterLostError("the Dask client is closed; connect a new one and fit again.")
    return client


def wait_for(client: Client, futures: Sequence[Future], patience: float) -> None:
    """Until each is computed, failed or cancelled; a cluster without workers for `patience` seconds is an error.

    It looks again and again: a wait of Dask with a time limit ends in an exception that refers to itself, whose frames
    keep whatever this process or the workers hold for them until Python's next search for garbage.
    """
    alone_since: float | None = None
    pause, looked = _SHORTEST_PAUSE, time.monotonic()
    while not all(future.done() for future in futures):
        time.sleep(pause)
        pause = min(1.3 * pause, _LONGEST_PAUSE)
        if time.monotonic() - looked > _POLL_SECONDS:
            alone_since = alone_after(client, alone_since, patience)
            looked = time.monotonic()


class DaskEngine:
    """Runs blocks through a `distributed.Client`.

    Large arrays of `shared` are scattered to all workers once and kept for later calls as long as the caller keeps the
    array. A block whose worker dies runs again on another one; arrays that died with it are sent again. If the cluster
    has no worker for `patience` seconds, or its scheduler is gone, `run` raises `ClusterLostError`.
    """

    shares_memory = False
    _of_client: weakref.WeakKeyDictionary[Client, DaskEngine] = weakref.WeakKeyDictionary()

    def __init__(self, client: Client, *, patience: float = 30.0) -> None:
        self._client = weakref.ref(client)
        self.patience = patience
        self.peak_memory: dict[str, int] = {}  # bytes, the largest seen in each worker process
        self.bytes_sent = 0
        self._futures: dict[int, tuple[weakref.ref[Array], Future]] = {}

    @classmethod
    def of(cls, client: Client) -> DaskEngine:
        """The engine of a client; it remembers what it has sent."""
        if client not in cls._of_client:
            cls._of_client[client] = cls(client)
        return cls._of_client[client]

    @property
    def client(self) -> Client:
        return _open(self._client())

    def run(self, work: Callable[[Shared, Block], Result], shared: Shared, blocks: Sequence[Block]) -> Iterator[Result]:
        waiting: deque[tuple[int, Future, int]] = deque()  # (number of the block, its future, attempts so far)
        numbers = iter(range(len(blocks)))
        try:
            self._wait_for_workers()
            places = self._send(shared)
            ahead = 2 * max(1, sum(self.client.ncores().values()))
            while True:
                while len(waiting) < ahead and (number := next(numbers, None)) is not None:
                    waiting.append((number, self._submit(work, shared, places, blocks[number]), 1))
                if not waiting:
                    return
                number, future, attempt = waiting.popleft()
                result, lost = self._result_of(future)
                if lost is None:
                    yield result
                    continue
                if attempt >= _MOST_ATTEMPTS:
                    raise ClusterLostError(
                        f"block {blocks[number]} was lost with its worker {attempt} times; "
                        "give the workers more memory or use a smaller block size."
                    ) from lost
                self._wait_for_workers()
                places = self._send(shared)
                waiting.appendleft((number, self._submit(work, shared, places, blocks[number]), attempt + 1))
        finally:
            for _, future, _ in waiting:
                _forget(future)

    def _submit(self, work: Work, shared: Any, places: Places, block: object) -> Future:
        light = replace(shared, **dict.fromkeys(places)) if places else shared
        # Results travel back at once and are never looked up again, so keys need not be pure.
        return self.client.submit(_on_worker, work, light, places, block, pure=False, retries=0)

    def _result_of(self, future: Future) -> tuple[Any, BaseException | None]:
        """The result of a block, or the reason for which it was lost with its worker."""
        from distributed import CancelledError, KilledWorker
        from distributed.comm.core import CommClosedError

        wait_for(self.client, [future], self.patience)
        try:
            result, worker, memory = future.result()
        except (CancelledError, KilledWorker, CommClosedError) as error:
            self._check_alive(None)
            return None, error
        self.peak_memory[worker] = max(memory, self.peak_memory.get(worker, 0))
        return result, None

    def _check_alive(self, alone_since: float | None) -> float | None:
        return alone_after(self.client, alone_since, self.patience)

    def _wait_for_workers(self) -> None:
        alone_since = self._check_alive(None)
        while alone_since is not None:
            time.sleep(_POLL_SECONDS)
            alone_since = self._check_alive(alone_since)

    def _send(self, shared: object) -> Places:
        """Futures of the large arrays among the fields of `shared`; what is on the workers already stays there."""
        if not is_dataclass(shared):
            return {}
        places = {}
        for name in (field.name for field in fields(shared)):
            value = getattr(shared, name)
            if isinstance(value, np.ndarray) and value.nbytes >= _SCATTER_BYTES:
                places[name] = self._place(value)
        return places

    def _place(self, array: Array) -> Future | MappedArray:
        mapped = MappedArray.of(array)
        if mapped is not None:
            return mapped
        known = self._futures.get(id(array))
        if known is not None and known[0]() is array and known[1].status == "finished":
            return known[1]
        future = self._scattered(array)
        self.bytes_sent += array.nbytes
        key = id(array)
        self._futures[key] = (weakref.ref(array, lambda _: self._futures.pop(key, None)), future)
        return future

    def _scattered(self, array: Array) -> Future:
        """The array on every worker. A worker may die while it is sent: then it is sent to those that are left."""
        for attempt in range(1, _MOST_ATTEMPTS + 1):
            try:
                future: Future = self.client.scatter([array], broadcast=True, hash=False)[0]
            except OSError as error:  # a closed connection among them
                if attempt == _MOST_ATTEMPTS:
                    raise ClusterLostError("workers were lost whenever data were sent to them.") from error
                self._wait_for_workers()
            else:
                break
        return future


def _forget(future: Future) -> None:
    try:
        future.cancel()
    except Exception:  # a closed client has nothing left to cancel
        return


def _on_worker(work: Work, light: Any, places: Places, block: object) -> tuple[object, str, int]:
    arrays = {name: place.open() if isinstance(place, MappedArray) else place for name, place in places.items()}
    shared = replace(light, **arrays) if arrays else light
    with limited_threads(limits=1, user_api="blas"):
        result = work(shared, block)
    return result, f"process {os.getpid()}", peak_bytes()
