"""Several files that appear in a folder together: all of a new set, or the old set, never a mixture.

The new files are written aside, in a folder inside the target (the same file system, so moving them is a rename). Only
when all are there is the target touched: its seal (the one file that says "complete") is taken out, the new files are
moved in, files of the set that the new one lacks are removed, and the new seal is moved in last. Whoever is killed in
between leaves a folder without a seal, which nobody reads. One process at a time does this in a folder.

Nothing that this program did not write is replaced or removed: whoever calls says what it wrote, by the seals there
are. The old seal waits aside while files are moved, so that a killed process leaves proof of whose files these are.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from masked_subspace._common.files import FileError, ensure_folder
from masked_subspace._common.locking import folder_lock

PATIENCE = 60.0  # seconds that moving a few files may take at most
_ASIDE = ".unfinished-"
_BEFORE = "sealed-before"  # the seal of the older set while the new one is moved in
# Of a file and the seals there are: "" if this program wrote it, else what is wrong with it.
Doubt = Callable[[Path, Sequence[Path]], str]


@contextmanager
def written_together(folder: Path, seal: str, known: Collection[str], doubt: Doubt) -> Iterator[Path]:
    """A folder to write files into; they replace the files `known` of `folder` when the block ends without an error."""
    ensure_folder(folder)
    try:
        with held(folder):
            _refuse_foreign(folder, seal, known, doubt)
            if (folder / seal).exists():  # else what killed processes left is needed as proof until the end
                _remove_abandoned(folder, known)
            aside = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=folder))
            in_use = folder_lock(aside, 0.0)
            in_use.__enter__()
    except OSError as error:
        raise _cannot_write(folder, error) from error
    moving = False
    try:
        yield aside
        with held(folder):
            _refuse_foreign(folder, seal, known, doubt)
            moving = True
            _move(aside, folder, seal, known)
            moving = False
            _remove_abandoned(folder, known)
    except FileError as error:
        raise FileError(str(error).replace(str(aside), str(folder))) from error
    except OSError as error:
        raise _cannot_write(folder, error) from error
    finally:
        if not moving:  # half moved it stays, like that of a killed process
            shutil.rmtree(aside, ignore_errors=True)
        in_use.__exit__(None, None, None)


def refuse_foreign(folder: Path, seal: str, known: Collection[str], doubt: Doubt) -> None:
    """An error that names the first of the files `known` in a folder which this program did not write."""
    try:
        with held(folder):
            _refuse_foreign(folder, seal, known, doubt)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _refuse_foreign(folder: Path, seal: str, known: Collection[str], doubt: Doubt) -> None:
    patterns = (f"{_ASIDE}*/{seal}", f"{_ASIDE}*/{_BEFORE}")
    seals = [folder / seal, *(path for pattern in patterns for path in folder.glob(pattern))]
    for name in sorted(known):
        if os.path.lexists(folder / name) and (wrong := doubt(folder / name, seals)):
            raise FileError(f"{folder} has a {name} {wrong}; move it away or choose another --out")


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
    if (folder / seal).exists():
        os.replace(folder / seal, aside / _BEFORE)
    for name in set(known) - set(new):
        (folder / name).unlink(missing_ok=True)
    for name in (*(name for name in new if name != seal), seal):
        os.replace(aside / name, folder / name)


def _remove_abandoned(folder: Path, known: Collection[str]) -> None:
    """What killed processes left; a folder that a living process writes into is locked by it."""
    for path in folder.glob(f"{_ASIDE}*"):
        with suppress(OSError):  # its owner may be removing it just now
            if path.is_dir() and not path.is_symlink() and all(_is_ours(one.name, known) for one in path.iterdir()):
                with folder_lock(path, 0.0) as ours:
                    if ours:
                        shutil.rmtree(path, ignore_errors=True)


def _is_ours(name: str, known: Collection[str]) -> bool:
    return name in known or name in (_BEFORE, ".lock") or (name.startswith(".") and name.endswith(".part"))


def _cannot_write(folder: Path, error: OSError) -> FileError:
    if isinstance(error, FileError):
        return error
    return FileError(f"cannot write to {folder}: {error.strerror or error}; free some space or choose another --out")
