"""What a setting changes in a fit, and what a second fit of the same object must not keep of the first."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from joblib.parallel import get_active_backend
from scipy.sparse import csr_array

from masked_subspace import BMSC, GMSC, RMSC, BilevelClustering
from masked_subspace._common.progress import SilentEvents
from masked_subspace.baselines import (
    BDR,
    EDSC,
    LRR,
    LSR,
    SSC,
    SSCOMP,
    AutoencoderEDSC,
    EnSC,
    NeighborGraph,
    SoftS3C,
)
from masked_subspace.datasets import make_subspaces
from masked_subspace.estimators import base, bilevel, calibration, masked, on_workers, out_of_sample
from masked_subspace.estimators import rmsc as module
from masked_subspace.estimators.base import Task
from masked_subspace.estimators.calibration import Sharpening
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rows.missing import Completion


class EnoughError(Exception):
    """Raised where a test has seen enough."""


def enough(*_given, **_named):
    raise EnoughError


def task_of(X, **more):
    return Task(**{"X": X, "known": None, "hard": False, "seed": 4, "n_threads": 1, "events": SilentEvents(), **more})


@pytest.fixture
def easy():
    return make_subspaces(3, 3, 12, 20, random_state=0).data


class Told:
    """What a fit hands to `_cluster`."""

    def __init__(self, monkeypatch):
        self.task = None
        monkeypatch.setattr(base.SelfExpressiveClusterer, "_cluster", self._noted)
        monkeypatch.setattr(masked.MaskedClusterer, "_cluster", self._noted)

    def _noted(self, task):
        self.task = task
        raise EnoughError

    def of(self, model, X):
        with pytest.raises(EnoughError):
            model.fit(X)
        return self.task


@pytest.mark.parametrize("model", [BMSC(3, n_jobs=3), LSR(3, n_jobs=3)], ids=lambda one: type(one).__name__)
def test_a_fit_has_the_threads_that_were_asked_for(monkeypatch, easy, model):
    assert Told(monkeypatch).of(model, easy).n_threads == 3


@pytest.mark.parametrize("model", [BMSC(3), LSR(3)], ids=lambda one: type(one).__name__)
def test_a_fit_says_that_rows_have_copies(monkeypatch, easy, model):
    with pytest.warns(UserWarning, match="31 of the 60 rows of X have an identical copy"):
        Told(monkeypatch).of(model, np.vstack([easy[:29], np.tile(easy[29], (31, 1))]))


def test_equal_rows_are_constant_only_where_the_mean_is_taken_out(monkeypatch):
    X = np.ones((9, 4)) * 2
    told = Told(monkeypatch)
    with pytest.raises(ValueError, match="X is constant"):
        LSR(3, center=True).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(told.of(LSR(3, center=False), X).X) == 9


def test_a_second_fit_knows_nothing_of_subspaces_or_workers_of_the_first(easy):
    rng = np.random.default_rng(3)
    other = rng.permuted(easy, axis=1)  # every row has another order of features
    model = BMSC(3, random_state=0, n_jobs=1).fit(easy)
    before = model._nearest_subspace(), model.subspaces_
    model._on_workers = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(other)
        fresh = BMSC(3, random_state=0, n_jobs=1).fit(other)
    assert model._nearest is None
    assert model._nearest_subspace() is not before[0]
    np.testing.assert_array_equal(model.predict(other, method="subspace"), fresh.predict(other, method="subspace"))
    np.testing.assert_allclose(model.subspace_residuals(other), fresh.subspace_residuals(other))
    assert model.transform(other).shape == fresh.transform(other).shape


def test_the_first_of_all_samples_keeps_its_own_cluster(easy):
    """Rows in turn from three subspaces: neighbours in the array are of different clusters."""
    X = easy[np.arange(60).reshape(3, 20).T.ravel()]
    model = BMSC(3, random_state=0).fit(X)
    assert model.labels_[0] != model.labels_[1]
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.transform(X), model.embedding_)


@pytest.mark.parametrize(("turns", "width"), [(False, 31), (True, 5)])
def test_noise_is_counted_in_all_features_where_rows_were_not_turned(monkeypatch, turns, width):
    asked = []
    monkeypatch.setattr(out_of_sample.NearestSubspace, "learn", lambda *given: asked.append(given))
    model = BMSC(3)
    model._nearest, model._rows, model.n_features_in_ = None, np.zeros((6, 5)), 30
    model._labels_of_all = np.array([0, 1, 2, 0, 1, 2])
    model.labels_ = np.full(6, -1)  # all below the certainty asked for
    view = SimpleNamespace(turns=turns)
    model._preparation = SimpleNamespace(view=view, n_columns=lambda n_features: n_features + 1)
    model._nearest_subspace()
    rows, labels, n_clusters, found = asked[0]
    assert rows is model._rows
    assert labels is model._labels_of_all
    assert (n_clusters, found) == (3, width)


def test_new_samples_are_completed_in_the_precision_of_the_fit(monkeypatch, easy):
    seen = []
    monkeypatch.setattr(Completion, "apply", lambda _, X: seen.append(X.dtype) or X)
    model = BMSC(3, missing="ignore")
    model._completion = object.__new__(Completion)
    for dtype in (np.float32, np.float64):
        model._rows = easy.astype(dtype)
        gaps = easy[:2].copy()
        gaps[0, 1] = np.nan
        model._completed_new(gaps)
    assert seen == [np.float32, np.float64]


def test_zeros_have_a_root(monkeypatch, easy):
    X = np.abs(easy)
    X[:, 0] = 0
    told = Told(monkeypatch)
    assert told.of(GMSC(3, view="root"), X).X.min() == 0
    with pytest.raises(ValueError, match='view is "root" but X has negative entries'):
        BMSC(3, view="root").fit(easy)


def test_hard_pairs_of_a_graph_are_kept_against_its_links():
    """Two cliques; a sample of each must go together, and two of one apart."""
    W = np.kron(np.eye(2), np.ones((10, 10)))
    np.fill_diagonal(W, 0)
    W[0, 10] = W[10, 0] = 0.1
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(masked, "evidence_of", lambda graph, known, **how: asked.append((graph, known, how)) or enough())
        for constraints in ("soft", "hard"):
            model = BMSC(2, affinity="precomputed", constraints=constraints, n_jobs=2)
            with pytest.raises(EnoughError):
                model.fit(W, must_link=[[3, 13]], cannot_link=[[4, 5]])
    assert [how for *_, how in asked] == [{"hard": False, "n_threads": 2}, {"hard": True, "n_threads": 2}]
    assert all(known.together(np.array(3), np.array(13)) for _, known, _ in asked)


def test_the_strength_of_clusters_is_measured_on_five_thousand_samples(monkeypatch):
    asked = []
    monkeypatch.setattr(masked, "drawn_by_content", lambda _, count, __: asked.append(count) or enough())
    model = BMSC(2)
    model.n_clusters_, model._labels_of_all = 2, np.arange(6) % 2
    fit = SimpleNamespace(
        X=np.eye(6),
        rows=np.eye(6),
        strength=None,
        choices=None,
        rounds=SimpleNamespace(last=SimpleNamespace(votes=[np.arange(6) % 2])),
    )
    with pytest.raises(EnoughError):
        model._how_real(fit)
    assert asked == [5_000]


def test_memberships_are_largest_in_the_own_cluster():
    """A sample between two clusters whose links go to the other one: its own comes first all the same."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 3)) @ rng.normal(size=(3, 8)) for _ in range(3)]) + rng.normal(size=(60, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BMSC(3, random_state=0).fit(X)
    links = model.affinity_matrix_ @ np.eye(3)[model.labels_]
    assert (links.argmax(axis=1) != model.labels_).any()
    own = model.memberships_[np.arange(60), model.labels_]
    np.testing.assert_array_equal(own, model.memberships_.max(axis=1))
    np.testing.assert_allclose(own, (links / links.sum(axis=1, keepdims=True)).max(axis=1), atol=1e-6)


def test_the_frame_gives_its_settings_to_its_parts(monkeypatch, easy):
    asked = []

    def prepare(self, *_, **__):
        asked.append(self.n_jobs)

    monkeypatch.setattr(MaskedRepresenter, "prepare", prepare)
    monkeypatch.setattr(bilevel, "run_rounds", lambda *_, **how: asked.append(how) or enough())
    model = BilevelClustering(n_clusters=3, max_rounds=7, mask_tol=0.25, n_jobs=3)
    model.n_clusters_, model._bounds = 3, (3, 3)
    task = task_of(easy)
    with pytest.raises(EnoughError):
        model._play(easy, task)
    assert asked == [3, {"max_rounds": 7, "tol": 0.25, "events": task.events}]


def test_a_fit_on_workers_leaves_nothing_of_a_fit_in_this_process(monkeypatch, easy):
    pytest.importorskip("distributed")
    from masked_subspace.distributed import fit

    labels = np.arange(60) % 3
    monkeypatch.setattr(fit, "fit_distributed", lambda *_, **__: SimpleNamespace(compute=lambda: labels))
    monkeypatch.setattr(BMSC, "_keep_anchors", lambda *_: None)
    client = SimpleNamespace(scheduler_info=lambda: {"workers": {"a": 1}})
    model = BMSC(3)
    model.embedding_, model.certainty_, model.n_features_in_ = np.zeros((5, 2)), np.ones(5), 7
    assert model._fit_on_workers(easy, client) is model
    assert {name for name in vars(model) if name.endswith("_")} == {"n_features_in_", "n_clusters_", "labels_"}
    assert (model.n_features_in_, model.n_clusters_) == (12, 3)
    assert model.labels_ is labels


def test_a_backend_of_joblib_on_workers_asks_for_a_fit_in_this_process(monkeypatch):
    da = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "default_client", lambda: "client")
    X = da.zeros((20_001, 2))
    assert getattr(get_active_backend()[0], "client", None) is None
    assert on_workers.client_for(X) == "client"
    monkeypatch.setattr(on_workers, "get_active_backend", lambda: (SimpleNamespace(client="another"), 2))
    assert on_workers.client_for(X) is None


@pytest.mark.parametrize(("votes", "power"), [([0.5, 0.45, 0.05], 16.0), ([0.9, 0.05, 0.05], 0.5)])
def test_powers_lie_between_a_half_and_sixteen(monkeypatch, votes, power):
    """Votes that are always right but timid, and votes that are sure and never right: the ends of the range."""
    right = np.zeros(30, int) if power > 1 else np.ones(30, int)
    monkeypatch.setattr(calibration, "_foretold", lambda *_: (np.tile(votes, (30, 1)), right))
    found = Sharpening.learn(np.zeros((30, 1)), right, 3, 1.0, None)
    assert found.power == pytest.approx(power)


def test_four_samples_are_enough_to_foretell_each_other(monkeypatch):
    asked = []
    monkeypatch.setattr(calibration, "_foretold", lambda *_: asked.append(1) or (np.eye(2)[[0, 1]], np.array([0, 1])))
    for count in (3, 4, 7):
        Sharpening.learn(np.zeros((count, 1)), np.zeros(count, int), 2, 1.0, None)
    assert len(asked) == 2


def test_shares_keep_the_precision_of_votes():
    for dtype in (np.float32, np.float64):
        assert Sharpening(2.0, 0.5).apply(np.full((2, 3), 1 / 3, dtype)).dtype == dtype


@pytest.mark.parametrize(("seen", "all_of_them"), [(60, True), (20, False)])
def test_a_judge_of_some_samples_knows_neither_pairs_nor_a_hard_mask(monkeypatch, easy, seen, all_of_them):
    """Both speak of samples by their place; where the judge sees every sample they hold."""
    asked = []

    def family_of(_name, _views, X, recipe, evidence, _events):
        asked.append((len(X), recipe.representer.hard_mask, recipe.representer.solver, evidence.known))
        raise EnoughError

    monkeypatch.setattr(module, "family_of", family_of)
    known = KnownPairs.of(60, must_link=[[0, 1]])
    mask = csr_array((60, 60))
    model = RMSC(3, view="plain", hard_mask=mask, solver="dense")
    model.n_clusters_ = 3
    with pytest.raises(EnoughError):
        model._see(task_of(easy, known=known), seen)
    if all_of_them:
        assert asked == [(60, mask, "dense", known)]
    else:
        assert asked == [(20, None, "sparse", None)]


def test_the_closed_form_tells_its_clearest_gap_and_that_it_was_chosen(monkeypatch, easy):
    played = object()
    monkeypatch.setattr(module, "run_rounds", lambda *_, **how: played if how["max_rounds"] == 1 else None)
    ranks = [SimpleNamespace(gap=0.9), SimpleNamespace(gap=0.2)]
    model = RMSC(3)
    model.n_clusters_ = 3
    preparation = SimpleNamespace(apply=lambda X: X[:, :2])
    fit = model._closed_form(task_of(easy), (preparation, ranks))
    assert fit.rounds is played
    assert fit.views_chosen
    assert fit.choices == [{"way": "low-rank", "views": ["low-rank"], "gap": 0.9, "taken": True}]
    np.testing.assert_array_equal(fit.rows, easy[:, :2])


@pytest.mark.parametrize(("way", "agreed"), [("linear-mixture", 0.25), ("affine-mixture", 0.25), ("ridge", 1.0)])
def test_agreement_of_whole_subspaces_counts_from_that_of_a_cloud_on(monkeypatch, way, agreed):
    votes, X, asked = [np.arange(6) % 2, np.arange(6) % 2], np.eye(6), []
    monkeypatch.setattr(masked, "beyond_clouds", lambda *given: asked.append(given) or 0.25)
    choices = [{"way": way, "taken": True}]
    rounds = SimpleNamespace(last=SimpleNamespace(votes=votes))
    fit = base.Fit(X, None, np.eye(6), rounds, choices, strength=0.5)
    model = RMSC(2)
    model.n_clusters_, model._labels_of_all = 2, np.arange(6) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model._how_real(fit) == agreed * 0.5
    assert [(given[0], given[1] is X, given[2:]) for given in asked] == [(1.0, True, (2, way, 0))] * (agreed < 1)


SHARED = {
    "n_clusters": 8, "penalty": "auto", "penalty_growth": 2.0, "max_iter": 200, "tol": 1e-6, "sparsity": "auto",
    "hard_mask": None, "affinity": "top-k", "n_components": "auto", "cut": "auto", "affine": False, "center": True,
    "normalize": True, "solver": "auto", "n_candidates": 64, "constraints": "soft", "min_certainty": None,
    "missing": "error", "random_state": None, "n_jobs": None, "verbose": 0,
}  # fmt: skip
PRICES = {"mask_weight": "auto", "mask_strength": 1.1, "mask_orientation": "corrected", "noise": None, "outliers": None}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (BMSC(), SHARED | {"view": "plain", "n_links": 5}),
        (GMSC(), SHARED | PRICES | {"view": "plain", "n_links": 5, "soft_mask": None}),
        (
            RMSC(),
            SHARED
            | PRICES
            | {
                "view": "auto",
                "n_links": "auto",
                "init": None,
                "members": "auto",
                "max_rounds": "auto",
                "mask_tol": 1e-6,
            },
        ),
        (
            BilevelClustering(),
            {name: SHARED[name] for name in ("n_clusters", "center", "normalize", "constraints", "verbose", "n_jobs")}
            | {"representer": None, "labeler": None, "mask": None, "init": None, "max_rounds": 5, "mask_tol": 1e-6}
            | {"random_state": None},
        ),
    ],
    ids=lambda one: type(one).__name__,
)
def test_nothing_but_the_number_of_clusters_need_be_given(model, expected):
    assert model.get_params(deep=False) == expected


@pytest.mark.parametrize("method", [SSC, SSCOMP, EnSC, LRR, LSR, BDR, EDSC, SoftS3C, NeighborGraph, AutoencoderEDSC])
def test_baselines_keep_the_mean_and_work_quietly(method):
    shared = {"n_clusters": 8, "n_components": None, "cut": "spectral", "constraints": "soft", "n_links": 5}
    shared |= {"random_state": None, "n_jobs": None, "verbose": 0, "center": method is NeighborGraph}
    shared |= {"normalize": method is not AutoencoderEDSC}
    params = method().get_params()
    assert {name: params[name] for name in shared} == shared
