"""One holder at a time, and nobody waits for ever."""

import os
import threading
import time

import pytest

from masked_subspace.datasets.errors import DatasetError
from masked_subspace.datasets.locking import exclusive


def test_threads_take_turns(tmp_path):
    inside, most = 0, 0

    def work():
        nonlocal inside, most
        for _ in range(3):
            with exclusive(tmp_path / "lock", patience=30):
                inside += 1
                most = max(most, inside)
                time.sleep(0.01)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_patience_ends_with_the_name_of_the_lock(tmp_path):
    with (
        exclusive(tmp_path / "lock", patience=1),
        pytest.raises(DatasetError, match="another process has held"),
        exclusive(tmp_path / "lock", patience=0.2),
    ):
        pass


def test_an_error_inside_releases_the_lock(tmp_path):
    with pytest.raises(KeyError), exclusive(tmp_path / "lock", patience=1):
        raise KeyError
    with exclusive(tmp_path / "lock", patience=0):
        pass


@pytest.mark.skipif(os.name == "nt", reason="a file in place of a folder is reported differently")
def test_an_unusable_folder_says_what_to_set(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DatasetError, match="MASKED_SUBSPACE_CACHE"), exclusive(tmp_path / "file" / "lock", patience=1):
        pass
