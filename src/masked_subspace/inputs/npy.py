"""Reading `.npy`: a matrix, or a stack of images (n × height × width). Pickles are never loaded: they can run code."""

from __future__ import annotations

from masked_subspace._common.types import Array
from masked_subspace.inputs.limits import decoding
from masked_subspace.inputs.samples import Samples, Source, checked_matrix
from masked_subspace.inputs.zipped import read_array


def read(source: Source) -> Samples:
    """The samples of a file; its header may not claim more than the file has."""
    with decoding(source.shown, ".npy"), source.path.open("rb") as stream:
        array = read_array(stream, source.path.stat().st_size, source.shown)
    return from_array(array, source.shown)


def from_array(array: Array, shown: str) -> Samples:
    """A matrix as it is; of a stack of images every image becomes a row."""
    if array.ndim in (3, 4) and array.size:
        images_shape = tuple(int(side) for side in array.shape[1:])
        return Samples(checked_matrix(array.reshape(array.shape[0], -1), shown), images_shape=images_shape)
    return Samples(checked_matrix(array, shown))
