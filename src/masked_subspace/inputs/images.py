"""Reading a folder of images: gray values as features; sub-folders, if all images lie in them, are the classes."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from masked_subspace.inputs.samples import InputError, Samples, checked_matrix, clean_text, numbered_classes

EXTENSIONS = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".pgm", ".ppm", ".webp"})
MAX_PIXELS = 50_000_000
_COMMON_SIDE = 32
_LARGEST_KEPT_SIDE = 64


def read_folder(folder: Path, side: int | None = None) -> Samples:
    """All images below `folder` in natural order, gray, in one size (32 × 32 unless they agree on a small one)."""
    try:
        import PIL.Image
    except ImportError as error:
        raise InputError(f"reading images from {folder} needs pillow: pip install 'masked-subspace[data]'") from error
    files = sorted((path for path in folder.rglob("*") if _is_image(path)), key=_natural)
    if not files:
        raise InputError(f"{folder} holds no images ({', '.join(sorted(EXTENSIONS))})")
    size = (side, side) if side else _common_size(files, PIL.Image)
    pixels = np.stack([_gray(path, size, PIL.Image) for path in files])
    names = tuple(clean_text(path.relative_to(folder).as_posix()) for path in files)
    target, class_names, notes = None, None, [f"{len(files)} images as {size[0]} × {size[1]} gray pixels"]
    if all(path.parent != folder for path in files) and len({path.parent for path in files}) > 1:
        target, class_names = numbered_classes([path.relative_to(folder).parts[0] for path in files])
        notes.append("sub-folders are taken as the truth to compare with")
    X = checked_matrix(pixels.reshape(len(files), -1), str(folder))
    return Samples(X, names, target, class_names, (size[1], size[0]), tuple(notes))


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in EXTENSIONS and path.is_file() and not path.name.startswith(".")


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """img2 before img10."""
    parts = re.split(r"(\d+)", str(path))
    return [(0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part) for part in parts]


def _open(path: Path, library: Any) -> Any:
    try:
        image = library.open(path)
        if image.width * image.height > MAX_PIXELS:
            raise InputError(f"{clean_text(str(path))} has {image.width} × {image.height} pixels; shrink it first")
        return image
    except (OSError, SyntaxError, library.DecompressionBombError) as error:
        raise InputError(f"{clean_text(str(path))} cannot be read as an image; repair or remove it") from error


def _common_size(files: list[Path], library: Any) -> tuple[int, int]:
    sizes = set()
    for path in files:
        with _open(path, library) as image:
            sizes.add(image.size)
        if len(sizes) > 1:
            return _COMMON_SIDE, _COMMON_SIDE
    (size,) = sizes
    return size if max(size) <= _LARGEST_KEPT_SIDE else (_COMMON_SIDE, _COMMON_SIDE)


def _gray(path: Path, size: tuple[int, int], library: Any) -> Any:
    with _open(path, library) as image, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            gray = image.convert("L")
            if gray.size != size:
                gray = gray.resize(size, library.Resampling.BOX)
        except (OSError, SyntaxError, ValueError) as error:
            raise InputError(f"{clean_text(str(path))} is damaged ({error}); repair or remove it") from error
        return np.asarray(gray, dtype=np.uint8)
