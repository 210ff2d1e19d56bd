"""Files appear whole or not at all."""

import os
import resource
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from masked_subspace._common.files import FileError, ensure_folder, write_bytes, write_text, write_with


def test_a_file_is_replaced_whole_and_nothing_else_remains(tmp_path):
    path = tmp_path / "new" / "a.txt"
    write_text(path, "eins")
    write_text(path, "zwei")
    assert path.read_text(encoding="utf-8") == "zwei"
    assert os.listdir(path.parent) == ["a.txt"]
    assert stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600


def test_a_writer_that_fails_leaves_the_old_file(tmp_path):
    path = write_text(tmp_path / "a.txt", "old")

    def save_half(stream):
        stream.write(b"new")
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        write_with(path, save_half)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_no_room_on_the_disk_is_said_and_leaves_the_old_file(tmp_path):
    """The system itself refuses the bytes: a limit on file sizes makes a write fail half way, as a full disk does."""
    path = write_text(tmp_path / "a.bin", "old")
    program = (
        "import sys, pathlib; from masked_subspace._common.files import write_bytes, FileError\n"
        "try: write_bytes(pathlib.Path(sys.argv[1]), bytes(1_000_000))\n"
        "except FileError as error: print(error); sys.exit(7)"
    )
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # noqa: E731
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], preexec_fn=limit, capture_output=True, text=True, check=False
    )
    assert done.returncode == 7, done.stderr
    assert f"cannot write {path}" in done.stdout
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_a_read_only_folder_is_said(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    for parent in (tmp_path, *tmp_path.parents):
        if Path(tempfile.gettempdir()) in parent.parents:
            parent.chmod(0o755)
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(65534)  # root may write anywhere; nobody may not
    try:
        with pytest.raises(FileError, match="Permission denied"):
            write_bytes(folder / "a.txt", b"x")
        with pytest.raises(FileError, match="cannot make the folder"):
            ensure_folder(folder / "below")
    finally:
        if was_root:
            os.seteuid(0)
    assert os.listdir(folder) == []


def test_a_folder_that_is_a_file_is_said(tmp_path):
    write_text(tmp_path / "a", "x")
    with pytest.raises(FileError, match="a file of that name exists"):
        ensure_folder(tmp_path / "a")
