"""Reading a folder of images: pixels as features; sub-folders, if all images lie in them, are the classes."""

from __future__ import annotations

import io
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from masked_subspace._common.types import Array
from masked_subspace.inputs.limits import ARRAY_BYTES, check_size
from masked_subspace.inputs.samples import (
    InputError,
    MissingExtraError,
    Samples,
    Source,
    checked_matrix,
    numbered_classes,
)
from masked_subspace.inputs.text import clean_text, counted, listed, one_line

if TYPE_CHECKING:
    from PIL.Image import Image

EXTENSIONS = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".pgm", ".ppm", ".webp"})
MAX_PIXELS = 50_000_000
_COMMON_SIDE = 32
_LARGEST_KEPT_SIDE = 64
_DEEP_MODES = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")  # more than 8 bits a pixel
_ORIENTATION = 0x0112


class UnreadableImageError(InputError):
    """One image that cannot be used."""


@dataclass
class _Found:
    """What the images gave so far, and what a person should hear about them."""

    pixels: list[Array] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    is_deep: list[bool] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    remarks: Counter[str] = field(default_factory=Counter)


def is_one(folder: Path) -> bool:
    """Any folder may hold images."""
    return folder.is_dir()


def files(folder: Path) -> list[Path]:
    """The images below a folder in natural order."""
    return sorted((path for path in folder.rglob("*") if _is_image(path)), key=_natural)


def read(source: Source) -> Samples:
    """All images below the folder in natural order, in one size (32 × 32 unless they agree on a small one)."""
    try:
        import PIL.Image
        import PIL.ImageOps
    except ImportError as error:
        raise MissingExtraError(
            f"reading images from {source.shown} needs pillow: pip install 'masked-subspace[data]'"
        ) from error
    folder, options = source.path, source.options
    images = files(folder)
    if not images:
        raise InputError(f"{source.shown} holds no images ({', '.join(sorted(EXTENSIONS))})")
    found = _Found()
    size = (options.image_side,) * 2 if options.image_side else _common_size(images, PIL, options.skip_unreadable)
    check_size(
        4 * len(images) * size[0] * size[1] * (3 if options.color else 1), source.shown, source.limit(ARRAY_BYTES)
    )
    for path in images:
        try:
            _add(found, path, size, PIL, options.color)
        except UnreadableImageError as error:
            if not options.skip_unreadable:
                raise
            found.unreadable.append(f"{_name(path, folder)} ({_reason(error, path)})")
    if len(found.files) < 2:
        raise InputError(f"{source.shown} has {len(found.files)} images that can be read; at least 2 are needed")
    others = sorted((path for path in folder.rglob("*") if not path.is_dir() and not _is_image(path)), key=_natural)
    return _samples(found, size, source, others)


def _samples(found: _Found, size: tuple[int, int], source: Source, others: list[Path]) -> Samples:
    folder, color = source.path, source.options.color
    pixels = _one_scale(found)
    names = tuple(_name(path, folder) for path in found.files)
    notes = [f"{len(names)} images as {size[0]} × {size[1]} {'colour' if color else 'gray'} pixels"]
    notes += [f"{counted(count, 'image')}, {remark}" for remark, count in found.remarks.items()]
    if found.unreadable:
        unread = counted(len(found.unreadable), "image")
        notes.append(f"{unread} left out that cannot be read: {listed(found.unreadable, 20)}")
    if others:
        unused = counted(len(others), "file")
        notes.append(f"{unused} not used, being no image: {listed([_name(path, folder) for path in others])}")
    target, class_names = None, None
    outside = [path for path in found.files if path.parent == folder]
    if not outside and len({path.parent for path in found.files}) > 1:
        target, class_names = numbered_classes([path.relative_to(folder).parts[0] for path in found.files])
        notes.append("sub-folders are taken as the truth to compare with")
    elif outside and len(outside) < len(found.files):
        notes.append(f"sub-folders are not taken as classes: {len(outside)} images lie in none")
    shape = (size[1], size[0], 3) if color else (size[1], size[0])
    X = checked_matrix(pixels.reshape(len(names), -1), source.shown)
    return Samples(X, names, target, class_names, shape, tuple(clean_text(note) for note in notes))


def _one_scale(found: _Found) -> Array:
    """Pixels from 0 to 255: eight bits as they are, deeper ones by the range that all of them take together."""
    deep = np.array(found.is_deep)
    if not deep.any():
        return np.stack(found.pixels).astype(np.uint8)
    pixels = np.stack(found.pixels).astype(np.float32)
    low, high = float(pixels[deep].min()), float(pixels[deep].max())
    pixels[deep] = (pixels[deep] - low) * (255.0 / (high - low if high > low else 1.0))
    found.remarks[f"of more than 8 bits, scaled from {low:g} … {high:g} to 0 … 255"] = int(deep.sum())
    return pixels


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in EXTENSIONS and path.is_file() and not path.name.startswith(".")


def _name(path: Path, folder: Path) -> str:
    return clean_text(path.relative_to(folder).as_posix())


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """img2 before img10."""
    parts = re.split(r"(\d+)", str(path))
    return [(0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part) for part in parts]


def _unreadable(path: Path, reason: str) -> UnreadableImageError:
    return UnreadableImageError(
        f"{clean_text(str(path))} cannot be read as an image ({one_line(reason)[:100]}); "
        "repair or remove it, or leave such images out with --skip-unreadable"
    )


def _reason(error: UnreadableImageError, path: Path) -> str:
    """Why an image was left out, in the words of its decoder, without the path that stands before them already."""
    said = one_line(str(error.__cause__ or "too large"))
    return said.replace(repr(str(path)), "").replace(str(path), "").strip()[:100]


def _open(path: Path, library: ModuleType) -> Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image: Image = library.Image.open(path)
    except Exception as error:  # whatever a decoder raises is about the file
        raise _unreadable(path, type(error).__name__) from error
    if image.width * image.height > MAX_PIXELS:
        image.close()
        raise UnreadableImageError(
            f"{clean_text(str(path))} has {image.width} × {image.height} pixels; shrink it first"
        )
    return image


def _common_size(files: list[Path], library: ModuleType, skip: bool) -> tuple[int, int]:
    sizes = set()
    for path in files:
        try:
            with _in_memory(path, library) as image:  # asking a PNG how it is turned decodes it
                turned = _orientation(image) in (5, 6, 7, 8)
                sizes.add(image.size[::-1] if turned else image.size)
        except UnreadableImageError:
            if not skip:
                raise
        if len(sizes) > 1:
            return _COMMON_SIDE, _COMMON_SIDE
    size: tuple[int, int] = next(iter(sizes), (_COMMON_SIDE, _COMMON_SIDE))
    return size if max(size) <= _LARGEST_KEPT_SIDE else (_COMMON_SIDE, _COMMON_SIDE)


def _orientation(image: Image) -> int:
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # a damaged tag is no tag
        return 1


def _in_memory(path: Path, library: ModuleType) -> Image:
    """The image of a file that was read whole: decoders ask a file for as many bytes as a damaged length says (up to
    4 GB), which takes that much memory before it is known that they are not there."""
    _open(path, library).close()  # what cannot be read is named as the file, not as bytes
    image: Image = library.Image.open(io.BytesIO(path.read_bytes()))
    return image


def _add(found: _Found, path: Path, size: tuple[int, int], library: ModuleType, color: bool) -> None:
    with _in_memory(path, library) as image, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        turned, frames = _orientation(image) not in (0, 1), int(getattr(image, "n_frames", 1))
        try:
            is_deep = image.mode in _DEEP_MODES
            upright = library.ImageOps.exif_transpose(image) if turned else image
            flat = upright.convert("F" if is_deep else "RGB" if color else "L")
            if flat.size != size:
                flat = flat.resize(size, library.Image.Resampling.BOX)
            pixels = np.asarray(flat, dtype=np.float32 if is_deep else np.uint8)
        except Exception as error:  # whatever a decoder raises is about the file
            raise _unreadable(path, str(error)) from error
    if is_deep and not np.isfinite(pixels).all():
        raise _unreadable(path, "it holds values that are no numbers")
    found.pixels.append(np.repeat(pixels[:, :, None], 3, axis=2) if is_deep and color else pixels)
    found.files.append(path)
    found.is_deep.append(is_deep)
    found.remarks["turned upright as the camera noted"] += turned
    found.remarks["of several frames: the first is read"] += frames > 1
    found.remarks += Counter()  # drops what did not happen
