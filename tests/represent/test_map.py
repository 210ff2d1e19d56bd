"""The table of formulas in represent/model.py names functions and classes that exist where it says."""

from __future__ import annotations

import re
from pathlib import Path

from masked_subspace import represent
from masked_subspace.represent import model


def test_every_name_in_the_map_exists():
    rows = [line for line in (model.__doc__ or "").splitlines() if line.startswith("|")]
    names = set(re.findall(r"`([A-Za-z_.]+)`", "\n".join(rows[1:])))
    source = "\n".join(path.read_text() for path in Path(represent.__file__).parent.rglob("*.py"))
    assert len(names) > 15
    for name in names:
        kind = name.split(".")[-1]
        assert re.search(rf"(def|class) {kind}\b", source), name
