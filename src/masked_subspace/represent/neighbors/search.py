"""Which samples may rebuild which: the neighbourhood that makes the hard mask Mʰ of `eq:bmsc` sparse."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from masked_subspace._common.sparse.implicit import ImplicitRows
from masked_subspace._common.types import Array, IndexArray, RandomSeed
from masked_subspace.parallel.blocks import check_rows, is_dask_array, rows_in_file
from masked_subspace.parallel.engine import Engine
from masked_subspace.represent.neighbors.exact import nearest_of_all
from masked_subspace.represent.neighbors.implicit import nearest_implicit
from masked_subspace.represent.neighbors.links import with_links
from masked_subspace.represent.neighbors.list_sizes import EXACT_UP_TO
from masked_subspace.represent.neighbors.lists import nearest_by_lists

Search = Literal["auto", "exact", "approximate"]


def find_candidates(
    X: Array,
    m: int,
    *,
    search: Search = "auto",
    must_link: npt.ArrayLike | None = None,
    n_threads: int = 1,
    block_size: int | None = None,
    random_state: RandomSeed = 0,
    engine: Engine | None = None,
) -> IndexArray:
    """For each sample the m others with the largest |cosine|, nearest first; samples of `must_link` pairs come before.

    `search="exact"` compares all pairs; `"approximate"` asks an inverted file, whose outcome depends on the seed and on
    nothing else; `"auto"` is exact up to 20,000 samples. Cosines are computed in float32. The inverted file's work runs
    on `engine` (default: what joblib's `parallel_config` says); the exact search stays on threads of this process,
    where every tile serves both its rows and its columns. Rows of sparse samples are compared exactly at any size.
    """
    check_rows(X)
    if is_dask_array(X):
        X = rows_in_file(X)
    n = int(X.shape[0])
    if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or not 1 <= m <= n - 1:
        raise ValueError(f"m is {m!r}; with {n} samples it must be a whole number from 1 to {n - 1}.")
    if search not in ("auto", "exact", "approximate"):
        raise ValueError(f'search is {search!r}; choose "auto", "exact" or "approximate".')
    if isinstance(X, ImplicitRows):
        found = nearest_implicit(X, X, int(m), own=np.arange(n), n_threads=n_threads)
    elif search == "approximate" or (search == "auto" and n > EXACT_UP_TO):
        found = nearest_by_lists(X, int(m), n_threads=n_threads, random_state=random_state, engine=engine)
    else:
        found = nearest_of_all(X, int(m), n_threads=n_threads, block_size=block_size)
    return found if must_link is None else with_links(found, must_link)
