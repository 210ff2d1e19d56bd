"""Events reach a terminal as bars, and nothing else."""

import io

import numpy as np
import pytest

from masked_subspace import RMSC
from masked_subspace._common.progress import Events, SilentEvents, TerminalEvents, events_for, iteration_reporter, track


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Recorder:
    def __init__(self):
        self.told = []

    def started(self, name, total=None):
        self.told.append(("started", name, total))

    def advanced(self, name, done, note=""):
        self.told.append(("advanced", name, done, note))

    def finished(self, name):
        self.told.append(("finished", name))

    def message(self, text):
        self.told.append(("message", text))


@pytest.mark.parametrize("listener", [SilentEvents(), TerminalEvents(Terminal()), Recorder()])
def test_listeners_fit_the_protocol(listener):
    assert isinstance(listener, Events)


def test_silent_unless_verbose_and_a_terminal():
    assert isinstance(events_for(1, io.StringIO()), SilentEvents)
    assert isinstance(events_for(0, Terminal()), SilentEvents)
    assert isinstance(events_for(1, Terminal()), TerminalEvents)


def test_track_reports_every_step_and_closes_even_when_left_early():
    events = Recorder()
    assert list(track("ab", "letters", events)) == ["a", "b"]
    assert events.told == [("started", "letters", 2), ("advanced", "letters", 1, ""), ("advanced", "letters", 2, ""),
                           ("finished", "letters")]  # fmt: skip
    events = Recorder()
    steps = track(iter("ab"), "letters", events)
    next(steps)
    steps.close()
    assert events.told == [("started", "letters", None), ("finished", "letters")]


def test_bars_show_progress_and_messages_are_not_markup():
    terminal = Terminal()
    events = TerminalEvents(terminal)
    events.started("[bold]work[/bold]", 10)
    events.advanced("[bold]work[/bold]", 4, note="change 1e-3")
    events.message("[red]a message[/red]")
    events.finished("[bold]work[/bold]")
    events.finished("never started")
    events.advanced("never started", 1)
    assert "[red]a message[/red]" in terminal.getvalue()
    assert "[bold]work[/bold]" in terminal.getvalue()


def test_solvers_speak_to_events():
    events = Recorder()
    iteration_reporter(events, "round 1")(3, 0.25)
    assert events.told == [("advanced", "round 1", 3, "change 2.5e-01")]


def test_verbose_estimators_use_the_same_events(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    X = np.random.default_rng(0).standard_normal((40, 6))
    estimator = RMSC(2, sparsity=1e-3, members=1, max_rounds=2, random_state=0, n_jobs=1)
    estimator.fit(X)
    assert terminal.getvalue() == ""
    estimator.set_params(verbose=1).fit(X)
    assert "round 1" in terminal.getvalue()
