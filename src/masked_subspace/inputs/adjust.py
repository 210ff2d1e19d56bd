"""What a person asks to be done with the numbers after they were read: missing values and scales."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from masked_subspace._common.types import BoolArray, Matrix
from masked_subspace.inputs.samples import InputError, Samples
from masked_subspace.inputs.text import counted, listed


def without_missing(samples: Samples, shown: str, impute: str = "none", missing: str = "error") -> Samples:
    """Fill missing values in, leave their rows out, let them pass (`ignore`), or say where they all are."""
    if issparse(samples.X):
        if np.isnan(samples.X.data).any():
            raise InputError(f"{shown} is sparse and holds missing values; store zeros or leave those samples out")
        return samples
    absent = np.isnan(samples.X)
    if not absent.any():
        return samples
    said = _places(samples, absent)
    if impute != "none":
        filled = _imputed(samples, absent, impute, shown)
        return replace(samples, X=filled, notes=(*samples.notes, f"{said}; filled in ({impute})"))
    if missing == "ignore":
        return replace(samples, notes=(*samples.notes, f"{said}; unknown to the method (--missing ignore)"))
    if missing == "drop":
        return _without_rows(samples, np.any(absent, axis=1), said, shown)
    raise InputError(
        f"{shown} has {said}. --impute median or --impute knn fills them in, --missing drop leaves those rows out, "
        "--missing ignore gives them to the method as unknown"
    )


def _places(samples: Samples, absent: BoolArray) -> str:
    names = samples.feature_names or tuple(f"column {index}" for index in range(absent.shape[1]))
    parts = []
    for index in np.flatnonzero(absent.any(axis=0)):
        rows = np.flatnonzero(absent[:, index])
        where = ("row " if len(rows) == 1 else "rows ") + listed([str(row) for row in rows], 3)
        parts.append(f"{names[index]!r} {len(rows)} ({where})")
    count = int(absent.sum())
    return f"{count} missing value{'s' if count > 1 else ''}: {listed(parts, 8)}"


def _imputed(samples: Samples, absent: BoolArray, impute: str, shown: str) -> Matrix:
    from sklearn.impute import KNNImputer, SimpleImputer

    empty = np.flatnonzero(absent.all(axis=0))
    if len(empty):
        raise InputError(f"{shown}: column {int(empty[0])} has no value at all to fill in from; --drop it")
    filler = KNNImputer() if impute == "knn" else SimpleImputer(strategy="median")
    return filler.fit_transform(samples.X)


def _without_rows(samples: Samples, gone: BoolArray, said: str, shown: str) -> Samples:
    rows = np.flatnonzero(~gone)
    if len(rows) < 2:
        raise InputError(f"{shown}: {len(rows)} rows have no missing value; --impute median keeps all of them")
    of = samples.rows or range(samples.n_samples)
    left_out = [str(of[row]) for row in np.flatnonzero(gone)]
    they_are = f"{counted(len(left_out), 'row')} {'is' if len(left_out) == 1 else 'are'}"
    numbers = tuple(int(of[row]) for row in rows)
    target, class_names = samples.target, samples.class_names
    return replace(
        samples,
        X=samples.X[rows],
        names=tuple(samples.names[row] for row in rows) if samples.names else tuple(map(str, numbers)),
        target=None if target is None else target[rows],
        class_names=class_names,
        rows=numbers,
        notes=(*samples.notes, f"{said}; {they_are} left out: {listed(left_out, 10)}"),
    )


def scaled(samples: Samples, scale: str) -> Samples:
    """`standard`: every feature with mean 0 and variance 1 (sparse ones keep their zeros)."""
    if scale == "none":
        return samples
    from sklearn.preprocessing import StandardScaler

    centred = not issparse(samples.X)
    X = StandardScaler(with_mean=centred).fit_transform(samples.X)
    what = "mean 0 and variance 1" if centred else "variance 1, its zeros stay"
    return replace(samples, X=X, notes=(*samples.notes, f"every feature is scaled to {what}"))
