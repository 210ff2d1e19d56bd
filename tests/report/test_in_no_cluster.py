"""Samples in no cluster (label −1) are counted and said; they are never scored, drawn or advised on as a cluster."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from masked_subspace.cli import main
from masked_subspace.label.modularity import modularity
from masked_subspace.report import ReportContent, Run, comparison_table, content_of, run_from_estimator
from masked_subspace.report.comparing import agreement_table
from masked_subspace.report.layout import homes
from masked_subspace.report.payload import payload
from masked_subspace.report.scoring import agreement, cluster_modularity, scores
from masked_subspace.report.verdict import verdict

TRUTH = np.repeat([0, 1], 10)


@pytest.fixture(scope="module")
def blobs_with_noise():
    """Three round clusters of 60 and 40 samples all over the place, whose classes are by lot."""
    rng = np.random.default_rng(0)
    middles = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    rows = [*(middle + rng.normal(size=(60, 2)) for middle in middles), rng.uniform(-10, 16, (40, 2))]
    return np.vstack(rows), np.r_[np.repeat([0, 1, 2], 60), rng.integers(0, 3, 40)]


def test_leaving_samples_out_never_raises_accuracy():
    labels = TRUTH.copy()
    assert scores(labels, TRUTH)["accuracy"] == 1
    labels[:5] = -1  # half of class 0
    found = scores(labels, TRUTH)
    assert found == {"accuracy": 0.75, "NMI": 1.0, "BCA": 1.0}
    labels[:10] = -1  # all of class 0: as a cluster of its own it would be perfect
    assert scores(labels, TRUTH)["accuracy"] == 0.5
    assert scores(np.full(20, -1), TRUTH) == {"accuracy": 0.0}
    assert scores(labels, None) == {}


def test_nmi_and_bca_are_those_of_the_samples_in_clusters():
    rng = np.random.default_rng(1)
    labels, target = rng.integers(-1, 3, 200), rng.integers(0, 3, 200)
    kept = labels >= 0
    found = scores(labels, target)
    assert found["NMI"] == pytest.approx(normalized_mutual_info_score(target[kept], labels[kept]))
    assert found == pytest.approx(
        {**scores(labels[kept], target[kept]), "accuracy": scores(labels[kept], target[kept])["accuracy"] * kept.mean()}
    )


def test_runs_agree_on_the_samples_that_both_have_in_clusters():
    rng = np.random.default_rng(2)
    one, other = rng.integers(-1, 3, 100), rng.integers(-1, 3, 100)
    both = (one >= 0) & (other >= 0)
    assert agreement(one, other) == (pytest.approx(adjusted_rand_score(one[both], other[both])), both.sum())
    assert agreement(np.full(5, -1), np.zeros(5)) == (None, 0)
    assert agreement(np.array([0, 0, 1, 1, -1, -1]), np.array([5, 5, 7, 7, 5, 7])) == (1.0, 4)


def test_modularity_is_that_of_the_clusters():
    rng = np.random.default_rng(3)
    dense = np.triu(rng.random((20, 20)), 1)
    graph = csr_array(dense + dense.T)
    labels = np.r_[np.full(4, -1), np.repeat([0, 1], 8)]
    inside = csr_array(graph[4:][:, 4:])
    assert cluster_modularity(graph, labels) == pytest.approx(modularity(inside, labels[4:]))
    assert cluster_modularity(graph, np.full(20, -1)) == 0


@pytest.mark.parametrize("method", [DBSCAN(eps=1.0), HDBSCAN(min_cluster_size=15, copy=True)])
def test_noise_is_no_cluster_in_a_report(blobs_with_noise, method):
    X, y = blobs_with_noise
    model = method.fit(X)
    count = int((model.labels_ == -1).sum())
    assert count > 10
    models = {"k-means": KMeans(3, n_init=2, random_state=0).fit(X), "noisy": model}
    content = content_of(models, X, y=y)
    run = content.runs[1]
    assert run.scores["accuracy"] <= 1 - count / len(y)
    assert (run.certainty[run.labels < 0] == 0).all()
    words = verdict(run, content.runs)
    assert f"; {count} of 220 samples are in none" in words["headline"]
    said = {point["title"]: point["text"] for point in words["points"]}
    assert "accuracy counts them as wrong, NMI and BCA leave them out" in said["Not assigned"]
    assert f"of {220 - count} samples in clusters" in said["Certainty"]
    table = comparison_table(content.runs)
    assert table.columns[:3] == ("method", "clusters", "in no cluster")
    assert [row[2] for row in table.rows] == [0, count]
    assert "NMI and BCA leave them out" in table.notes[-1]
    assert "samples that both have in clusters" in agreement_table(content.runs).notes[-1]
    page = payload(content)["runs"][1]
    assert page["confusion"]["match"][0] == -1  # no class is matched with no cluster
    matched = sum(page["confusion"]["counts"][k][c] for k, c in enumerate(page["confusion"]["match"]) if c >= 0)
    assert matched / 220 == pytest.approx(run.scores["accuracy"])
    # Cluster 0 looks the same on every page.
    assert page["looks"][1] == payload(content)["runs"][0]["looks"][0]


def test_certainty_is_not_about_the_middle_of_the_noise(blobs_with_noise):
    X, _ = blobs_with_noise
    model = DBSCAN(eps=1.0).fit(X)
    inside = model.labels_ >= 0
    alone = run_from_estimator(_Labels(model.labels_[inside]), "alone", X=X[inside])
    beside = run_from_estimator(model, "beside", X=X)
    np.testing.assert_allclose(beside.certainty[inside], alone.certainty, atol=0.02)


class _Labels:
    def __init__(self, labels):
        self.labels_ = labels


def test_the_map_puts_them_beside_the_nearest_cluster():
    embedding = np.array([[0.0], [0.2], [5.0], [5.2], [4.0], [1.0]])
    labels = np.array([3, 3, 8, 8, -1, -1])
    assert homes(embedding, labels).tolist() == [0, 0, 1, 1, 1, 0]
    assert homes(embedding, np.full(6, -1)).tolist() == [0] * 6


def test_one_cluster_beside_noise_and_nothing_but_noise():
    graph = csr_array(np.ones((6, 6)) - np.eye(6))
    settings = {"eps": 0.5}  # a method that finds the number itself

    def words(labels):
        return verdict(Run("DBSCAN", np.array(labels), graph, np.eye(6), np.ones(6), parameters=settings))

    one = words([0, 0, 0, 0, -1, -1])
    assert one["headline"] == "One cluster: nothing was divided; 2 of 6 samples are in none"
    assert one["points"][0]["text"] == "One cluster holds 4 samples, so there is nothing to compare."
    assert one["next"] == ["Try other settings of the method."]
    none = words([-1] * 6)
    assert none["headline"] == "No clusters"
    assert "leaves every sample out" in none["next"][0]
    nobody = Run("x", np.full(6, -1), graph, np.eye(6), np.ones(6))
    images = np.zeros((6, 4, 4), dtype=np.uint8)
    page = payload(ReportContent("t", runs=(nobody,), target=TRUTH[:6], images=images))["runs"][0]
    assert (page["clusters"], page["subspaces"], page["confusion"]["match"]) == (["not assigned"], [], [-1])


def test_many_samples_in_no_cluster_lower_the_tone():
    graph = csr_array(np.kron(np.eye(2), np.ones((10, 10)) - np.eye(10)))
    labels = TRUTH.copy()
    sure = np.linspace(0.8, 1, 20)
    assert verdict(Run("m", labels, graph, np.eye(20), sure, structure=0.9))["tone"] == "good"
    labels[[0, 1, 2, 3, 10, 11, 12, 13]] = -1
    assert verdict(Run("m", labels, graph, np.eye(20), sure, structure=0.9))["tone"] == "fair"


def test_the_command_says_how_many_and_what_scores_count(blobs_with_noise, tmp_path, capsys):
    np.savez(tmp_path / "d.npz", X=blobs_with_noise[0], y=blobs_with_noise[1])
    noisy = ["-k", "auto", "--method", "sklearn.cluster:DBSCAN", "--set", "eps=1.0", "--out", str(tmp_path / "a")]
    assert main(["cluster", str(tmp_path / "d.npz"), *noisy]) == 0
    count = json.loads((tmp_path / "a" / "result.json").read_text(encoding="utf-8"))["unassigned"]
    told = f"{count} of 220 samples are in no cluster: accuracy counts them as wrong, NMI and BCA leave them out"
    assert told in capsys.readouterr().out
    means = ["-k", "3", "--method", "k-means", "-q", "--out", str(tmp_path / "b")]
    assert main(["cluster", str(tmp_path / "d.npz"), *means]) == 0
    folders = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert main(["compare", *folders]) == 0
    out = capsys.readouterr().out
    assert f"samples in no cluster: {count} in DBSCAN (a)" in out
    assert "compared on the samples that both have in clusters" in out
    assert main(["compare", "--json", *folders]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unassigned"] == [count, 0]
    assert found["compared"] == [[220 - count, 220 - count], [220 - count, 220]]
    assert main(["report", *folders, "--out", str(tmp_path / "both.html")]) == 0
    assert "in no cluster" in (tmp_path / "both.html").read_text(encoding="utf-8")
