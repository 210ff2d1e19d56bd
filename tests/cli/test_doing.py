"""Any method, any number of clusters, any spelling; runs compared."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from masked_subspace.cli import main
from masked_subspace.cli.exits import Exit
from masked_subspace.cli.fitting import _outermost
from masked_subspace.cli.parser import build_parser
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.report.archive import load_run

from .conftest import FAST, clusters_in, label_rows

RNG = np.random.default_rng(0)


def cluster(*arguments: object) -> int:
    return main(["cluster", *map(str, arguments)])


@pytest.mark.parametrize("name", ["sklearn.cluster:KMeans", "kmeans", "K-Means"])
def test_k_means_has_labels_and_a_report(digits, tmp_path, name):
    assert cluster(digits, "-k", 4, "--method", name, "-q", "--out", tmp_path) == 0
    assert set(clusters_in(tmp_path)) == {"0", "1", "2", "3"}
    assert (tmp_path / "report.html").stat().st_size > 10_000
    run = load_run(tmp_path).runs[0]
    assert run.affinity.shape == (240, 240)
    assert 0 <= run.certainty.min() <= run.certainty.max() <= 1


def test_a_clusterer_that_keeps_no_labels_and_one_that_gives_too_few(digits, tmp_path, capsys, monkeypatch):
    assert cluster(digits, "-k", 3, "--method", "sklearn.mixture:GaussianMixture", "-q", "--out", tmp_path / "a") == 0
    assert set(clusters_in(tmp_path / "a")) == {"0", "1", "2"}
    (tmp_path / "made_here.py").write_text(
        "class Few:\n    def __init__(self, n_clusters=2): self.n_clusters = n_clusters\n"
        "    def fit(self, X): self.labels_ = [0, 1]; return self\n"
        "    def fit_predict(self, X): return self.fit(X).labels_\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert cluster(digits, "-k", 2, "--method", "made_here:Few", "-q", "--out", tmp_path / "b") == Exit.INPUT
    assert "Few gave 2 labels for 240 samples" in capsys.readouterr().err


def test_a_method_that_finds_the_number_itself_and_leaves_samples_out(digits, tmp_path, capsys):
    arguments = ["-k", "auto", "--method", "sklearn.cluster:DBSCAN", "--set", "eps=18"]
    assert cluster(digits, *arguments, "--out", tmp_path) == 0
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["unassigned"] > 0
    assert sum(result["cluster_sizes"]) + result["unassigned"] == 240
    assert f"{result['unassigned']} of 240 samples are in no cluster" in capsys.readouterr().out
    assert "-1" in clusters_in(tmp_path)


def test_numbers_of_clusters_reach_the_estimator():
    parse = build_parser().parse_args
    for text, value in (("7", 7), ("auto", "auto"), ("AUTO", "auto"), ("2-9", (2, 9))):
        assert parse(["cluster", "x.npy", "-k", text]).clusters == value
        assert parse(["cluster", "x.npy", "--clusters", text]).clusters == value


@pytest.mark.parametrize("method", ["sklearn.cluster:KMeans", "knn"])
@pytest.mark.parametrize("number", ["auto", "2-5"])
def test_a_method_that_cannot_choose_the_number_is_told_before_work(digits, tmp_path, capsys, method, number):
    assert cluster(digits, "-k", number, "--method", method, "--out", tmp_path / "o") == Exit.USAGE
    said = capsys.readouterr()
    assert "cannot choose the number of clusters: give one, as in --clusters 5" in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not (tmp_path / "o").exists()


def test_a_method_that_fails_is_one_line(digits, tmp_path, capsys):
    arguments = ["-k", "auto", "--method", "sklearn.cluster:DBSCAN", "--set", "eps=-1"]
    assert cluster(digits, *arguments, "--out", tmp_path) == Exit.USAGE
    error = capsys.readouterr().err
    assert "'eps' parameter of DBSCAN" in error
    assert error.count("\n") == 1


def test_the_verdict_is_told_in_the_words_of_the_command(tmp_path, capsys):
    np.save(tmp_path / "noise.npy", RNG.standard_normal((80, 10)))
    out = tmp_path / "o"
    assert cluster(tmp_path / "noise.npy", "-k", 4, "--method", "bmsc", "--no-report", "--out", out) == 0
    printed = capsys.readouterr().out
    stored = json.loads((out / "result.json").read_text(encoding="utf-8"))["verdict"]
    assert stored["headline"].startswith("4 clusters that are hardly supported")
    assert stored["headline"] in printed
    assert "next: Let the number of clusters be chosen: --clusters auto." in printed
    assert "--set min_certainty=0.5" in printed
    assert any('n_clusters="auto"' in step for step in stored["next"])


@pytest.mark.parametrize("method", ["bmsc", "kmeans"])
def test_unlike_scales_are_pointed_out_where_the_method_does_not_weigh_them(tmp_path, capsys, method):
    X = RNG.standard_normal((40, 3)) * [1, 1, 900]
    np.savetxt(tmp_path / "a.csv", X, delimiter=",", header="low,middle,high", comments="")
    arguments = [tmp_path / "a.csv", "-k", 2, "--method", method, "--no-report", "--out", tmp_path / "o"]
    assert cluster(*arguments) == 0
    said = capsys.readouterr().out
    assert "features vary on unlike scales (standard deviations: 'high' " in said
    assert "--scale standard" in said
    assert cluster(*arguments, "--scale", "standard") == 0
    assert "unlike scales" not in capsys.readouterr().out


def test_folders_of_the_same_names_are_other_data(tmp_path, capsys):
    Image = pytest.importorskip("PIL.Image")
    for folder, copy in (("a", 0), ("b", 0), ("c", 1)):
        (tmp_path / folder).mkdir()
        rng = np.random.default_rng(copy)
        for number in range(12):
            Image.fromarray(rng.integers(0, 255, (6, 6)).astype(np.uint8)).save(tmp_path / folder / f"{number}.png")
        arguments = ["-k", 2, "--method", "kmeans", "-q", "--no-report", "--out", tmp_path / f"{folder}-run"]
        assert cluster(tmp_path / folder, *arguments) == 0
    runs = [str(tmp_path / f"{folder}-run") for folder in "abc"]
    assert main(["compare", runs[0], runs[1]]) == 0
    assert main(["compare", runs[0], runs[2]]) == Exit.INPUT
    assert "different data" in capsys.readouterr().err


def test_roles_are_printed_and_stored(tmp_path, capsys):
    rows = [f"{i},{'north' if i % 2 else 'south'},{RNG.random():.3f},{RNG.random():.3f}" for i in range(30)]
    (tmp_path / "a.csv").write_text("id,region,height,weight\n" + "\n".join(rows))
    assert cluster(tmp_path / "a.csv", "-k", 2, "--method", "kmeans", "--out", tmp_path / "o") == 0
    printed = capsys.readouterr().out
    assert "2 features: height, weight" in printed
    assert "column 'region' is ignored" in printed
    stored = json.loads((tmp_path / "o" / "result.json").read_text(encoding="utf-8"))["columns"]
    assert {one["name"]: one["role"] for one in stored} == {
        "id": "name", "region": "ignored", "height": "feature", "weight": "feature"
    }  # fmt: skip
    assert label_rows(tmp_path / "o")[3]["sample"] == "3"


def test_missing_values_from_file_to_labels(tmp_path, capsys):
    X = RNG.random((40, 3))
    X[3, 1] = np.nan
    np.savetxt(tmp_path / "a.csv", X, delimiter=",", header="a,b,c", comments="", fmt="%.3f")
    arguments = [tmp_path / "a.csv", "-k", 2, "--out", tmp_path / "o", "-q"]
    assert cluster(*arguments) == Exit.INPUT
    assert "1 missing value: 'b' 1 (row 3)" in capsys.readouterr().err
    assert cluster(*arguments, "--method", "kmeans", "--impute", "median") == 0
    assert len(clusters_in(tmp_path / "o")) == 40
    assert cluster(*arguments, "--method", "kmeans", "--missing", "drop") == 0
    assert [row["sample"] for row in label_rows(tmp_path / "o")] == [str(i) for i in range(40) if i != 3]
    assert cluster(*arguments, "--method", "kmeans", "--missing", "ignore") == Exit.USAGE
    assert "cannot ignore missing values; --impute median" in capsys.readouterr().err


def test_missing_values_are_unknown_to_the_method(tmp_path, capsys):
    data = make_subspaces(3, 2, 12, 20, missing=0.2, random_state=0)
    header = ",".join(f"f{i}" for i in range(12))
    np.savetxt(tmp_path / "a.csv", data.data, delimiter=",", header=header, comments="")
    arguments = [tmp_path / "a.csv", "-k", 3, "--method", "bmsc", "--missing", "ignore", "--out", tmp_path / "o"]
    assert cluster(*arguments) == 0
    count = int(data.missing_mask.sum())
    assert f"{count} missing values" in capsys.readouterr().out
    assert clustering_accuracy(data.target, clusters_in(tmp_path / "o")) == 1
    assert f"{count} values (" in (tmp_path / "o" / "report.html").read_text(encoding="utf-8")


def test_a_sparse_matrix_reaches_a_method(tmp_path):
    from scipy import sparse
    from scipy.io import mmwrite

    rows = sparse.random_array((60, 30), density=0.2, rng=RNG, format="csr")
    sparse.save_npz(tmp_path / "a.npz", rows)
    mmwrite(tmp_path / "a.mtx", rows)
    wide = sparse.csr_array((rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)), shape=rows.shape)
    sparse.save_npz(tmp_path / "wide.npz", wide)  # k-means takes indices of 32 bits only
    for file in ("a.npz", "a.mtx", "wide.npz"):
        for method in ("kmeans", "knn"):
            out = tmp_path / f"{file} {method}"
            assert cluster(tmp_path / file, "-k", 3, "--method", method, "-q", "--out", out) == 0
            assert clusters_in(out) == clusters_in(tmp_path / f"a.npz {method}")


def test_compare_shows_agreement_and_refuses_other_data(digits, tmp_path, capsys):
    for name in ("knn", "kmeans"):
        assert cluster(digits, "-k", 4, "--method", name, "-q", "--out", tmp_path / name) == 0
    scaled = ["--method", "kmeans", "--scale", "standard", "-q", "--out", tmp_path / "scaled"]
    assert cluster(digits, "-k", 4, *scaled) == 0
    runs = [str(tmp_path / name) for name in ("knn", "kmeans", "scaled")]
    assert main(["compare", *runs, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    table = np.array(found["adjusted_rand"])
    assert np.allclose(np.diag(table), 1)
    assert np.allclose(table, table.T)
    assert 0.2 < table[0, 1] < 1
    assert main(["compare", *runs]) == 0
    assert "Against the known classes" in capsys.readouterr().out
    np.save(tmp_path / "other.npy", RNG.random((240, 64)))
    assert cluster(tmp_path / "other.npy", "-k", 4, *FAST, "-q", "--out", tmp_path / "other") == 0
    for command in (["compare"], ["report", "--out", str(tmp_path / "page.html")]):
        assert main([*command, runs[0], str(tmp_path / "other")]) == Exit.INPUT
        assert "different data" in capsys.readouterr().err
    assert main(["compare", runs[0]]) == Exit.USAGE


def test_names_in_any_case_also_in_reproduce(tmp_path, capsys):
    arguments = ["--setting", "auto", "--trials", "1", "--out", str(tmp_path), "--json"]
    methods = ["--method", "KNN", "--method", "sklearn.cluster:KMeans"]
    assert main(["reproduce", "table1", "--dataset", "Digits", *methods, *arguments]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["method"] for row in rows} == {"knn", "sklearn.cluster:KMeans"}
    assert all(row["accuracy"]["mean"] > 40 for row in rows)


def test_compile_time_is_counted_once_and_apart(tmp_path, capsys):
    marks = [(0.0, True), (1.0, True), (2.0, False), (5.0, False), (7.0, True), (8.0, False)]
    assert _outermost(marks) == 6.0
    assert _outermost([(0.0, True), (1.0, True), (3.0, False), (4.0, False)]) == 4.0
    arguments = ["demo", "--samples", "120", "--jobs", "1", "--method", "knn", "--json", "--out", str(tmp_path)]
    assert main(arguments) == 0
    result = json.loads(capsys.readouterr().out)
    assert [row[0] for row in result["rows"]] == ["k-means", "SSC", "BMSC", "GMSC", "RMSC", "k-NN graph"]
    assert set(result["compile_seconds"]) == {"SSC", "BMSC", "GMSC", "RMSC", "k-NN graph"}


def test_compiling_is_told_when_it_happens():
    """A kernel that nobody compiled before: the clock of a fit leaves its compilation out."""
    import numba
    from sklearn.base import BaseEstimator

    from masked_subspace.cli.fitting import fit

    class Compiling(BaseEstimator):
        def fit(self, X):
            numba.njit(lambda x: x + 1.5)(X[0, 0])
            self.labels_ = np.zeros(len(X), dtype=int)
            return self

    Compiling.__module__ = "masked_subspace.test"
    fitted = fit(Compiling(), RNG.random((3, 2)))
    assert fitted.compile_seconds > 0.01
    assert fitted.seconds < fitted.compile_seconds


def test_a_page_of_several_runs_speaks_of_all_of_them(digits, tmp_path):
    for name, more in (("knn", []), ("kmeans", ["--scale", "standard"])):
        assert cluster(digits, "-k", 4, "--method", name, *more, "-q", "--out", tmp_path / name) == 0
    page = tmp_path / "both.html"
    assert main(["report", str(tmp_path / "knn"), str(tmp_path / "kmeans"), "--out", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    shown = json.loads(re.search(r'<script type="application/json" id="payload">(.*?)</script>', text, re.DOTALL)[1])
    assert shown["subtitle"] == "2 runs on 240 samples"
    assert dict(shown["facts"]) == {"samples": 240, "features": 64}  # not the method, seed and clusters of the first
    assert any(note.startswith("k-means (kmeans): every feature is scaled") for note in shown["notes"])
    assert not any(note.startswith("knn") for note in shown["notes"])
    assert shown["made"]["command"].startswith("masked-subspace report ")
    assert [table["title"] for table in shown["tables"]] == ["Comparison", "Who agrees with whom"]


def test_a_column_of_numbers_may_hold_the_names(tmp_path):
    X = np.c_[RNG.standard_normal((40, 3)), np.arange(40) % 20]
    np.savetxt(tmp_path / "a.csv", X, delimiter=",", header="a,b,c,who", comments="", fmt="%g")
    asked = ["-k", 2, "--method", "kmeans", "--no-report", "--name-column", "who", "--out", tmp_path / "o"]
    assert cluster(tmp_path / "a.csv", *asked) == 0
    assert [row["sample"] for row in label_rows(tmp_path / "o")] == [str(one % 20) for one in range(40)]


def test_the_page_says_by_which_command_it_was_made(digits, tmp_path):
    out = tmp_path / "my runs"
    assert cluster(digits, "-k", 4, *FAST, "--out", out) == 0
    made = f"masked-subspace cluster {digits} -k 4 {' '.join(FAST)} --out '{out}'"
    assert json.dumps(made)[1:-1] in (out / "report.html").read_text(encoding="utf-8")
