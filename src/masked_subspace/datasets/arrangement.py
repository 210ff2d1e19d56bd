"""Orthonormal bases of random linear subspaces that meet each other in a prescribed way."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

ARRANGEMENTS = ("random", "independent", "disjoint", "intersecting")

Bases = npt.NDArray[np.float64]
"""(n_subspaces, dim, ambient): the rows of ``bases[k]`` are an orthonormal basis of subspace k."""


def draw_bases(
    arrangement: str,
    n_subspaces: int,
    dim: int,
    ambient: int,
    shared: int,
    rng: np.random.Generator,
) -> Bases:
    """Draw ``n_subspaces`` bases of dimension ``dim``; ``shared`` counts only when they intersect.

    Intersecting subspaces carry their common directions in the first ``shared`` rows.
    """
    if arrangement not in ARRANGEMENTS:
        raise ValueError(f"arrangement={arrangement!r} is unknown; choose one of {', '.join(ARRANGEMENTS)}")
    if dim > ambient:
        raise ValueError(
            f"subspaces of dimension {dim} do not fit into ambient={ambient}; "
            "raise ambient or lower dim (an affine subspace needs one dimension more)"
        )
    if arrangement == "intersecting":
        return _intersecting(n_subspaces, dim, ambient, shared, rng)
    draw = {"random": _random, "independent": _independent, "disjoint": _disjoint}[arrangement]
    return draw(n_subspaces, dim, ambient, rng)


def _orthonormal_rows(count: int, ambient: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    columns, _ = np.linalg.qr(rng.standard_normal((ambient, count)))
    return np.ascontiguousarray(columns.T)


def _random(n: int, dim: int, ambient: int, rng: np.random.Generator) -> Bases:
    return np.stack([_orthonormal_rows(dim, ambient, rng) for _ in range(n)])


def _independent(n: int, dim: int, ambient: int, rng: np.random.Generator) -> Bases:
    """Dimensions of the sum add up: dim(S₁ + … + S_n) = n·dim."""
    if n * dim > ambient:
        raise ValueError(
            f"{n} subspaces of dimension {dim} cannot be independent in ambient={ambient}: "
            f"use ambient >= {n * dim}, or arrangement='disjoint' or 'random'"
        )
    return _random(n, dim, ambient, rng)


def _disjoint(n: int, dim: int, ambient: int, rng: np.random.Generator) -> Bases:
    """Every two meet in 0 only, yet (for three or more) together they are dependent.

    Drawn inside a common space of dimension at most (n − 1)·dim, where the dimensions cannot add up.
    """
    if 2 * dim > ambient:
        raise ValueError(
            f"two subspaces of dimension {dim} always meet in ambient={ambient}: "
            f"use ambient >= {2 * dim}, or arrangement='intersecting' or 'random'"
        )
    room = min(ambient, max(2, n - 1) * dim)
    container = _orthonormal_rows(room, ambient, rng)
    return _random(n, dim, room, rng) @ container


def _intersecting(n: int, dim: int, ambient: int, shared: int, rng: np.random.Generator) -> Bases:
    """All contain one common subspace of dimension ``shared``, and every two meet there only."""
    own = dim - shared
    if not 0 < shared < dim or shared + 2 * own > ambient:
        raise ValueError(
            f"subspaces of dimension {dim} that share {shared} dimensions do not fit into "
            f"ambient={ambient}: choose 0 < overlap < dim and ambient >= 2·dim − overlap "
            "(an affine subspace counts one dimension more in each)"
        )
    common = _orthonormal_rows(shared, ambient, rng)
    bases = np.empty((n, dim, ambient))
    for basis in bases:
        columns, _ = np.linalg.qr(np.hstack([common.T, rng.standard_normal((ambient, own))]))
        basis[:shared], basis[shared:] = common, columns.T[shared:]
    return bases
