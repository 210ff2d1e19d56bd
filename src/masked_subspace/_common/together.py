"""Several files that appear in a folder together: all of a new set, or the old set, never a mixture.

The new files are written aside, in a folder inside the target (the same file system, so moving them is a rename). Only
when all are there is the target touched: its seal (the one file that says "complete") is removed, the new files are
moved in, files of the set that the new one lacks are removed, and the new seal is moved in last. Whoever is killed in
between leaves a folder without a seal, which nobody reads. One process at a time does this in a folder.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from masked_subspace._common.files import FileError, ensure_folder
from masked_subspace._common.locking import folder_lock

PATIENCE = 60.0  # seconds that moving a few files may take at most
_ASIDE = ".unfinished-"


@contextmanager
def written_together(folder: Path, seal: str, known: Collection[str]) -> Iterator[Path]:
    """A folder to write files into; they replace the files `known` of `folder` when the block ends without an error.

    Files of these names that stand there without a seal, and without what a killed process leaves, are somebody else's.
    """
    ensure_folder(folder)
    try:
        with held(folder):
            foreign = sorted(name for name in known if (folder / name).exists())
            if foreign and not (folder / seal).exists() and not any(folder.glob(f"{_ASIDE}*")):
                raise FileError(f"{folder} has a {foreign[0]} that no run wrote; move it away or choose another --out")
            _remove_abandoned(folder)
            aside = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=folder))
            in_use = folder_lock(aside, 0.0)
            in_use.__enter__()
    except OSError as error:
        raise _cannot_write(folder, error) from error
    try:
        yield aside
        with held(folder):
            _move(aside, folder, seal, known)
    except FileError as error:
        raise FileError(str(error).replace(str(aside), str(folder))) from error
    except OSError as error:
        raise _cannot_write(folder, error) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        in_use.__exit__(None, None, None)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder while its files are moved or read."""
    with folder_lock(folder, PATIENCE) as ours:
        if not ours:
            raise FileError(
                f"another process has been writing to {folder} for more than {PATIENCE:.0f} s; "
                "wait for it or choose another --out"
            )
        yield


def _move(aside: Path, folder: Path, seal: str, known: Collection[str]) -> None:
    new = sorted(path.name for path in aside.iterdir())
    (folder / seal).unlink(missing_ok=True)
    for name in set(known) - set(new):
        (folder / name).unlink(missing_ok=True)
    for name in (*(name for name in new if name != seal), seal):
        os.replace(aside / name, folder / name)


def _remove_abandoned(folder: Path) -> None:
    """What a killed process left; a folder that a living process writes into is locked by it."""
    for path in folder.glob(f"{_ASIDE}*"):
        if path.is_dir():
            with folder_lock(path, 0.0) as ours:
                if ours:
                    shutil.rmtree(path, ignore_errors=True)


def _cannot_write(folder: Path, error: OSError) -> FileError:
    if isinstance(error, FileError):
        return error
    return FileError(f"cannot write to {folder}: {error.strerror or error}; free some space or choose another --out")
