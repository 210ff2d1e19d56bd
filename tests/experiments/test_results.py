"""The database: claims exclude each other, the dead lose theirs, and nothing is half written."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from masked_subspace._common.files import FileError
from masked_subspace.experiments.results import Results, own_name

IDENTITY = {
    "loose_key": "loose", "dataset": "digits", "trial": 0, "data_hash": "h", "origin": "o", "method": "knn",
    "fit": "{}", "n_clusters": 10, "seed": 0, "code_version": "v",
}  # fmt: skip
DONE = {"state": "done", "accuracy": 0.5, "finished_at": "2025-01-01T00:00:00+00:00"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def test_a_cell_is_claimed_once_and_then_over(path):
    with Results(path) as one, Results(path) as other:
        assert one.claim("k", IDENTITY)
        assert not other.claim("k", IDENTITY)
        assert other.get("k") is None
        one.finish("k", DONE)
        assert not other.claim("k", IDENTITY)
        assert other.get("k")["accuracy"] == 0.5
        assert other.count(["k", "nothing"]) == 1


def test_a_released_claim_is_free(path):
    with Results(path) as results:
        assert results.claim("k", IDENTITY)
        results.release("k")
        assert results.claim("k", IDENTITY)
        results.finish("k", DONE)
        results.release("k")  # a finished cell is not given back
        assert results.get("k") is not None


def test_failed_cells_are_tried_again_only_when_asked(path):
    with Results(path) as results:
        results.claim("k", IDENTITY)
        results.finish("k", {"state": "failed", "error": "E"})
        assert not results.claim("k", IDENTITY)
        assert results.claim("k", IDENTITY, retry_failed=True)
        assert results.get("k") is None


def test_the_claim_of_a_killed_process_is_free_at_once(path):
    program = (
        "import sys, pathlib, time\n"
        "from masked_subspace.experiments.results import Results\n"
        f"Results(pathlib.Path(sys.argv[1])).claim('k', {IDENTITY!r})\n"
        "print('claimed', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "claimed\n"
    with Results(path) as results:
        assert not results.claim("k", IDENTITY)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert results.claim("k", IDENTITY)


def test_a_process_number_used_again_is_not_taken_for_the_claimant(path):
    with Results(path) as results:
        results.claim("k", IDENTITY)
        results.finish("k", {"claimed_by": f"{socket.gethostname()}:{os.getpid()}:1"})
        assert results.claim("k", IDENTITY)
        assert own_name().split(":")[1] == str(os.getpid())


def test_claims_of_another_machine_are_honoured_for_hours_not_for_ever(path):
    with Results(path) as results:
        results.claim("k", IDENTITY)
        results.finish("k", {"claimed_by": "elsewhere:1:1"})
        assert not results.claim("k", IDENTITY)
        results.finish("k", {"claimed_at": time.time() - 7 * 3600})
        assert results.claim("k", IDENTITY)


def test_older_code_counts_only_when_asked(path):
    with Results(path) as results:
        results.claim("old", IDENTITY)
        results.finish("old", DONE)
        assert results.get("new") is None
        assert results.get("new", "loose")["key"] == "old"


def test_data_and_artifacts_are_kept(path):
    with Results(path) as results:
        results.remember_data("orl", 3, "hash", "folder")
        results.store_artifact("a", b"\x00bytes")
    with Results(path) as results:
        assert results.known_data() == {("orl", 3): "hash"}
        assert results.artifact("a") == b"\x00bytes"
        assert results.artifact("b") is None


def test_a_file_that_is_no_database_is_said(path):
    path.write_bytes(b"this is not a database, but some text of more than a few bytes" * 20)
    with pytest.raises(FileError, match=r"cannot use .* as the results database"):
        Results(path)


@pytest.mark.parametrize("order", [("a", "b", "c"), ("c", "b", "a"), ("b", "c", "a")])
def test_of_several_results_of_other_code_the_newest_counts(path, order):
    years = {"a": 2023, "b": 2026, "c": 2024}
    with Results(path) as results:
        for key in order:
            assert results.claim(key, IDENTITY)
            results.finish(key, {**DONE, "finished_at": f"{years[key]}-01-01T00:00:00+00:00"})
        assert results.get("absent", "loose")["key"] == "b"
        assert results.get("a", "loose")["key"] == "a"  # its own comes before any other
