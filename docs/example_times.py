"""How long each example of the gallery takes: printed while the site is built, kept in docs/_build/example_times.tsv.

An example that needs more than a minute of CPU time is a warning, and so an error: a gallery is to be tried at once.
CPU time, of the example and of what it starts, does not depend on what else the machine does; the clock does.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from sphinx.util import logging

LIMIT = 60  # CPU seconds, compilation of what was never compiled on this machine included
_LOG = logging.getLogger(__name__)
_begun: dict[str, tuple[float, float]] = {}


def now() -> tuple[float, float]:
    """CPU seconds of this process and of its children that have ended, and the clock."""
    return sum(os.times()[:4]), time.perf_counter()


def note(gallery_conf: dict[str, Any], path: str, when: str) -> None:
    """Called before and after each example: `reset_modules` of conf.py."""
    name = Path(path).stem
    if when == "before":
        _begun[name] = now()
        return
    if name not in _begun or not gallery_conf["plot_gallery"]:
        return
    cpu, clock = (after - before for after, before in zip(now(), _begun.pop(name), strict=True))
    _LOG.info("%s: %.1f CPU seconds, %.1f by the clock", name, cpu, clock)
    _keep(Path(gallery_conf["src_dir"]) / "_build" / "example_times.tsv", name, cpu, clock)
    if cpu > LIMIT:
        _LOG.warning("%s takes %.0f CPU seconds; examples end within %d", name, cpu, LIMIT)


def _keep(path: Path, name: str, cpu: float, clock: float) -> None:
    """One line an example; those that did not run again keep theirs."""
    path.parent.mkdir(exist_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    others = [line for line in lines[1:] if line.split("\t")[0] != name]
    rows = sorted([*others, f"{name}\t{cpu:.1f}\t{clock:.1f}"])
    path.write_text("\n".join(["example\tCPU seconds\tseconds by the clock", *rows, ""]), encoding="utf-8")
