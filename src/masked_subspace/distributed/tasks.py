"""How the stages speak to Dask: calls noted down as a task graph, handed to the scheduler at the end of a stage.

Every array of a fit is the result of a task on the results of others, so that the scheduler computes again what a lost
worker held. Nothing is scattered: scattered data die with their worker. The modules of this package import numpy and
scipy only; what a task needs besides is imported inside it, on the worker, so that a client neither loads nor compiles
a kernel.

Why not `dask.delayed`: it copies the graph behind every argument, which is quadratic in the length of a chain, and the
eigenvectors are a chain of hundreds of products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from masked_subspace._common.types import Array, IntArray

if TYPE_CHECKING:
    from distributed import Client, Future


TaskGraph = dict[str, object]
_PATIENCE = 300.0  # seconds without any worker; one that died is back in 5 to 30 on a busy machine
Item = TypeVar("Item")


class Result:
    """What a task will return: the call to make, and once the scheduler knows it the future."""

    __slots__ = ("_call", "future", "key")

    def __init__(self, call: tuple[Callable[..., object], tuple[object, ...]], key: str) -> None:
        self._call = call
        self.key = key
        self.future: Future | None = None

    def __getitem__(self, place: int) -> Result:
        return task(item)(self, place)

    def note(self, graph: TaskGraph) -> object:
        """Add the calls behind this result to a graph; returns what stands for it there."""
        waiting = [self]
        while waiting:
            one = waiting.pop()
            if one.future is not None or one.key in graph:
                continue
            function, arguments = one._call
            graph[one.key] = (function, *(_argument(value, waiting, graph) for value in arguments))
        return self.future if self.future is not None else self.key

    def known(self, future: Future) -> None:
        """The scheduler has it from here on; the calls behind it need not be remembered."""
        self.future, self._call = future, (_nothing, ())


def _nothing() -> None:
    """The call behind a result that the scheduler has."""


def _argument(value: object, waiting: list[Result], graph: TaskGraph) -> object:
    if hasattr(value, "__dask_graph__"):
        # A block of somebody else's dask array: computed again by every stage that reads it, and not kept.
        key: str = getattr(value, "key", "")
        if key not in graph:
            graph.update(value.__dask_graph__())
        return key
    if isinstance(value, Result):
        if value.future is None:
            waiting.append(value)
        return value.future if value.future is not None else value.key
    return [_argument(one, waiting, graph) for one in value] if isinstance(value, list) else value


def task(function: Callable[..., object]) -> Callable[..., Result]:
    """The form of a function that notes a call down; its tasks are named after it. Lists of results are looked into."""

    def noted(*arguments: object, **named: object) -> Result:
        call = partial(function, **named) if named else function
        return Result((call, arguments), f"{function.__name__}-{uuid4().hex}")

    return noted


def item(values: Sequence[Item], place: int) -> Item:
    """values[place]."""
    return values[place]


def pick(array: Array, places: IntArray) -> Array:
    """array[places], where the array is."""
    return array[places]


class Workers:
    """Where the stages of this fit meet the `distributed.Client`: they hand over tasks and get results through it."""

    def __init__(self, client: Client, patience: float = _PATIENCE) -> None:
        self.client = client
        self.patience = patience

    def keep(self, values: list[Result]) -> list[Result]:
        """Start computing; the results stay on the workers for as long as they are referred to."""
        graph: TaskGraph = {}
        fresh = [value for value in values if value.future is None]
        for value in fresh:
            value.note(graph)
        if fresh:
            futures = self.client.get(graph, [value.key for value in fresh], sync=False)
            for value, future in zip(fresh, futures, strict=True):
                value.known(future)
        return values

    def fetch(self, values: list[Result]) -> list[Any]:
        """Results that are small enough for the client."""
        futures = self._done(self.keep(values))
        fetched: list[Any] = self.client.gather(futures)
        return fetched

    def wait(self, values: list[Result]) -> None:
        """Until all are computed; an error of any of them is raised here."""
        for future in self._done(values):
            if future.status != "finished":
                future.result()

    def _done(self, values: list[Result]) -> list[Future]:
        from masked_subspace.parallel.dask_engine import wait_for

        futures = [value.future for value in values if value.future is not None]
        wait_for(self.client, futures, self.patience)
        return futures

    def peak_memory(self) -> dict[str, int]:
        """The largest resident size of each worker process so far, in bytes."""
        from masked_subspace._common.peak_memory import peak_bytes

        peaks: dict[str, int] = self.client.run(peak_bytes)
        return peaks


def active_client() -> Client:
    """The Dask client of this process, or an error that says how to get one."""
    from distributed import default_client

    try:
        client: Client = default_client()
    except ValueError as error:
        raise ValueError(
            "client is None and no Dask client is active; create one first, for example distributed.Client(address)."
        ) from error
    return client
