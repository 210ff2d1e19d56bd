"""What readers of matrices say and refuse, and what they make of unusual but honest files."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat
from scipy.sparse import csr_array

from masked_subspace.inputs import InputError, read_samples
from masked_subspace.inputs.matlab import variables
from masked_subspace.inputs.matlab_tags import check_claims
from masked_subspace.inputs.samples import as_csr, checked_matrix, numbered_classes

X = np.random.default_rng(0).normal(size=(6, 4))
Y = np.array([3, 5, 3, 5, 9, 3])


def saved(path, **arrays):
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("key", ["X", "data", "x", "features", "arr_0"])
def test_the_usual_names_of_a_matrix_come_before_others(tmp_path, key):
    """In this order: X first."""
    order = ["X", "data", "x", "features", "arr_0"]
    others = {name: np.ones((3, 3)) for name in order[order.index(key) + 1 :]}
    assert read_samples(saved(tmp_path / "a.npz", **others, other=np.ones((3, 3)), **{key: X})).X.shape == X.shape


def test_what_an_archive_was_used_for_is_said(tmp_path):
    path = saved(tmp_path / "a.npz", X=X, Target=Y, shape=[2, 2], extra=np.ones(3), more=np.ones(2))
    samples = read_samples(path)
    assert samples.notes == (
        "Target of the file is taken as the truth to compare with, not as a feature",
        "not used of the file: extra, more",
    )
    assert samples.faults == ()
    assert (samples.class_names, samples.images_shape) == (("3", "5", "9"), (2, 2))
    assert read_samples(saved(tmp_path / "b.npz", X=X)).notes == ()
    asked = read_samples(saved(tmp_path / "c.npz", X=X, y=Y, kind=Y[::-1][:, None]), label_column="kind")
    assert asked.target.tolist() == [0, 2, 1, 0, 1, 0]
    assert asked.notes[1] == "not used of the file: y"


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"X": X, "y": Y[:5]}, r"has 6 samples but y of shape \(5,\)"),
        ({"X": X, "y": np.ones((6, 2))}, r"has 6 samples but y of shape \(6, 2\)"),
        ({"X": X, "y": Y.astype(complex)}, r"\[y\] holds complex128; numbers or texts are needed"),
        ({"one": X, "two": X}, "holds one, two; name the matrix of samples X"),
        ({"one": Y}, "holds one; name the matrix of samples X"),
        ({"X": X.astype(str)}, "values; numbers are needed"),
        ({"X": Y}, r"has shape \(6,\); samples as the rows of a matrix are needed"),
        ({"X": X[:1]}, "has 1 sample of 4 values; at least 2 samples are needed"),
        ({"X": X[:, :0]}, "has 6 samples of 0 values"),
    ],
)
def test_archives_that_cannot_be_used(tmp_path, arrays, said):
    with pytest.raises(InputError, match=said):
        read_samples(saved(tmp_path / "a.npz", **arrays))


@pytest.mark.parametrize("truth", [np.array([b"u", b"v"] * 3), np.array(["u", "v"] * 3), Y == 3, Y.astype("u1")])
def test_a_truth_may_be_texts_or_numbers_of_any_kind(tmp_path, truth):
    assert read_samples(saved(tmp_path / "a.npz", X=X, y=truth)).target.max() >= 1


@pytest.mark.parametrize(
    ("shape", "used"), [((2, 2), True), ((1, 4), True), ((4,), False), ((1, 2, 2), True), ((1, 1, 2, 2), False),
                        ((2, 3), False)]
)  # fmt: skip
def test_a_shape_has_two_or_three_sides_that_give_the_values(tmp_path, shape, used):
    samples = read_samples(saved(tmp_path / "a.npz", X=X, shape=np.array(shape)))
    assert samples.images_shape == (shape if used else None)
    said = f"shape {list(shape)} of the file is no image of 4 values and is not used"
    assert samples.faults == (() if used else (said,))


def test_infinite_values_are_named_by_row_and_column():
    broken = X.copy()
    broken[[1, 2], [3, 0]] = np.inf, -np.inf
    with pytest.raises(InputError, match="too large: row 1, column 3, row 2, column 0; correct"):
        checked_matrix(broken, "it")
    with pytest.raises(InputError, match="too large: row 1, column 'd', row 2, column 'a'; correct"):
        checked_matrix(broken, "it", list("abcd"))
    with pytest.raises(InputError, match="it holds infinite values; correct or drop such samples"):
        checked_matrix(csr_array(broken), "it")
    with pytest.raises(InputError, match="it has shape"):
        checked_matrix(np.zeros((2, 2, 2)), "it")


def test_indices_become_small_where_they_fit():
    wide = sparse.coo_array((np.ones(2), (np.array([0, 1]), np.array([3, 2**31 + 4]))), shape=(2, 2**31 + 5))
    assert as_csr(wide).indices.tolist() == [3, 2**31 + 4]
    small = csr_array((np.ones(2), np.array([3, 1], dtype=np.int64), np.array([0, 1, 2], dtype=np.int64)), shape=(2, 4))
    found = as_csr(small)
    assert found.indices.dtype == found.indptr.dtype == np.int32
    mixed = csr_array((np.array([1.0, 2.0]), np.array([3, 1]), np.array([0, 2, 2])), shape=(2, 4))
    assert as_csr(mixed).indices.tolist() == [1, 3]
    assert as_csr(mixed).data.tolist() == [2, 1]


def test_classes_are_numbered_in_the_order_of_their_names():
    numbers, names = numbered_classes(["b", "a", "c\x1b", "a"])
    assert (numbers.tolist(), names, numbers.dtype) == ([1, 0, 2, 0], ("a", "b", "c\ufffd"), np.int64)
    assert numbered_classes(np.array([[7], [5]]))[0].shape == (2,)


HEAD = "%%MatrixMarket matrix "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("coordinate real general\n% a remark\n\n%another\n2 3 2\n1 3 0.5\n2 1 -2\n", [[0, 0, 0.5], [-2, 0, 0]]),
        ("coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", [[1, 1], [1, 0]]),
        ("coordinate integer skew-symmetric\n2 2 1\n2 1 3\n", [[0, -3], [3, 0]]),
        ("array double general\n2 3\n1 2 3 4 5 6\n", [[1, 3, 5], [2, 4, 6]]),
        ("array unsigned-integer symmetric\n2 2\n1 2 3\n", [[1, 2], [2, 3]]),
        ("array real skew-symmetric\n3 3\n1 2 3\n", [[0, -1, -2], [1, 0, -3], [2, 3, 0]]),
        ("COORDINATE Real General\r\n2 2 0\r\n", [[0, 0], [0, 0]]),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_matrix_market_by_hand(tmp_path, text, expected, packed):
    path = tmp_path / ("a.mtx.gz" if packed else "a.mtx")
    content = (HEAD + text).encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    found = read_samples(path).X
    np.testing.assert_array_equal(csr_array(found).toarray(), expected)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("array pattern general\n2 2\n1 1 1 1\n", "real numbers"),
        ("coordinate real hermitian\n2 2 1\n1 1 1\n", "it holds coordinate real hermitian"),
        ("list real general\n2 2 1\n1 1 1\n", "it holds list real general"),
        ("coordinate real\n2 2 1\n1 1 1\n", "first line"),
        ("coordinate real general\n2 2\n1 1 1\n", "line of sizes"),
        ("coordinate real general\n2 2 -1\n1 1 1\n", "line of sizes"),
        ("coordinate real general", "line of sizes"),
        ("array real skew-symmetric\n2 3\n1 2 3\n", "skew-symmetric but 2 × 3"),
        ("array real skew-symmetric\n2 2\n1 2\n", "claims 1 numbers but has 2"),
        ("coordinate real general\n2 2 1\n3 1 1\n", "outside of 2 × 2"),
        ("coordinate real general\n2 2 1\n1 0 1\n", "outside of 2 × 2"),
        ("array real general\n9 9\n1\n", "claims 81 numbers|claims 9 × 9 numbers|claims 81 entries"),
    ],
)
def test_matrix_market_that_cannot_be_used(tmp_path, text, said):
    (tmp_path / "a.mtx").write_text(HEAD + text)
    with pytest.raises(InputError, match=said):
        read_samples(tmp_path / "a.mtx")


def test_matrix_market_may_claim_two_entries_for_every_byte(tmp_path):
    for entries, said in ((80, "claims 80 entries but has 3 numbers"), (2000, "claims 2000 entries, more than its")):
        (tmp_path / "a.mtx").write_text(f"{HEAD}coordinate real general\n2 2 {entries}\n1 1 1\n")
        with pytest.raises(InputError, match=said):
            read_samples(tmp_path / "a.mtx")


def test_of_matlab_s_variables_numbers_are_read_and_the_limit_is_for_each(tmp_path):
    savemat(tmp_path / "a.mat", {"X": X, "text": "words", "cell": np.array([1, "a"], dtype=object)})
    assert variables(tmp_path / "a.mat", "it", 10**6) == {"X": (6, 4)}
    assert variables(tmp_path / "a.mat", "it", 8 * 24) == {"X": (6, 4)}
    with pytest.raises(InputError, match=r"it \[X\] would take"):
        variables(tmp_path / "a.mat", "it", 8 * 24 - 1)


def test_what_of_a_matlab_file_is_samples_and_truth_is_said(tmp_path):
    savemat(tmp_path / "a.mat", {"fea": X, "other": np.ones((1, 5)), "Class": Y})
    samples = read_samples(tmp_path / "a.mat")
    assert samples.notes == (
        "variable 'fea' is the samples", "not used of the file: other", "variable 'Class' is the truth",
    )  # fmt: skip
    assert samples.target.tolist() == [0, 1, 0, 1, 2, 0]
    savemat(tmp_path / "b.mat", {"only": csr_array(X)})
    assert read_samples(tmp_path / "b.mat").notes == ("variable 'only' is the samples",)
    np.testing.assert_array_equal(read_samples(tmp_path / "b.mat").X.toarray(), X)
    savemat(tmp_path / "c.mat", {"X": X, "gnd": Y[:5]})
    with pytest.raises(InputError, match="has 6 samples but gnd of 5 values"):
        read_samples(tmp_path / "c.mat")
    with pytest.raises(InputError, match=r"no variable 'gmd' \(--label-column\) \(did you mean 'gnd'\?\); it has"):
        read_samples(tmp_path / "c.mat", label_column="gmd")
    savemat(tmp_path / "d.mat", {"X": csr_array(X.T), "gnd": Y})
    turned = read_samples(tmp_path / "d.mat")
    np.testing.assert_array_equal(turned.X.toarray(), X)
    square = np.arange(36.0).reshape(6, 6)
    savemat(tmp_path / "e.mat", {"X": square, "gnd": Y})  # as many rows as columns: the rows are samples
    np.testing.assert_array_equal(read_samples(tmp_path / "e.mat").X, square)
    savemat(tmp_path / "f.mat", {"row": np.ones((1, 5))})
    with pytest.raises(InputError, match="holds row; name the matrix X"):
        read_samples(tmp_path / "f.mat")


LEVEL_4 = {"<": 0, ">": 1000}


@pytest.mark.parametrize("order", LEVEL_4)
@pytest.mark.parametrize(
    ("precision", "width"), [(0, 8), (1, 4), (2, 4), (3, 2), (4, 2), (5, 1), (9, 8)]
)  # fmt: skip
@pytest.mark.parametrize("imaginary", [0, 1])
def test_claims_of_level_4_are_counted_by_the_width_of_their_numbers(tmp_path, order, precision, width, imaginary):
    """Two variables; the second lies where the first ends, and the file may not be a byte shorter."""
    head = struct.pack(f"{order}5i", LEVEL_4[order] + 10 * precision, 3, 2, imaginary, 2) + b"X\0"
    one = head + b"\1" * (6 * width * (2 if imaginary else 1))
    path = tmp_path / "a.mat"
    path.write_bytes(one + one)
    check_claims(path, "it", 10**6)
    for short in (1, len(one) + 1):
        path.write_bytes((one + one)[:-short])
        with pytest.raises(InputError, match="claims more bytes than the file has"):
            check_claims(path, "it", 10**6)


@pytest.mark.parametrize("place", [1, 2, 4])
def test_negative_claims_of_level_4_are_refused(tmp_path, place):
    parts = [0, 3, 2, 0, 2]
    parts[place] = -1
    (tmp_path / "a.mat").write_bytes(struct.pack("<5i", *parts) + b"X\0" + b"\1" * 200)
    with pytest.raises(InputError, match="claims more bytes"):
        check_claims(tmp_path / "a.mat", "it", 10**6)


def test_tracks_without_a_third_row_or_without_a_truth(tmp_path):
    tracks = np.random.default_rng(0).normal(size=(2, 5, 3))
    savemat(tmp_path / "cars_truth.mat", {"x": tracks})
    samples = read_samples(tmp_path)
    assert samples.X.shape == (5, 6)
    assert samples.notes == ("5 points tracked over 3 frames",)
    assert (samples.target, len(samples.feature_names)) == (None, 6)
    savemat(tmp_path / "cars_truth.mat", {"x": tracks, "s": np.arange(5) % 2})
    assert read_samples(tmp_path).notes[1:] == ("s, the motion of each point, is the truth",)
    for wrong, said in (
        ({"x": tracks, "s": np.ones(4)}, "has 5 points but s of 4 values"),
        ({"x": tracks[:1]}, "holds no x of 3 × points × frames"),
        ({"x": tracks[0]}, "holds no x of 3"),
        ({"z": tracks}, "holds no x of 3"),
    ):
        savemat(tmp_path / "cars_truth.mat", wrong)
        with pytest.raises(InputError, match=said):
            read_samples(tmp_path)
    savemat(tmp_path / "bus_truth.mat", {"x": tracks})
    with pytest.raises(InputError, match=r"holds 2 sequences \(bus_truth\.mat, cars_truth\.mat\); cluster"):
        read_samples(tmp_path)


def test_roles_of_columns_of_parquet_follow_their_types(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    n = 30
    rng = np.random.default_rng(0)
    table = arrow.table(
        {
            "flag": [k % 2 == 0 for k in range(n)],
            "half": [None if k == 3 else k % 5 / 2 for k in range(n)],
            "nan": [float("nan") if k in (3, 4) else float(k % 4) for k in range(n)],
            "both": [None if k == 3 else float("nan") if k == 4 else 1.0 * (k % 3) for k in range(n)],
            "kind": arrow.array(["u", "v"] * 15).dictionary_encode(),
            "who": [f"s{k}" for k in range(n)],
            "gap": [None, *(f"t{k}" for k in range(n - 1))],
            "day": arrow.array(list(range(n)), type=arrow.date32()),
            "none": arrow.array([None] * n, type=arrow.float64()),
            "y": list(rng.random(n)),
            "label": [k % 3 for k in range(n)],
        }
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    samples = read_samples(tmp_path / "a.parquet", missing="ignore")
    assert {one.name: (one.role, one.why, one.missing) for one in samples.columns} == {
        "flag": ("feature", "true and false are 1 and 0", 0),
        "half": ("feature", "", 1),
        "nan": ("feature", "", 2),
        "both": ("feature", "", 2),
        "kind": ("ignored", "text that repeats, not a measurement; --label-column compares with it", 0),
        "who": ("name", "all values differ", 0),
        "gap": (
            "ignored", "29 different texts and 1 missing, not a measurement; --name-column takes them as names", 1,
        ),
        "day": ("ignored", "date32[day], not a column of numbers", 0),
        "none": ("ignored", "it has no values", n),
        "y": ("feature", "has fractions, so it is a measurement and no class (--drop leaves it out)", 0),
        "label": ("truth", "to compare with, not a feature", 0),
    }  # fmt: skip
    assert samples.X[:3, 0].tolist() == [1, 0, 1]
    assert samples.names[2] == "s2"
    assert samples.class_names == ("0", "1", "2")


@pytest.mark.parametrize(("rows", "refused"), [(100, False), (101, True)])
def test_a_parquet_file_claims_eight_bytes_for_every_entry(tmp_path, rows, refused):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {name: np.random.default_rng(0).random(rows) for name in "ab"}
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    if refused:
        with pytest.raises(InputError, match="--max-gb"):
            read_samples(tmp_path / "a.parquet", max_bytes=1600)
    else:
        assert read_samples(tmp_path / "a.parquet", max_bytes=1600).X.shape == (100, 2)
