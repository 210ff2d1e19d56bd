"""The page as text: self-contained, small, and deaf to what users named."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.report import ReportContent, Run, render, run_from_estimator, write_report
from masked_subspace.report import page as page_module
from masked_subspace.report.page import script_safe_json

from .conftest import HOSTILE


def payload_of(text: str) -> dict:
    match = re.search(r'<script type="application/json" id="payload">(.*?)</script>', text, re.DOTALL)
    assert match
    return json.loads(match[1])


def test_user_text_arrives_unchanged_and_only_as_data(page):
    text = page.read_text(encoding="utf-8")
    payload = payload_of(text)
    assert payload["names"][7] == HOSTILE
    assert payload["classes"]["names"][2] == HOSTILE
    assert "<img" not in text
    assert text.count("</script>") == 2
    assert "<title>Digits &lt;/script&gt;" in text


def test_nothing_is_fetched(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text)
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_infinite_values_become_null(page):
    assert payload_of(page.read_text(encoding="utf-8"))["runs"][1]["scores"]["NMI"] is None


def test_every_round_is_there_in_the_final_order(page, fitted_rmsc):
    run = payload_of(page.read_text(encoding="utf-8"))["runs"][1]
    assert [one["title"] for one in run["rounds"]] == [f"round {k + 1}" for k in range(fitted_rmsc.n_rounds_)]
    assert fitted_rmsc.n_rounds_ == 2
    assert len({one["scale"] for one in run["rounds"]}) == 1
    assert sum(run["sizes"]) == len(fitted_rmsc.labels_)


def test_certain_samples_are_of_the_right_cluster_and_in_order(page, content):
    run = content.runs[1]
    certain = payload_of(page.read_text(encoding="utf-8"))["runs"][1]["certain"]
    for k, cluster in enumerate(np.unique(run.labels)):
        most, least = certain["most"][k], certain["least"][k]
        assert set(run.labels[most + least].tolist()) <= {cluster}
        assert not set(most) & set(least)
        assert (np.diff(run.certainty[most]) <= 0).all()
        assert (np.diff(run.certainty[least]) >= 0).all()


def test_rendering_is_deterministic(content):
    assert render(content) == render(content)


def test_a_report_of_tables_alone_can_be_written(content, tmp_path):
    path = write_report(ReportContent("Tables", tables=content.tables), tmp_path / "t.html")
    assert payload_of(path.read_text(encoding="utf-8"))["runs"] == []


def test_json_cannot_close_its_script():
    text = script_safe_json({"a": "</script><!--", "b": "&\u2028"})
    assert not set("<>&\u2028") & set(text)
    assert script_safe_json("é").isascii()
    assert json.loads(text) == {"a": "</script><!--", "b": "&\u2028"}


def test_ten_thousand_samples_stay_under_ten_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    n, k = 10_000, 10
    neighbours = rng.integers(0, n, (n, k))
    W = csr_array((rng.random(n * k), (np.repeat(np.arange(n), k), neighbours.ravel())), shape=(n, n))
    W = csr_array(W + W.T)
    run = Run("big", rng.integers(0, 10, n), W, rng.standard_normal((n, 12)), rng.random(n))
    images = rng.integers(0, 256, (n, 28, 28)).astype(np.uint8)  # noise does not compress: the worst case
    names = [f"a name of some length for sample number {i}" for i in range(n)]
    content = ReportContent("Big", names=names, target=rng.integers(0, 10, n), images=images, runs=(run,))
    path = write_report(content, tmp_path / "big.html")
    assert path.stat().st_size < 10_000_000


def test_many_rounds_are_thinned(content):
    run = content.runs[1]
    many = replace(run, rounds=run.rounds * 20)
    shown = payload_of(render(replace(content, runs=(many,))))["runs"][0]["rounds"]
    assert len(shown) == 12


def test_parameters_that_are_arrays_are_named_by_shape(fitted_rmsc):
    from masked_subspace import GMSC

    estimator = GMSC(5, soft_mask=np.zeros(300, dtype=int))
    fitted = {name: value for name, value in vars(fitted_rmsc).items() if name.endswith("_")}
    vars(estimator).update(fitted)
    assert run_from_estimator(estimator, "GMSC").parameters["soft_mask"] == "ndarray (300,)"


def test_a_report_that_cannot_be_written_leaves_nothing(content, tmp_path):
    (tmp_path / "file").write_text("here")
    with pytest.raises(OSError, match="choose another"):
        write_report(content, tmp_path / "file" / "report.html")
    assert (tmp_path / "file").read_text() == "here"


def test_no_two_scripts_of_the_page_share_a_name():
    """They run in one scope, where a second function of a name replaces the first; panels have blocks of their own."""
    assets = Path(page_module.__file__).parent / "assets"
    shared = [path for path in assets.glob("*.js") if not path.name.startswith("panel_")]
    declared = r"^(?:async )?(?:function|const|let|class) (\w+)"
    names = [name for path in shared for name in re.findall(declared, path.read_text(encoding="utf-8"), re.MULTILINE)]
    assert len(names) > 50
    assert sorted(names) == sorted(set(names))
