"""PNG bytes against an independent decoder, and sheets of thumbnails."""

import io

import numpy as np
import pytest

from masked_subspace.report.png import gray_png, shrunk, sprite_sheet

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


@pytest.mark.parametrize(
    ("n", "height", "width", "columns"), [(100, 8, 8, 10), (50, 4, 8, 5), (50, 8, 4, 10), (7, 9, 9, 3)]
)
def test_a_sheet_is_about_square(n, height, width, columns):
    sheet = sprite_sheet(np.zeros((n, height, width), dtype=np.uint8), np.array([], dtype=int))
    assert sheet.columns == columns
    assert decode(sheet.png).shape == (-(-n // columns) * height, columns * width)


@pytest.mark.parametrize(("n", "max_pixels", "side"), [(10, 2_600_000, 48), (100, 90_000, 30), (100, 1_000, 14)])
def test_a_thumbnail_has_the_side_that_all_have_room_for_between_14_and_48(n, max_pixels, side):
    sheet = sprite_sheet(np.zeros((n, 96, 48), dtype=np.uint8), np.array([], dtype=int), max_pixels)
    assert (sheet.height, sheet.width) == (side, side // 2)
    room = max_pixels // (side * (side // 2))
    assert len(sheet.samples) == min(n, room)
    if n > room:  # those that are shown stand evenly among all
        assert sheet.samples[0] == 0
        assert sheet.samples[-1] == n - 1


def test_the_header_is_that_of_a_plain_gray_picture():
    """Readers that are stricter than pillow, such as browsers, refuse other methods of packing and filtering."""
    png = gray_png(np.zeros((3, 5), dtype=np.uint8))
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert png[12:16] == b"IHDR"
    assert png[16:29] == b"\0\0\0\5\0\0\0\3\x08\0\0\0\0"
    assert png.endswith(b"IEND\xaeB`\x82")


def test_values_beyond_gray_are_black_and_white():
    assert shrunk(np.array([[[-3.0, 300.0], [12.6, 255.4]]]), 2, 2).tolist() == [[[0, 255], [13, 255]]]


def test_however_little_room_there_is_one_sample_is_shown():
    sheet = sprite_sheet(np.zeros((5, 28, 28), dtype=np.uint8), np.array([3, 4]), max_pixels=100)
    assert sheet.samples.tolist() == [3]
    assert (sheet.height, sheet.width, sheet.columns) == (14, 14, 1)


def test_wanted_samples_take_the_places_of_others():
    """Room for ten of forty: the four wanted ones, and others evenly among the rest."""
    images = np.arange(40, dtype=np.uint8)[:, None, None] * np.ones((1, 14, 14), dtype=np.uint8)
    sheet = sprite_sheet(images, np.array([1, 2, 5, 38]), max_pixels=10 * 14 * 14)
    assert sheet.samples.tolist() == [0, 1, 2, 4, 5, 8, 13, 17, 21, 38]
    pixels = decode(sheet.png)
    for place, sample in enumerate(sheet.samples):
        top, left = place // sheet.columns * 14, place % sheet.columns * 14
        assert (pixels[top : top + 14, left : left + 14] == sample).all()


def test_a_long_thin_picture_keeps_a_line_of_pixels():
    for shape, side in (((3, 2, 400), (1, 48)), ((3, 400, 2), (48, 1))):
        sheet = sprite_sheet(np.full(shape, 9, dtype=np.uint8), np.array([], dtype=int))
        assert (sheet.height, sheet.width) == side
        assert decode(sheet.png).max() == 9
