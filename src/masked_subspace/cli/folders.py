"""Where a run of `cluster` is written, and whose run stands there already."""

from __future__ import annotations

import hashlib
import os
from argparse import Namespace
from pathlib import Path

from masked_subspace._common.files import FileError, ensure_folder
from masked_subspace._common.types import RecordView
from masked_subspace.inputs import Samples, clean_text
from masked_subspace.report.archive import refuse_to_replace, sealed_result


def folder_for(options: Namespace, samples: Samples) -> Path:
    """The folder that was asked for, else FILE-clusters; made, and an error if it holds what must not be replaced."""
    folder = ensure_folder(options.out or Path(f"{_stem(options.file)}-clusters"))
    refuse_to_replace(folder)
    older = None if options.out else sealed_result(folder)
    source = older.get("input") or {} if older else {}
    if older and not _of_same_input(source, options.file, samples):
        there, here = (_shown(Path(str(path))) for path in (source.get("path", "unknown"), options.file))
        named = f"another {there}" if there == here else f"{there}, not {here}"
        raise FileError(
            f"{folder} holds the run of another input ({named}); "
            f"give --out FOLDER, or --out {clean_text(str(folder))} to replace it"
        )
    return folder


def place_of(file: Path) -> str | None:
    """A short name of where an input lies, without saying where; None for standard input."""
    if str(file) == "-":
        return None
    return hashlib.sha256(os.fsencode(file.resolve())).hexdigest()[:16]


def _of_same_input(older: RecordView, file: Path, samples: Samples) -> bool:
    """The same place, whatever stands there now, or the same content."""
    place, prints = place_of(file), older.get("fingerprints")
    same_content = isinstance(prints, dict) and prints.get("file") == samples.fingerprints.get("file") is not None
    return same_content or (place is not None and older.get("place") == place)


def _shown(file: Path) -> str:
    return "standard input" if str(file) == "-" else clean_text(str(file))


def _stem(file: Path) -> str:
    if str(file) == "-":
        return "input"
    name = file.resolve().name
    return name.removesuffix(".gz").rpartition(".")[0] or name
