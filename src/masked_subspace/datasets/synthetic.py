"""Samples from a union of subspaces, with the truth about every corrupted entry."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.utils import Bunch, check_random_state

from masked_subspace.datasets.arrangement import Bases, draw_bases
from masked_subspace.datasets.streaming import SampleBlock, collect, stream_to_disk

_STREAMS = ("bases", "order", "coefficients", "noise", "outliers", "signs", "missing")


def make_subspaces(
    n_subspaces: int = 4,
    dim: int = 3,
    ambient: int = 30,
    per_subspace: int | Sequence[int] = 50,
    noise: float = 0.0,
    outliers: float = 0.0,
    missing: float = 0.0,
    affine: bool = False,
    random_state: int | np.random.RandomState | None = None,
    *,
    arrangement: str = "random",
    overlap: int = 1,
    outlier_shift: float = 0.5,
    shuffle: bool = False,
    dtype: DTypeLike = np.float64,
    out: str | os.PathLike[str] | None = None,
    block_size: int = 65_536,
) -> Bunch:
    """Draw samples from a union of random subspaces.

    Samples are rows. A clean row has unit norm: a Gaussian direction inside its subspace. Rows of affine
    subspaces have unit *mean square* norm instead, because scaling them one by one would
    move them off their subspace. Corruption is added afterwards, in the order noise,
    outliers, missing.

    Parameters
    ----------
    n_subspaces : int, default=4
        Number of subspaces.
    dim : int, default=3
        Dimension of each of them.
    ambient : int, default=30
        Dimension of the space around them.
    per_subspace : int or sequence of int, default=50
        Samples of each subspace.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise on every entry. Noise whose norm is a share
        q of the signal's norm is ``noise=q / sqrt(ambient)``.
    outliers : float, default=0.0
        Probability that an entry is shifted by ``+outlier_shift`` or ``-outlier_shift``.
    missing : float, default=0.0
        Probability that an entry is replaced by NaN.
    affine : bool, default=False
        Move every subspace away from the origin. The arrangement then describes the linear
        spans of dimension ``dim + 1``.
    random_state : int, RandomState or None, default=None
        The same seed gives the same bytes for every ``block_size``, in memory and on disk.
    arrangement : {"random", "independent", "disjoint", "intersecting"}, default="random"
        "random": drawn without a condition (independent with probability 1 where they fit).
        "independent": the dimensions add up to the dimension of the sum.
        "disjoint": every two meet in 0 only, and three or more are dependent.
        "intersecting": all share a subspace of dimension ``overlap``.
    overlap : int, default=1
        Dimension of the common part of intersecting subspaces.
    outlier_shift : float, default=0.5
        Size of a gross error.
    shuffle : bool, default=False
        Mix the samples; otherwise they come subspace by subspace.
    dtype : dtype, default=float64
        A floating type, of ``data`` and ``clean``. Numbers are drawn in float64 and rounded last.
    out : path or None, default=None
        Write the samples into this ``.npy`` file block by block, and return a read-only
        memory map; None: keep them in memory. With a file ``clean`` is None, and the masks,
        where entries are corrupted, are memory maps of ``<stem>-outliers.npy`` and ``<stem>-missing.npy`` beside it.
    block_size : int, default=65536
        Rows held in memory at once.

    Returns
    -------
    samples : Bunch
        ``data`` (n × ambient), ``target``, ``clean`` (before corruption), ``outlier_mask`` and
        ``missing_mask`` (bool, n × ambient; None if streamed and nothing was corrupted),
        ``bases`` (n_subspaces × dim × ambient, orthonormal rows), ``offsets``
        (n_subspaces × ambient, zero unless affine), ``images_shape`` (None), ``DESCR``, ``origin``.

    Raises
    ------
    ValueError
        If a number is out of its range, or so many subspaces of that dimension cannot be arranged so.

    Examples
    --------
    >>> from masked_subspace.datasets import make_subspaces
    >>> samples = make_subspaces(n_subspaces=3, dim=2, ambient=20, per_subspace=[10, 20, 30], random_state=0)
    >>> samples.data.shape, samples.bases.shape
    ((60, 20), (3, 2, 20))
    """
    counts = _sample_counts(n_subspaces, per_subspace)
    _check_numbers(dim, ambient, noise, outliers, missing, block_size)
    kind = np.dtype(dtype)
    if kind.kind != "f":
        raise ValueError(f"dtype={kind} must be a floating type such as float32")
    streams = _independent_streams(random_state)
    hulls = draw_bases(arrangement, n_subspaces, dim + affine, ambient, overlap + affine, streams["bases"])
    target = np.repeat(np.arange(n_subspaces), counts)
    if shuffle:
        target = streams["order"].permutation(target)
    recipe = _Recipe(
        # An affine subspace is a slice of its linear span; the first basis row, which
        # intersecting subspaces have in common, is the way from the origin to the slice.
        bases=hulls[:, int(affine) :],
        offsets=np.sqrt(0.5) * hulls[:, 0] if affine else np.zeros((n_subspaces, ambient)),
        affine=affine,
        noise=noise,
        outliers=outliers,
        outlier_shift=outlier_shift,
        missing=missing,
    )
    blocks = recipe.blocks(target, streams, block_size)
    shape = (len(target), ambient)
    if out is None:
        arrays = collect(blocks, shape, kind)
    else:
        corrupted = {"outlier_mask": outliers > 0, "missing_mask": missing > 0}
        arrays = stream_to_disk(Path(out), blocks, shape, kind, corrupted)
    return Bunch(
        **arrays,
        target=target,
        bases=recipe.bases,
        offsets=recipe.offsets,
        images_shape=None,
        DESCR=(
            f"{len(target)} samples of {n_subspaces} {arrangement} "
            f"{'affine ' if affine else ''}subspaces of dimension {dim} in R^{ambient}; "
            f"noise {noise:g} an entry, {outliers:.3g} of the entries shifted by "
            f"±{outlier_shift:g}, {missing:.3g} missing."
        ),
        origin="synthetic" if out is None else f"synthetic, streamed to {out}",
    )


@dataclass(frozen=True)
class _Recipe:
    bases: Bases
    offsets: NDArray[np.float64]
    affine: bool
    noise: float
    outliers: float
    outlier_shift: float
    missing: float

    def blocks(
        self,
        target: NDArray[np.intp],
        streams: dict[str, np.random.Generator],
        block_size: int,
    ) -> Iterator[SampleBlock]:
        """Consume each random stream in row order, so that the cut into blocks leaves no trace."""
        for start in range(0, len(target), block_size):
            labels = target[start : start + block_size]
            clean = self._signal(labels, streams["coefficients"])
            data = clean.copy()
            if self.noise:
                data += self.noise * streams["noise"].standard_normal(clean.shape)
            shifted = _draw_mask(self.outliers, clean.shape, streams["outliers"])
            if self.outliers:
                up = streams["signs"].random(clean.shape) < 0.5
                data += shifted * np.where(up, self.outlier_shift, -self.outlier_shift)
            hidden = _draw_mask(self.missing, clean.shape, streams["missing"])
            data[hidden] = np.nan
            yield SampleBlock(start, clean, data, shifted, hidden)

    def _signal(self, labels: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.float64]:
        dim = self.bases.shape[1]
        coefficients = rng.standard_normal((len(labels), dim))
        if self.affine:
            # E‖coefficients‖² = ‖offset‖² = ½.
            coefficients /= np.sqrt(2 * dim)
        else:
            coefficients /= np.linalg.norm(coefficients, axis=1, keepdims=True)
        signal: NDArray[np.float64] = self.offsets[labels]
        # One axpy per basis vector and no BLAS: a matrix product may round differently
        # when it is given another number of rows.
        for j in range(dim):
            signal += coefficients[:, j, None] * self.bases[labels, j]
        return signal


def _draw_mask(share: float, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.bool_]:
    return rng.random(shape) < share if share else np.zeros(shape, dtype=bool)


def _independent_streams(
    random_state: int | np.random.RandomState | None,
) -> dict[str, np.random.Generator]:
    entropy = check_random_state(random_state).randint(2**31 - 1, size=4)
    children = np.random.SeedSequence([int(word) for word in entropy]).spawn(len(_STREAMS))
    return {name: np.random.default_rng(seed) for name, seed in zip(_STREAMS, children, strict=True)}


def _sample_counts(n_subspaces: int, per_subspace: int | Sequence[int]) -> NDArray[np.intp]:
    if n_subspaces < 1:
        raise ValueError(f"n_subspaces={n_subspaces} must be at least 1")
    counts = np.asarray(per_subspace, dtype=np.intp)
    if counts.ndim == 0:
        counts = np.full(n_subspaces, counts)
    if counts.shape != (n_subspaces,) or counts.min() < 1:
        raise ValueError(
            f"per_subspace={per_subspace!r} must be a positive number, or one for each of the {n_subspaces} subspaces"
        )
    return counts


def _check_numbers(dim: int, ambient: int, noise: float, outliers: float, missing: float, block_size: int) -> None:
    for name, value in (("dim", dim), ("ambient", ambient), ("block_size", block_size)):
        if value < 1:
            raise ValueError(f"{name}={value} must be at least 1")
    if not (np.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise={noise} must be a finite number >= 0")
    for name, share in (("outliers", outliers), ("missing", missing)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name}={share} is a share of the entries: give a number in [0, 1]")
