"""`read_samples(path)`: samples from a file, a folder or standard input, as a person would expect."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from masked_subspace.inputs.adjust import scaled, without_missing
from masked_subspace.inputs.limits import ARRAY_BYTES, read_at_most, regular_file
from masked_subspace.inputs.pair_files import GivenPairs, read_pairs
from masked_subspace.inputs.registry import FOLDERS, by_content, by_ending, kinds
from masked_subspace.inputs.samples import InputError, ReadOptions, Samples, Source, fingerprint
from masked_subspace.inputs.text import clean_text

__all__ = ["InputError", "GivenPairs", "ReadOptions", "Samples", "clean_text", "read_pairs", "read_samples"]


def read_samples(path: str | Path, options: ReadOptions | None = None, **more: Any) -> Samples:
    """Read samples, and whatever names and known classes come with them.

    Parameters
    ----------
    path : str or Path
        A file of any kind that can be read, a folder of images, or "-" for standard input.
    options : ReadOptions or None, default=None
        How it is to be read; None: as the defaults say.
    **more : object
        Fields of `ReadOptions` that replace those of `options`.

    Returns
    -------
    samples : Samples
        The numbers, names, known classes and the decisions of the reader.

    Raises
    ------
    InputError
        If it cannot be read; the text names the file, what is wrong with it and the remedy.

    Examples
    --------
    >>> from pathlib import Path
    >>> from masked_subspace.inputs import read_samples
    >>> _ = Path("flowers.csv").write_text("width,height,class\\n1,2,a\\n3,4,b\\n5,7,a\\n")
    >>> samples = read_samples("flowers.csv")
    >>> samples.X.shape, samples.class_names
    ((3, 2), ('a', 'b'))
    """
    options = replace(options or ReadOptions(), **more)
    path = Path(path)
    shown = "standard input" if str(path) == "-" else clean_text(str(path))
    samples = without_missing(_read(path, options), shown, options.impute, options.missing)
    return scaled(samples, options.scale)


def _read(path: Path, options: ReadOptions) -> Samples:
    if str(path) == "-":
        return _from_standard_input(options)
    source = Source(path, clean_text(str(path)), options)
    try:
        if path.is_dir():
            return _from_folder(source)
        regular_file(path)
        known = by_ending(path)
        if known is None:
            ending = path.suffix or "no ending"
            save = " Save a spreadsheet as CSV." if ending.lower() in (".xlsx", ".xls", ".xlsm", ".ods") else ""
            raise InputError(
                f"{source.shown} is of an unknown kind ({clean_text(ending)}); {kinds()} can be read.{save}"
            )
        samples = known.reader()(source)
        with path.open("rb") as stream:
            return _named(samples, hashlib.file_digest(stream, "sha256").hexdigest())
    except PermissionError as error:
        raise InputError(f"{source.shown} may not be read: {error.strerror}") from error
    except OSError as error:
        raise InputError(f"{source.shown} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        if isinstance(error, InputError) or "null" not in str(error):
            raise
        raise InputError(f"{source.shown} is no possible file name: {error}") from error


def _from_folder(source: Source) -> Samples:
    for name in FOLDERS:
        module = import_module(f"masked_subspace.inputs.{name}")
        if module.is_one(source.path):
            samples: Samples = module.read(source)
            return _named(samples, _digest(module.files(source.path), source.path))
    raise InputError(f"{source.shown} holds nothing that can be read")


def _digest(files: Sequence[Path], folder: Path) -> str:
    """Names and content of a folder's files: other pictures of the same names are other data."""
    total = hashlib.sha256()
    for path in files:
        content = b""
        with suppress(OSError), path.open("rb") as stream:  # one that may not be read was left out before
            content = hashlib.file_digest(stream, "sha256").digest()
        total.update(str(path.relative_to(folder)).encode("utf-8", "surrogateescape") + b"\0" + content)
    return total.hexdigest()


def _from_standard_input(options: ReadOptions) -> Samples:
    limit = ARRAY_BYTES if options.max_bytes is None else options.max_bytes
    content = read_at_most(sys.stdin.buffer, "standard input", limit)
    if not content:
        raise InputError("standard input is empty")
    known = by_content(content[:1024])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"input{known.endings[0]}"
        path.write_bytes(content)
        samples = known.reader()(Source(path, "standard input", options))
    note = f"standard input is read as {known.name}"
    return _named(replace(samples, notes=(note, *samples.notes)), hashlib.sha256(content).hexdigest())


def _named(samples: Samples, of_file: str) -> Samples:
    return replace(samples, fingerprints={"file": of_file[:16], "numbers": fingerprint(samples.X)})
