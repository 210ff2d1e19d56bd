"""A run in a folder is one unit: killed, repeated or doubled, its files belong together or nobody reads them."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.cli import main
from masked_subspace.cli.exits import Exit
from masked_subspace.inputs import InputError
from masked_subspace.report import ReportContent, Run, archive
from masked_subspace.report.archive import FILES, SEAL, IncompleteRunError, load_result, load_run, save_run
from masked_subspace.report.stored import checked_graph

from .conftest import FAST, clusters_in, command, started

WITHOUT_PAGE = sorted(set(FILES) - {"report.html"})


def run_of(cluster: int, n: int = 400) -> tuple[ReportContent, dict]:
    """A run whose every file says `cluster`."""
    rng = np.random.default_rng(cluster)
    graph = csr_array((np.full(n, 1.0 + cluster), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    one = Run(f"run {cluster}", np.full(n, cluster), graph, rng.random((n, 8)) + cluster, np.full(n, 1 / (1 + cluster)))
    return ReportContent(f"run {cluster}", runs=(one,)), {"name": f"run {cluster}", "cluster": cluster}


def cluster_said_by(folder) -> int:
    """The one number that all files of a folder agree on; an error if they differ."""
    content = load_run(folder)
    run = content.runs[0]
    said = {int(run.labels[0]), int(run.affinity.data[0]) - 1, int(run.embedding.min()), int(content.title.split()[1])}
    (cluster,) = said
    return cluster


def write_for_ever(folder, clusters) -> None:
    runs = [run_of(cluster) for cluster in clusters]
    while True:
        for content, result in runs:
            save_run(folder, content, result, page=f"page of {content.title}" if result["cluster"] % 2 else None)
            time.sleep(0.01)


def test_killed_at_forty_random_moments_it_never_mixes_two_runs(tmp_path):
    context, draw = multiprocessing.get_context("fork"), random.Random(0)
    complete = unfinished = 0
    begin = time.monotonic()
    save_run(tmp_path, *run_of(1), page="page of run 1")
    usual = time.monotonic() - begin  # on a busy machine a fixed time would end before the first run is written
    for _ in range(40):
        process = context.Process(target=write_for_ever, args=(tmp_path, (1, 2)))
        process.start()
        time.sleep(draw.uniform(0.5, 10) * usual)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        try:
            cluster = cluster_said_by(tmp_path)
            complete += 1
            assert {str(load_result(tmp_path)["cluster"])} == set(clusters_in(tmp_path)) == {str(cluster)}
            assert ((tmp_path / "report.html").exists()) == (cluster == 1)
        except IncompleteRunError:
            unfinished += 1
    assert complete + unfinished == 40
    assert complete >= 10, "kills must also fall between two runs, or the test shows nothing"
    save_run(tmp_path, *run_of(3))
    assert cluster_said_by(tmp_path) == 3
    assert sorted(os.listdir(tmp_path)) == WITHOUT_PAGE  # nothing of the killed ones stays


def test_two_at_once_leave_one_whole_run(tmp_path):
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=write_for_ever, args=(tmp_path, (one,))) for one in (1, 2)]
    for process in writers:
        process.start()
    seen, deadline = set(), time.monotonic() + 20
    while seen != {1, 2} and time.monotonic() < deadline:
        time.sleep(0.01)
        if (tmp_path / SEAL).exists():
            seen.add(cluster_said_by(tmp_path))  # the lock keeps readers and writers apart: always complete
    for process in writers:
        process.kill()
        process.join()
    assert seen == {1, 2}


@pytest.mark.slow
def test_cluster_killed_at_ten_random_moments(digits, tmp_path):
    arguments = ["cluster", digits, *FAST, "--quiet", "--out", tmp_path / "out"]
    begin = time.monotonic()
    assert command(*arguments, "--clusters", 4).returncode == 0
    usual = time.monotonic() - begin
    draw = random.Random(1)
    for k in range(10):
        process = started(*arguments, "--clusters", 2 + k % 3)
        time.sleep(draw.uniform(0.3, 1.1) * usual)
        process.kill()
        process.communicate()
        try:
            result, content = load_result(tmp_path / "out"), load_run(tmp_path / "out")
        except IncompleteRunError:
            continue
        labels = content.runs[0].labels
        assert (
            result["parameters"]["n_clusters"] == len(set(labels.tolist())) == len(set(clusters_in(tmp_path / "out")))
        )
    assert command(*arguments, "--clusters", 3).returncode == 0
    assert set(clusters_in(tmp_path / "out")) == {"0", "1", "2"}
    assert sorted(os.listdir(tmp_path / "out")) == sorted(FILES)


def test_a_run_without_a_page_leaves_no_older_page_beside_it(digits, tmp_path):
    arguments = ["cluster", str(digits), "--clusters", "4", *FAST, "--quiet", "--out", str(tmp_path)]
    (tmp_path / "my notes.txt").write_text("kept")
    assert main(arguments) == 0
    assert (tmp_path / "report.html").exists()
    assert main([*arguments, "--no-report"]) == 0
    assert sorted(os.listdir(tmp_path)) == sorted([*WITHOUT_PAGE, "my notes.txt"])


@pytest.mark.parametrize("name", ["labels.csv", "affinity.npz", "details.npz", SEAL])
def test_a_file_of_another_run_is_noticed(tmp_path, name):
    for cluster in (1, 2):
        save_run(tmp_path / str(cluster), *run_of(cluster))
    (tmp_path / "1" / name).write_bytes((tmp_path / "2" / name).read_bytes())
    with pytest.raises(IncompleteRunError, match="not a complete run"):
        load_run(tmp_path / "1")


@pytest.mark.parametrize("name", sorted(set(FILES) - {"report.html"}))
def test_damaged_runs_are_one_line_not_a_traceback(tmp_path, capsys, name):
    save_run(tmp_path / "run", *run_of(1, 40))
    path, draw = tmp_path / "run" / name, random.Random(name)
    whole = path.read_bytes()
    flips = [draw.randrange(8 * len(whole)) for _ in range(12)]
    flipped = [bytes(byte ^ (1 << bit % 8) if place == bit // 8 else byte for place, byte in enumerate(whole))
               for bit in flips]  # fmt: skip
    for content in (b"", whole[: len(whole) // 2], whole[:-2], *flipped):
        path.write_bytes(content)
        assert main(["report", str(tmp_path / "run"), "--out", str(tmp_path / "page.html")]) == Exit.INPUT
        error = capsys.readouterr().err
        assert "not a complete run" in error
        assert error.count("\n") == 1
    path.unlink()
    assert main(["report", str(tmp_path / "run"), "--out", str(tmp_path / "page.html")]) == Exit.INPUT
    assert not (tmp_path / "page.html").exists()


def test_a_graph_whose_columns_lie_outside_it_is_refused_even_with_a_right_seal(tmp_path):
    content, result = run_of(1, 40)
    graph = content.runs[0].affinity
    graph.indices[3] = 4000
    save_run(tmp_path, replace(content, runs=(replace(content.runs[0], affinity=graph),)), result)
    with pytest.raises(IncompleteRunError, match="no valid sparse matrix"):
        load_run(tmp_path)


WRONG_SHAPES = [[39, 40], [40, 41], [0, 0], [-40, -40], [40.0, 40.0], [1 << 40] * 2, ["a", "b"], [[40, 40]], 40, [40],
                [], [40, 40, 1], [True, True]]  # fmt: skip


@pytest.mark.parametrize("quiet", [[], ["-q"], ["--json"]], ids=["aloud", "quiet", "json"])
@pytest.mark.parametrize("shape", WRONG_SHAPES, ids=str)
def test_a_graph_of_a_wrong_shape_is_said_also_by_a_quiet_command(tmp_path, capsys, monkeypatch, shape, quiet):
    def lying(stream, graph):
        np.savez(stream, shape=np.array(shape), data=graph.data, indices=graph.indices, indptr=graph.indptr)

    monkeypatch.setattr(archive, "save_npz", lying)
    save_run(tmp_path, *run_of(1, 40))  # sealed as it is
    assert main(["report", str(tmp_path), *quiet, "--out", str(tmp_path / "page.html")]) == Exit.INPUT
    out, error = capsys.readouterr()
    assert out == ""
    assert "affinity" in error
    assert ("is not two whole numbers" in error) == (shape not in ([39, 40], [40, 41], [0, 0], [1 << 40] * 2))
    assert error.count("\n") == 1
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("shape", [[40.0, 40], [-40, 40], "40", 40, None, [40]], ids=str)
def test_a_stored_round_of_a_wrong_shape_is_refused_in_plain_words(shape):
    graph = run_of(1, 40)[0].runs[0].affinity
    parts = (graph.data, graph.indices, graph.indptr)
    with pytest.raises(InputError, match=r"round 1 holds no valid .*: its shape .* is not two whole numbers"):
        checked_graph(parts, shape, "round 1")


def test_the_seal_names_the_run(tmp_path):
    first = save_run(tmp_path, *run_of(1, 40))
    one = json.loads((tmp_path / SEAL).read_text(encoding="utf-8"))["run"]
    save_run(tmp_path, *run_of(1, 40))
    assert json.loads((tmp_path / SEAL).read_text(encoding="utf-8"))["run"] != one
    assert first[-1].name == SEAL
