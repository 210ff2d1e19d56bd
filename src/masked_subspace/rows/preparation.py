"""How rows become what the solver sees: views by name, learnt on the training rows and applied to any.

Faces want their principal directions evened out, digits do not; pixel values are often better on a square-root scale;
tables want their features on one scale and an affine model; motions want no centring and a constant column; clouds of
points want their distances; subspaces that every direction tells apart want a ridge; sounds want a few directions
evened out; word counts want weights that tell words apart. Which view suits the data is decided without labels
(rounds/judge.py). A new view is one line here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from masked_subspace._common.rows import eigenpairs, row_blocks, to_unit_length, with_fixed_signs
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.parallel.engine import MappedArray, empty_in_file
from masked_subspace.rows.zero_rows import zero_rows_of

HALF = 0.5
# μ of a ridge, in mean squared singular values. Palm, ORL and generated faces under many lights differ by less than two
# points between .01 and .1; below, noise is evened out with the rest (docs/findings/judge.md, "Ridge").
RIDGE = 0.03
# How many leading directions are evened out where the others are noise: Isolet, links by cosine, has .66, .70, .70 and
# .67 with 20, 30, 50 and 80, and .58 with all of them (docs/findings/judge.md, "Few directions of many").
LEADING = 30
# Rows of at least so many features, of so many times as many samples, are solved along the principal directions that
# hold this share of their energy: a third to a half of them. COIL100 86.9 → 88.6 % (3 seeds each), MNIST 10,000 and
# USPS level, a quarter less time; on 1,000 samples nothing is gained (docs/findings/judge.md, "Leading directions").
_LONG, _MANY_A_FEATURE, _ENERGY = 256, 2, 0.99
# Word counts have at least so many zeros, of digits four pixels in five are black; fewer features are those of a table.
_ZEROS_OF_WORDS, _LEAST_WORDS = 0.9, 21


@dataclass(frozen=True)
class View:
    """What happens to a row, in this order: square root, centring, scaling of each feature, a constant column, unit
    length, division of each principal direction by a power of its singular value s or by √(s² + μ), unit length.

    With that root, products of two rows are the codes of least squares with a ridge: min ‖X − ZX‖² + μ‖Z‖² has
    Z = XXᵀ(XXᵀ + μI)⁻¹ = FFᵀ for F = U diag(s / √(s² + μ)), X = U diag(s) Vᵀ (Lu et al. 2012, LSR)."""

    name: str
    root: bool = False
    center: bool = True
    standardize: bool = False
    lift: bool = False
    constant: float = 1.0  # the constant column's length, in mean rows
    whitening: float = 0.0
    ridge: float = 0.0  # μ in mean squared singular values
    directions: int | None = None  # how many principal directions are kept, the leading ones
    low_rank: bool = False
    words: bool = False  # weights of words and their leading topics in place of all that (rows/words.py)
    by_distance: bool = False  # RMSC links a sample to its nearest here, in place of those that rebuild it
    by_cosine: bool = False  # the same, to those of the largest |cosine|

    @property
    def turns(self) -> bool:
        """Whether rows are seen along their principal directions."""
        return self.whitening > 0 or self.ridge > 0

    def scales(self, squared: FloatArray, mean: float) -> FloatArray:
        """By what each principal direction is multiplied: `squared` singular values, and the mean of all of them."""
        factors: FloatArray = (
            (squared + self.ridge * mean) ** -0.5 if self.ridge > 0 else squared ** (-self.whitening / 2)
        )
        return factors

    def permitted(self, *, center: bool, only_samples: bool, sparse: bool) -> bool:
        """Whether members may see samples so: centred or not, with nothing known but them, sparse or not."""
        if self.words:
            return only_samples
        # Rows along principal directions are arrays, of sparse samples too; distances would need those as such.
        solved = not (self.by_distance or self.by_cosine)
        linked = only_samples and (self.by_cosine or not sparse)
        return (center or not self.center) and (solved or linked)

    def suits(self, *, nonnegative: bool) -> bool:
        """Whether data of this kind can be seen so."""
        return nonnegative or not (self.root or self.words)


_ALL = (
    View("plain"),
    View("root", root=True),
    View("whitened", whitening=HALF),
    View("uncentered", center=False),
    View("uncentered-root", root=True, center=False),
    View("uncentered-whitened", center=False, whitening=HALF),
    View("lifted", lift=True),
    View("standardized", standardize=True, lift=True),
    View("homogeneous", center=False, lift=True),
    View("homogeneous-whitened", center=False, lift=True, whitening=HALF),
    # Beside a long constant column the angle between unit rows is their distance.
    View("distance", lift=True, constant=3.0, by_distance=True),
    View("distance-standardized", standardize=True, lift=True, constant=3.0, by_distance=True),
    View("topics", center=False, words=True, by_distance=True),
    View("uncentered-ridge", center=False, ridge=RIDGE, by_cosine=True),
    View("homogeneous-ridge", center=False, lift=True, ridge=RIDGE, by_cosine=True),
    View("standardized-ridge", standardize=True, lift=True, ridge=RIDGE, by_cosine=True),
    View("leading", whitening=1.0, directions=LEADING, by_cosine=True),
    View("low-rank", center=False, lift=True, whitening=1.0, low_rank=True),
)
VIEWS: dict[str, View] = {view.name: view for view in _ALL}


def view_of(spec: float | str, *, center: bool) -> View:
    """The view that a parameter names: a name, or a whitening power between 0 and 1.

    `center=False` takes the centring out of "plain", "root" and the whitening powers; the other names say themselves
    whether they centre.
    """
    if isinstance(spec, str):
        view = VIEWS[spec]
        return replace(view, center=view.center and center) if spec in ("plain", "root", "whitened") else view
    power = float(spec)
    return View("plain" if power == 0 else f"whitened {power:g}", center=center, whitening=power)


def without_direction(X: FloatArray | SparseSamples | None, views: Sequence[View]) -> IntArray:
    """Rows of zeros, where no view gives them a direction: centred they point away from the mean, beside a constant
    column along it; else they are the same to all clusters."""
    if X is None or any(view.center or view.lift for view in views):
        return np.empty(0, dtype=np.int64)
    return zero_rows_of(X)


def like_words(X: FloatArray | SparseSamples) -> bool:
    """Whether samples look like counts of words: no entry below 0, nine in ten of them 0."""
    if X.shape[1] < _LEAST_WORDS or X.min() < 0:
        return False
    stored = X.matrix.nnz if isinstance(X, SparseSamples) else int(np.count_nonzero(X))
    size = X.shape[0] * X.shape[1]
    return stored > 0 and size - stored >= _ZEROS_OF_WORDS * size


@dataclass(frozen=True)
class Preparation:
    """A view with what it learnt: the mean and scale of each feature, the constant column, the rotation.

    A centred row no longer than `floor` is rounding and becomes zero.
    """

    view: View
    normalize: bool
    mean: FloatArray | None = None
    scale: FloatArray | None = None
    constant: float | None = None
    rotation: FloatArray | None = None
    floor: float = 0.0

    @classmethod
    def learn(cls, X: FloatArray, view: View, *, normalize: bool = True, directions: int | None = None) -> Preparation:
        """`directions` bounds how many principal directions a whitened view keeps."""
        directions = directions or view.directions
        if view.words:
            from masked_subspace.rows.words import learn_topics

            return learn_topics(X, view, normalize=normalize, directions=directions)
        if isinstance(X, SparseSamples):
            from masked_subspace.rows.sparse_preparation import learn_sparse

            return learn_sparse(X, view, normalize=normalize, directions=directions)
        rows = np.sqrt(np.maximum(X, 0)) if view.root else X
        mean, floor = None, 0.0
        if view.center:
            mean = rows.mean(axis=0, dtype=np.float64).astype(X.dtype)
            # A centred row that is no longer than what rounding leaves of the mean has no direction.
            varies = rows.max(axis=0) > rows.min(axis=0)
            floor = 2 * float(np.finfo(X.dtype).eps) * float(np.linalg.norm(mean[varies]))
        scale = _deviation(rows) if view.standardize else None
        learnt = cls(view, normalize, mean, scale, None, None, 0.0 if view.lift else floor)
        if view.lift:
            learnt = replace(learnt, constant=view.constant * _root_mean_square(learnt._shifted(X)))
        if view.turns:
            learnt = replace(learnt, rotation=evening_rotation(learnt._rows(X), view, directions))
        return learnt

    def apply(self, X: FloatArray) -> FloatArray:
        """The rows the solver sees. What lives in a file stays in one: its rows go through memory in blocks."""
        if MappedArray.of(X) is None:
            return self._rows(X)
        # A rotation may drop directions, and a lift adds one: the prepared rows may have another width than X.
        width = X.shape[1] + (self.constant is not None) if self.rotation is None else self.rotation.shape[1]
        out = empty_in_file((len(X), width), X.dtype)
        for start, stop in row_blocks(len(X), X.shape[1]):
            out[start:stop] = self._rows(X[start:stop])
        return np.asarray(out)

    def n_columns(self, n_features: int) -> int:
        """How many columns rows with so many features have before any rotation."""
        return n_features + self.view.lift

    def turned(self, directions: FloatArray) -> FloatArray:
        """Directions of the prepared rows, as columns, with signs that depend on the features alone."""
        return with_fixed_signs(directions)

    def _shifted(self, X: FloatArray) -> FloatArray:
        rows: FloatArray = np.sqrt(np.maximum(X, 0)) if self.view.root else np.array(X, order="C")
        if self.mean is not None:
            rows -= self.mean
        if self.scale is not None:
            rows /= self.scale
        return rows

    def _rows(self, X: FloatArray) -> FloatArray:
        """A row that equals the mean stays zero: a sample that nothing can rebuild."""
        rows = self._shifted(X)
        if self.constant is not None:
            rows = np.hstack([rows, np.full((len(rows), 1), self.constant, dtype=rows.dtype)])
        if self.normalize:
            # What is left of a row that equals the mean is rounding, and must not be blown up to unit length.
            to_unit_length(rows, self.floor)
        if self.rotation is not None:
            rows = rows @ self.rotation
            # Members of a low-rank view take the leading columns, each its own number, and scale these.
            if self.normalize and not self.view.low_rank:
                to_unit_length(rows, 0.0)
        return rows


def _deviation(rows: FloatArray) -> FloatArray:
    """Standard deviation of each feature; 1 for a constant one."""
    deviation = rows.std(axis=0, dtype=np.float64)
    return np.where(deviation > 0, deviation, 1).astype(rows.dtype)


def _root_mean_square(rows: FloatArray) -> float:
    """The length that a mean row has: the constant column then weighs as much as all others together."""
    return float(np.sqrt(np.einsum("ij,ij->", rows, rows, dtype=np.float64) / len(rows))) or 1.0


def evening_rotation(rows: FloatArray, view: View, directions: int | None = None) -> FloatArray:
    """V diag(scales) for rows = U S Vᵀ, so that directions are evened out as the view says, the largest first.

    Directions below 1e-4 S₁ are dropped, and all but the first `directions`.
    """
    used = np.flatnonzero(rows.any(axis=0))
    mean = float(np.einsum("ij,ij->", rows, rows, dtype=np.float64)) / max(1, min(rows.shape))
    # Borders of images are zero in every row: their directions are, too.
    part = _evened_directions(rows if len(used) == rows.shape[1] else rows[:, used], view, mean, directions)
    if len(used) == rows.shape[1]:
        return part
    V = np.zeros((rows.shape[1], part.shape[1]), rows.dtype)
    V[used] = part
    return V


def triangular_root(products: FloatArray, ridge: float) -> FloatArray:
    """R with RRᵀ = (XᵀX + μI)⁻¹. Only products of rows XR count, which any such root gives: this is the quickest."""
    shifted = products + ridge * np.eye(len(products))
    root: FloatArray = solve_triangular(cholesky(shifted, lower=True), np.eye(len(products)), lower=True).T
    return root


def _evened_directions(rows: FloatArray, view: View, mean: float, directions: int | None) -> FloatArray:
    n, d = rows.shape
    products = (rows.T @ rows if d <= n else rows @ rows.T).astype(np.float64)
    if view.ridge > 0 and d <= n and directions is None:
        return np.ascontiguousarray(triangular_root(products, view.ridge * mean), dtype=rows.dtype)
    squared, vectors = eigenpairs(products)
    kept = np.flatnonzero(squared > 1e-8 * squared[-1])[::-1][:directions]
    squared = squared[kept]
    V = vectors[:, kept] if d <= n else rows.T @ vectors[:, kept] / np.sqrt(squared)
    # Signs that depend on the directions alone: the order by content (_common/rows.py) rests on them.
    return np.ascontiguousarray(with_fixed_signs(V) * view.scales(squared, mean), dtype=rows.dtype)


def along_leading_directions(rows: FloatArray) -> FloatArray:
    """Rows along their leading principal directions, not centred, where they are long and many; others as they are.

    Products of rows hardly change, and what is left out is mostly noise."""
    n, d = rows.shape
    if d < _LONG or n < _MANY_A_FEATURE * d or isinstance(rows, np.memmap):
        return rows
    squared, vectors = eigenpairs((rows.T @ rows).astype(np.float64))
    share = np.cumsum(squared[::-1]) / squared.sum()
    kept = int(np.searchsorted(share, _ENERGY)) + 1
    return np.ascontiguousarray(rows @ with_fixed_signs(vectors[:, ::-1][:, :kept]).astype(rows.dtype))
