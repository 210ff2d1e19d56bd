"""Damaged and lying files of every format: samples that make sense or an InputError of one line, never anything else.

The same cases on every run of `make test`; `make fuzz` looks longer.
"""

from __future__ import annotations

import gzip
import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import sklearn.impute  # noqa: F401  (before memory is measured)
from counting import count
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import mmwrite, savemat
from strategies import bounded

from masked_subspace.cli import main
from masked_subspace.cli.exits import Exit
from masked_subspace.datasets.errors import InvalidDataError
from masked_subspace.datasets.spec import ImageSet
from masked_subspace.datasets.storage import read_npz, write_npz
from masked_subspace.inputs import InputError, Samples, read_pairs, read_samples

pytestmark = pytest.mark.fuzz
MOST_BYTES = 50_000_000
BOUNDED = bounded(100)
RNG = np.random.default_rng(0)
X = RNG.integers(0, 9, (12, 5)).astype(np.float64)


def _npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, X)
    return stream.getvalue()


def _npz(save=np.savez) -> bytes:
    stream = io.BytesIO()
    save(stream, X=X, y=np.arange(12) % 3, shape=(1, 5))
    return stream.getvalue()


def _sparse() -> bytes:
    stream = io.BytesIO()
    sparse.save_npz(stream, sparse.csr_array(X))
    return stream.getvalue()


def _csv() -> bytes:
    rows = [f"n{i};" + ";".join(f"{value:.2f}".replace(".", ",") for value in row) for i, row in enumerate(X)]
    return "\n".join(["name;a;b;c;d;label", *rows]).encode()


def _mtx() -> bytes:
    stream = io.BytesIO()
    mmwrite(stream, sparse.coo_array(X))
    return stream.getvalue()


def _mat(compressed: bool) -> bytes:
    stream = io.BytesIO()
    savemat(stream, {"X": X, "y": np.arange(12) % 3}, do_compression=compressed)
    return stream.getvalue()


def _parquet() -> bytes:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(arrow.table({"n": list("abcdefghijkl"), **{f"x{j}": X[:, j] for j in range(5)}}), stream)
    return stream.getvalue()


def _tracks() -> bytes:
    stream = io.BytesIO()
    savemat(stream, {"x": RNG.random((3, 12, 4)), "s": np.arange(12)[:, None] % 2 + 1.0})
    return stream.getvalue()


def _annotated() -> bytes:
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("anndata")
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file["X"] = X
    return stream.getvalue()


def _png(mode) -> bytes:
    Image = pytest.importorskip("PIL.Image")
    stream = io.BytesIO()
    Image.fromarray(RNG.integers(0, 200, (8, 8)).astype(mode)).save(stream, "PNG")
    return stream.getvalue()


WHOLE = {
    "a.npy": _npy, "a.npz": _npz, "packed.npz": lambda: _npz(np.savez_compressed), "sparse.npz": _sparse,
    "a.csv": _csv, "a.csv.gz": lambda: gzip.compress(_csv(), mtime=0), "a.mtx": _mtx, "a.mat": lambda: _mat(False),
    "packed.mat": lambda: _mat(True), "a.parquet": _parquet, "a.h5ad": _annotated, "tracks/a_truth.mat": _tracks,
}  # fmt: skip

KINDS = ("flip", "cut", "overwrite", "insert", "repeat")
changes = st.lists(
    st.tuples(st.sampled_from(KINDS), st.floats(0, 1), st.binary(max_size=9)),
    min_size=1,
    max_size=4,
)


def changed(content: bytes, edits) -> bytes:
    for kind, where, new in edits:
        place = int(where * max(0, len(content) - 1))
        if kind == "flip" and content:
            bit = new[0] % 8 if new else 0
            content = content[:place] + bytes([content[place] ^ (1 << bit)]) + content[place + 1 :]
        elif kind == "cut":
            content = content[:place]
        elif kind == "overwrite":
            content = content[:place] + new + content[place + len(new) :]
        elif kind == "insert":
            content = content[:place] + new + content[place:]
        elif kind == "repeat":
            content = content[:place] + content[max(0, place - 20) :]
    return content


def read_or_refused(path: Path, **options) -> Samples | None:
    """What the reader makes of a file, if it makes sense; None if it refuses with one clean line."""
    tracemalloc.start()
    try:
        samples = read_samples(path, max_bytes=MOST_BYTES, **options)
    except InputError as error:
        text = str(error)
        assert text
        assert "\x1b" not in text
        assert "\u202e" not in text
        return None
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 4 * MOST_BYTES
    values = samples.X.data if sparse.issparse(samples.X) else samples.X
    assert samples.X.ndim == 2
    assert samples.n_samples >= 2
    assert np.isfinite(values).all()
    assert samples.names is None or len(samples.names) == samples.n_samples
    if samples.target is not None:
        assert samples.target.shape == (samples.n_samples,)
        assert samples.target.min() >= 0
        assert samples.target.max() < len(samples.class_names)
    if samples.images_shape is not None:
        assert int(np.prod(samples.images_shape)) == samples.X.shape[1]
    return samples


@pytest.mark.parametrize("name", WHOLE)
def test_damaged_files(tmp_path, name):
    whole = WHOLE[name]()
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(whole)
    given_path = path.parent if name.startswith("tracks") else path
    assert read_or_refused(given_path) is not None

    @BOUNDED
    @given(changes)
    def damage(edits):
        content = changed(whole, edits)
        path.write_bytes(content)
        count("files refused" if read_or_refused(given_path) is None else "files read")
        assert path.read_bytes() == content

    damage()


@pytest.mark.parametrize("mode", [np.uint8, np.uint16])
def test_damaged_images(tmp_path, mode):
    whole = _png(mode)
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(whole)

    @BOUNDED
    @given(changes, st.booleans())
    def damage(edits, skip):
        (tmp_path / "c.png").write_bytes(changed(whole, edits))
        samples = read_or_refused(tmp_path, skip_unreadable=skip)
        count("files refused" if samples is None else "files read")
        assert not skip or samples is not None

    damage()


cells = st.one_of(
    st.floats(allow_nan=True).map(str), st.integers().map(str), st.sampled_from(["", "NA", "1,5", "1.234,5", "1,234"]),
    st.text(max_size=8),
)  # fmt: skip


@BOUNDED
@given(st.lists(st.lists(cells, min_size=1, max_size=4), min_size=1, max_size=8), st.sampled_from(",;\t"))
def test_tables_of_anything(tmp_path, rows, mark):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(mark.join(row) for row in rows), encoding="utf-8", errors="replace", newline="")
    samples = read_or_refused(path, impute="median")
    count("files refused" if samples is None else "files read")
    if samples is not None and samples.columns:
        assert sum(column.role == "feature" for column in samples.columns) == samples.X.shape[1]
        assert all(column.why for column in samples.columns if column.role == "ignored")


@BOUNDED
@given(st.one_of(st.binary(max_size=60), st.text(alphabet="0123456789,\nmustcan-", max_size=60).map(str.encode)))
def test_pairs_of_anything(tmp_path, content):
    (tmp_path / "p.csv").write_bytes(content)
    try:
        pairs = read_pairs(tmp_path / "p.csv", Samples(X))
    except InputError as error:
        assert "p.csv" in str(error)  # noqa: PT017
        return
    both = np.concatenate([pairs.must_link, pairs.cannot_link])
    assert len(both) > 0
    assert both.min() >= 0
    assert both.max() < 12


# The command itself, and the two kinds of files that the package writes and reads again.


@pytest.mark.parametrize("name", ["a.npz", "a.csv", "a.mat"])
def test_the_command_gives_a_run_or_one_line(tmp_path, name, capsys):
    whole, path = WHOLE[name](), tmp_path / name

    @bounded(25)
    @given(changes)
    def damage(edits):
        path.write_bytes(changed(whole, edits))
        arguments = [str(path), "-k", "2", "--method", "knn", "--jobs", "1", "-q", "--no-report"]
        code = main(["cluster", *arguments, "--out", str(tmp_path / "out")])
        said = capsys.readouterr()
        count("commands refused" if code else "commands run")
        assert said.out == ""
        assert "Traceback" not in said.err
        if code:
            assert code in set(Exit)
            assert said.err.startswith("masked-subspace")
            assert said.err.count("\n") == 1

    damage()


def test_cached_sets_are_as_written_or_refused(tmp_path):
    path = tmp_path / "some.npz"
    images = ImageSet(RNG.integers(0, 256, (6, 4)).astype(np.uint8), np.arange(6) % 3, (2, 2), "here")
    write_npz(path, images)
    whole = path.read_bytes()

    @BOUNDED
    @given(changes)
    def damage(edits):
        path.write_bytes(changed(whole, edits))
        try:
            found = read_npz(path, "cache")
        except InvalidDataError as error:
            count("files refused")
            assert "some.npz" in str(error)  # noqa: PT017
            return
        count("files read")
        np.testing.assert_array_equal(found.X, images.X)
        np.testing.assert_array_equal(found.y, images.y)

    damage()
