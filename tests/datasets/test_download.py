"""A download ends with the right bytes in the right place, or with a clear message and nothing harmful left."""

import hashlib
import io
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import masked_subspace.datasets
from masked_subspace.datasets.download import Limits, download
from masked_subspace.datasets.errors import DownloadError
from masked_subspace.datasets.spec import RemoteFile

pytestmark = pytest.mark.network

CONTENT = np.random.default_rng(0).bytes(300_000)
QUICK = Limits(stall_seconds=0.5, total_seconds=1.0)
PATIENT = Limits(stall_seconds=10, total_seconds=60)


def remote(*urls, content=CONTENT, verified=True, max_bytes=400_000):
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}" if verified else None
    return RemoteFile("file.bin", urls, checksum, max_bytes)


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_a_good_answer_is_kept_and_not_fetched_twice(server, tmp_path):
    file = remote(server.offer("/good", CONTENT))
    path = download(file, tmp_path / "new", PATIENT)
    assert path.read_bytes() == CONTENT
    assert download(file, tmp_path / "new", PATIENT) == path
    assert len(server.requests["/good"]) == 1
    assert leftovers(tmp_path / "new") == ["file.bin"]


def test_a_redirect_is_followed(server, tmp_path):
    goal = server.offer("/good", CONTENT)
    assert download(remote(server.offer("/old", goal.encode(), "moved")), tmp_path, PATIENT).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("manner", "complaint"),
    [
        ("truncated", "broke off after 150,000 of 300,000 bytes"),
        ("silently_truncated", "not the expected file"),
        ("corrupted", "not the expected file"),
        ("dripping", "not complete after 1 s"),
        ("silent", "timed out"),
        ("endless", "larger than the 400,000 bytes"),
        ("boastful", "larger than the 400,000 bytes"),
        ("missing", "Not Found"),
    ],
)
def test_bad_answers_end_soon_with_a_clear_message(server, tmp_path, manner, complaint):
    file = remote(server.offer("/bad", CONTENT, manner))
    started = time.monotonic()
    with pytest.raises(DownloadError, match=complaint) as caught:
        download(file, tmp_path, QUICK)
    assert time.monotonic() - started < 5
    assert file.urls[0] in str(caught.value)
    assert "file.bin" not in leftovers(tmp_path)
    if manner in ("endless", "boastful", "corrupted", "silently_truncated"):
        assert leftovers(tmp_path) == []


def test_a_server_that_drips_single_bytes_cannot_stretch_the_time(server, tmp_path):
    content = CONTENT[:80]
    file = remote(server.offer("/slow", content, "dripping"), content=content)
    started = time.monotonic()
    with pytest.raises(DownloadError, match=r"not complete after 0\.3 s"):
        download(file, tmp_path, Limits(stall_seconds=5, total_seconds=0.3))
    assert time.monotonic() - started < 1.5  # the whole answer takes 2 s


@pytest.mark.parametrize("manner", ["truncated", "silently_truncated", "corrupted", "endless"])
def test_the_next_try_after_a_bad_answer_succeeds(server, tmp_path, manner):
    file = remote(server.offer("/file", CONTENT, manner))
    with pytest.raises(DownloadError):
        download(file, tmp_path, QUICK)
    server.offer("/file", CONTENT)
    assert download(file, tmp_path, PATIENT).read_bytes() == CONTENT
    assert leftovers(tmp_path) == ["file.bin"]


def test_a_broken_transfer_is_resumed_where_it_broke_off(server, tmp_path):
    file = remote(server.offer("/file", CONTENT, "truncated"))
    with pytest.raises(DownloadError):
        download(file, tmp_path, QUICK)
    server.offer("/file", CONTENT)
    assert download(file, tmp_path, PATIENT).read_bytes() == CONTENT
    assert server.requests["/file"] == [None, "bytes=150000-"]


def test_a_server_without_ranges_makes_it_start_again(server, tmp_path):
    (tmp_path / "file.bin.part").write_bytes(CONTENT[:1000])
    file = remote(server.offer("/file", CONTENT, "without_ranges"))
    assert download(file, tmp_path, PATIENT).read_bytes() == CONTENT


@pytest.mark.parametrize("stale", [b"stale" * 100, CONTENT + b"more"], ids=["other file", "too long"])
def test_a_stale_part_costs_one_more_request(server, tmp_path, stale):
    (tmp_path / "file.bin.part").write_bytes(stale)
    file = remote(server.offer("/file", CONTENT))
    assert download(file, tmp_path, PATIENT).read_bytes() == CONTENT
    assert len(server.requests["/file"]) == 2
    assert leftovers(tmp_path) == ["file.bin"]


def test_an_unverifiable_file_is_never_pieced_together(server, tmp_path):
    (tmp_path / "file.bin.part").write_bytes(b"other")
    file = remote(server.offer("/file", CONTENT), verified=False)
    assert download(file, tmp_path, PATIENT).read_bytes() == CONTENT
    assert server.requests["/file"] == [None]


def test_an_unverifiable_file_is_fetched_into_an_empty_folder(server, tmp_path):
    file = remote(server.offer("/file", CONTENT), verified=False)
    assert download(file, tmp_path, PATIENT).read_bytes() == CONTENT
    assert server.requests["/file"] == [None]


def test_a_file_may_be_just_as_large_as_it_may_be(server, tmp_path):
    file = remote(server.offer("/file", CONTENT), max_bytes=len(CONTENT))
    assert download(file, tmp_path, PATIENT).read_bytes() == CONTENT
    small = remote(server.offer("/file", CONTENT), max_bytes=len(CONTENT) - 1)
    with pytest.raises(DownloadError, match="larger than the 299,999 bytes"):
        download(small, tmp_path / "other", PATIENT)


def test_the_second_address_serves_when_the_first_fails(server, tmp_path):
    file = remote(server.offer("/bad", CONTENT, "corrupted"), server.offer("/good", CONTENT))
    assert download(file, tmp_path, PATIENT).read_bytes() == CONTENT


def test_a_file_put_there_by_hand_is_used_without_a_request(server, tmp_path):
    (tmp_path / "file.bin").write_bytes(CONTENT)
    download(remote(server.offer("/file", CONTENT)), tmp_path, PATIENT)
    assert not server.requests["/file"]


def test_a_damaged_file_is_replaced(server, tmp_path):
    (tmp_path / "file.bin").write_bytes(CONTENT[:-1])
    assert download(remote(server.offer("/file", CONTENT)), tmp_path, PATIENT).read_bytes() == CONTENT


def test_no_server_at_all_is_named(server, tmp_path):
    with pytest.raises(DownloadError, match="refused"):
        download(remote("http://127.0.0.1:9/file"), tmp_path, QUICK)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("screen", [Terminal(), io.StringIO()], ids=["terminal", "pipe"])
def test_a_terminal_sees_a_bar_and_a_pipe_sees_nothing(server, tmp_path, monkeypatch, screen):
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    download(remote(server.offer("/file", CONTENT)), tmp_path, PATIENT)
    assert ("file.bin" in screen.getvalue()) is screen.isatty()


SCRIPT = """
import sys
from pathlib import Path
from masked_subspace.datasets.download import Limits, download
from masked_subspace.datasets.spec import RemoteFile
url, checksum, folder = sys.argv[1:]
print(download(RemoteFile("file.bin", (url,), checksum, 400_000), Path(folder), Limits(10, 60)))
"""


def start_process(file, folder):
    source = str(Path(masked_subspace.datasets.__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, file.urls[0], file.checksum, str(folder)],
        env={**os.environ, "PYTHONPATH": source},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_processes_at_once_share_one_transfer(server, tmp_path):
    file = remote(server.offer("/file", CONTENT, "dripping"))
    processes = [start_process(file, tmp_path) for _ in range(2)]
    for process in processes:
        printed, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert Path(printed.strip()).read_bytes() == CONTENT
    assert len(server.requests["/file"]) == 1


def test_a_killed_process_leaves_no_lock_and_its_progress(server, tmp_path):
    file = remote(server.offer("/file", CONTENT, "dripping"))
    process = start_process(file, tmp_path)
    part = tmp_path / "file.bin.part"
    deadline = time.monotonic() + 30
    while not (part.exists() and part.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    server.offer("/file", CONTENT)
    assert download(file, tmp_path, PATIENT).read_bytes() == CONTENT
    assert server.requests["/file"][1].startswith("bytes=")
