"""A whole fit on the workers of a Dask cluster: rows, candidates, solve, graph, cut, labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from masked_subspace._common.types import IndexArray, RandomSeed
from masked_subspace.distributed.candidates import find_candidates
from masked_subspace.distributed.graph import build_graph
from masked_subspace.distributed.labels import (
    attached,
    draw_anchors,
    first_seen,
    labels_by_block,
    named_anchors,
    names_by_appearance,
    write_npy,
    write_parquet,
)
from masked_subspace.distributed.modularity import modularity_cut_blocks
from masked_subspace.distributed.shuffle import Parts, ids_of, rows_of, shuffle_by_list
from masked_subspace.distributed.solve import decide_settings, solve_parts
from masked_subspace.distributed.sources import open_rows
from masked_subspace.distributed.spectral import spectral_cut
from masked_subspace.distributed.tasks import Result, Workers, active_client, pick, task

if TYPE_CHECKING:
    from dask.array import Array as DaskArray
    from distributed import Client, Future

CUTS = ("auto", "spectral", "modularity")
_ROWS_A_CLUSTER = 100  # fewer samples than this for each cluster are no work for a cluster of machines


@dataclass(frozen=True)
class DistributedResult:
    """What a fit leaves on the workers. Nothing here has the size of X.

    Parameters
    ----------
    labels : dask array of int32 of shape (n_samples,)
        In the blocks of X, computed where they are asked for.
    settings : Future
        The numbers of Algorithm 1 with every "auto" decided.
    anchors : Future
        Rows and labels of a sample of the samples, as prepared; enough to predict others.
    preparation : Future
        What happened to the rows.
    peak_memory : dict of str to int
        The largest resident size of each worker process, in bytes.

    Examples
    --------
    >>> from masked_subspace.distributed import DistributedResult
    >>> import dask.array as da
    >>> DistributedResult(da.zeros(6, chunks=3, dtype="int32"), None, None, None, {}).compute().tolist()
    [0, 0, 0, 0, 0, 0]
    """

    labels: DaskArray
    settings: Future | None
    anchors: Future | None
    preparation: Future | None
    peak_memory: dict[str, int]

    def compute(self) -> IndexArray:
        """The labels as an array in this process, 4 bytes a sample, fetched block by block.

        Returns
        -------
        labels : ndarray of int32 of shape (n_samples,)
            Clusters from 0.
        """
        out = np.empty(self.labels.shape, dtype=np.int32)
        start = 0
        for block in self.labels.to_delayed().ravel():
            found = block.compute()
            out[start : start + len(found)] = found
            start += len(found)
        return out

    def to_parquet(self, folder: str | Path) -> None:
        """Let the workers write the labels, one Parquet file a block with the columns `sample` and `label`.

        Parameters
        ----------
        folder : str or Path
            A folder that every worker sees; it is made.
        """
        self._write(write_parquet, folder)

    def to_npy(self, folder: str | Path) -> None:
        """Let the workers write the labels, one `.npy` file a block; their names sort in the order of X.

        Parameters
        ----------
        folder : str or Path
            A folder that every worker sees; it is made.
        """
        self._write(write_npy, folder)

    def _write(self, write: Callable[..., object], folder: str | Path) -> None:
        from dask.base import compute
        from dask.delayed import delayed

        Path(folder).mkdir(parents=True, exist_ok=True)
        starts = np.concatenate([[0], np.cumsum(self.labels.chunks[0])]).tolist()
        compute(
            [
                delayed(write)(block, str(Path(folder).absolute()), number, start)
                for number, (block, start) in enumerate(zip(self.labels.to_delayed().ravel(), starts, strict=False))
            ]
        )


def fit_distributed(
    X: DaskArray | str | Path,
    n_clusters: int,
    *,
    client: Client | None = None,
    sparsity: float | str = "auto",
    penalty: float | str = "auto",
    penalty_growth: float = 2.0,
    max_iter: int = 200,
    tol: float = 1e-6,
    n_candidates: int = 64,
    n_links: int = 5,
    n_components: int | str | None = "auto",
    cut: str = "spectral",
    center: bool = True,
    normalize: bool = True,
    random_state: RandomSeed = 0,
    n_parts: int | None = None,
) -> DistributedResult:
    """BMSC with the "top-k" graph on a Dask cluster; no process holds more than its share of the samples.

    Parameters
    ----------
    X : dask array of shape (n_samples, n_features), str or Path
        Samples as rows, or the path of a `.npy`, Parquet or Zarr that all workers see. Rows are computed in float32.
        Blocks are read up to three times: persist a dask array that is dear to compute.
    n_clusters : int
        Number of clusters K.
    client : distributed.Client or None, default=None
        The cluster; None: that of the active client.
    sparsity : float or "auto", default="auto"
        λ, the price of one nonzero of Z. "auto": the λ that leaves about 24 of a sample's candidates.
    penalty : float or "auto", default="auto"
        μ₀, where the continuation of Algorithm 1 starts; "auto" is 15 times the mean squared row norm.
    penalty_growth : float, default=2.0
        p, by which μ grows a step.
    max_iter : int, default=200
        T, most iterations of Algorithm 1.
    tol : float, default=1e-06
        Algorithm 1 stops when no entry changes by more than this.
    n_candidates : int, default=64
        How many nearest samples each one may be rebuilt from.
    n_links : int, default=5
        Links a sample keeps in the graph.
    n_components : int, "auto" or None, default="auto"
        Eigenvectors of the cut. None: K; "auto" weights up to 4K of them softly.
    cut : {"auto", "spectral", "modularity"}, default="spectral"
        "spectral" is k-means on leading eigenvectors; "modularity" takes communities of the largest modularity;
        "auto" is spectral up to 2,000 samples and modularity above, as in one process.
    center : bool, default=True
        Whether the mean row is subtracted first.
    normalize : bool, default=True
        Whether rows are scaled to unit length.
    random_state : int, RandomState or None, default=0
        Seed of everything random; the same seed gives the same labels.
    n_parts : int or None, default=None
        Into how many parts the samples are shuffled; None: one for 64 MB of rows, 4 at least. Labels do not depend on
        the number of workers, and hardly on the number of parts.

    Returns
    -------
    result : DistributedResult
        Labels and what is needed to predict others, on the workers.

    Raises
    ------
    ValueError
        If X is no dask array with two dimensions, or has fewer than 100 samples a cluster.
    ClusterLostError
        If the cluster has no worker for five minutes.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from masked_subspace.datasets import make_subspaces
    >>> from masked_subspace.distributed import fit_distributed
    >>> X = make_subspaces(n_subspaces=3, per_subspace=150, random_state=0).data
    >>> with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"):
    ...     labels = fit_distributed(da.from_array(X, chunks=(150, -1)), 3).compute()
    >>> labels.shape
    (450,)
    """
    X = open_rows(X) if isinstance(X, (str, Path)) else X
    _check(X, n_clusters, cut, n_parts)
    workers = Workers(active_client() if client is None else client)
    seed = _seed_of(random_state)
    m = min(int(n_candidates), int(X.shape[0]) - 1)
    # scikit-learn-like defaults of Algorithm 1; the mask weight has no say without a mask.
    representer = {
        "sparsity": sparsity,
        "mask_weight": 0.0,
        "penalty": penalty,
        "penalty_growth": penalty_growth,
        "max_iter": max_iter,
        "tol": tol,
    }
    block_sizes = [int(size) for size in X.chunks[0]]
    blocks = X.rechunk({1: -1}).to_delayed().ravel().tolist()
    options = {"center": center, "normalize": normalize, "seed": seed, "n_parts": n_parts}
    parts = shuffle_by_list(workers, blocks, block_sizes, int(X.shape[1]), m, options)
    candidates = workers.keep(find_candidates(parts, m))
    (settings,) = workers.keep([decide_settings(parts, candidates, representer, seed)])
    links = solve_parts(parts, candidates, settings, n_links)
    graph = build_graph(workers, parts, links)
    rows, ids = _rows_and_ids(workers, parts)
    preparation = parts.preparation
    # What follows needs the rows and not the lists they were found by.
    del parts, candidates, links
    (wanted,) = workers.fetch([task(cut_wanted)(cut, graph.n_samples)])
    cut_blocks = modularity_cut_blocks if wanted == "modularity" else spectral_cut
    labels, placed = cut_blocks(workers, graph, rows, n_clusters, n_components, seed)
    labels, anchors = _finished(workers, labels, placed, (rows, ids), graph.sizes, n_clusters, seed)
    by_block = labels_by_block(workers, labels, ids, block_sizes)
    workers.wait(by_block)
    return DistributedResult(
        _as_array(by_block, block_sizes), settings.future, anchors.future, preparation.future, workers.peak_memory()
    )


def cut_wanted(cut: str, n_samples: int) -> str:
    """What cut="auto" means for so many samples."""
    from masked_subspace.label.labeler import cut_for

    return cut_for(cut, n_samples)


def _as_array(blocks: list[Result], sizes: list[int]) -> DaskArray:
    import dask.array as da

    parts = [da.from_delayed(b.future, shape=(n,), dtype=np.int32) for b, n in zip(blocks, sizes, strict=True)]
    labels: DaskArray = da.concatenate(parts)
    return labels


def _rows_and_ids(workers: Workers, parts: Parts) -> tuple[list[Result], list[Result]]:
    kept = workers.keep([task(one)(pile) for one in (rows_of, ids_of) for pile in parts.piles])
    return kept[: len(parts.piles)], kept[len(parts.piles) :]


def _finished(
    workers: Workers,
    labels: list[Result],
    placed: list[Result],
    samples: tuple[list[Result], list[Result]],
    sizes: list[int],
    n_clusters: int,
    seed: int,
) -> tuple[list[Result], Result]:
    """Labels of all samples of each part under their final names, and the anchors under theirs."""
    rows, ids = samples
    anchors = draw_anchors(rows, labels, placed, sizes, n_clusters, seed)
    labels = [task(attached)(*one, anchors) for one in zip(labels, placed, rows, strict=True)]
    names = task(names_by_appearance)(
        [task(first_seen)(one, theirs, n_clusters) for one, theirs in zip(labels, ids, strict=True)]
    )
    *named, known = workers.keep([*(task(pick)(names, one) for one in labels), task(named_anchors)(anchors, names)])
    return named, known


def _check(X: DaskArray, n_clusters: int, cut: str, n_parts: int | None) -> None:
    from masked_subspace.parallel.engine import is_dask_array

    if not is_dask_array(X) or X.ndim != 2:
        raise ValueError(
            f"X is {type(X).__name__}; give a dask array with one sample for each row, or a path that all workers see."
        )
    if any(np.isnan(size) for size in X.chunks[0]):
        raise ValueError("X has blocks of unknown size; call X.compute_chunk_sizes() first.")
    if cut not in CUTS:
        raise ValueError(f"cut is {cut!r}; choose one of {', '.join(map(repr, CUTS))}.")
    if n_parts is not None and n_parts < 1:
        raise ValueError(f"n_parts is {n_parts!r}; it must be ≥ 1, or None.")
    least = _ROWS_A_CLUSTER * n_clusters
    if n_clusters < 1 or X.shape[0] < least:
        raise ValueError(
            f"X has {X.shape[0]} samples for n_clusters={n_clusters}; a distributed fit needs {least} at least: "
            "fit X.compute() in one process."
        )


def _seed_of(random_state: RandomSeed) -> int:
    """The seed that an estimator draws from the same `random_state`."""
    made = random_state if isinstance(random_state, np.random.RandomState) else np.random.RandomState(random_state)
    return int(made.randint(2**31 - 1))
