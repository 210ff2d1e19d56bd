from __future__ import annotations

import sys

import numpy as np
import pytest

from masked_subspace.baselines import AutoencoderEDSC
from masked_subspace.baselines.autoencoder import AutoencoderSettings, infer_image_shape, train_codes

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def images():
    """Bars at three angles, at random places, as 8 × 8 images."""
    rng = np.random.default_rng(0)
    pictures, labels = [], np.repeat([0, 1, 2], 20)
    for label in labels:
        picture = 0.05 * rng.random((8, 8))
        place = rng.integers(2, 6)
        if label == 0:
            picture[place] += rng.uniform(0.5, 1)
        elif label == 1:
            picture[:, place] += rng.uniform(0.5, 1)
        else:
            picture[np.arange(8), np.arange(8)] += rng.uniform(0.5, 1)
        pictures.append(picture.ravel())
    return np.array(pictures), labels


def test_training_lowers_the_loss_and_is_repeatable(images):
    X, _ = images
    settings = AutoencoderSettings(filters=(4,), max_epochs=30, learning_rate=0.01)
    first = train_codes(X, (8, 8), settings, seed=1)
    state = torch.random.get_rng_state()
    second = train_codes(X, (8, 8), settings, seed=1)
    np.testing.assert_array_equal(first.codes, second.codes)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert first.losses[-1] < 0.8 * first.losses[0]
    assert first.codes.shape == (60, 4 * 4 * 4)
    assert not np.array_equal(train_codes(X, (8, 8), settings, seed=2).codes, first.codes)


def test_training_stops_early(images):
    X, _ = images
    trained = train_codes(X, (8, 8), AutoencoderSettings(max_epochs=5000, learning_rate=0.05, patience=3), seed=0)
    assert trained.stopped_early
    assert len(trained.losses) < 5000


def test_progress_is_told(images):
    X, _ = images
    heard = []
    settings = AutoencoderSettings(max_epochs=4)
    train_codes(X, (8, 8), settings, seed=0, progress=lambda epoch, loss: heard.append((epoch, loss)))
    assert [epoch for epoch, _ in heard] == [1, 2, 3, 4]


def test_images_are_clustered(images):
    X, _ = images
    model = AutoencoderEDSC(3, image_shape=(8, 8), filters=(6, 4), kernel_sizes=(3, 3), max_epochs=20, random_state=0)
    model.fit(X)
    assert model.codes_.shape == (60, 4 * 2 * 2)
    assert len(model.losses_) == model.n_iter_
    assert set(model.labels_) == {0, 1, 2}


def test_shapes():
    assert infer_image_shape(64, None) == (8, 8)
    assert infer_image_shape(10, None) == (1, 10)
    assert infer_image_shape(12, (3, 4)) == (3, 4)
    with pytest.raises(ValueError, match=r"image_shape is \(3, 5\).*15 pixels.*12 features"):
        infer_image_shape(12, (3, 5))


def test_settings_are_checked():
    with pytest.raises(ValueError, match="one for each layer"):
        AutoencoderSettings(filters=(3, 3), kernel_sizes=(3,))
    with pytest.raises(ValueError, match="must be odd"):
        AutoencoderSettings(kernel_sizes=(4,))


def test_without_the_extra_the_error_says_how_to_install_it(images, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'pip install "masked-subspace\[deep\]"'):
        AutoencoderEDSC(3).fit(images[0])


def test_patience_counts_epochs_without_a_visible_fall(images):
    """Training ends `patience` epochs after the last loss that was a thousandth below the best before it."""
    X, _ = images
    for patience in (2, 5):
        settings = AutoencoderSettings(max_epochs=3000, learning_rate=0.05, patience=patience)
        trained = train_codes(X, (8, 8), settings, seed=0)
        best, last = np.inf, 0
        for epoch, loss in enumerate(trained.losses, start=1):
            if loss < best * (1 - 1e-3):
                last = epoch
            best = min(best, loss)
            assert epoch - last < patience or epoch == len(trained.losses)
        assert trained.stopped_early
        assert len(trained.losses) == last + patience


def test_codes_and_losses_are_those_of_images_by_their_largest_pixel(images):
    """With steps too small to be seen, in two batches: the network as it was drawn, and the mean squared error of an
    image."""
    X, _ = images
    settings = AutoencoderSettings(filters=(3,), kernel_sizes=(3,), max_epochs=1, batch_size=40, learning_rate=1e-12)
    found = train_codes(20 * X - 5, (8, 8), settings, seed=3)
    scaled = (20 * X - 5) / np.abs(20 * X - 5).max()
    pictures = torch.from_numpy(scaled.astype(np.float32)).reshape(60, 1, 8, 8)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(3)
        down = torch.nn.Conv2d(1, 3, 3, stride=2, padding=1)
        up = torch.nn.ConvTranspose2d(3, 1, 3, stride=2, padding=1, output_padding=1)
        codes = torch.relu(down(pictures))
        rebuilt = torch.relu(up(codes))
    np.testing.assert_allclose(found.codes, codes.reshape(60, -1).numpy(), atol=1e-5)
    expected = ((rebuilt - pictures) ** 2).sum(dim=(1, 2, 3)).mean()
    assert found.losses == pytest.approx([float(expected)], rel=1e-5)
