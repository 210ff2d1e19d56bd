"""How the stages speak to Dask: delayed calls, made persistent at the end of a stage.

Every array of a fit is the result of a delayed call of named functions on other results, so that the scheduler can
compute again what a lost worker held. Nothing is scattered: scattered data die with their worker. The modules of this
package import numpy and scipy only; what a task needs besides is imported inside it, on the worker, so that a client
neither loads nor compiles a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Delayed = Any  # dask has no types


def task(function: Callable[..., Any]) -> Callable[..., Delayed]:
    """The delayed form of a function; its tasks are named after it."""
    from dask import delayed

    made: Callable[..., Delayed] = delayed(function, pure=False)
    return made


class Workers:
    """The one place that talks to a `distributed.Client`."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def keep(self, values: list[Delayed]) -> list[Delayed]:
        """Start computing; the results stay on the workers for as long as the returned values are held."""
        kept: list[Delayed] = list(self.client.persist(values, optimize_graph=False))
        return kept

    def fetch(self, values: list[Delayed]) -> list[Any]:
        """Results that are small enough for the client."""
        fetched: list[Any] = self.client.gather(self.client.compute(values, optimize_graph=False))
        return fetched

    def wait(self, values: list[Delayed]) -> None:
        """Until all are computed; an error of any of them is raised here."""
        from distributed import futures_of, wait

        futures = futures_of(values)
        wait(futures)
        for future in futures:
            if future.status == "error":
                future.result()

    def peak_memory(self) -> dict[str, int]:
        """The largest resident size of each worker process so far, in bytes."""
        from masked_subspace.parallel.memory import peak_bytes

        peaks: dict[str, int] = self.client.run(peak_bytes)
        return peaks


def active_client() -> Any:
    """The Dask client of this process, or an error that says how to get one."""
    from distributed import default_client

    try:
        return default_client()
    except ValueError as error:
        raise ValueError(
            "client is None and no Dask client is active; create one first, for example distributed.Client(address)."
        ) from error


def pick(array: Any, places: Any) -> Any:
    """array[places], where the array is."""
    return array[places]
