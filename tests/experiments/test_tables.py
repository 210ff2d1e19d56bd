"""Means beside the paper's numbers, and the four ways to print them."""

import csv
import io

import numpy as np
import pytest

from masked_subspace.experiments import tables
from masked_subspace.experiments.compute import cell_keys
from masked_subspace.experiments.render import aligned, comma_separated, latex, markdown, terminal, tex_text
from masked_subspace.experiments.results import Results
from masked_subspace.experiments.settings import cells
from masked_subspace.experiments.tables import Measure, report_tables, table_rows
from masked_subspace.report import Table

TRIALS = 3
ACCURACY = [0.55, 0.60, 0.65]


@pytest.fixture
def results(tmp_path):
    """A database whose numbers are known: RMSC under `paper` done, under `auto` one of three failed."""
    with Results(tmp_path / "results.sqlite") as results:
        for trial in range(10, 10 + TRIALS):
            results.remember_data("mnist-1000", trial, f"hash{trial}", "folder")
        for cell in chosen():
            key, loose_key = cell_keys(cell, f"hash{cell.trial}")
            identity = {
                "loose_key": loose_key, "dataset": cell.dataset, "trial": cell.trial, "data_hash": "h", "origin": "o",
                "method": cell.fit.method, "fit": "{}", "n_clusters": 10, "seed": cell.trial, "code_version": "v",
            }  # fmt: skip
            results.claim(key, identity)
            at = cell.trial - 10
            if cell.setting == "auto" and at == 2:
                results.finish(key, {"state": "failed", "error": "ValueError: a | b"})
                continue
            results.finish(
                key,
                {
                    "state": "done",
                    "accuracy": ACCURACY[at],
                    "nmi": 0.5,
                    "bca": 0.9,
                    "seconds": 2.0,
                    "cpu_seconds": 3.0,
                    "peak_mb": 100.0,
                },
            )
        yield results


def chosen():
    return cells("table1", methods=["rmsc"], settings=["paper", "auto"], trials=TRIALS)


def test_means_spreads_and_differences(results, monkeypatch):
    monkeypatch.setattr(tables, "paper_numbers", lambda *_: {"accuracy": [61.5, 4.0], "nmi": [64.5, 3.0]})
    paper, auto = table_rows(chosen(), results)
    measure = paper.measures["accuracy"]
    assert measure.mean == pytest.approx(60)
    assert measure.spread == pytest.approx(np.std([55, 60, 65], ddof=1))
    assert measure.difference == pytest.approx(60 - 61.5)
    assert measure.within is True
    assert paper.measures["nmi"].within is False
    assert (paper.done, paper.failed, paper.chosen_with_labels) == (3, 0, True)
    assert (auto.done, auto.failed, auto.chosen_with_labels) == (2, 1, False)
    assert auto.measures["accuracy"].mean == pytest.approx(57.5)


def test_marks_and_notes(results):
    (table,) = report_tables(table_rows(chosen(), results))
    assert [row[1] for row in table.rows] == ["paper †", "auto"]
    assert table.rows[1][2] == "2/3"
    assert any("looking at labels" in note for note in table.notes)
    assert any("1 trials failed (ValueError: a | b)" in note for note in table.notes)


def test_a_row_without_cells_is_shown_empty(tmp_path):
    with Results(tmp_path / "r.sqlite") as empty:
        (table, *_) = report_tables(table_rows(chosen(), empty))
    assert table.rows[0][2:4] == ("0/3", None)


TABLE = Table(
    "A & B_1", ("name", "x %", "y"), (("a|b", 1.234567, None), ("c", 10.0, "text")), ("a note",), (None, 2, None)
)


def test_markdown_escapes_bars():
    lines = markdown([TABLE]).splitlines()
    assert lines[2] == "| name | x % | y |"
    assert lines[4] == "| a\\|b | 1.23 | – |"
    assert "- a note" in lines


def test_csv_keeps_full_precision():
    rows = list(csv.reader(io.StringIO(comma_separated([TABLE]))))
    assert rows[1] == ["A & B_1", "a|b", "1.234567", ""]


def test_latex_escapes_and_balances():
    text = latex([TABLE])
    assert r"\caption{A \& B\_1}" in text
    assert r"name & x \% & y \\" in text
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert tex_text("λ_{1} ±") == r"$\lambda$\_\{1\} $\pm$"


def test_terminal_aligns_numbers_to_the_right():
    lines = terminal(TABLE).splitlines()
    assert lines[3].startswith("a|b    1.23")
    assert lines[4].startswith("c     10.00")
    assert "\x1b" not in aligned(("name",), [("\x1b[31m",)])


@pytest.mark.parametrize(
    ("mean", "paper", "spread", "difference", "within"),
    [
        (90.0, 88.0, 2.0, 2.0, True),  # the border belongs to it
        (90.5, 88.0, 2.0, 2.5, False),
        (85.5, 88.0, 2.0, -2.5, False),
        (87.0, 88.0, 2.0, -1.0, True),
        (87.0, 88.0, None, -1.0, None),
        (87.0, None, None, None, None),
    ],
)
def test_ours_is_within_the_printed_spread_or_not(mean, paper, spread, difference, within):
    measure = Measure(mean, 0.5, paper, spread)
    assert measure.difference == difference
    assert measure.within is within
