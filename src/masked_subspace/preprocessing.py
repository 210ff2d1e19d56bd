"""Features for large image sets: the scattering transform and a PCA, both in blocks of rows.

They are scikit-learn transformers for the front of a `Pipeline`; centring and scaling of rows belong to the estimators.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.special
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from masked_subspace._common.files import replacing
from masked_subspace._common.progress import events_for, track
from masked_subspace._common.rows import block_ranges, largest_eigenpairs
from masked_subspace._common.types import Array, FloatArray
from masked_subspace.parallel.engine import check_rows, read_rows

if TYPE_CHECKING:
    from kymatio.numpy import Scattering2D

__all__ = ["PCAFeatures", "Scattering"]


@contextlib.contextmanager
def _scipy_with_sph_harm() -> Iterator[None]:
    """kymatio 0.3 imports `scipy.special.sph_harm`, which SciPy 1.17 no longer has: lend it one meanwhile."""
    if hasattr(scipy.special, "sph_harm"):
        yield
        return

    def sph_harm(m: Array, n: Array, theta: Array, phi: Array) -> Array:
        return np.asarray(scipy.special.sph_harm_y(n, m, phi, theta))

    scipy.special.sph_harm = sph_harm
    try:
        yield
    finally:
        del scipy.special.sph_harm


def _scattering_transform(scale: int, shape: tuple[int, int], angles: int, max_order: int) -> Scattering2D:
    try:
        with _scipy_with_sph_harm():
            from kymatio.numpy import Scattering2D
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'Scattering needs kymatio: pip install "masked-subspace[features]".', name=error.name
        ) from error
    return Scattering2D(J=scale, shape=shape, L=angles, max_order=max_order)


def _check_new(model: Scattering | PCAFeatures, X: Array, columns: str) -> None:
    """Refuse samples that are not as wide as those of the fit; `columns` says what a row holds."""
    check_is_fitted(model)
    check_rows(X)
    if X.shape[1] != model.n_features_in_:
        raise ValueError(f"X has {X.shape[1]} {columns}; {type(model).__name__} was fitted on {model.n_features_in_}.")


class Scattering(TransformerMixin, BaseEstimator):
    """Scattering coefficients of images given as rows of pixels (kymatio, extra `features`).

    Averages of wavelet coefficients and of the wavelet coefficients of their absolute values (Bruna & Mallat 2013),
    with φ a low-pass filter of width 2^scale and ψ a wavelet of one scale and angle:

        S₀x = x ⋆ φ,   S₁x = abs(x ⋆ ψ₁) ⋆ φ,   S₂x = abs(abs(x ⋆ ψ₁) ⋆ ψ₂) ⋆ φ

    Parameters
    ----------
    image_shape : tuple of two int or None, default=None
        (height, width) of a row of X; None: a square.
    padded_shape : tuple of two int or None, default=None
        Images are padded with zeros to this; None: to the next multiple of 2^scale on each side.
    scale : int, default=3
        J: coefficients are averaged over 2^J pixels.
    angles : int, default=8
        L, the number of angles of the wavelets.
    max_order : {1, 2}, default=2
        How often a wavelet transform is repeated.
    normalize : bool, default=True
        Whether the map of each path is divided by its largest absolute value, image by image.
    batch_size : int, default=128
        Images transformed at once.
    cache : path or None, default=None
        A folder: the result is written there block by block and handed back as a read-only memmap, and the same pixels
        and settings are not computed twice. None: the result stays in memory.
    verbose : bool, default=False
        Whether progress is shown.

    Attributes
    ----------
    image_shape_ : tuple of two int
        (height, width) of an image.
    padded_shape_ : tuple of two int
        The same after padding.
    n_features_in_ : int
        Pixels of an image.
    n_features_out_ : int
        Coefficients of an image.

    References
    ----------
    .. [Bruna2013] Bruna, J. and Mallat, S. (2013). Invariant scattering convolution networks. IEEE TPAMI 35(8).

    Examples
    --------
    >>> from masked_subspace.datasets import load
    >>> from masked_subspace.preprocessing import Scattering
    >>> digits = load("digits")
    >>> Scattering(scale=2, angles=4).fit_transform(digits.data[:5]).shape
    (5, 100)
    """

    def __init__(
        self,
        *,
        image_shape: tuple[int, int] | None = None,
        padded_shape: tuple[int, int] | None = None,
        scale: int = 3,
        angles: int = 8,
        max_order: int = 2,
        normalize: bool = True,
        batch_size: int = 128,
        cache: str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        self.image_shape = image_shape
        self.padded_shape = padded_shape
        self.scale = scale
        self.angles = angles
        self.max_order = max_order
        self.normalize = normalize
        self.batch_size = batch_size
        self.cache = cache
        self.verbose = verbose

    def fit(self, X: Array, y: object = None) -> Scattering:  # noqa: ARG002 (scikit-learn's signature)
        """Settle the image's shape; nothing is learnt from the pixels.

        Parameters
        ----------
        X : array, memmap or dask array of shape (n_samples, n_pixels)
            Images as rows of pixels.
        y : object, default=None
            Not used.

        Returns
        -------
        self : Scattering
            Itself.

        Raises
        ------
        ValueError
            If `image_shape` does not have the pixels of a row, or `padded_shape` is smaller than the images.
        """
        check_rows(X)
        pixels = int(X.shape[1])
        side = round(pixels**0.5)
        height, width = self.image_shape or (side, side)
        if height * width != pixels:
            raise ValueError(
                f"image_shape is {self.image_shape!r} but X has {pixels} pixels in a row; give (height, width) "
                "whose product is that number."
            )
        step = 2**self.scale
        padded = self.padded_shape or (-(-height // step) * step, -(-width // step) * step)
        if padded[0] < height or padded[1] < width:
            raise ValueError(f"padded_shape is {padded} but the images are {(height, width)}; it must not be smaller.")
        self.n_features_in_ = pixels
        self.image_shape_ = (height, width)
        self.padded_shape_ = (int(padded[0]), int(padded[1]))
        paths = (
            1 + self.angles * self.scale + (self.max_order > 1) * self.angles**2 * self.scale * (self.scale - 1) // 2
        )
        self.n_features_out_ = paths * (self.padded_shape_[0] // step) * (self.padded_shape_[1] // step)
        return self

    def transform(self, X: Array) -> FloatArray:
        """Scattering coefficients of images.

        Parameters
        ----------
        X : array, memmap or dask array of shape (n_samples, n_pixels)
            Images as rows of pixels.

        Returns
        -------
        features : ndarray or memmap of shape (n_samples, n_features_out)
            The coefficients in float32, one image a row.

        Raises
        ------
        ModuleNotFoundError
            If kymatio is not installed.
        """
        _check_new(self, X, "pixels in a row")
        shape = (int(X.shape[0]), self.n_features_out_)
        if self.cache is None:
            features = np.empty(shape, dtype=np.float32)
            for start, block in self._feature_blocks(X):
                features[start : start + len(block)] = block
            return features
        path = Path(self.cache) / f"scattering-{self._key(X)}.npy"
        if not path.exists():
            with replacing(path) as stream:
                header = {"descr": "<f4", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(stream, header)
                for _, block in self._feature_blocks(X):
                    stream.write(np.ascontiguousarray(block, dtype="<f4").tobytes())
        stored: FloatArray = np.load(path, mmap_mode="r", allow_pickle=False)
        return stored

    def _feature_blocks(self, X: Array) -> Iterator[tuple[int, FloatArray]]:
        transform = _scattering_transform(self.scale, self.padded_shape_, self.angles, self.max_order)
        (height, width), padded = self.image_shape_, self.padded_shape_
        top, left = (padded[0] - height) // 2, (padded[1] - width) // 2
        ranges = list(block_ranges(int(X.shape[0]), self.batch_size))
        for start, stop in track(ranges, "scattering", events_for(self.verbose)):
            images = np.zeros((stop - start, *padded), dtype=np.float32)
            pixels = read_rows(X, start, stop, np.float32).reshape(-1, height, width)
            images[:, top : top + height, left : left + width] = pixels
            maps = transform(images)
            if self.normalize:
                largest = np.abs(maps).max(axis=(-2, -1), keepdims=True)
                maps /= np.where(largest > 0, largest, 1)
            yield start, maps.reshape(stop - start, -1)

    def _key(self, X: Array) -> str:
        settings = {
            "image": self.image_shape_,
            "padded": self.padded_shape_,
            "transform": (self.scale, self.angles, self.max_order, self.normalize),
            "shape": [int(side) for side in X.shape],
        }
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
        for start, stop in block_ranges(int(X.shape[0]), 4096):
            digest.update(read_rows(X, start, stop, np.float32).tobytes())
        return digest.hexdigest()[:24]


class PCAFeatures(TransformerMixin, BaseEstimator):
    """The leading principal components, from the d × d covariance summed over blocks of rows.

    X may be a memmap or a dask array: one block is in memory at a time, and float32 stays float32 in the output (the
    covariance is always float64).

    Parameters
    ----------
    n_components : int, default=150
        Components that are kept.
    center : bool, default=True
        Whether the mean is subtracted. Without it the components are the leading singular directions of X itself, in
        which subspaces through the origin stay such subspaces (You et al. 2016 use these).
    block_size : int, default=4096
        Rows in memory at a time.
    verbose : bool, default=False
        Whether progress is shown.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows, the largest variance first.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each of them.
    mean_ : ndarray of shape (n_features,)
        What is subtracted; zeros with `center=False`.
    n_features_in_ : int
        Features of the samples seen by `fit`.

    References
    ----------
    .. [You2016b] You, C., Li, C., Robinson, D. and Vidal, R. (2016). Oracle based active set algorithm for scalable
       elastic net subspace clustering. CVPR.

    Examples
    --------
    >>> from masked_subspace.datasets import load
    >>> from masked_subspace.preprocessing import PCAFeatures
    >>> X = load("digits").data
    >>> PCAFeatures(20).fit_transform(X).shape
    (1797, 20)
    """

    def __init__(
        self, n_components: int = 150, *, center: bool = True, block_size: int = 4096, verbose: bool = False
    ) -> None:
        self.n_components = n_components
        self.center = center
        self.block_size = block_size
        self.verbose = verbose

    def fit(self, X: Array, y: object = None) -> PCAFeatures:  # noqa: ARG002 (scikit-learn's signature)
        """Learn the components in two passes over X: the mean, then the covariance.

        Parameters
        ----------
        X : array, memmap or dask array of shape (n_samples, n_features)
            Samples as rows.
        y : object, default=None
            Not used.

        Returns
        -------
        self : PCAFeatures
            Itself.

        Raises
        ------
        ValueError
            If `n_components` is larger than the smaller side of X.
        """
        check_rows(X)
        n, d = (int(side) for side in X.shape)
        if not 1 <= self.n_components <= min(n, d):
            raise ValueError(
                f"n_components is {self.n_components}; it must be from 1 to {min(n, d)}, the smaller side of X."
            )
        mean = np.zeros(d)
        for start, stop in block_ranges(n if self.center else 0, self.block_size):
            mean += read_rows(X, start, stop).sum(axis=0, dtype=np.float64)
        mean /= n
        covariance = np.zeros((d, d))
        for start, stop in track(list(block_ranges(n, self.block_size)), "covariance", events_for(self.verbose)):
            rows = read_rows(X, start, stop, np.float64) - mean
            covariance += rows.T @ rows
        values, vectors = largest_eigenpairs(covariance, self.n_components)
        self.mean_ = mean
        self.components_ = np.ascontiguousarray(vectors.T)
        self.explained_variance_ = np.maximum(values, 0) / max(1, n - 1)
        self.n_features_in_ = d
        return self

    def transform(self, X: Array) -> FloatArray:
        """Coordinates of samples in the leading components.

        Parameters
        ----------
        X : array, memmap or dask array of shape (n_samples, n_features)
            Samples as rows.

        Returns
        -------
        features : ndarray of shape (n_samples, n_components)
            float32 if X is, else float64.
        """
        _check_new(self, X, "features")
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        out = np.empty((int(X.shape[0]), len(self.components_)), dtype=dtype)
        components, mean = self.components_.T.astype(dtype), self.mean_.astype(dtype)
        for start, stop in block_ranges(len(out), self.block_size):
            np.matmul(read_rows(X, start, stop, dtype) - mean, components, out=out[start:stop])
        return out
