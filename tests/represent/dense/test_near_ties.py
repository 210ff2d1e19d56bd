import numpy as np
import pytest

from masked_subspace.datasets import make_subspaces
from masked_subspace.masks.soft import LabelMask
from masked_subspace.represent.dense import near_ties
from masked_subspace.represent.dense import solve as admm
from masked_subspace.represent.dense.lazy import LazyPass, LazyProblem
from masked_subspace.represent.dense.running import FinishedRow, Outcome, run_freezing
from masked_subspace.represent.dense.solve import solve_dense
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.dense.tail import carry_on
from masked_subspace.represent.model import AdmmSettings

SETTINGS = AdmmSettings(sparsity=1e-3, max_iter=400)


@pytest.fixture(scope="module")
def rows():
    data = make_subspaces(4, 4, 24, 75, noise=0.3, random_state=0)
    shuffled = np.random.default_rng(1).permutation(300)  # so that the order by label is not the order of the samples
    X = data.data[shuffled] / np.linalg.norm(data.data[shuffled], axis=1, keepdims=True)
    return X.astype(np.float32), data.target[shuffled]


def masks(target):
    return {"BMSC": None, "labels": LabelMask(target, 1.1)}


def finished(margin, values=(1.0,), last_step=(0.0,)):
    return FinishedRow(
        np.array([0], np.int32), np.array(values), 0.0, 0.0, last_step=np.array(last_step), margin=margin
    )


def test_only_samples_that_came_near_the_threshold_are_undecided():
    outcome = Outcome(rows={2: finished(1e-7), 0: finished(0.3), 1: finished(0.0)})
    assert near_ties.undecided(outcome) == [1, 2]


@pytest.mark.parametrize("kind", ["BMSC", "labels"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_deciding_every_sample_again_is_the_float64_solver(rows, kind, n_threads, monkeypatch):
    X, target = rows
    monkeypatch.setattr(near_ties, "NEAR", np.inf)
    ours = solve_dense(X, SETTINGS, soft_mask=masks(target)[kind], path="lazy", n_threads=n_threads)
    exact = solve_dense(X.astype(np.float64), SETTINGS, soft_mask=masks(target)[kind], path="lazy")
    assert ours.details["near_ties"] == len(X)
    assert ours.representation.dtype == np.float32
    assert ((ours.representation != 0) != (exact.representation != 0)).nnz == 0
    assert abs(ours.representation - exact.representation).max() < 1e-6


@pytest.mark.parametrize("kind", ["BMSC", "labels"])
def test_some_samples_are_near_ties_and_their_links_are_those_of_float64(rows, kind, monkeypatch):
    X, target = rows
    monkeypatch.setattr(near_ties, "NEAR", 3e-5)
    ours = solve_dense(X, SETTINGS, soft_mask=masks(target)[kind], path="lazy")
    exact = solve_dense(X.astype(np.float64), SETTINGS, soft_mask=masks(target)[kind], path="lazy")
    assert 0 < ours.details["near_ties"] < len(X)
    assert ((ours.representation != 0) != (exact.representation != 0)).nnz == 0


@pytest.mark.parametrize("kind", ["BMSC", "labels"])
def test_samples_that_stop_early_end_where_lockstep_takes_them(rows, kind, monkeypatch):
    X, target = rows
    exact = solve_dense(X.astype(np.float64), SETTINGS, soft_mask=masks(target)[kind], path="lazy").representation
    carried = solve_dense(X, SETTINGS, soft_mask=masks(target)[kind], path="lazy").representation
    monkeypatch.setattr(admm, "carry_on", lambda *_: None)
    stopped = solve_dense(X, SETTINGS, soft_mask=masks(target)[kind], path="lazy").representation
    typical = [np.median(abs(exact - found).max(axis=1).toarray()) for found in (carried, stopped)]
    assert typical[0] < 0.2 * typical[1]


def test_missed_steps_are_a_geometric_series():
    outcome = Outcome(rows={0: finished(1.0, [1.0], [0.1]), 1: finished(1.0, [2.0], [0.1])}, n_iter={0: 7, 1: 9})
    carry_on(outcome, 2.0)
    assert outcome.rows[0].values == pytest.approx([1.0 + 0.1 / 2 + 0.1 / 4])
    assert outcome.rows[1].values == pytest.approx([2.0])


def test_nothing_is_added_without_growth_of_the_penalty():
    outcome = Outcome(rows={0: finished(1.0, [1.0], [0.1])}, n_iter={0: 3, 1: 9})
    carry_on(outcome, 1.0)
    assert outcome.rows[0].values == [1.0]


def test_an_entry_that_has_just_appeared_is_not_carried_on():
    outcome = Outcome(rows={0: finished(1.0, [1e-7, 1.0], [1e-7, 0.1])}, n_iter={0: 3, 1: 9})
    carry_on(outcome, 2.0)
    assert outcome.rows[0].values[0] == 1e-7
    assert outcome.rows[0].values[1] > 1.0


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("kind", ["BMSC", "labels"])
def test_exactly_the_given_samples_are_decided_again(rows, kind, n_threads):
    X, target = rows
    prices = ((0.0,), None) if kind == "BMSC" else ((0.0, 1.1), target)
    problem = LazyProblem.of(SETTINGS, Spectrum.of(X.astype(np.float64)), *prices, patient=True)
    wrong = FinishedRow(np.array([5], np.int32), np.array([9.0], np.float32), 0.0, 0.0, stopping_value=7.0)
    right = run_freezing([(0, 300)], lambda a, b: LazyPass(problem, np.arange(a, b)), SETTINGS, 1, None)
    places = [3, 77, 78, 200, 299]
    mixed = {place: wrong if place in places else row for place, row in right.rows.items()}
    outcome = Outcome(rows=mixed, n_iter=dict(right.n_iter), objective=[1.0], converged=False, stopping_value=7.0)
    near_ties.decide_again(outcome, places, problem, n_threads)
    for place in places:
        assert outcome.rows[place].values.dtype == np.float32
        np.testing.assert_array_equal(outcome.rows[place].indices, right.rows[place].indices)
        np.testing.assert_allclose(outcome.rows[place].values, right.rows[place].values, rtol=1e-6)
    assert all(outcome.rows[place] is row for place, row in right.rows.items() if place not in places)
    assert outcome.converged
    assert outcome.stopping_value < SETTINGS.tol
    assert len(outcome.objective) == max(outcome.n_iter.values())


@pytest.mark.parametrize("max_iter", [1, 4])
@pytest.mark.parametrize("side", [1 + 1e-6, 1 - 1e-6], ids=["below", "above"])
def test_a_sample_remembers_how_near_a_column_came_that_was_not_listed(side, max_iter):
    """The largest entry of the first step, Z = G (G + 2μI)⁻¹, lies a millionth below the threshold, or above it."""
    X = np.random.default_rng(0).standard_normal((40, 12))
    G, mu = X @ X.T, 30.0
    Z = np.abs(G @ np.linalg.inv(G + 2 * mu * np.eye(40)))
    np.fill_diagonal(Z, 0)
    nearest = np.unravel_index(Z.argmax(), Z.shape)
    tau = Z.max() * side
    settings = AdmmSettings(mu * tau**2 / 2, penalty=mu, max_iter=max_iter)
    problem = LazyProblem.of(settings, Spectrum.of(X), (0.0,), None, patient=True)
    outcome = run_freezing([(0, 40)], lambda a, b: LazyPass(problem, np.arange(a, b)), settings, 1, None)
    margins = np.array([outcome.rows[place].margin for place in range(40)])
    np.testing.assert_allclose(margins[list(nearest)], 1e-6, rtol=1e-3)
    assert near_ties.undecided(outcome) == sorted(nearest)
