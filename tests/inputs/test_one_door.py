"""`read_samples`: names of what was read, options from both places, standard input by its content."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys

import numpy as np
import pytest

from masked_subspace.inputs import InputError, ReadOptions, read_samples

X = np.random.default_rng(0).normal(size=(6, 3)).round(3)


def typed(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def as_text(rows):
    return "\n".join(",".join(map(str, row)) for row in rows) + "\n"


def test_equal_numbers_have_one_name_whatever_file_held_them(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", X)
    (tmp_path / "a.csv").write_text(as_text(X))
    typed(monkeypatch, (tmp_path / "a.csv").read_bytes())
    found = [read_samples(one).fingerprints for one in (tmp_path / "a.npy", tmp_path / "a.csv", "-")]
    assert len({one["numbers"] for one in found}) == 1
    for one, path in zip(found, ("a.npy", "a.csv", "a.csv"), strict=True):
        assert one["file"] == hashlib.sha256((tmp_path / path).read_bytes()).hexdigest()[:16]
        assert len(one["numbers"]) == 16
    assert read_samples(tmp_path / "a.npy", scale="standard").fingerprints["file"] == found[0]["file"]


def test_a_folder_is_named_after_the_names_and_pixels_of_its_images(tmp_path):
    image = pytest.importorskip("PIL.Image")

    def saved(folder, *names, value=1):
        for number, name in enumerate(names):
            (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
            image.fromarray(np.full((4, 4), number + value, np.uint8)).save(tmp_path / folder / name)
        return read_samples(tmp_path / folder).fingerprints

    first, same = saved("a", "x.png", "y.png"), saved("b", "x.png", "y.png")
    assert first == same
    renamed, other = saved("c", "x.png", "z.png"), saved("d", "x.png", "y.png", value=2)
    assert renamed["file"] != first["file"]
    assert renamed["numbers"] == first["numbers"]
    assert other["file"] != first["file"]


def test_options_come_together_and_later_words_count(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,kind\n1,2,u\n3,5,v\n4,,u\n")
    options = ReadOptions(label_column="kind", drop=("b",))
    found = read_samples(path, options)
    assert (found.feature_names, found.class_names) == (("a",), ("u", "v"))
    found = read_samples(path, options, drop=(), impute="median")
    assert found.feature_names == ("a", "b")
    assert found.X[2].tolist() == [4, 3.5]
    assert found.class_names == ("u", "v")
    with pytest.raises(TypeError):
        read_samples(path, nonsense=1)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("npy", "NumPy array"), ("csv", "text table"), ("gz", "compressed text table"), ("mtx", "Matrix Market")],
)
def test_standard_input_is_known_by_its_first_bytes_and_said(monkeypatch, kind, name):
    stream = io.BytesIO()
    np.save(stream, X)
    header = b"%%MatrixMarket matrix array real general\n6 3\n"
    content = {
        "npy": stream.getvalue(),
        "csv": as_text(X).encode(),
        "gz": gzip.compress(as_text(X).encode()),
        "mtx": header + " ".join(map(str, X.T.ravel())).encode(),
    }[kind]
    typed(monkeypatch, content)
    found = read_samples("-")
    np.testing.assert_array_equal(found.X, X)
    assert found.notes == (f"standard input is read as {name}",)


def test_standard_input_has_a_limit_and_a_name(monkeypatch):
    content = as_text(X).encode()
    for limit, fits in ((len(content), True), (len(content) - 1, False)):
        typed(monkeypatch, content)
        if fits:
            assert read_samples("-", max_bytes=limit).X.shape == X.shape
        else:
            with pytest.raises(InputError, match="standard input unpacks to more than"):
                read_samples("-", max_bytes=limit)
    typed(monkeypatch, b"1,2\n3,\n4,5\n")
    with pytest.raises(InputError, match=r"^standard input has 1 missing value: 'column 1' 1 \(row 1\)\. --impute"):
        read_samples("-")


def test_what_cannot_be_opened_is_one_line(tmp_path):
    with pytest.raises(InputError, match="there is no file or folder nowhere"):
        read_samples("nowhere.csv")
    with pytest.raises(InputError, match=r"(no possible file name|may not be read)"):
        read_samples("a\0.csv")
    long = tmp_path / ("x" * 300 + ".csv")
    with pytest.raises(InputError, match=r"may not be read: File name too long|cannot be read: File name too long"):
        read_samples(long)
