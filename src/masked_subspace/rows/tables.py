"""Tables and containers that are not arrays: whether they hold whole numbers, and which of their columns hold text.

Packages of tables are never imported here: a container is known by what it can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import MatrixLike

_NAMED_AT_MOST = 5


def is_counts(X: MatrixLike) -> bool:
    """Whether X came as whole numbers, be it an array, a sparse matrix, a list or a table."""
    if isinstance(X, (list, tuple)):
        kinds = [_kind_of_list(X)]
    elif is_table(X):
        kinds = [_kind_of_type(dtype) for dtype in _types(X)]
    else:
        kinds = [getattr(getattr(X, "dtype", None), "kind", "f")]
    return all(kind in ("u", "i", "b") for kind in kinds)


def _kind_of_list(X: Sequence[object]) -> str:
    try:
        return np.asarray(X).dtype.kind
    except ValueError:  # ragged: the checks that follow say so
        return "f"


def is_table(X: object) -> bool:
    """Whether X has columns with names: pandas, polars, pyarrow."""
    return hasattr(X, "column_names") or (hasattr(X, "columns") and hasattr(X, "dtypes"))


def _types(X: Any) -> list[Any]:
    return list(X.schema.types) if hasattr(X, "column_names") else list(X.dtypes)


def _kind_of_type(dtype: object) -> str:
    """numpy's letter for a type of pandas, polars (Int64) or pyarrow (int64)."""
    kind = getattr(dtype, "kind", None)
    if kind is not None:
        return str(kind)
    return "i" if str(dtype).lower().startswith(("int", "uint", "bool")) else "f"


def text_columns(X: object) -> str | None:
    """The columns of a table that are not numbers, as the words of an error; None where there are none."""
    if not is_table(X):
        return None
    found = [(name, value) for name, value in map(_first_text, *_columns(X)) if value is not None]
    if not found:
        return None
    named = ", ".join(f"{name!r} (such as {value!r})" for name, value in found[:_NAMED_AT_MOST])
    more = f" and {len(found) - _NAMED_AT_MOST} more" if len(found) > _NAMED_AT_MOST else ""
    return f"column{'s' if len(found) > 1 else ''} {named}{more}"


def _columns(X: Any) -> tuple[list[object], list[npt.ArrayLike]]:
    """Names, and the columns themselves."""
    if hasattr(X, "column_names"):  # pyarrow
        return list(X.column_names), list(X.columns)
    if hasattr(X, "iloc"):  # pandas, where names may repeat
        return list(X.columns), [X.iloc[:, place] for place in range(X.shape[1])]
    return list(X.columns), [X[name] for name in X.columns]


def _first_text(name: object, column: npt.ArrayLike) -> tuple[object, object]:
    """The name with the first value that is no number, or with None."""
    values = np.asarray(column)
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        for value in values.tolist():
            try:
                float(value)
            except (TypeError, ValueError):
                return name, value
    return name, None


def refuse_containers(X: object) -> None:
    """An object that holds several matrices: which of them are the samples has to be said."""
    for one in type(X).__mro__:
        if one.__module__.split(".")[0] == "anndata" and one.__name__ == "AnnData":
            raise TypeError(
                "X is an AnnData object, which may hold several matrices: give the one to cluster, such as "
                'fit(adata.X), sparse or not, or fit(adata.obsm["X_pca"]). The labels go back with '
                'adata.obs["cluster"] = model.labels_.astype(str).'
            )
