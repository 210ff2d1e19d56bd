"""Roles of columns from the facts of a scan, rule by rule."""

import pytest

from masked_subspace.inputs.columns import Facts, assign, notes_on
from masked_subspace.inputs.samples import Column, InputError, ReadOptions


def measured(name, **more):
    return Facts(name, numeric=True, **more)


def numbering(name, n_rows, **more):
    return Facts(name, numeric=True, distinct=True, whole=True, span=n_rows - 1, **more)


def text(name, *, distinct=False):
    return Facts(name, numeric=False, distinct=distinct)


def roles(facts, n_rows=50, **options):
    found = assign(facts, n_rows, ReadOptions(**options), "a.csv")
    return [column.role for column in found.columns], found


def test_a_column_that_numbers_rows_is_no_measurement_from_twenty_rows_on():
    for n_rows, role in ((20, "name"), (19, "feature")):
        found, _ = roles([numbering("n", n_rows), measured("x"), measured("b")], n_rows)
        assert found == [role, "feature", "feature"]


def test_whole_numbers_that_all_differ_are_an_id_if_they_are_called_like_one():
    distinct = {"distinct": True, "whole": True, "span": 900}
    assert roles([measured("code", **distinct), measured("x")])[0] == ["name", "feature"]
    assert roles([measured("a", **distinct), measured("b", **distinct), measured("x")])[0] == ["feature"] * 3
    assert roles([measured("code", **distinct)])[0] == ["feature"]  # nothing else would be left
    assert roles([measured("id", whole=True), measured("code", **distinct)])[0] == ["ignored", "feature"]
    assert roles([measured("code", **distinct), measured("x")], n_rows=19)[0] == ["feature", "feature"]


COUNTED = [
    "customer",
    "Customer Number",
    "serial_number",
    "Matrikelnummer",
    "ISBN",
    "id_of_case",
    "Patient #",
    "itemCode",
]


@pytest.mark.parametrize("name", COUNTED)
def test_names_of_things_that_are_counted(name):
    column = measured(name, distinct=True, whole=True, span=90_000)
    found, said = roles([column, measured("x")])
    assert found == ["name", "feature"]
    assert notes_on(said.columns)[1] == (
        f"column {name!r} is taken as the samples' names; an id by its name: whole numbers, all different; "
        "--features takes it as a measurement"
    )


@pytest.mark.parametrize("name", ["price in cents", "population", "weight_g", "income", "a", "codeine", "Zeit", ""])
def test_a_measurement_in_whole_numbers_that_all_differ_is_a_feature_and_it_is_said(name):
    column = measured(name, distinct=True, whole=True, span=90_000)
    found, said = roles([measured("x"), column])
    assert found == ["feature", "feature"]
    assert "whole numbers that all differ are taken as a measurement; --drop leaves out" in notes_on(said.columns)[1]
    assert roles([measured("x"), column], features=(name,))[1].columns[1].why == ""
    assert roles([measured("x"), column], 19)[1].columns[1].why == ""


@pytest.mark.parametrize("name", ["id", "sample_id", "sampleId", "Row", "key", "Unnamed: 0", "UUID"])
def test_whole_numbers_named_like_an_id_are_one(name):
    found, said = roles([measured(name, whole=True), measured("x")])
    assert found == ["ignored", "feature"]
    assert said.columns[0].why == "an id by its name; --features takes it as a measurement"
    assert roles([measured(name, whole=False), measured("x")])[0] == ["feature", "feature"]


def test_where_all_columns_look_like_ids_they_were_measured():
    assert roles([measured("id", whole=True), numbering("key", 50)])[0] == ["feature", "feature"]


def test_texts_that_differ_name_the_samples_before_ids_do():
    found, _ = roles([numbering("id", 50), text("city", distinct=True), measured("x")])
    assert found == ["ignored", "name", "feature"]
    assert roles([text("city"), numbering("id", 50), measured("x")])[0] == ["ignored", "name", "feature"]
    assert roles([text("city", distinct=True), measured("x")], n_rows=1)[0] == ["ignored", "feature"]


def test_a_dropped_column_names_nobody():
    found, said = roles([text("city", distinct=True), measured("x")], drop=("city",))
    assert found == ["ignored", "feature"]
    assert said.columns[0].why == "left out (--drop)"


def test_features_asked_for_are_taken_and_only_they():
    facts = [measured("x"), measured("b"), measured("class"), measured("z")]
    found, given = roles(facts, features=("x", " b"), name_column="b")
    assert found == ["feature", "name", "truth", "ignored"]
    assert (given.features, given.names, given.labels) == ([0], 1, 2)
    assert roles(facts, features=("x, class",))[0] == ["feature", "ignored", "feature", "ignored"]
    with pytest.raises(InputError, match=r"column 'city' \(--features\) is text"):
        roles([text("city"), measured("x")], features=("city",))
    with pytest.raises(InputError, match=r"no column 'zz' \(--features\)"):
        roles(facts, features=("x,zz",))


def test_the_usual_name_of_the_truth_is_heeded_unless_it_was_dropped_or_asked_for():
    facts = [measured("Label"), measured("x")]
    assert roles(facts)[0] == ["truth", "feature"]
    assert roles(facts, drop=("Label",))[0] == ["ignored", "feature"]
    assert roles(facts, label_column="x", features=("Label",))[0] == ["feature", "truth"]


def test_up_to_twenty_ignored_columns_are_named():
    columns = [Column(f"c{place}", "ignored", "text", 0) for place in range(23)]
    notes = notes_on([Column("x", "feature", "", 0), *columns])
    assert sum("is ignored: text" in note for note in notes) == 20
    assert notes[-1] == "and 3 more columns are ignored; result.json lists them"
    assert len(notes_on(columns[:20])) == 21


def test_a_column_named_like_labels_may_differ_in_every_one_of_few_rows():
    """Of twenty different values none is a class; of nineteen that proves nothing."""
    assert roles([text("label", distinct=True), measured("x")], 19)[0] == ["truth", "feature"]
    assert roles([text("label", distinct=True), measured("x")], 20)[0] == ["name", "feature"]
    assert roles([text("label"), measured("x")], 20)[0] == ["truth", "feature"]
