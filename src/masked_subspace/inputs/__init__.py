"""`read_samples(path)`: samples from .npy, .npz, .csv, .parquet or a folder of images, as a person would expect."""

from __future__ import annotations

from pathlib import Path

from masked_subspace.inputs.arrays import read_npy, read_npz
from masked_subspace.inputs.images import read_folder
from masked_subspace.inputs.pairs import KnownPairs, read_pairs
from masked_subspace.inputs.samples import InputError, Samples
from masked_subspace.inputs.tables import read_csv, read_parquet
from masked_subspace.inputs.text import clean_text

__all__ = ["InputError", "KnownPairs", "Samples", "clean_text", "read_pairs", "read_samples"]


def read_samples(
    path: str | Path,
    *,
    label_column: str | None = None,
    image_side: int | None = None,
    max_text_bytes: int | None = None,
) -> Samples:
    """Read samples, and whatever names and known classes come with them."""
    path = Path(path)
    try:
        if path.is_dir():
            return read_folder(path, image_side)
        if not path.exists():
            raise InputError(f"there is no file or folder {clean_text(str(path))}")
        suffix = path.suffix.lower()
        if suffix == ".npy":
            return read_npy(path)
        if suffix == ".npz":
            return read_npz(path)
        if suffix in (".csv", ".tsv", ".txt"):
            return read_csv(path, label_column, max_text_bytes)
        if suffix in (".parquet", ".pq"):
            return read_parquet(path, label_column)
    except PermissionError as error:
        raise InputError(f"{clean_text(str(path))} may not be read: {error.strerror}") from error
    kinds = ".npy, .npz, .csv, .parquet or a folder of images"
    raise InputError(f"{clean_text(str(path))} is of an unknown kind ({suffix or 'no ending'}); {kinds} can be read")
