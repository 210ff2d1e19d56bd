"""Reading `.h5ad` (cells × genes) through anndata (extra `cells`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import issparse

from masked_subspace._common.nearest_name import did_you_mean
from masked_subspace.inputs.limits import ARRAY_BYTES, check_size, decoding
from masked_subspace.inputs.samples import (
    LABEL_NAMES,
    Column,
    InputError,
    MissingExtraError,
    Samples,
    Source,
    as_csr,
    checked_matrix,
    numbered_classes,
)
from masked_subspace.inputs.text import clean_text, listed

if TYPE_CHECKING:
    from h5py import File


def read(source: Source) -> Samples:
    """X with the names of cells and genes; a column of `obs` called label, class… is the truth."""
    try:
        import anndata
        import h5py
    except ImportError as error:
        raise MissingExtraError(
            f"reading {source.shown} needs anndata: pip install 'masked-subspace[cells]'"
        ) from error
    with decoding(source.shown, ".h5ad"):
        with h5py.File(source.path, "r") as file:
            check_size(_claimed(file), source.shown, source.limit(ARRAY_BYTES))
        cells = anndata.read_h5ad(source.path)
        if cells.X is None:
            raise InputError(f"{source.shown} has no X")
        X = as_csr(cells.X) if issparse(cells.X) else np.asarray(cells.X)
        names = tuple(clean_text(str(name)) for name in cells.obs_names)
        genes = tuple(clean_text(str(name)) for name in cells.var_names)
        known = [str(name) for name in cells.obs.columns]
        label = source.options.label_column or next((name for name in known if name.lower() in LABEL_NAMES), None)
        if label is not None and label not in known:
            hint = did_you_mean(label, known)
            raise InputError(
                f"{source.shown} has no obs column {label!r} (--label-column){hint}; it has {listed(known, 20)}"
            )
        truth = None if label is None else [str(value) for value in cells.obs[label]]
    columns = (
        *(Column(gene, "feature") for gene in genes),
        *(Column(clean_text(one), "truth" if one == label else "ignored", "a column of obs") for one in known),
    )
    notes = [f"{X.shape[0]} cells of {X.shape[1]} genes"]
    notes += [f"obs column {clean_text(label)!r} is the truth to compare with"] if label else []
    unused = [clean_text(one) for one in known if one != label]
    notes += [f"obs columns not used: {listed(unused)}"] if unused else []
    target, class_names = (None, None) if truth is None else numbered_classes(truth)
    return Samples(checked_matrix(X, source.shown), names, target, class_names, None, tuple(notes), columns)


def _claimed(file: File) -> int:
    """Bytes that everything in the file says it takes."""
    total = 0

    def add(_: str, item: object) -> None:
        nonlocal total
        if hasattr(item, "dtype") and hasattr(item, "shape") and item.shape is not None:
            total += math.prod(int(side) for side in item.shape) * max(1, int(item.dtype.itemsize))

    file.visititems(add)
    return total
