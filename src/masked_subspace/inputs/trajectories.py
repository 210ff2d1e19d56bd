"""Reading a sequence of the Hopkins155 kind: a folder with one `…_truth.mat` that holds tracked points.

`x` is 3 × points × frames (homogeneous) or 2 × points × frames, `s` the motion of each point. A row is one point:
x₁ y₁ x₂ y₂ … over the frames.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from masked_subspace.inputs.limits import ARRAY_BYTES
from masked_subspace.inputs.matlab import load, variables
from masked_subspace.inputs.samples import Column, InputError, Samples, Source, checked_matrix, numbered_classes
from masked_subspace.inputs.text import clean_text, listed

_PATTERN = "*_truth.mat"


def is_one(folder: Path) -> bool:
    """Whether the folder, or each folder in it, is such a sequence."""
    return any(folder.glob(_PATTERN)) or any(folder.glob(f"*/{_PATTERN}"))


def files(folder: Path) -> list[Path]:
    """What is read of a folder."""
    return sorted(folder.glob(_PATTERN))


def read(source: Source) -> Samples:
    """The points of one sequence; a folder of several is refused with their names."""
    here = files(source.path)
    if len(here) != 1:
        several = here or sorted(source.path.glob(f"*/{_PATTERN}"))
        names = [clean_text(path.parent.name if not here else path.name) for path in several]
        raise InputError(f"{source.shown} holds {len(several)} sequences ({listed(names)}); cluster one at a time")
    (path,) = here
    shown = clean_text(str(path))
    shapes = variables(path, shown, source.limit(ARRAY_BYTES))
    if "x" not in shapes or len(shapes["x"]) != 3 or shapes["x"][0] not in (2, 3):
        raise InputError(f"{shown} holds no x of 3 × points × frames; Hopkins155's files do")
    with_truth = "s" in shapes
    loaded = load(path, ["x", *(["s"] if with_truth else [])], shown)
    tracks = np.asarray(loaded["x"])[:2]  # the third row of homogeneous coordinates is 1
    X = checked_matrix(np.ascontiguousarray(tracks.transpose(1, 2, 0)).reshape(tracks.shape[1], -1), shown)
    note = f"{X.shape[0]} points tracked over {tracks.shape[2]} frames"
    columns = tuple(Column(f"{axis}, frame {frame}", "feature") for frame in range(tracks.shape[2]) for axis in "xy")
    if not with_truth:
        return Samples(X, notes=(note,), columns=columns)
    motions = np.asarray(loaded["s"]).ravel()
    if len(motions) != X.shape[0]:
        raise InputError(f"{shown} has {X.shape[0]} points but s of {len(motions)} values")
    target, class_names = numbered_classes(motions)
    return Samples(X, None, target, class_names, None, (note, "s, the motion of each point, is the truth"), columns)
