"""A run in a folder can be read back whole."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from masked_subspace._common.files import FileError
from masked_subspace.report import archive
from masked_subspace.report.archive import _check_agreement, labels_csv, load_run, save_run, to_json

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


@pytest.mark.parametrize("name", ["report.html", "labels.csv", "affinity.npz"])
def test_a_file_that_no_run_wrote_stays(content, tmp_path, name):
    one = replace(content, runs=content.runs[1:], tables=(), figures=())
    (tmp_path / name).write_text("mine")
    with pytest.raises(FileError, match=f"has a {name} that no run wrote; move it away or choose another --out"):
        save_run(tmp_path, one, result_for(one))
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir() if path.is_file() and path.suffix] == [
        (name, "mine")
    ]
    (tmp_path / name).unlink()
    for _ in range(2):  # a run of before is replaced
        save_run(tmp_path, one, result_for(one))


def test_names_survive_in_labels_csv(content):
    rows = list(csv.DictReader(io.StringIO(labels_csv(content), newline="")))
    assert rows[7]["sample"] == HOSTILE
    assert [int(row["cluster"]) for row in rows] == content.runs[0].labels.tolist()
    assert rows[2]["class"] == HOSTILE or content.target[2] != 2


def test_classes_are_written_by_name_or_by_number(content):
    named = list(csv.DictReader(io.StringIO(labels_csv(content), newline="")))
    numbered = list(csv.DictReader(io.StringIO(labels_csv(replace(content, class_names=None)), newline="")))
    for row, code in enumerate(content.target.tolist()):
        assert numbered[row]["class"] == str(code)
        assert named[row]["class"] == content.class_names[code]


@pytest.mark.parametrize(("spare", "kept"), [(0, True), (-1, False)])
def test_images_above_the_limit_are_not_stored(content, tmp_path, monkeypatch, spare, kept):
    one = replace(content, runs=content.runs[:1], tables=(), figures=())
    monkeypatch.setattr(archive, "_LARGEST_IMAGES", one.images.nbytes + spare)
    save_run(tmp_path, one, result_for(one))
    back = load_run(tmp_path)
    assert (back.images is not None) == kept
    assert back.names == one.names


def test_every_part_of_a_run_speaks_of_the_same_samples(content):
    one = replace(content, runs=content.runs[1:])
    _check_agreement(one)
    run = one.runs[0]
    small = run.affinity[:5][:, :5]
    of_rounds = (*run.rounds[:-1], replace(run.rounds[-1], affinity=small))
    wrong = {
        "embedding": replace(one, runs=(replace(run, embedding=run.embedding[:5]),)),
        "certainty": replace(one, runs=(replace(run, certainty=run.certainty[:5]),)),
        "names": replace(one, names=one.names[:5]),
        "target": replace(one, target=one.target[:5]),
        "images": replace(one, images=one.images[:5]),
        "affinity": replace(one, runs=(replace(run, affinity=small),)),
        "affinity and": replace(one, runs=(replace(run, rounds=of_rounds),)),
    }
    for part, content_of in wrong.items():
        with pytest.raises(ValueError, match=f"^{part}.* and labels|^{part} labels"):
            _check_agreement(content_of)
    broken = run.affinity.copy()
    broken.data[0] = np.inf
    with pytest.raises(ValueError, match="no numbers"):
        _check_agreement(replace(one, runs=(replace(run, affinity=broken),)))


def test_a_folder_without_a_run_is_refused_by_name(tmp_path):
    with pytest.raises(FileError, match="not a complete run"):
        load_run(tmp_path)


def test_json_has_no_infinities():
    assert to_json({"a": float("inf"), "b": [np.float32(1.5), float("nan")]}).split() == [
        "{", '"a":', "null,", '"b":', "[", "1.5,", "null", "]", "}"
    ]  # fmt: skip
