"""Peak memory is known here, and asking for it breaks nothing on systems that do not say."""

import builtins
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from masked_subspace._common.peak_memory import peak_bytes, reset_peak

WITHOUT_RESOURCE = """
import sys
sys.modules["resource"] = None  # as on Windows: importing it fails
from masked_subspace.cli import main
sys.exit(main(["reproduce", "table1", "--dataset", "digits", "--method", "knn", "--setting", "auto", "--trials", "1",
               "--quiet", "--out", sys.argv[1]]))
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux forgets its peak")
def test_the_peak_rises_with_use_and_is_forgotten():
    before = reset_peak()
    block = np.ones(8_000_000)
    assert peak_bytes() > before + block.nbytes // 2
    del block
    assert reset_peak() < before + 32_000_000


def test_zero_where_nobody_knows(monkeypatch):
    real_import = builtins.__import__

    def without_resource(name, *arguments, **more):
        if name == "resource":
            raise ImportError(name)
        return real_import(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without_resource)
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: (_ for _ in ()).throw(OSError("no /proc here")))
    assert peak_bytes() == 0


def test_reproduce_runs_without_the_resource_module(tmp_path):
    done = subprocess.run([sys.executable, "-c", WITHOUT_RESOURCE, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
