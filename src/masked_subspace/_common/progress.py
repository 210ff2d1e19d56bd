"""How long work tells what it is doing: one small protocol, a silent listener and one that draws bars in a terminal.

Estimators (`verbose`), experiments and the command speak to the same `Events`:

    events = events_for(verbose)
    events.started("round 1", total=200)
    events.advanced("round 1", 17, note="change 3e-4")
    events.finished("round 1")

or, around a loop, ``for item in track(items, "trials", events)``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, TextIO, TypeVar, runtime_checkable

from masked_subspace._common.types import Record

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Item = TypeVar("Item")


@runtime_checkable
class Events(Protocol):
    """What a listener must understand. Names identify running pieces of work; several may run at once."""

    def started(self, name: str, total: int | None = None) -> None:
        """Work `name` begins; `total` steps are expected, None if nobody knows."""

    def advanced(self, name: str, done: int, note: str = "") -> None:
        """`done` steps (not one more step: so many in all) of work `name` are over."""

    def finished(self, name: str) -> None:
        """Work `name` is over, completely or not."""

    def message(self, text: str) -> None:
        """One line that should stay on the screen."""


class SilentEvents:
    """Hears everything, says nothing."""

    def started(self, name: str, total: int | None = None) -> None:
        """Nothing is shown."""

    def advanced(self, name: str, done: int, note: str = "") -> None:
        """Nothing is shown."""

    def finished(self, name: str) -> None:
        """Nothing is shown."""

    def message(self, text: str) -> None:
        """Nothing is shown."""


class TerminalEvents:
    """Bars with the time left, drawn by rich while at least one piece of work runs, and gone afterwards."""

    def __init__(self, stream: TextIO | None = None) -> None:
        from rich.console import Console

        self._console = Console(file=stream or sys.stderr)
        self._bars: Progress | None = None
        self._tasks: Record = {}

    def started(self, name: str, total: int | None = None) -> None:
        """Open a bar."""
        if self._bars is None:
            self._bars = _bars(self._console)
            self._bars.start()
        if name in self._tasks:
            self._bars.remove_task(self._tasks[name])
        self._tasks[name] = self._bars.add_task(_plain(name), total=total, note="")

    def advanced(self, name: str, done: int, note: str = "") -> None:
        """Move a bar."""
        if self._bars is not None and name in self._tasks:
            self._bars.update(self._tasks[name], completed=done, note=_plain(note))

    def finished(self, name: str) -> None:
        """Close a bar; the last one clears the screen."""
        task = self._tasks.pop(name, None)
        if self._bars is not None and task is not None:
            self._bars.remove_task(task)
        if not self._tasks and self._bars is not None:
            self._bars.stop()
            self._bars = None

    def message(self, text: str) -> None:
        """Print above the bars."""
        self._console.print(_plain(text), highlight=False)


def _plain(text: str) -> str:
    """User text must not be read as rich markup."""
    from rich.markup import escape

    return escape(text)


def _bars(console: Console) -> Progress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("· so far"),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[note]}"),
        console=console,
        transient=True,
        refresh_per_second=5,
    )


def events_for(verbose: bool | int = True, stream: TextIO | None = None) -> Events:
    """The listener for a `verbose` argument: silent if it is 0, or if the stream (stderr) is not a terminal."""
    stream = stream or sys.stderr
    if not verbose or stream is None or not stream.isatty() or find_spec("rich") is None:
        return SilentEvents()
    return TerminalEvents(stream)


class LineEvents(SilentEvents):
    """Only the lines that should stay, one after the other: for notebooks, logs and machines without rich."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    def message(self, text: str) -> None:
        """One line, at once."""
        self._stream.write(f"{text}\n")
        self._stream.flush()


def events_of_estimator(verbose: bool | int) -> Events:
    """What `verbose=` of an estimator means: bars and lines in a terminal, lines elsewhere, nothing if it is 0."""
    if not verbose:
        return SilentEvents()
    if sys.stderr.isatty() and find_spec("rich") is not None:
        return TerminalEvents()
    return LineEvents()


def track(items: Iterable[Item], name: str, events: Events, total: int | None = None) -> Iterator[Item]:
    """Go through `items` and report each step."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    events.started(name, total)
    try:
        for done, item in enumerate(items, start=1):
            yield item
            events.advanced(name, done)
    finally:
        events.finished(name)


def iteration_reporter(events: Events, name: str) -> Callable[[int, float], None]:
    """The `progress` callback that solvers take (iteration, stopping value), told to `events` as work `name`."""

    def report(iteration: int, stopping_value: float) -> None:
        events.advanced(name, iteration, note=f"change {stopping_value:.1e}")

    return report


@contextmanager
def iterations_told(events: Events, name: str, total: int | None) -> Iterator[Callable[[int, float], None]]:
    """The `progress` callback of a solver, between the start of work `name` and its end."""
    events.started(name, total)
    try:
        yield iteration_reporter(events, name)
    finally:
        events.finished(name)
