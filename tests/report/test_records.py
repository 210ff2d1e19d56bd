"""Records: from any fitted clusterer, as plain values, into a folder and back; nothing is lost on the way."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array, load_npz
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from masked_subspace._common.files import FileError
from masked_subspace.inputs import InputError
from masked_subspace.report import Figure, ReportContent, Round, Run, Subspace, Table, content_of, run_from_estimator
from masked_subspace.report import archive as module
from masked_subspace.report.archive import labels_csv, load_result, load_run, save_run
from masked_subspace.report.comparing import comparison_table
from masked_subspace.report.fitted import call_text
from masked_subspace.report.record import plain_record, readable, readable_parameters
from masked_subspace.report.stored import checked_graph, decoded, encoded

N = 12
LABELS = np.repeat([0, 1, 2], 4)


def graph(scale=1.0):
    dense = np.equal.outer(LABELS, LABELS) * scale
    np.fill_diagonal(dense, 0)
    return csr_array(dense)


def fitted(**more):
    parts = {"labels_": LABELS, "affinity_matrix_": graph(), "embedding_": np.eye(3, dtype=np.float32)[LABELS]}
    return SimpleNamespace(**(parts | more))


def test_what_a_run_takes_over_as_it_is():
    model = fitted(
        history_=[{"round": 1, "graph": object()}], n_clusters_candidates_=np.array([3, 4]),
        choices_=[{"view": "plain"}], n_clusters_scores_=[{"n_clusters": 3, "score": np.float64(0.5)}],
        memberships_=np.eye(3, dtype=np.float32)[LABELS], structure_=np.float32(0.5), n_missing_=6,
        completed_=np.zeros((N, 5)), missing_error_=np.float64(0.25),
        round_affinities_=[graph(0.5), graph()], round_labels_=[LABELS[::-1], LABELS],
    )  # fmt: skip
    run = run_from_estimator(model, "mine", seconds=1.5, scores={"accuracy": 0.5})
    assert (run.name, run.seconds, run.scores, run.graph_kind) == ("mine", 1.5, {"accuracy": 0.5}, "own")
    assert run.history == ({"round": 1},)
    assert run.choices == ({"view": "plain"},)
    assert run.n_clusters_scores == ({"n_clusters": 3, "score": 0.5},)
    assert run.n_clusters_candidates == (3, 4)
    assert all(type(one) is int for one in run.n_clusters_candidates)
    assert run.structure == 0.5
    assert run.missing == {"count": 6, "share": 0.1, "error": 0.25}
    assert run.embedding.dtype == run.memberships.dtype == np.float64
    assert [one.title for one in run.rounds] == ["round 1", "round 2"]
    assert [one.affinity.max() for one in run.rounds] == [0.5, 1.0]
    np.testing.assert_array_equal(run.rounds[0].labels, LABELS[::-1])
    assert run_from_estimator(fitted(structure_=float("nan")), "mine").structure is None
    assert run_from_estimator(fitted(n_missing_=0), "mine").missing == {}
    assert run_from_estimator(fitted(), "mine").scores == {}


def test_a_graph_without_an_embedding_is_no_graph_of_its_own():
    rows = np.random.default_rng(0).normal(size=(N, 4))
    half = fitted(round_affinities_=[graph()], round_labels_=[LABELS])
    del half.embedding_
    run = run_from_estimator(half, "half", X=rows)
    assert (run.graph_kind, run.rounds) == ("neighbors", ())
    np.testing.assert_allclose(run.embedding, rows - rows.mean(axis=0))


def test_features_are_called_as_asked_or_as_the_estimator_saw_them():
    rows = np.random.default_rng(0).normal(size=(N, 3)) + 5 * np.eye(3)[LABELS]
    seen = fitted(feature_names_in_=np.array(["u", "v", "w"]))
    for names, expected in ((None, ["u", "v", "w"]), (["a", "b", "c"], ["a", "b", "c"])):
        run = run_from_estimator(seen, "mine", X=rows, feature_names=names)
        assert [one["features"][0]["feature"] for one in run.profiles] == expected
    plain = run_from_estimator(fitted(), "mine", X=rows)
    assert [one["features"][0]["feature"] for one in plain.profiles] == ["feature 0", "feature 1", "feature 2"]
    assert run_from_estimator(fitted(), "mine").profiles == ()


@pytest.mark.parametrize("as_record", [SimpleNamespace, dict])
@pytest.mark.parametrize(
    ("parts", "dim", "share"),
    [
        ({"dim": np.int64(2), "explained": [0.5, 0.25]}, 2, 0.75),
        ({"dim": None, "explained": 0.5}, 2, 0.5),
        ({"explained": []}, 2, None),
        ({"dim": 1}, 1, None),
    ],
)
def test_subspaces_have_parts_by_attribute_or_by_key(as_record, parts, dim, share):
    one = as_record(mean=[0.0, 1, 2], basis=np.eye(3, dtype=int)[:2], **parts)
    (found,) = run_from_estimator(fitted(subspaces_=[one]), "mine").subspaces
    assert (found.dim, found.explained, found.basis.shape, found.basis.dtype) == (dim, share, (2, 3), np.float64)
    assert found.mean.tolist() == [0, 1, 2]
    line = as_record(mean=[0.0, 1, 2], basis=np.ones(3), **parts)  # one direction may be given as it is
    assert run_from_estimator(fitted(subspaces_=[line]), "mine").subspaces[0].basis.shape == (1, 3)
    assert run_from_estimator(fitted(subspaces_=None), "mine").subspaces == ()


def test_the_margin_of_samples_in_clusters_is_theirs_alone():
    labels = np.where(np.arange(N) < 2, -1, LABELS)
    embedding = np.random.default_rng(0).normal(size=(N, 2)) + 4 * np.eye(3)[LABELS][:, :2]
    run = run_from_estimator(fitted(labels_=labels, embedding_=embedding), "mine")
    alone = fitted(labels_=labels[2:], embedding_=embedding[2:], affinity_matrix_=csr_array((N - 2, N - 2)))
    assert run.certainty[:2].tolist() == [0, 0]
    np.testing.assert_allclose(run.certainty[2:], run_from_estimator(alone, "alone").certainty)
    assert run.certainty[2:].max() > 0
    lost = run_from_estimator(fitted(labels_=np.full(N, -1)), "lost")
    assert lost.certainty.tolist() == [0] * N


class Odd(BaseEstimator):
    def __init__(self, number=1, flag=1, words=(), text="a", mask=None, **_):
        self.number, self.flag, self.words, self.text, self.mask = number, flag, words, text, mask


def test_a_call_shows_what_is_not_usual_as_it_would_be_typed():
    assert call_text(Odd()) == "Odd()"
    assert call_text(Odd(flag=True)) == "Odd(flag=True)"  # 1 and True are not the same to type
    assert call_text(Odd(number=2.0, words=("a", 1), text="b'c")) == "Odd(number=2.0, text=\"b'c\", words=('a', 1))"
    assert call_text(Odd(mask=[1, 2])) == "Odd(mask=[1, 2])"
    assert call_text(Odd(mask=np.float64(0.5), text=np.str_("b"))) == "Odd(mask=0.5, text='b')"  # without numpy
    assert call_text(Odd(mask=np.zeros((2, 3)))) == "Odd(\n    mask=…,  # ndarray (2, 3)\n)"
    short, long = "x" * 80, "x" * 90
    assert call_text(Odd(text=short)) == f"Odd(text='{short}')"
    assert call_text(Odd(text=long)) == f"Odd(\n    text='{long}',\n)"
    assert call_text(SimpleNamespace()) == ""


def test_parameters_are_read_without_those_of_parts():
    assert readable_parameters(Odd(mask=KMeans(3)))["mask"] == repr(KMeans(3))
    assert set(readable_parameters(Odd(mask=KMeans(3)))) == {"number", "flag", "words", "text", "mask"}
    assert readable_parameters(SimpleNamespace()) == {}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None), (True, True), (3, 3), (0.5, 0.5), ("a", "a"), (np.int64(3), 3), (np.bool_(True), True),
        ((1, np.float64(0.5)), [1, 0.5]), ([[1, 2], "a"], [[1, 2], "a"]), (tuple(range(16)), list(range(16))),
        (tuple(range(17)), repr(tuple(range(17)))), (np.zeros((2, 3)), "ndarray (2, 3)"),
        (csr_array((4, 5)), "csr_array (4, 5)"), (range(10**6, 10**6 + 1), "range(1000000, 1000001)"),
    ],
)  # fmt: skip
def test_a_parameter_as_json_can_hold_it(value, shown):
    found = readable(value)
    assert found == shown
    assert type(found) is type(shown)


def test_what_is_too_long_to_read_is_cut():
    assert readable({k: k for k in range(500)}) == repr({k: k for k in range(500)})[:200]


def test_of_a_record_what_json_can_hold_is_kept():
    given = {
        1: None, "number": np.float32(0.5), "flag": np.bool_(False), "text": "a", "list": [1, np.int64(2), "b"],
        "curve": np.array([0.5, 1.5]), "tuple": (1, None), "map": {"x": np.float64(2.0), "gone": object()},
        "records": [{"a": 1}, {"a": np.int8(2)}], "matrix": np.eye(2), "graph": csr_array((2, 2)), "thing": object(),
        "things": [1, object()],
    }  # fmt: skip
    assert plain_record(given) == {
        "1": None, "number": 0.5, "flag": False, "text": "a", "list": [1, 2, "b"], "curve": [0.5, 1.5],
        "tuple": [1, None], "map": {"x": 2.0}, "records": [{"a": 1}, {"a": 2}],
    }  # fmt: skip
    assert type(plain_record(given)["flag"]) is bool


def everything():
    run = Run(
        "mine", LABELS, graph(), np.random.default_rng(0).normal(size=(N, 3)), np.linspace(0, 1, N),
        parameters={"a": (1, 2), "b": [0.5, None]}, rounds=(Round("round 1", graph(0.5), LABELS),),
        scores={"accuracy": 0.5}, subspaces=(Subspace(np.zeros(4), np.eye(4)[:2], 2, 0.5),),
        memberships=np.eye(3)[LABELS], missing={"count": 2, "share": 0.5, "error": 0.25}, seconds=1.5,
    )  # fmt: skip
    return ReportContent(
        "title", "sub", {"samples": N}, tuple(f"s{k}" for k in range(N)), LABELS, ["a", "b", "c"],
        np.zeros((N, 2, 2), dtype=np.uint8), (run,), (Table("T", ("x",), ((1,),)),),
        (Figure("F", b"\x89PNG\0", "words"),), ("a note",), "typed", "now", "1.0",
    )  # fmt: skip


def same(one, other):
    """Equal in value and type, arrays and graphs entry by entry; float64 arrays come back as float32."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert other.dtype == (np.float32 if one.dtype == np.float64 else one.dtype)
        np.testing.assert_array_equal(one.astype(other.dtype), other)
    elif isinstance(one, csr_array):
        np.testing.assert_array_equal(one.toarray(), other.toarray())
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            same(*pair)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            same(one[key], other[key])
    elif hasattr(one, "__dataclass_fields__"):
        for name in one.__dataclass_fields__:
            same(getattr(one, name), getattr(other, name))
    else:
        assert one == other


def test_every_kind_of_value_comes_back_as_it_was():
    arrays = {}
    text = json.dumps(encoded(everything(), arrays))
    same(everything(), decoded(json.loads(text), arrays))
    texts = np.array(["a", None], dtype=object)
    assert decoded(json.loads(json.dumps(encoded(texts, {}))), {}) == ["a", None]
    assert encoded(np.int64(3), {}) == 3
    with pytest.raises(TypeError, match=r"record\.1 is a object, which a stored run cannot hold"):
        encoded([1, object()], {})


def test_fields_that_this_version_does_not_know_are_passed_over():
    stored = encoded(Figure("F", b"x", "words"), {})
    stored["fields"]["colour"] = "red"
    assert decoded(stored, {}) == Figure("F", b"x", "words")
    with pytest.raises(KeyError):
        decoded({"@record": "Unknown", "fields": {}}, {})
    with pytest.raises(ValueError, match=r"base64|padding|characters"):
        decoded({"@bytes": "a?=="}, {})


def test_parts_that_are_no_numbers_are_no_graph():
    one = graph()
    for wrong in (
        (one.data.astype(str), one.indices, one.indptr),
        (one.data, one.indices.astype(float), one.indptr),
        (one.data, one.indices, one.indptr.astype(float)),
    ):
        with pytest.raises(InputError, match="g holds no valid sparse matrix: its parts are not numbers and indices"):
            checked_graph(wrong, [N, N], "g")
    for kind in (bool, np.int8, np.uint8, np.float32):
        assert checked_graph((one.data.astype(kind), one.indices, one.indptr), [N, N], "g").dtype == kind


def test_a_run_in_a_folder_comes_back_and_holds_its_graph_once(tmp_path):
    content = everything()
    save_run(tmp_path, content, {"name": "mine"}, page="<html>")
    same(replace(content, images=content.images), load_run(tmp_path))
    assert load_result(tmp_path)["name"] == "mine"
    save_run(tmp_path, content, {"name": "größer als 5 €"})
    assert load_result(tmp_path)["name"] == "größer als 5 €"
    save_run(tmp_path, content, {"name": "mine"}, page="<html>")
    assert (load_npz(tmp_path / "affinity.npz") != content.runs[0].affinity).nnz == 0
    with np.load(tmp_path / "details.npz") as details:
        sizes = {name: details[name].size for name in details.files if "affinity.data" in name}
    assert sorted(sizes.values()) == [0, graph().nnz]  # the final one and that of the round
    (tmp_path / "report.html").write_text("made again")
    load_run(tmp_path)  # a page may differ


def test_a_page_is_named_in_the_seal_and_files_in_their_order(tmp_path):
    files = save_run(tmp_path, everything(), {}, page="<html>")
    assert [path.name for path in files] == ["labels.csv", "affinity.npz", "details.npz", "report.html", "result.json"]
    assert all(path.parent == tmp_path and path.exists() for path in files)
    seal = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert sorted(seal["checksums"]) == ["affinity.npz", "details.npz", "labels.csv", "report.html"]
    (tmp_path / "labels.csv").write_text("other")
    with pytest.raises(FileError, match=r"labels\.csv is not the file that this run wrote"):
        load_run(tmp_path)


@pytest.mark.parametrize(("spare", "read"), [(0, True), (-1, False)])
def test_a_seal_larger_than_any_is_not_read(tmp_path, monkeypatch, spare, read):
    save_run(tmp_path, everything(), {})
    monkeypatch.setattr(module, "_LARGEST_JSON", (tmp_path / "result.json").stat().st_size + spare)
    if read:
        load_result(tmp_path)
    else:
        with pytest.raises(FileError, match=r"result\.json is larger than any run makes it"):
            load_result(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seal": None}, "has no seal"),
        ({"name": "other"}, "was changed after it was written"),
        ({"run": "0"}, "was changed after it was written"),
    ],
)
def test_a_seal_that_was_changed_is_noticed(tmp_path, change, said):
    save_run(tmp_path, everything(), {"name": "mine"})
    seal = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    changed = {key: value for key, value in (seal | change).items() if value is not None}
    (tmp_path / "result.json").write_text(json.dumps(changed))
    with pytest.raises(FileError, match=said):
        load_result(tmp_path)


def test_labels_are_a_table_with_four_decimals():
    content = replace(everything(), names=None, target=None)
    lines = labels_csv(content).splitlines()
    assert lines[:3] == ["sample,cluster,certainty", "0,0,0.0000", "1,0,0.0909"]
    full = labels_csv(replace(everything(), names=("=1+1", *everything().names[1:]))).splitlines()
    assert full[:2] == ["sample,cluster,certainty,class", "'=1+1,0,0.0000,a"]
    assert full[-1] == "s11,2,1.0000,c"


def test_what_is_known_of_models_reaches_their_page():
    X = np.random.default_rng(0).normal(size=(N, 4)) + 6 * np.eye(4)[LABELS]
    one, two = fitted(), KMeans(3, n_init=1, random_state=0).fit(X)
    y = np.array(["u", "v", "w"])[LABELS]
    content = content_of({"one": one, "two": two}, X, y=y, names=[f"s{k}" for k in range(N)], seconds={"two": 2.5})
    assert content.title == f"2 ways to cluster {N} samples"
    assert content.facts == {"samples": N, "features": 4}
    assert [run.seconds for run in content.runs] == [None, 2.5]
    assert content.runs[0].scores == {"accuracy": 1.0, "NMI": pytest.approx(1.0), "BCA": 1.0}
    assert content.class_names == ["u", "v", "w"]
    np.testing.assert_array_equal(content.target, LABELS)
    assert content.names[3] == "s3"
    assert len(content.tables) == 2
    alone = content_of({"one": one}, None, title="mine")
    assert (alone.title, alone.facts, alone.tables, alone.target) == ("mine", {"samples": N}, (), None)
    assert content_of({"one": one}, None).title == f"{N} samples by one"
    numbered = content_of({"one": one}, None, y=LABELS, class_names=["a", "b", "c"])
    assert numbered.class_names == ["a", "b", "c"]
    np.testing.assert_array_equal(numbered.target, LABELS)


def test_of_pictures_no_features_are_told_unless_there_is_no_other_graph():
    X = np.random.default_rng(0).normal(size=(N, 4)) + 6 * np.eye(4)[LABELS]
    images = np.zeros((N, 2, 2), dtype=np.uint8)
    means = KMeans(3, n_init=1, random_state=0).fit(X)
    content = content_of({"one": fitted(), "two": means}, X, images=images, feature_names=["a", "b", "c", "d"])
    assert [bool(run.profiles) for run in content.runs] == [False, True]
    assert content.images is images
    assert content.runs[1].profiles[0]["features"][0]["feature"] in "abcd"
    assert all(run.profiles for run in content_of({"one": fitted(), "two": means}, X).runs)


@pytest.mark.parametrize(
    "wrong", [{"y": LABELS[:5]}, {"names": ["a"]}, {"images": np.zeros((N + 1, 2, 2))}, {"X": np.zeros((N - 1, 2))}]
)
def test_who_has_another_number_of_samples_is_named(wrong):
    (name,) = wrong
    given = {"X": None} | wrong
    with pytest.raises(ValueError, match=rf"^{name} has \d+ samples and models\['one'\].labels_ has {N}; give"):
        content_of({"one": fitted()}, given.pop("X"), **given)
    with pytest.raises(ValueError, match=r"models\['two'\].labels_ has 5 samples"):
        content_of({"one": fitted(), "two": fitted(labels_=LABELS[:5])}, None)


def test_a_comparison_says_what_its_numbers_are():
    runs = [Run("one", LABELS, graph(), np.eye(N), np.ones(N)), Run("two", LABELS, graph(), np.eye(N), np.ones(N))]
    graphs = "Modularity is on each method's own graph, for methods without one on nearest neighbors."
    assert comparison_table(runs).notes == (graphs,)
    assert comparison_table(runs).title == "Comparison"
    lost = replace(runs[1], labels=np.where(np.arange(N) < 3, -1, LABELS))
    assert comparison_table([runs[0], lost]).notes == (graphs,)  # no scores, no rule for them
    scored = replace(lost, scores={"NMI": 0.5})
    assert comparison_table([runs[0], scored]).notes == (
        graphs, "Samples in no cluster: accuracy counts them as wrong, NMI and BCA leave them out.",
    )  # fmt: skip


@pytest.mark.parametrize("indices", [[0, 3], [0, -1]])
def test_a_link_to_a_sample_that_is_not_there_is_refused(indices):
    parts = (np.ones(2), np.array(indices, dtype=np.int32), np.array([0, 1, 2, 2], dtype=np.int32))
    with pytest.raises(InputError, match="g holds no valid sparse matrix"):
        checked_graph(parts, [3, 3], "g")
