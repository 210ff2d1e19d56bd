"""Parameters of the baselines, seen where they act: in the trainer, in the solver, in the graph and in the cut."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace._common.rows import unit_rows
from masked_subspace.baselines import BDR, EDSC, LRR, LSR, SSC, AutoencoderEDSC, NeighborGraph, SoftS3C, base, soft_s3c
from masked_subspace.baselines import autoencoder_edsc as deep
from masked_subspace.baselines import labeler as labeling
from masked_subspace.baselines.base import Work
from masked_subspace.baselines.edsc import EdscSettings, represent_edsc
from masked_subspace.baselines.labeler import LowRankLabeler
from masked_subspace.label.graph import affinity_matrix
from masked_subspace.label.labeler import Evidence
from masked_subspace.masks.soft import EmbeddingMask


class EnoughError(Exception):
    """Raised where a test has seen enough."""


class Listener:
    """Writes down what it is told."""

    def __init__(self):
        self.begun, self.steps, self.ended = [], [], []

    def started(self, name, total=None):
        self.begun.append((name, total))

    def advanced(self, name, done, note=""):
        self.steps.append((name, done, note))

    def finished(self, name):
        self.ended.append(name)


def with_coded(monkeypatch, codes):
    """`AutoencoderEDSC` with given codes in the place of trained ones; what the trainer was asked for."""
    asked = []
    monkeypatch.setattr(deep, "import_torch", lambda: None)
    monkeypatch.setattr(
        deep, "train_codes", lambda *given: asked.append(given) or SimpleNamespace(codes=codes, losses=[3.0, 2.0])
    )
    return asked


def test_every_setting_reaches_the_trainer_of_the_autoencoder(monkeypatch):
    asked = with_coded(monkeypatch, np.eye(5))
    settings = {
        "filters": (4, 2),
        "kernel_sizes": (5, 3),
        "max_epochs": 7,
        "batch_size": 3,
        "learning_rate": 0.02,
        "patience": 11,
    }
    rows, progress = np.zeros((5, 12)), object()
    AutoencoderEDSC(3, image_shape=(3, 4), **settings)._solve(rows, Work(2**31 + 6, 2, progress))
    given, shape, found, *rest = asked[0]
    assert given is rows
    assert shape == (3, 4)
    assert {name: getattr(found, name) for name in settings} == settings
    assert rest == [6, 2, progress]


@pytest.mark.parametrize("normalize", [True, False])
def test_codes_have_unit_length_only_where_that_is_asked_for(monkeypatch, normalize):
    codes = np.random.default_rng(0).normal(size=(9, 4)) * np.arange(1, 10)[:, None]
    with_coded(monkeypatch, codes)
    model = AutoencoderEDSC(3, normalize_codes=normalize, data_weight=3.0)
    found = model._solve(np.zeros((9, 4)), Work(0, 1, None))
    expected = represent_edsc(unit_rows(codes) if normalize else codes, EdscSettings(3.0))
    np.testing.assert_allclose(found.matrix, expected.matrix)
    np.testing.assert_array_equal(model.codes_, codes)  # as the network gave them
    assert found.objective.tolist() == [3.0, 2.0]


@pytest.mark.parametrize(
    ("model", "most"),
    [(AutoencoderEDSC(3, max_epochs=9), 9), (LSR(3), 1), (BDR(3, max_iter=7), 7)],
    ids=lambda one: type(one).__name__,
)
def test_so_many_steps_are_expected_as_there_may_be(monkeypatch, model, most):
    heard = Listener()
    monkeypatch.setattr(base, "events_for", lambda _: heard)

    def solve(_self, _rows, work):
        work.progress(2, 0.5)
        raise EnoughError

    monkeypatch.setattr(type(model), "_solve", solve)
    with pytest.raises(EnoughError):
        model._represent(np.eye(3), 0)
    name = type(model).__name__
    assert heard.begun == [(name, most)]
    assert heard.steps == [(name, 2, "change 5.0e-01")]
    assert heard.ended == [name]


@pytest.mark.parametrize(
    "model", [EDSC(3, outliers=0.3, max_iter=3), LRR(3, max_iter=3), BDR(3, max_iter=3)], ids=lambda m: type(m).__name__
)
def test_every_step_is_told(noisy_rows, model):
    heard = []
    model.n_clusters_ = 3
    found = model._solve(noisy_rows, Work(0, 1, lambda step, left: heard.append((step, left))))
    assert [step for step, _ in heard] == [1, 2, 3]
    assert heard[-1][1] == found.stopping_value


@pytest.mark.parametrize("mask", [None, EmbeddingMask(np.eye(3)[np.arange(90) % 3])], ids=["first", "later"])
def test_how_far_a_round_of_soft_s3c_has_come_is_told(noisy_rows, mask):
    heard = []
    prepared = soft_s3c.WeightedSparseRepresenter(solver="admm", max_iter=3).prepare(noisy_rows)
    prepared.represent(mask, lambda step, _: heard.append(step))
    assert heard[-1] == 3


@pytest.mark.parametrize("method", [SSC, BDR, EDSC])
def test_the_graph_is_of_the_entries_that_reach_the_share(noisy_rows, method):
    """Of each row the largest sizes are kept until their sum reaches half of all; of two alike none is lost."""
    model = method(3, threshold=0.5, affinity="symmetric", random_state=0).fit(noisy_rows[:30])
    Z = np.abs(model.representation_matrix_.toarray())
    kept = np.zeros_like(Z)
    for row, into in zip(Z, kept, strict=True):
        for j in np.argsort(-row):
            if into.sum() >= 0.5 * row.sum():
                break
            into[j] = row[j]
    np.fill_diagonal(kept, 0)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), (kept + kept.T) / 2, atol=1e-6)


@pytest.mark.parametrize("method", [LSR, LRR, SoftS3C])
def test_the_cut_looks_at_as_many_vectors_as_asked_for(noisy_rows, method):
    """None, the default, is as many as clusters."""
    more = {"max_rounds": 1} if method is SoftS3C else {}
    for asked, vectors in ((None, 3), (5, 5)):
        model = method(3, n_components=asked, random_state=0, **more).fit(noisy_rows[:30])
        assert model.embedding_.shape == (30, vectors)


@pytest.mark.parametrize(("affinity", "cut"), [("shape-interaction", "modularity"), ("shape-interaction", "spectral")])
def test_the_graph_of_low_rank_codes_is_cut_as_asked(monkeypatch, affinity, cut):
    asked = []
    monkeypatch.setattr(
        labeling,
        "label_graph",
        lambda W, n, n_components, _, seed, *, cut: asked.append((W.shape, n, n_components, seed, cut)),
    )
    Z = np.random.default_rng(0).normal(size=(8, 8))
    LowRankLabeler(3, affinity=affinity, n_components=6, cut=cut).label(Z, Evidence(Z), 4)
    assert asked == [((8, 8), 3, 6, 4, cut)]


def test_low_rank_codes_make_the_plain_graph_where_that_is_asked_for(noisy_rows):
    model = LRR(3, affinity="symmetric", random_state=0).fit(noisy_rows[:30])
    expected = affinity_matrix(model.representation_matrix_, "symmetric")
    assert abs(model.affinity_matrix_ - expected).max() < 1e-12


def test_the_control_keeps_the_type_and_works_with_as_many_threads_as_it_has(monkeypatch, noisy_rows):
    model = NeighborGraph(3)
    for dtype in (np.float32, np.float64):
        assert model._solve(noisy_rows.astype(dtype), Work(0, 1, None)).matrix.dtype == dtype
    asked = []

    def noted(*, n_neighbors, n_jobs):
        asked.append((n_neighbors, n_jobs))
        raise EnoughError

    monkeypatch.setattr("masked_subspace.baselines.knn.NearestNeighbors", noted)
    with pytest.raises(EnoughError):
        model._solve(noisy_rows, Work(0, 3, None))
    assert asked == [(5, 3)]


def test_every_setting_reaches_the_rounds_of_soft_s3c(monkeypatch):
    asked = []

    def representer(**settings):
        asked.append(settings)
        return SimpleNamespace(prepare=lambda rows, **known: asked.append((rows, known)))

    def labeler(n_clusters, **settings):
        asked.append((n_clusters, settings))

    def rounds(_strategy, first, *, max_rounds, tol, events):
        asked.append((first.block(0, 2).max(), max_rounds, tol, events))
        raise EnoughError

    monkeypatch.setattr(soft_s3c, "WeightedSparseRepresenter", representer)
    monkeypatch.setattr(soft_s3c, "BaselineLabeler", labeler)
    monkeypatch.setattr(soft_s3c, "run_rounds", rounds)
    monkeypatch.setattr(soft_s3c, "OneMember", lambda *_: None)
    solver = {
        "alpha": 9.0,
        "structure_weight": 0.4,
        "affine": True,
        "solver": "admm",
        "tol": 1e-3,
        "max_iter": 17,
        "n_jobs": 2,
    }
    graph = {"affinity": "top-k", "n_links": 7, "n_components": 6, "cut": "modularity", "threshold": 0.7}
    model = SoftS3C(4, max_rounds=3, mask_tol=0.3, **solver, **graph)
    model.n_clusters_ = 4
    rows = np.eye(5)
    task = SimpleNamespace(known="known", hard=True, seed=8, events="events", evidence=lambda _: None)
    with pytest.raises(EnoughError):
        model._play(rows, task)
    assert asked[0] == solver
    assert asked[1] == (4, graph)
    assert asked[2][0] is rows
    assert asked[2][1] == {"known": "known", "hard": True, "seed": 8}
    assert asked[3] == (0.0, 3, 0.3, "events")


def test_rounds_of_soft_s3c_end_at_a_hundredth_unless_told_otherwise():
    assert SoftS3C().mask_tol == 1e-2


def test_values_that_no_share_leaves_out_are_the_same_array():
    links = csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    assert labeling.keep_mass(links, 1.0).nnz == labeling.keep_mass(links, 0.999).nnz == 2
