"""PNG bytes against an independent decoder, and sheets of thumbnails."""

import io

import numpy as np
import pytest

from masked_subspace.report.png import gray_png, sprite_sheet

PIL_Image = pytest.importorskip("PIL.Image")


def decode(png: bytes) -> np.ndarray:
    return np.asarray(PIL_Image.open(io.BytesIO(png)))


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (64, 5)])
def test_pixels_survive(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    assert np.array_equal(decode(gray_png(pixels)), pixels)


def test_sheet_holds_every_sample_in_order_when_there_is_room():
    images = np.arange(10, dtype=np.uint8)[:, None, None] * np.ones((1, 6, 4), dtype=np.uint8)
    sheet = sprite_sheet(images, np.array([], dtype=int))
    pixels = decode(sheet.png)
    assert np.array_equal(sheet.samples, np.arange(10))
    for place in range(10):
        top, left = place // sheet.columns * sheet.height, place % sheet.columns * sheet.width
        assert (pixels[top : top + sheet.height, left : left + sheet.width] == place).all()


def test_sheet_stays_within_its_pixels_and_keeps_the_wanted_samples():
    images = np.zeros((5000, 28, 28), dtype=np.uint8)
    wanted = np.array([1, 77, 4999])
    sheet = sprite_sheet(images, wanted, max_pixels=200_000)
    assert len(sheet.samples) * sheet.height * sheet.width <= 200_000
    assert set(wanted) <= set(sheet.samples.tolist())
    assert len(np.unique(sheet.samples)) == len(sheet.samples)


def test_shrinking_takes_area_means():
    image = np.zeros((1, 64, 64), dtype=np.uint8)
    image[0, :, 32:] = 200
    sheet = sprite_sheet(np.repeat(image, 3000, axis=0), np.array([], dtype=int))
    first = decode(sheet.png)[: sheet.height, : sheet.width]
    assert first[:, 0].max() == 0
    assert first[:, -1].min() == 200
    assert abs(float(first.mean()) - 100) < 4
