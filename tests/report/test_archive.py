"""A run in a folder can be read back whole."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from masked_subspace._common.files import FileError
from masked_subspace.report.archive import labels_csv, load_run, save_run, to_json

from .conftest import HOSTILE


def result_for(content):
    run = content.runs[0]
    return {
        "name": run.name, "title": content.title, "subtitle": content.subtitle, "facts": dict(content.facts),
        "parameters": dict(run.parameters), "history": list(run.history), "scores": dict(run.scores),
        "timings": {"fit": run.seconds}, "notes": [],
    }  # fmt: skip


def test_what_is_saved_is_loaded(content, tmp_path):
    one = replace(content, runs=content.runs[1:], tables=(), figures=())
    files = save_run(tmp_path, one, result_for(one))
    assert {path.name for path in files} == {"labels.csv", "affinity.npz", "details.npz", "result.json"}
    back = load_run(tmp_path)
    assert np.array_equal(back.runs[0].labels, one.runs[0].labels)
    assert (back.runs[0].affinity != one.runs[0].affinity).nnz == 0
    assert len(back.runs[0].rounds) == len(one.runs[0].rounds)
    for read, written in zip(back.runs[0].rounds, one.runs[0].rounds, strict=True):
        assert (read.affinity != written.affinity).nnz == 0
    assert back.names == one.names
    assert np.array_equal(back.images, one.images)
    assert back.title == one.title


def test_names_survive_in_labels_csv(content):
    rows = list(csv.DictReader(io.StringIO(labels_csv(content), newline="")))
    assert rows[7]["sample"] == HOSTILE
    assert [int(row["cluster"]) for row in rows] == content.runs[0].labels.tolist()
    assert rows[2]["class"] == HOSTILE or content.target[2] != 2


def test_a_folder_without_a_run_is_refused_by_name(tmp_path):
    with pytest.raises(FileError, match="not a complete run"):
        load_run(tmp_path)


def test_json_has_no_infinities():
    assert to_json({"a": float("inf"), "b": [np.float32(1.5), float("nan")]}).split() == [
        "{", '"a":', "null,", '"b":', "[", "1.5,", "null", "]", "}"
    ]  # fmt: skip
