"""Algorithm 1 (`represent/model.py`), exact: whether there is memory for it, which of the two passes runs it, and how
its parts become one result.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.compilation import compile_once
from masked_subspace._common.rows import block_ranges
from masked_subspace._common.types import DType, FloatArray, IntArray, Record
from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.parallel.engine import limited_threads
from masked_subspace.represent.affine import onto_affine
from masked_subspace.represent.dense.blocked import ARRAYS_PER_BLOCK, BlockedPass
from masked_subspace.represent.dense.lazy import (
    VECTORS_PER_SET,
    LazyPass,
    LazyProblem,
    ListsTooLongError,
    Prices,
    lazy_prices,
)
from masked_subspace.represent.dense.near_ties import decide_again, undecided
from masked_subspace.represent.dense.running import Outcome, Progress, run_freezing, run_lockstep
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.dense.tail import carry_on
from masked_subspace.represent.model import AdmmSettings, SolverResult

_CGROUP = Path("/sys/fs/cgroup")
_DEFAULT_BLOCK = 1024
LAZY_FROM = 256  # fewer samples are solved in no time by looking at every entry


def available_bytes() -> int | None:
    """Memory this process may still take, or None where the system does not say."""
    found = [value for value in (_free_in_system(), _free_in_cgroup()) if value is not None]
    return min(found) if found else None


def require_memory(needed: int, n_samples: int) -> None:
    """Raise `ValueError` when `needed` bytes are more than there are."""
    available = available_bytes()
    if available is not None and needed > available:
        raise ValueError(
            f"solver='dense' needs about {_readable(needed)} for {n_samples} samples but only {_readable(available)} "
            "of memory is free. Use solver='sparse', whose memory grows with n × n_candidates, give X as float32, "
            "or fit fewer samples."
        )


def _free_in_system() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _free_in_cgroup() -> int | None:
    """A container's own limit, which /proc/meminfo does not know."""
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        used = (_CGROUP / "memory.current").read_text().strip()
        return None if limit == "max" else max(0, int(limit) - int(used))
    except (OSError, ValueError):
        return None


def _readable(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def solve_dense(
    X: FloatArray,
    settings: AdmmSettings,
    *,
    spectrum: Spectrum | None = None,
    hard_mask: HardMask | None = None,
    soft_mask: SoftMask | None = None,
    n_threads: int = 1,
    block_size: int | None = None,
    progress: Progress | None = None,
    path: Literal["auto", "lazy", "blocked"] = "auto",
) -> SolverResult:
    """Solve `eq:bmsc`, `eq:gmsc` (with a soft mask) or `eq:gmsc-n` (with noise or outliers in the settings).

    float64 rows are solved in lockstep, which is Algorithm 1 to the letter; in float32 each sample stops when it has
    converged, and memory stays at one block a thread. The lazy pass then takes it to where lockstep would have, and
    decides near-ties again in float64. `spectrum` saves the factorisation when X was factored before.
    `path` is for tests: "auto" takes the lazy pass where the masks allow it and its lists stay short;
    if they do not, `progress` counts from 1 again.
    """
    X = np.asarray(X)
    n_samples, lockstep = len(X), X.dtype != np.float32
    block_size = _block_size(block_size, n_samples, n_threads)
    is_large = n_samples >= LAZY_FROM or path == "lazy"
    prices = lazy_prices(settings, hard_mask, soft_mask) if is_large and path != "blocked" else None
    rows_in_memory = n_samples if lockstep else min(n_samples, n_threads * block_size)
    _require_memory(X, prices, rows_in_memory, lockstep, n_threads * block_size)
    _compile("blocked" if prices is None else "lazy", X.dtype, settings)
    begin = perf_counter()
    if spectrum is None:
        spectrum = Spectrum.of(X, n_threads=n_threads)
    factored = perf_counter()
    ranges = list(block_ranges(n_samples, block_size))
    run = run_lockstep if lockstep else run_freezing
    order: IntArray = np.arange(n_samples)
    outcome: Outcome | None = None
    if prices is not None and spectrum.rank > 0:
        with limited_threads(limits=n_threads):
            problem = LazyProblem.of(settings, spectrum, *prices, patient=path == "lazy")
        try:
            outcome = run(ranges, lambda *limits: LazyPass(problem, np.arange(*limits)), settings, n_threads, progress)
            order = problem.order
        except ListsTooLongError:  # little is lost: lists outgrow the limit within the first iterations
            _require_memory(X, None, rows_in_memory, lockstep, n_threads * block_size)
    details: Record = {
        "path": "blocked" if outcome is None else "lazy",
        "seconds_factorisation": factored - begin,
        "block_size": block_size,
        "near_ties": 0,
    }
    if outcome is not None and prices is not None and spectrum.double is not None:
        if places := undecided(outcome):
            paused = perf_counter()
            _compile("lazy", np.dtype(np.float64), settings)
            begin += perf_counter() - paused
            with limited_threads(limits=n_threads):
                problem = LazyProblem.of(settings, spectrum.double, *prices, patient=True)
            decide_again(outcome, places, problem, n_threads)
            details["near_ties"] = len(places)
        carry_on(outcome, settings.penalty_growth)
    if outcome is None:
        make_block = partial(BlockedPass, X, settings, spectrum, hard_mask, soft_mask)
        outcome = run(ranges, make_block, settings, n_threads, progress)
    return _assemble(outcome, order, settings, perf_counter() - begin, details)


def _compile(path: Literal["lazy", "blocked"], dtype: DType, settings: AdmmSettings) -> None:
    """Let a toy problem of the same kind compile the kernels."""
    kind = "dense solver (GMSC-n)" if settings.has_residual_model else f"dense solver ({path} pass)"
    toy = np.random.default_rng(0).normal(size=(6, 3)).astype(dtype)
    few = replace(settings, max_iter=5)
    compile_once(f"{kind} for {dtype}", lambda: solve_dense(toy, few, path=path))


def _require_memory(
    X: FloatArray, prices: Prices | None, rows_in_memory: int, lockstep: bool, rows_at_work: int
) -> None:
    """Refuse before any work what would not fit: the spectrum, the state of the rows in memory, the products."""
    n_samples, n_features = X.shape
    rank = min(X.shape)
    size = 8 if lockstep else 4
    factors = 2 * rank * rank + (n_samples + n_features) * rank
    needed = factors * (8 if lockstep else 12)  # float32 keeps the factors in float64 too
    if prices is None:
        needed += size * ARRAYS_PER_BLOCK * rows_in_memory * n_samples
    else:
        needed += size * (rows_in_memory * rank * VECTORS_PER_SET * len(prices[0]) + rows_at_work * n_samples)
        needed += n_samples * rank * (size + (0 if lockstep else 16))  # sorted copies, norms of rows
    require_memory(needed, n_samples)


def _block_size(given: int | None, n_samples: int, n_threads: int) -> int:
    if given is not None:
        if given < 1:
            raise ValueError(f"block_size is {given!r}; it must be a whole number ≥ 1.")
        return min(given, n_samples)
    return max(1, min(_DEFAULT_BLOCK, -(-n_samples // n_threads)))


def _assemble(
    outcome: Outcome, order: IntArray, settings: AdmmSettings, seconds: float, details: Record
) -> SolverResult:
    """One CSR matrix, and one ε and O, from the finished rows."""
    n_samples = len(order)
    position = np.argsort(order).tolist()  # where each sample stands in the order the solver used
    rows = [outcome.rows[place] for place in position]
    pointers = np.zeros(n_samples + 1, dtype=np.int64)
    np.cumsum([len(row.indices) for row in rows], out=pointers[1:])
    representation = csr_array(
        (np.concatenate([row.values for row in rows]), np.concatenate([row.indices for row in rows]), pointers),
        shape=(n_samples, n_samples),
    )
    representation.sort_indices()
    if settings.affine:
        representation = onto_affine(representation)
    details["n_iter_per_sample"] = np.array([outcome.n_iter[place] for place in position])
    return SolverResult(
        representation=representation,
        n_iter=len(outcome.objective),
        converged=outcome.converged,
        stopping_value=outcome.stopping_value,
        mask_residual=max(row.mask_residual for row in rows),
        sparsity_residual=max(row.sparsity_residual for row in rows),
        objective=np.array(outcome.objective),
        seconds=seconds,
        noise=None if settings.noise is None else _stacked([row.noise for row in rows]),
        outliers=None if settings.outliers is None else csr_array(_stacked([row.outliers for row in rows])),
        details=details,
    )


def _stacked(rows: list[FloatArray | None]) -> FloatArray:
    return np.stack([row for row in rows if row is not None])
