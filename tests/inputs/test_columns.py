"""Every column of a table has a role that is said; nothing vanishes."""

from __future__ import annotations

import gzip
import io
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.inputs import InputError, Samples, read_pairs, read_samples
from masked_subspace.inputs.adjust import scaled

RNG = np.random.default_rng(0)


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def roles(samples):
    return {column.name: column.role for column in samples.columns}


def a_table(**columns):
    """Two measurements and more columns (functions of the row)."""
    names = [*columns, "height", "weight"]
    rows = [[*(make(i) for make in columns.values()), f"{RNG.random():.3f}", f"{RNG.random():.3f}"] for i in range(30)]
    return "\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n"


def test_ids_texts_and_labels_are_no_features_and_all_of_it_is_said(tmp_path):
    text = a_table(
        id=lambda i: 1000 + 7 * i, region=lambda i: "north" if i % 2 else "south", species=lambda i: "abc"[i % 3]
    )
    samples = read_samples(write(tmp_path / "a.csv", text))
    assert roles(samples) == {
        "id": "name", "region": "ignored", "species": "ignored", "height": "feature", "weight": "feature"
    }  # fmt: skip
    assert samples.names[1] == "1007"
    said = "\n".join(samples.notes)
    assert "2 features: height, weight" in said
    assert "column 'region' is ignored: text that repeats" in said
    assert "--label-column" in said
    chosen = read_samples(tmp_path / "a.csv", label_column="species")
    assert chosen.class_names == ("a", "b", "c")
    assert roles(chosen)["species"] == "truth"


@pytest.mark.parametrize(
    ("make", "role"),
    [
        (lambda i: f"{0.37 * i + 0.01:.2f}", "feature"),  # a coordinate
        (lambda i: f"{(i % 4) / 2}", "feature"),  # fractions that repeat
        (lambda i: i % 3, "truth"),
        (lambda i: f"{i % 3}.0", "truth"),
        (lambda i: "ab"[i % 2], "truth"),
        (lambda i: f"cell {i}", "name"),
    ],
)
def test_a_column_named_like_labels_is_the_truth_only_if_it_can_be(tmp_path, make, role):
    samples = read_samples(write(tmp_path / "a.csv", a_table(y=make)))
    assert roles(samples)["y"] == role
    told = any("y: has fractions, so it is a measurement and no class" in note for note in samples.notes)
    assert told == (role == "feature")
    assert roles(read_samples(tmp_path / "a.csv", label_column="y"))["y"] == "truth"  # asked for


@pytest.mark.parametrize(
    ("name", "make", "role"),
    [
        ("patient_id", lambda i: i % 7, "ignored"),
        ("patientId", lambda i: 3 * i, "name"),
        ("n", lambda i: i + 5, "name"),  # numbers the rows
        ("code", lambda i: (i * 7919) % 100003, "name"),  # whole numbers, all different
        ("count", lambda i: i % 9, "feature"),
        ("valid", lambda i: 0.5 * i, "feature"),
        ("paid", lambda i: i % 2, "feature"),
    ],
)
def test_columns_that_number_rows_are_ids(tmp_path, name, make, role):
    samples = read_samples(write(tmp_path / "a.csv", a_table(**{name: make})))
    assert roles(samples)[name] == role
    asked = read_samples(tmp_path / "a.csv", features=(f"{name},height",))
    assert roles(asked) == {name: "feature", "height": "feature", "weight": "ignored"}


def test_a_table_of_counts_keeps_them(tmp_path):
    values = RNG.permutation(90).reshape(30, 3)
    path = tmp_path / "a.csv"
    np.savetxt(path, values, delimiter=",", header="a,b,c", comments="", fmt="%d")
    assert read_samples(path).X.shape == (30, 3)


def test_names_that_repeat_are_not_names(tmp_path):
    text = a_table(city=lambda i: f"city {i % 10}", person=lambda i: f"person {i}")
    samples = read_samples(write(tmp_path / "a.csv", text))
    assert roles(samples)["city"] == "ignored"
    assert samples.names[3] == "person 3"
    asked = read_samples(tmp_path / "a.csv", name_column="city")
    assert asked.names[3] == "city 3"
    assert any("some names repeat" in note for note in asked.notes)
    with pytest.raises(InputError, match="'city 3' is the name of several samples"):
        read_pairs(write(tmp_path / "p.csv", "city 3,city 4,must\n"), asked)


def test_columns_can_be_dropped_and_wrong_names_are_said(tmp_path):
    path = write(tmp_path / "a.csv", a_table())
    assert read_samples(path, drop=("weight",)).feature_names == ("height",)
    for option in ("features", "drop"):
        with pytest.raises(
            InputError, match=f"no column 'wait' .--{option}. .did you mean 'weight'..; it has height, weight"
        ):
            read_samples(path, **{option: ("wait",)})
    with pytest.raises(InputError, match="no column 'wait'"):
        read_samples(path, name_column="wait")
    text = write(tmp_path / "b.csv", a_table(kind=lambda i: "xy"[i % 2]))
    with pytest.raises(InputError, match=r"'kind' .--features. is text"):
        read_samples(text, features=("kind",))


def test_decimal_commas_lose_no_measurement(tmp_path):
    values = RNG.standard_normal((40, 13)) * 100
    lines = [";".join(f"m{j}" for j in range(13))]
    lines += [";".join(f"{value:.3f}".replace(".", ",") for value in row) for row in values]
    samples = read_samples(write(tmp_path / "a.csv", "\n".join(lines)))
    assert np.allclose(samples.X, np.round(values, 3))
    assert any("decimal commas" in note for note in samples.notes)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,5", "2,25"], [1.5, 2.25]),
        (["1.234,5", "12,0"], [1234.5, 12]),
        (['"1,234.5"', '"7,000.0"'], [1234.5, 7000]),
        (['"1,234,567"', "12"], [1234567, 12]),
        (["1 234,5", "2,5"], [1234.5, 2.5]),
        (["1'234.5", "2.5"], [1234.5, 2.5]),
        (["1.234.567", "2"], [1234567, 2]),
        (["-1e-3", "+2E5"], [-1e-3, 2e5]),
    ],
)
def test_numbers_as_people_write_them(tmp_path, cells, expected):
    text = "x;y\n" + "".join(f"{cell};0.5\n" for cell in cells)
    assert read_samples(write(tmp_path / "a.csv", text)).X[:, 0].tolist() == expected


def test_a_comma_that_may_be_either_follows_the_file_and_can_be_told(tmp_path):
    path = write(tmp_path / "a.csv", "x;y\n1,234;0,5\n2,000;1,5\n")
    assert read_samples(path).X[:, 0].tolist() == [1.234, 2.0]
    assert read_samples(path, decimal=".", features=("x",)).X[:, 0].tolist() == [1234, 2000]


def test_points_and_commas_in_one_column_are_refused_not_guessed(tmp_path):
    text = "x;w\n1,25;1\n2.75;2\n3,5;4\n"
    samples = read_samples(write(tmp_path / "a.csv", text))
    assert roles(samples)["x"] == "ignored"
    assert any("write them one way" in note for note in samples.notes)


MISSING = "a,b,c\n1,2,3\n,2,\n4,NA,6\n7,8,?\n9,1,2\n"


def test_all_missing_values_are_counted_by_column(tmp_path):
    path = write(tmp_path / "a.csv", MISSING)
    message = r"4 missing values: 'a' 1 \(row 1\), 'b' 1 \(row 2\), 'c' 2 \(rows 1, 3\)\. --impute median"
    with pytest.raises(InputError, match=message):
        read_samples(path)
    X = np.array([[1, 2, 3], [np.nan, 2, np.nan], [4, np.nan, 6], [7, 8, np.nan], [9, 1, 2.0]])
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(InputError, match=r"'column 2' 2 \(rows 1, 3\)"):  # rows count from 0 here as well
        read_samples(tmp_path / "a.npy")


def test_missing_values_are_filled_dropped_or_passed_on(tmp_path):
    path = write(tmp_path / "a.csv", MISSING)
    filled = read_samples(path, impute="median")
    assert filled.X[1].tolist() == [5.5, 2, 3]
    assert any("filled in (median)" in note for note in filled.notes)
    assert np.isfinite(read_samples(path, impute="knn").X).all()
    dropped = read_samples(path, missing="drop")
    assert dropped.X.tolist() == [[1, 2, 3], [9, 1, 2]]
    assert dropped.names == ("0", "4")  # rows keep their numbers
    assert any("3 rows are left out: 1, 2, 3" in note for note in dropped.notes)
    pairs = read_pairs(write(tmp_path / "p.csv", "0,4,must\n"), dropped)
    assert pairs.must_link.tolist() == [[0, 1]]
    with pytest.raises(InputError, match="'1' is neither"):
        read_pairs(write(tmp_path / "p.csv", "0,1,must\n"), dropped)
    assert np.isnan(read_samples(path, missing="ignore").X).sum() == 4


def test_scaling(tmp_path):
    samples = read_samples(write(tmp_path / "a.csv", a_table()), scale="standard")
    assert np.allclose(samples.X.mean(axis=0), 0)
    assert np.allclose(samples.X.std(axis=0), 1)


def test_compressed_text_and_standard_input(tmp_path, monkeypatch):
    text = a_table()
    whole = read_samples(write(tmp_path / "a.csv", text))
    with gzip.open(tmp_path / "a.csv.gz", "wb") as stream:
        stream.write(text.encode())
    assert np.array_equal(read_samples(tmp_path / "a.csv.gz").X, whole.X)
    npy = io.BytesIO()
    np.save(npy, whole.X)
    for content in (text.encode(), (tmp_path / "a.csv.gz").read_bytes(), npy.getvalue()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert np.array_equal(read_samples("-").X, whole.X)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InputError, match="standard input is empty"):
        read_samples("-")


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path):
    with gzip.open(tmp_path / "a.csv.gz", "wb") as stream:
        stream.write(b"1,2\n" * 1_000_000)
    with pytest.raises(InputError, match="unpacks to more than"):
        read_samples(tmp_path / "a.csv.gz", max_bytes=1_000_000)


def test_parquet_columns_have_roles_too(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    n = 30
    table = arrow.table({
        "sample_id": list(range(n)), "kind": ["u", "v"] * 15, "x": list(RNG.random(n)),
        "y2": [None, *RNG.random(n - 1)],
    })  # fmt: skip
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"'y2' 1 \(row 0\)"):
        read_samples(tmp_path / "a.parquet")
    said = read_samples(tmp_path / "a.parquet", impute="median").notes
    assert "column 'kind' is ignored: text that repeats, not a measurement; --label-column compares with it" in said
    samples = read_samples(tmp_path / "a.parquet", impute="median", label_column="kind")
    assert roles(samples) == {"sample_id": "name", "kind": "truth", "x": "feature", "y2": "feature"}
    assert {column.name: column.missing for column in samples.columns}["y2"] == 1


def test_of_whole_numbers_in_parquet_those_that_number_the_rows_are_an_id(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"a": range(100, 130), "b": [7 * one for one in range(30)], "c": [one**2 for one in range(30)]}
    parquet.write_table(arrow.table({name: list(values) for name, values in columns.items()}), tmp_path / "a.parquet")
    assert roles(read_samples(tmp_path / "a.parquet")) == {"a": "name", "b": "feature", "c": "feature"}


def test_scaled_sparse_features_keep_their_zeros_and_dense_ones_are_centred():
    X = np.random.default_rng(0).poisson(1.0, size=(40, 5)).astype(float)
    dense, sparse = scaled(Samples(X), "standard"), scaled(Samples(csr_array(X)), "standard")
    np.testing.assert_allclose(dense.X, (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-12)
    np.testing.assert_allclose(sparse.X.toarray(), X / X.std(axis=0), atol=1e-12)
    assert sparse.X.nnz == (X > 0).sum()
    assert dense.notes == ("every feature is scaled to mean 0 and variance 1",)
    assert sparse.notes == ("every feature is scaled to variance 1, its zeros stay",)
