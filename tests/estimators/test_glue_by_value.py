"""What one step of an estimator hands to the next: settings, seeds, evidence, and the first mask."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils import get_tags

from masked_subspace import BMSC, GMSC, RMSC, BilevelClustering
from masked_subspace._common.progress import SilentEvents
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace.baselines import LSR, SoftS3C
from masked_subspace.estimators import base, masked, on_workers
from masked_subspace.estimators import rmsc as module
from masked_subspace.estimators.base import Task
from masked_subspace.estimators.bilevel import LabelPsi
from masked_subspace.label.labeler import GraphLabeler
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rows.preparation import VIEWS


class EnoughError(Exception):
    """Raised where a test has seen enough."""


def clouds(n=60, noise=1.0, seed=0):
    """Three noisy subspaces that nobody parts without errors."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(n // 3, 3)) @ rng.normal(size=(3, 12)) for _ in range(3)])
    return X / np.linalg.norm(X, axis=1, keepdims=True) + noise * rng.normal(size=X.shape) / np.sqrt(12)


def test_evidence_has_the_threads_and_the_hardness_of_the_task():
    task = Task(np.eye(3), None, True, 5, 3, SilentEvents())
    evidence = task.evidence(task.X)
    assert (evidence.n_threads, evidence.hard, evidence.known) == (3, True, None)
    assert evidence.X is task.X


@pytest.mark.parametrize(
    ("model", "wanted"),
    [(BMSC(3, solver="dense"), True), (BMSC(3, solver="sparse"), False), (LSR(3), True), (SoftS3C(3), True)],
)
def test_sparse_samples_become_coordinates_where_the_method_needs_arrays(model, wanted):
    assert model._taken(SparseSamples.of(csr_array(np.eye(4)))).always_coordinates == wanted
    X = np.eye(4)
    assert model._taken(X) is X


def test_tags_say_what_a_graph_and_unknown_entries_are():
    def of(**parameters):
        tags = get_tags(BMSC(3, **parameters)).input_tags
        return tags.pairwise, tags.allow_nan, tags.sparse

    assert of() == (False, False, True)
    assert of(missing="ignore") == (False, True, True)
    assert of(affinity="precomputed") == (True, False, True)
    assert of(affinity="precomputed", missing="ignore") == (True, False, True)
    assert of(center=False) == (False, False, False)


def task_of(X, **more):
    return Task(**{"X": X, "known": None, "hard": False, "seed": 4, "n_threads": 1, "events": SilentEvents(), **more})


@pytest.mark.parametrize(
    ("init", "hard", "seen", "again"),
    [
        (None, False, 30, False),
        (None, True, 30, True),
        (np.arange(30) % 3, False, 30, True),
        (None, False, 20, True),
    ],
)
def test_members_are_asked_again_unless_the_judge_saw_what_is_clustered(monkeypatch, init, hard, seen, again):
    """Under prices of `init`, under hard pairs, or of other samples a ballot is another one."""
    asked = []

    def by_judge(*_):
        asked.append(False)
        raise EnoughError

    def anew(*_):
        asked.append(True)
        raise EnoughError

    monkeypatch.setattr(RMSC, "_with_votes_of_judge", by_judge)
    monkeypatch.setattr(RMSC, "_asked_again", anew)
    X = np.random.default_rng(0).normal(size=(30, 5))
    model = RMSC(3, init=init)
    model.n_clusters_, model._bounds = 3, (3, 3)
    way = SimpleNamespace(labels=np.zeros(seen, int), family=SimpleNamespace(name="plain"))
    with pytest.raises(EnoughError):
        model._vote(task_of(X, hard=hard), [VIEWS["plain"]], way, [])
    assert asked == [again]


def test_one_member_cuts_a_given_graph_once():
    for members, expected in ((1, 1), (5, 2)):
        model = RMSC(3, affinity="precomputed", members=members)
        model.n_clusters_ = 3
        assert len(model._cuts_of_graph(300)) == expected
    assert len(BMSC(3, affinity="precomputed")._cuts_of_graph(300)) == 1


def test_settings_of_a_fit_on_workers_are_those_of_the_model(monkeypatch):
    pytest.importorskip("distributed")
    from masked_subspace.distributed import fit

    asked = {}

    def fit_distributed(X, n_clusters, **settings):
        asked.update(settings, n_clusters=n_clusters)
        raise EnoughError

    monkeypatch.setattr(fit, "fit_distributed", fit_distributed)
    settings = {
        "sparsity": 0.1,
        "penalty": 0.3,
        "penalty_growth": 1.4,
        "max_iter": 17,
        "tol": 1e-3,
        "n_candidates": 19,
        "n_links": 7,
        "n_components": 6,
        "cut": "modularity",
        "center": False,
        "normalize": False,
        "random_state": 9,
    }
    client = SimpleNamespace(scheduler_info=lambda: {"workers": {"a": 1}})
    with pytest.raises(EnoughError):
        BMSC(5, **settings)._fit_on_workers(np.zeros((9, 4)), client)
    assert asked == {**settings, "n_clusters": 5, "client": client}


def test_more_than_twenty_thousand_rows_of_a_dask_array_are_for_workers(monkeypatch):
    da = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "default_client", lambda: "client")
    assert on_workers.client_for(da.zeros((20_001, 2))) == "client"
    for X in (da.zeros((20_000, 2)), da.zeros(30_000), np.zeros((20_001, 2))):
        assert on_workers.client_for(X) is None


def test_the_warning_says_how_far_the_solver_was():
    solution = SimpleNamespace(converged=False, n_iter=7, stopping_value=0.0123, sparsity_residual=5.0)
    with pytest.warns(base.ConvergenceWarning, match=r"after 7 iterations with a change of 0\.012, above .*tol"):
        BMSC(3)._warn_if_not_converged(solution)
    assert BMSC(3, penalty_growth=1.3)._remedy() == "max_iter, tol or penalty_growth (now 1.3)"
    assert RMSC(3, tol=1e-9)._remedy() == f"tol (now {module.MEMBER_TOL})"
    assert RMSC(3, tol=0.5)._remedy() == "tol (now 0.5)"
    assert LSR(3)._remedy() == "max_iter or tol"


def test_entries_taken_out_are_told_as_a_share_of_all_entries(monkeypatch):
    told = []
    X = np.zeros((10, 5))
    cleaned = SimpleNamespace(outliers=csr_array(np.eye(10, 5)), price=0.5, samples=X)
    asked = []
    monkeypatch.setattr(masked, "clean_samples", lambda _, **how: asked.append(how) or cleaned)
    events = SimpleNamespace(message=told.append)
    model = GMSC(3, outliers="auto", center=False, n_jobs=2)
    assert model._without_outliers(task_of(X, events=events)) == (X, cleaned.outliers)
    assert told == ["outliers: 10 % of the entries, price 0.5"]
    assert asked == [{"center": False, "seed": 4, "n_jobs": 2}]


KNOWN = KnownPairs.of(30, must_link=[[0, 1]], cannot_link=[[2, 3]])


@pytest.mark.parametrize(
    "model",
    [BMSC(3), GMSC(3), RMSC(3, members=1), BilevelClustering(n_clusters=3)],
    ids=lambda model: type(model).__name__,
)
def test_what_is_known_shapes_the_representation(monkeypatch, model):
    asked = []

    def prepare(self, rows, **how):
        asked.append((rows, how))
        raise EnoughError

    monkeypatch.setattr(MaskedRepresenter, "prepare", prepare)
    model.n_clusters_, model._bounds = 3, (3, 3)
    X = np.random.default_rng(0).normal(size=(30, 5))
    for hard in (True, False):
        with pytest.raises(EnoughError):
            model._play(X, task_of(X, known=KNOWN, hard=hard))
        rows, how = asked.pop()
        assert rows is X
        assert how["known"] is KNOWN
        assert (how["hard"], how["seed"]) == (hard, 4)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gmsc", GMSC(3, soft_mask="given", mask_strength=1.7, mask_orientation="paper")),
        ("rmsc", RMSC(3, init="given", members=1, mask_strength=1.7, mask_orientation="paper")),
        ("bilevel", BilevelClustering(n_clusters=3, init="given", mask=LabelPsi(1.7, "paper"))),
    ],
)
def test_the_first_mask_has_the_strength_and_the_direction_of_the_later_ones(monkeypatch, name, model):
    asked = []

    def first_soft_mask(*given):
        asked.append(given)
        raise EnoughError

    monkeypatch.setattr(f"masked_subspace.estimators.{name}.first_soft_mask", first_soft_mask)
    model.n_clusters_, model._bounds = 3, (3, 3)
    X = np.random.default_rng(0).normal(size=(30, 5))
    with pytest.raises(EnoughError):
        model._play(X, task_of(X))
    given, rows, strength, orientation, seed, _ = asked[0]
    assert rows is X
    assert (given, strength, orientation, seed) == ("given", 1.7, "paper", 4)


class Foreign:
    """A representer or labeler of somebody else."""


@pytest.mark.parametrize(
    ("parts", "needed"),
    [
        ({}, False),
        ({"representer": MaskedRepresenter(solver="sparse")}, False),
        ({"representer": MaskedRepresenter(solver="dense")}, True),
        ({"representer": Foreign()}, True),
        ({"labeler": GraphLabeler(3)}, False),
        ({"labeler": Foreign()}, True),
    ],
)
def test_the_frame_needs_arrays_for_what_is_not_ours_or_dense(parts, needed):
    assert BilevelClustering(**parts)._needs_coordinates() == needed


def test_settings_of_the_first_mask_are_heard_where_one_is_given():
    X = clouds()
    quiet = RMSC(3, members=2, init=np.arange(60) % 3, mask_strength=2.0)
    quiet.n_clusters_ = 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet._check_settings(X)
    with pytest.warns(UserWarning, match=r"mask_strength=2\.0 has no effect with 2 members"):
        RMSC(3, members=2, mask_strength=2.0)._check_settings(X)
