"""Peak memory is known here, and asking for it breaks nothing on systems that do not say."""

import builtins
import subprocess
import sys
from pathlib import Path

import pytest

from masked_subspace._common.peak_memory import peak_bytes


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux forgets its peak")
def test_the_peak_rises_with_use_and_is_forgotten():
    """In a process of its own: of a large one the system may take pages back meanwhile."""
    code = """
import numpy as np
from masked_subspace._common.peak_memory import peak_bytes, reset_peak
before = reset_peak()
block = np.ones(8_000_000)
assert peak_bytes() > before + block.nbytes // 2, (peak_bytes(), before)
del block
assert reset_peak() < before + 32_000_000
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_zero_where_nobody_knows(monkeypatch):
    real_import = builtins.__import__

    def without_resource(name, *arguments, **more):
        if name == "resource":
            raise ImportError(name)
        return real_import(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without_resource)
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: (_ for _ in ()).throw(OSError("no /proc here")))
    assert peak_bytes() == 0


def test_bytes_are_1024_of_the_kilobytes_that_the_system_names(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "VmPeak:\t9 kB\nVmHWM:\t     7 kB\n")
    assert peak_bytes() == 7 * 1024


@pytest.mark.parametrize(("platform", "unit"), [("linux", 1024), ("darwin", 1)])
def test_without_proc_the_peak_is_in_the_unit_of_the_platform(monkeypatch, platform, unit):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: (_ for _ in ()).throw(OSError("no /proc here")))
    monkeypatch.setattr(resource, "getrusage", lambda _: type("Usage", (), {"ru_maxrss": 5}))
    monkeypatch.setattr(sys, "platform", platform)
    assert peak_bytes() == 5 * unit
