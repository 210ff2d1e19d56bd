"""What becomes of a folder of images: its notes in full, its classes, every depth and size of a picture."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.inputs import InputError, read_samples

PIL_Image = pytest.importorskip("PIL.Image")


def save(path, pixels, **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    PIL_Image.fromarray(np.asarray(pixels)).save(path, **more)


def gray(value, height=6, width=8):
    return np.full((height, width), value, dtype=np.uint8)


def test_plain_images_have_one_note(tmp_path):
    for number in range(3):
        save(tmp_path / f"{number}.png", gray(number))
    samples = read_samples(tmp_path)
    assert samples.notes == ("3 images as 8 × 6 gray pixels",)
    assert (samples.target, samples.class_names, samples.names) == (None, None, ("0.png", "1.png", "2.png"))
    assert samples.X.dtype == np.float32
    assert read_samples(tmp_path, color=True).notes == ("3 images as 8 × 6 colour pixels",)


def test_folders_are_classes_only_if_there_are_several_and_every_image_lies_in_one(tmp_path):
    for name in ("cats/1.png", "cats/below/2.png", "dogs/1.png"):
        save(tmp_path / "a" / name, gray(1))
    found = read_samples(tmp_path / "a")
    assert found.notes[1:] == ("sub-folders are taken as the truth to compare with",)
    assert (found.class_names, found.target.tolist()) == (("cats", "dogs"), [0, 0, 1])
    save(tmp_path / "a" / "3.png", gray(1))
    found = read_samples(tmp_path / "a")
    assert found.notes[1:] == ("sub-folders are not taken as classes: 1 images lie in none",)
    assert found.target is None
    for name in ("all/1.png", "all/2.png"):
        save(tmp_path / "b" / name, gray(1))
    assert read_samples(tmp_path / "b").notes == ("2 images as 8 × 6 gray pixels",)


def test_other_files_and_those_that_were_skipped_are_counted_and_named(tmp_path):
    for number in range(2):
        save(tmp_path / f"{number}.png", gray(1))
    for name in ("b.txt", "a10.txt", "a2.txt"):
        (tmp_path / name).write_text("no image")
    for name in ("x.png", "y.png"):
        (tmp_path / name).write_bytes(b"broken")
    (tmp_path / "folder.png").mkdir()
    save(tmp_path / ".hidden.png", gray(1))
    found = read_samples(tmp_path, skip_unreadable=True)
    assert found.names == ("0.png", "1.png")
    assert found.notes[0] == "2 images as 8 × 6 gray pixels"
    assert found.notes[1].startswith("2 images left out that cannot be read: x.png (cannot identify image file")
    assert str(tmp_path) not in found.notes[1]
    assert found.notes[2:] == ("4 files not used, being no image: .hidden.png, a2.txt, a10.txt, b.txt",)
    (tmp_path / "1.png").unlink()
    with pytest.raises(InputError, match="has 1 images that can be read; at least 2 are needed"):
        read_samples(tmp_path, skip_unreadable=True)


def test_images_are_shrunk_by_area_means(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (2, 8, 12)).astype(np.uint8)
    for number, one in enumerate(pixels):
        save(tmp_path / f"{number}.png", one)
    found = read_samples(tmp_path, image_side=4)
    assert found.images_shape == (4, 4)
    np.testing.assert_allclose(found.X.reshape(2, 4, 4), pixels.reshape(2, 4, 2, 4, 3).mean(axis=(2, 4)), atol=1)


def test_only_deep_images_are_scaled_and_by_the_range_of_all_of_them(tmp_path):
    deep = [np.array([[100.0, 300], [200, 150]], dtype=np.float32), np.array([[200.0, 500], [200, 200]], np.float32)]
    for number, one in enumerate(deep):
        save(tmp_path / f"{number}.tif", one)
    save(tmp_path / "2.png", gray(77, 2, 2))
    found = read_samples(tmp_path)
    np.testing.assert_allclose(found.X[:2].reshape(2, 2, 2), (np.array(deep) - 100) * 255 / 400, rtol=1e-5)
    assert found.X[2].tolist() == [77] * 4
    assert found.notes[1:] == ("2 images, of more than 8 bits, scaled from 100 … 500 to 0 … 255",)
    colour = read_samples(tmp_path, color=True)
    assert colour.images_shape == (2, 2, 3)
    np.testing.assert_allclose(colour.X[:2].reshape(2, 4, 3), np.repeat(found.X[:2].reshape(2, 4, 1), 3, axis=2))


def test_deep_images_of_one_value_become_black(tmp_path):
    for number in range(2):
        save(tmp_path / f"{number}.tif", np.full((2, 2), 700.0, dtype=np.float32))
    assert read_samples(tmp_path).X.tolist() == [[0] * 4] * 2


def test_a_deep_image_with_values_that_are_no_numbers_is_named(tmp_path):
    save(tmp_path / "0.tif", np.ones((2, 2), dtype=np.float32))
    save(tmp_path / "1.tif", np.array([[1.0, np.inf], [2, 3]], dtype=np.float32))
    with pytest.raises(InputError, match=r"1\.tif cannot be read as an image \(it holds values that are no numbers\)"):
        read_samples(tmp_path)


def test_frames_and_turned_images_are_counted(tmp_path):
    frames = [PIL_Image.fromarray(gray(value)) for value in (10, 200)]
    for name in ("a", "b"):
        frames[0].save(tmp_path / f"{name}.gif", save_all=True, append_images=frames[1:])
    exif = PIL_Image.Exif()
    exif[0x0112] = 3  # upside down
    pixels = gray(0)
    pixels[0] = 255
    save(tmp_path / "c.png", pixels, exif=exif)
    plain = PIL_Image.Exif()
    plain[0x0112] = 0  # no turn that there is
    save(tmp_path / "d.png", pixels, exif=plain)
    found = read_samples(tmp_path)
    assert found.notes == (
        "4 images as 8 × 6 gray pixels",
        "2 images, of several frames: the first is read",
        "1 image, turned upright as the camera noted",
    )
    assert found.X[0].tolist() == [10] * 48
    assert found.X[2].reshape(6, 8)[5].tolist() == [255] * 8
    assert found.X[3].reshape(6, 8)[0].tolist() == [255] * 8


def test_names_with_numbers_stand_in_the_order_of_people(tmp_path):
    names = ["a.png", "a1b2.png", "a1b10.png", "a2.png", "a10.png", "b.png", "10.png", "9.png"]
    for name in names:
        save(tmp_path / name, gray(1))
    assert read_samples(tmp_path).names == (
        "9.png", "10.png", "a1b2.png", "a1b10.png", "a2.png", "a10.png", "a.png", "b.png",
    )  # fmt: skip


def test_unlike_sizes_become_thirty_two_and_one_that_is_damaged_has_none(tmp_path):
    save(tmp_path / "a.png", gray(5, 6, 8))
    (tmp_path / "b.png").write_bytes(b"broken")
    save(tmp_path / "c.png", gray(5, 6, 8))
    assert read_samples(tmp_path, skip_unreadable=True).images_shape == (6, 8)
    with pytest.raises(InputError, match=r"b\.png cannot be read as an image .* or leave such images out with --skip"):
        read_samples(tmp_path)
    save(tmp_path / "d.png", gray(5, 8, 6))
    assert read_samples(tmp_path, skip_unreadable=True).images_shape == (32, 32)


def test_a_folder_without_images_names_the_endings(tmp_path):
    with pytest.raises(InputError, match=r"holds no images \(\.bmp, \.gif, \.jpeg, \.jpg, .*\.webp\)"):
        read_samples(tmp_path)
