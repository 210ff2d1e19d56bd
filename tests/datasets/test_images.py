"""Pictures are decoded within limits and made smaller by area means."""

import io
import zlib

import numpy as np
import pytest

from masked_subspace.datasets.errors import InvalidDataError
from masked_subspace.datasets.images import decode_gray, decode_pgm, shrink, undo_line_ending_conversion

Image = pytest.importorskip("PIL.Image")


def encoded(picture, kind="PNG"):
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, kind)
    return stream.getvalue()


def as_pgm(picture):
    return f"P5\n{picture.shape[1]} {picture.shape[0]}\n255\n".encode() + picture.tobytes()


def smooth_picture():
    """A ramp that passes the byte values of carriage return and line feed in every row."""
    return np.tile(np.arange(20, 0, -1, dtype=np.uint8), (12, 1))


def test_gray_pictures_come_back_unchanged():
    picture = np.random.default_rng(0).integers(0, 256, (6, 8), dtype=np.uint8)
    np.testing.assert_array_equal(decode_gray(encoded(picture), (6, 8), "picture"), picture)


def test_colour_becomes_luma():
    red = np.zeros((2, 2, 3), np.uint8)
    red[..., 0] = 255
    np.testing.assert_array_equal(decode_gray(encoded(red), (2, 2), "picture"), 76)  # 0.299 · 255


def test_another_size_is_refused_before_decoding():
    # Only the header of this picture is there: unpacking its 900 million pixels would fail differently.
    header = bytearray(encoded(np.zeros((1, 1), np.uint8)))
    header[16:24] = (30_000).to_bytes(4, "big") * 2
    header[29:33] = zlib.crc32(bytes(header[12:29])).to_bytes(4, "big")
    with pytest.raises(InvalidDataError):
        decode_gray(bytes(header), (128, 128), "bomb")
    with pytest.raises(InvalidDataError, match="3×5 pixels where 128×128"):
        decode_gray(encoded(np.zeros((3, 5), np.uint8)), (128, 128), "small")


@pytest.mark.parametrize("content", [b"", b"not a picture", encoded(np.eye(8, dtype=np.uint8))[:50]], ids=len)
def test_broken_pictures_are_refused(content):
    with pytest.raises(InvalidDataError, match="broken is not a readable picture"):
        decode_gray(content, (8, 8), "broken")


def test_other_formats_are_refused():
    with pytest.raises(InvalidDataError):
        decode_gray(encoded(np.zeros((8, 8), np.uint8), "GIF"), (8, 8), "gif")


def test_pgm_round_trip_and_refusals():
    picture = smooth_picture()
    np.testing.assert_array_equal(decode_pgm(as_pgm(picture), (12, 20), "face"), picture)
    for content in (as_pgm(picture)[:-1], as_pgm(picture) + b"x", b"P2\n20 12\n255\n", b""):
        with pytest.raises(InvalidDataError, match="face"):
            decode_pgm(content, (12, 20), "face")
    with pytest.raises(InvalidDataError, match="12×21"):
        decode_pgm(as_pgm(picture), (12, 21), "face")


def test_line_ending_conversion_is_undone():
    picture = np.full((12, 20), 10, np.uint8)
    original = as_pgm(picture)
    assert undo_line_ending_conversion(original, (12, 20)) == original
    assert undo_line_ending_conversion(original.replace(b"\n", b"\r\n"), (12, 20)) == original


def test_a_pair_that_was_there_before_the_conversion_is_found_by_smoothness():
    picture = smooth_picture()
    picture[5, 7:9] = 13, 10
    original = as_pgm(picture)
    assert original.count(b"\r\n") == 1
    lone = original.replace(b"\r\n", b"\0").replace(b"\n", b"\r\n").replace(b"\0", b"\r\n")
    assert lone.count(b"\r\n") > 4
    assert undo_line_ending_conversion(lone, (12, 20)) == original


def test_whole_factors_give_block_means_with_halves_rounded_up():
    pictures = np.random.default_rng(0).integers(0, 256, (3, 8, 12), dtype=np.uint8)
    blocks = pictures.reshape(3, 2, 4, 3, 4).astype(int).sum(axis=(2, 4))
    np.testing.assert_array_equal(shrink(pictures, (2, 3)), (2 * blocks + 16) // 32)


def test_broken_factors_keep_the_mean_and_constants():
    pictures = np.random.default_rng(0).integers(0, 256, (5, 112, 92), dtype=np.uint8)
    small = shrink(pictures, (32, 32))
    assert small.shape == (5, 32, 32)
    np.testing.assert_allclose(small.mean(axis=(1, 2)), pictures.mean(axis=(1, 2)), atol=0.5)
    np.testing.assert_array_equal(shrink(np.full((1, 112, 92), 77, np.uint8), (32, 32)), 77)
