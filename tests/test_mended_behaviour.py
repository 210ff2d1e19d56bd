"""Seven things that were once said and not done, or done and not said; one test or more for each.

Each fails on the code from before: an attribute that was never set, a code version that left files out, help that did
not say which solver runs, a report that explained another certainty, two meanings of `n_jobs=None`, an import that
Windows does not have, a parameter that `predict` did not read.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from joblib import cpu_count

import masked_subspace
from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace._common.provenance import computing_files
from masked_subspace.baselines import LRR, LSR
from masked_subspace.datasets import make_subspaces
from masked_subspace.estimators import voting
from masked_subspace.parallel.engine import thread_count
from masked_subspace.registry import METHODS, make_estimator
from masked_subspace.report.fitted import run_from_estimator
from masked_subspace.report.payload import payload
from masked_subspace.report.record import AGREEMENT, MARGIN, ReportContent
from masked_subspace.report.verdict import verdict

ROOT = Path(masked_subspace.__file__).parent
# Files that a fit enters and that cannot move a number.
SHOWING = {"_common/progress.py", "_common/compilation.py", "_common/documentation.py"}
POSIX_ONLY = {"resource", "fcntl", "pwd", "grp", "termios", "syslog"}
WITHOUT_RESOURCE = """
import sys
sys.modules["resource"] = None  # as on Windows: importing it fails
from masked_subspace.cli import main
sys.exit(main(["reproduce", "table1", "--dataset", "digits", "--method", "knn", "--setting", "auto", "--trials", "1",
               "--quiet", "--out", sys.argv[1]]))
"""


@pytest.fixture(scope="module")
def rows():
    """Three planes with some noise, 20 samples each, of unit length."""
    X = make_subspaces(3, 2, 12, 20, noise=0.1, random_state=0).data
    return X / np.linalg.norm(X, axis=1, keepdims=True)


# 1. `LRR.noise_` was documented and never set.
def test_1_lrr_has_its_noise_as_an_attribute_and_loses_it_when_none_is_modelled(rows):
    model = LRR(3, noise_weight=0.5, random_state=0).fit(rows)
    assert model.noise_.shape == rows.shape
    np.testing.assert_allclose(model.representation_matrix_ @ rows + model.noise_, rows, atol=1e-6)
    assert not hasattr(model.set_params(noise_weight=None).fit(rows), "noise_")


# 2. The code version, which says whether a stored number is of this code, left out files that compute.
@pytest.mark.parametrize("key", ["knn", "rmsc", "lsr"])
def test_2_the_code_version_covers_every_file_that_a_fit_enters(key, rows):
    entered = set()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            entered.add(Path(frame.f_code.co_filename).relative_to(ROOT).as_posix())

    assert key in METHODS
    model = make_estimator(key, 3, {}, seed=0, n_jobs=1)
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        model.fit(rows)
    finally:
        sys.setprofile(before)
    covered = {path.relative_to(ROOT).as_posix() for path in computing_files()}
    assert "label/kmeans.py" in entered
    assert entered - covered <= SHOWING


# 3. `help(RMSC)` said that the size chooses the solver; with several members it is always the sparse one.
def test_3_help_says_which_solver_auto_takes():
    for estimator in (RMSC, BMSC, GMSC):
        words = " ".join(estimator.__doc__.split())
        assert '"auto": dense up to 2,000 samples with one member, sparse otherwise.' in words


def test_3_and_that_is_the_solver_it_takes(rows):
    def codes(**settings):
        model = RMSC(3, view="plain", n_candidates=8, random_state=0, n_jobs=1, **settings)
        return model.fit(rows).representation_matrix_.toarray()

    several = {solver: codes(members=3, solver=solver) for solver in ("auto", "dense", "sparse")}
    np.testing.assert_array_equal(several["auto"], several["sparse"])
    assert not np.array_equal(several["auto"], several["dense"])
    np.testing.assert_array_equal(codes(members=1, solver="auto"), codes(members=1, solver="dense"))


# 4. The report explained certainty as a distance; with several members it is their agreement.
@pytest.mark.parametrize(("members", "kind", "words"), [(3, AGREEMENT, "members agree"), (1, MARGIN, "nearer")])
def test_4_the_report_explains_the_certainty_that_was_computed(members, kind, words, rows):
    model = RMSC(3, members=members, view="plain", random_state=0, n_jobs=1).fit(rows)
    run = run_from_estimator(model, "RMSC", X=rows)
    assert run.certainty_kind == kind
    assert payload(ReportContent("test", runs=(run,)))["runs"][0]["certainty_kind"] == kind
    said = next(point["text"] for point in verdict(run)["points"] if point["title"] == "Certainty")
    assert words in said


def test_4_the_page_has_a_sentence_for_either_kind():
    script = (ROOT / "report/assets/glossary.js").read_text(encoding="utf-8")
    sentences = dict(re.findall(r"^  (margin|agreement): '(.*?)',$", script.partition("const words")[0], re.M))
    assert set(sentences) == {MARGIN, AGREEMENT}
    assert "distance" in sentences[MARGIN]
    assert "members" in sentences[AGREEMENT]
    assert "distance" not in sentences[AGREEMENT]


# 5. "n_jobs=None uses all cores" stood beside "as in scikit-learn", where it is mostly one.
def test_5_help_says_what_n_jobs_does(monkeypatch):
    for estimator in (RMSC, BMSC, GMSC, LRR, masked_subspace.cluster_graph):
        words = " ".join(estimator.__doc__.split())
        assert "None: one for each core, but no more than OMP_NUM_THREADS allows. −1: one for each core." in words
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert thread_count(None) == thread_count(-1) == cpu_count()
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert thread_count(None) == 1
    assert thread_count(-1) == cpu_count()


# 6. A module that Windows does not have was imported, and `reproduce` could not start there.
def test_6_nothing_imports_what_windows_lacks_before_it_is_needed():
    for source in ROOT.rglob("*.py"):
        for node in ast.parse(source.read_text(encoding="utf-8")).body:
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            assert POSIX_ONLY.isdisjoint(names), source


def test_6_reproduce_runs_without_the_resource_module(tmp_path):
    done = subprocess.run([sys.executable, "-c", WITHOUT_RESOURCE, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# 7. `predict` did not read `n_candidates`, and the constants of its code stood without a name or a reason.
@pytest.mark.parametrize("estimator", [RMSC, BMSC, GMSC])
def test_7_predict_rebuilds_from_so_many_candidates(estimator, rows):
    def most_voters(n_candidates):
        model = estimator(3, view="plain", n_candidates=n_candidates, random_state=0, n_jobs=1).fit(rows[::2])
        return int(np.diff(model._voters(rows[1::2]).indptr).max())

    assert most_voters(2) == 2 < most_voters(20) <= 20


def test_7_a_method_without_that_parameter_has_the_usual_number(rows):
    model = LSR(3, random_state=0, n_jobs=1).fit(rows)
    assert model.n_candidates == BMSC(3).n_candidates == 64


def test_7_no_bare_number_stands_in_the_code_that_votes():
    tree = ast.parse(Path(voting.__file__).read_text(encoding="utf-8"))
    votes = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "voters_of")
    numbers = {
        node.value for node in ast.walk(votes) if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    }
    assert numbers <= {0, 1}
