"""Limits that decide what a table or a folder of images is taken for, just below and just at them."""

import numpy as np
import pytest

from masked_subspace.inputs import InputError, read_samples


def table(path, columns, header):
    lines = [",".join(header), *(",".join(map(str, row)) for row in zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("n_rows", "numbered"), [(19, False), (20, True)])
def test_a_column_that_counts_the_rows_is_no_measurement_from_twenty_rows_on(tmp_path, n_rows, numbered):
    rng = np.random.default_rng(0)
    columns = [range(100, 100 + n_rows), rng.random(n_rows).round(3), rng.random(n_rows).round(3)]
    found = read_samples(table(tmp_path / "a.csv", columns, ["a", "b", "c"]))
    assert found.X.shape == (n_rows, 2 if numbered else 3)
    # The same of whole numbers that all differ without counting.
    columns[0] = [7 * one + one % 3 for one in range(n_rows)]
    found = read_samples(table(tmp_path / "b.csv", columns, ["code", "b", "c"]))
    assert found.X.shape == (n_rows, 2 if numbered else 3)
    # Called like nothing that is counted they may be prices.
    found = read_samples(table(tmp_path / "c.csv", columns, ["a", "b", "c"]))
    assert found.X.shape == (n_rows, 3)
    assert any(note.startswith("a: whole numbers that all differ") for note in found.notes) == numbered


@pytest.mark.parametrize(("n_digits", "numbered"), [(39, True), (40, False)])
def test_whole_numbers_of_up_to_39_digits_may_be_ids(tmp_path, n_digits, numbered):
    ids = [10 ** (n_digits - 1) + one for one in range(5)]
    found = read_samples(table(tmp_path / "a.csv", [ids, np.linspace(0.1, 0.9, 5)], ["id", "a"]))
    assert found.X.shape == (5, 1 if numbered else 2)


@pytest.mark.parametrize(("n_texts", "refused"), [(4, True), (5, True), (6, False)])
def test_a_column_with_four_fifths_of_numbers_is_meant_as_numbers(tmp_path, n_texts, refused):
    """Of 25 entries: with up to five texts these are mistakes, with six the column is one of texts."""
    mixed = ["oops"] * n_texts + [f"{one}.5" for one in range(25 - n_texts)]
    path = table(tmp_path / "a.csv", [mixed, np.random.default_rng(0).random(25).round(3)], ["a", "b"])
    if refused:
        with pytest.raises(InputError, match="'oops', not a number, in column 'a'"):
            read_samples(path)
    else:
        assert read_samples(path).X.shape == (25, 1)


@pytest.mark.parametrize(("n_columns", "header"), [(7, False), (8, True)])
def test_whole_numbers_in_equal_steps_are_a_header_from_eight_columns_on(tmp_path, n_columns, header):
    path = tmp_path / "a.csv"
    rows = [range(n_columns), *(np.random.default_rng(k).integers(10, 99, n_columns) for k in range(5))]
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    assert len(read_samples(path).X) == (5 if header else 6)


@pytest.mark.parametrize(("n_columns", "header"), [(2, False), (3, True)])
def test_beside_fractions_three_columns_are_enough(tmp_path, n_columns, header):
    path = tmp_path / "a.csv"
    rows = [range(2001, 2001 + n_columns), *(np.random.default_rng(k).random(n_columns).round(3) for k in range(5))]
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    assert len(read_samples(path).X) == (5 if header else 6)


@pytest.mark.parametrize(("size", "shape"), [((64, 40), (40, 64)), ((65, 40), (32, 32)), ((10, 64), (64, 10))])
def test_images_of_one_size_keep_it_up_to_64_pixels_a_side(tmp_path, size, shape):
    image = pytest.importorskip("PIL.Image")
    for k in range(2):
        image.new("L", size, color=10 + 100 * k).save(tmp_path / f"{k}.png")
    found = read_samples(tmp_path)
    assert found.images_shape == shape
    assert found.X.shape == (2, shape[0] * shape[1])
    image.new("L", (12, 12), color=50).save(tmp_path / "other.png")
    assert read_samples(tmp_path).images_shape == (32, 32)
