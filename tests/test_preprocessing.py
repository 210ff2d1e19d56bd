"""Scattering and PCA: values against plain computations, blocks change nothing, the cache is never half full."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.special
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import masked_subspace.preprocessing as preprocessing
from masked_subspace.preprocessing import PCAFeatures, Scattering

IMAGES = np.random.default_rng(0).uniform(size=(9, 144)).astype(np.float32)


@pytest.fixture
def scattering() -> Scattering:
    pytest.importorskip("kymatio")
    return Scattering(scale=2, angles=4)


def test_shape_and_order_zero_of_the_scattering(scattering: Scattering) -> None:
    # 1 + L·J + L²·J(J−1)/2 paths on maps of (12/4)²
    features = clone(scattering).set_params(normalize=False).fit_transform(IMAGES)
    assert features.shape == (9, (1 + 8 + 16) * 9)
    assert features.dtype == np.float32
    # The first path is a local mean: on a constant image it is that constant, and all others vanish.
    constant = clone(scattering).set_params(normalize=False).fit_transform(np.full((1, 144), 0.5))
    np.testing.assert_allclose(constant[0, :9], 0.5, atol=1e-4)
    np.testing.assert_allclose(constant[0, 9:], 0, atol=1e-4)


def test_each_path_is_scaled_by_its_maximum(scattering: Scattering) -> None:
    maps = scattering.fit_transform(IMAGES).reshape(9, 25, 9)
    np.testing.assert_allclose(np.abs(maps).max(axis=2), 1, atol=1e-6)
    plain = clone(scattering).set_params(normalize=False).fit_transform(IMAGES).reshape(9, 25, 9)
    np.testing.assert_allclose(maps, plain / np.abs(plain).max(axis=2, keepdims=True), atol=1e-6)


def test_batches_do_not_change_the_features(scattering: Scattering) -> None:
    whole = scattering.fit_transform(IMAGES)
    np.testing.assert_allclose(clone(scattering).set_params(batch_size=4).fit_transform(IMAGES), whole, atol=1e-6)


def test_padding_centres_the_image(scattering: Scattering) -> None:
    small = np.random.default_rng(1).uniform(size=(2, 10, 10)).astype(np.float32)
    padded = np.pad(small, ((0, 0), (1, 1), (1, 1)))
    np.testing.assert_allclose(
        scattering.fit_transform(small.reshape(2, -1)),
        clone(scattering).fit_transform(padded.reshape(2, -1)),
        atol=1e-6,
    )


def test_the_cache_is_read_and_not_computed_twice(
    scattering: Scattering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = clone(scattering).set_params(cache=tmp_path)
    first = cached.fit_transform(IMAGES)
    assert isinstance(first, np.memmap)
    np.testing.assert_array_equal(first, scattering.fit_transform(IMAGES))
    other = cached.transform(IMAGES + 1)
    assert len(list(tmp_path.iterdir())) == 2
    assert not np.allclose(other, first)
    monkeypatch.setattr(preprocessing, "_scattering_transform", lambda *_: pytest.fail("computed again"))
    np.testing.assert_array_equal(clone(cached).fit_transform(IMAGES), first)


def test_an_interrupted_transform_leaves_no_file(
    scattering: Scattering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = preprocessing._scattering_transform(2, (12, 12), 4, 2)
    calls = []

    def interrupted(images: np.ndarray) -> np.ndarray:
        calls.append(len(images))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(images)

    monkeypatch.setattr(preprocessing, "_scattering_transform", lambda *_: interrupted)
    with pytest.raises(KeyboardInterrupt):
        clone(scattering).set_params(cache=tmp_path, batch_size=4).fit_transform(IMAGES)
    assert calls == [4, 4]
    assert not list(tmp_path.iterdir())


def test_scipy_is_left_as_it_was(scattering: Scattering) -> None:
    before = hasattr(scipy.special, "sph_harm")
    scattering.fit_transform(IMAGES[:1])
    assert hasattr(scipy.special, "sph_harm") == before
    with preprocessing._scipy_with_sph_harm():
        # Y_1^0(θ, φ) = ½ √(3/π) cos φ in SciPy's old order of arguments
        value = scipy.special.sph_harm(0, 1, 0.3, 0.7)
    assert value == pytest.approx(0.5 * np.sqrt(3 / np.pi) * np.cos(0.7))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [({"image_shape": (10, 10)}, "144 pixels"), ({"padded_shape": (8, 8)}, "must not be smaller")],
)
def test_impossible_shapes_are_named(parameters: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Scattering(**parameters).fit(IMAGES)


def test_other_images_are_refused(scattering: Scattering) -> None:
    with pytest.raises(ValueError, match="fitted on 144"):
        scattering.fit(IMAGES).transform(IMAGES[:, :100])
    with pytest.raises(ValueError, match="1 dimensions"):
        scattering.fit(IMAGES[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pca_is_that_of_scikit_learn(dtype: type) -> None:
    rng = np.random.default_rng(2)
    X = (rng.standard_normal((300, 6)) @ rng.standard_normal((6, 20)) + 3).astype(dtype)
    ours = PCAFeatures(4, block_size=70).fit(X)
    theirs = PCA(4, svd_solver="full").fit(X.astype(np.float64))
    np.testing.assert_allclose(np.abs(ours.components_ @ theirs.components_.T), np.eye(4), atol=1e-5)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-5)
    coordinates = ours.transform(X)
    assert coordinates.dtype == dtype
    np.testing.assert_allclose(np.abs(coordinates), np.abs(theirs.transform(X.astype(np.float64))), atol=1e-3)


def test_pca_reads_memmaps_and_dask_arrays(tmp_path: Path) -> None:
    da = pytest.importorskip("dask.array")
    X = np.random.default_rng(3).standard_normal((200, 9)).astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    expected = PCAFeatures(3).fit_transform(X)
    for source in (np.load(tmp_path / "rows.npy", mmap_mode="r"), da.from_array(X, chunks=(64, 9))):
        np.testing.assert_allclose(PCAFeatures(3, block_size=50).fit_transform(source), expected, atol=1e-5)


def test_pca_arguments() -> None:
    with pytest.raises(ValueError, match="n_components is 10"):
        PCAFeatures(10).fit(np.ones((5, 20)))
    with pytest.raises(ValueError, match="fitted on 20"):
        PCAFeatures(2).fit(np.random.default_rng(0).standard_normal((5, 20))).transform(np.ones((2, 3)))


def test_they_stand_in_a_pipeline(scattering: Scattering) -> None:
    features = make_pipeline(scattering, PCAFeatures(5)).fit_transform(IMAGES)
    assert features.shape == (9, 5)


def test_uncentred_pca_gives_the_leading_singular_directions():
    X = np.random.default_rng(0).standard_normal((60, 8)) + 3
    ours = PCAFeatures(3, center=False, block_size=25).fit(X)
    _, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(np.abs(ours.components_ @ Vt[:3].T), np.eye(3), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(ours.transform(X), axis=0), sigma[:3])
