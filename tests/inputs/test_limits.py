"""How much is read at most, in numbers, and what is said of more."""

import gzip
import io
from types import SimpleNamespace

import numpy as np
import pytest

from masked_subspace.inputs import InputError, read_samples
from masked_subspace.inputs.adjust import without_missing
from masked_subspace.inputs.annotated import _claimed
from masked_subspace.inputs.limits import ARRAY_BYTES, bounded_gzip, check_size, read_at_most, regular_file
from masked_subspace.inputs.samples import Samples


def test_what_takes_as_much_as_allowed_is_read_and_a_byte_more_is_not():
    check_size(4_000_000_000, "it", ARRAY_BYTES)
    with pytest.raises(InputError, match=r"it would take 4\.0 GB; at most 4\.0 GB are read"):
        check_size(4_000_000_001, "it", ARRAY_BYTES)
    with pytest.raises(InputError, match=r"it would take 2\.5 GB; at most 1\.2 GB are read"):
        check_size(2_500_000_000, "it", 1_200_000_000)


def test_a_text_table_has_a_gigabyte_at_most(tmp_path):
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(1_100_000_000)
    assert regular_file(path) == 1_100_000_000
    with pytest.raises(InputError, match=r"is 1\.1 GB of text; at most 1\.0 GB are read"):
        read_samples(path)


def test_what_unpacks_to_more_than_the_limit_is_stopped_on_the_way(tmp_path):
    path = tmp_path / "packed.gz"
    path.write_bytes(gzip.compress(b"a" * 3_000_000))
    assert len(bounded_gzip(path, "it", 3_000_000)) == 3_000_000
    with pytest.raises(InputError, match=r"it unpacks to more than 3\.0 MB"):
        bounded_gzip(path, "it", 2_999_999)
    read = []

    class Endless(io.BytesIO):
        def read(self, size=-1):
            read.append(size)
            return b"b" * size

    with pytest.raises(InputError, match="unpacks to more than"):
        read_at_most(Endless(), "it", 5 << 20)
    assert len(read) == 6
    path.write_bytes(gzip.compress(b"a" * 3_000)[:-9])
    with pytest.raises(InputError, match="damaged or cut short"):
        bounded_gzip(path, "it", 9_000_000)


def test_a_file_of_cells_claims_what_all_its_arrays_take():
    """Sides times bytes an entry; what has no shape takes nothing, and an entry a byte at least."""
    numbers, texts = np.zeros((3, 4), dtype=np.float32), SimpleNamespace(shape=(7,), dtype=SimpleNamespace(itemsize=0))
    empty = SimpleNamespace(shape=None, dtype=np.dtype("f8"))

    class File:
        def visititems(self, add):
            for name, item in {"X": numbers, "obs": texts, "uns": empty, "group": object()}.items():
                add(name, item)

    assert _claimed(File()) == 3 * 4 * 4 + 7


def test_missing_values_that_are_let_pass_are_told():
    samples = Samples(np.array([[1.0, np.nan], [2.0, 3.0]]), notes=("one",))
    found = without_missing(samples, "it", missing="ignore")
    assert found.notes == ("one", "1 missing value: 'column 1' 1 (row 0); unknown to the method (--missing ignore)")
    np.testing.assert_array_equal(found.X, samples.X)


def test_what_is_missing_is_named_with_the_option_that_gave_it(tmp_path):
    path = tmp_path / "nowhere.csv"
    for option, said in (("--pairs", f"{path} (--pairs)"), ("", str(path))):
        with pytest.raises(InputError) as caught:
            regular_file(path, option)
        assert str(caught.value) == f"there is no file or folder {said}"
