"""Unknown entries are estimated by the model that the documents state."""

import numpy as np
import pytest

from masked_subspace.datasets import make_subspaces
from masked_subspace.rows.missing import Completion, _Table, chosen_plan
from masked_subspace.rows.missing_low_rank import completed_by_rank
from masked_subspace.rows.missing_rows import Asked, Atoms, Setting, estimates, nearest_by_observed


def low_rank(rng, n=80, d=30, rank=2):
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))


def asked_rows(rng, n=5, d=12, own=None):
    observed = rng.random((n, d)) < 0.6
    observed[:, 0] = True
    values = np.where(observed, rng.standard_normal((n, d)), 0)
    return Asked(values, observed, ~observed, own)


def test_neighbours_are_those_of_the_observed_part():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((20, 12))
    asked = asked_rows(rng, own=np.arange(5))
    found = nearest_by_observed(asked, rows, 4)
    for i, (row, seen) in enumerate(zip(asked.values, asked.observed, strict=True)):
        parts = rows[:, seen]
        cosines = np.abs(parts @ row[seen]) / np.linalg.norm(parts, axis=1)
        cosines[i] = -1
        np.testing.assert_array_equal(found[i], np.argsort(-cosines)[:4])


@pytest.mark.parametrize("setting", [Setting(1.0, 4, 0.1), Setting(0.0, 4, 0.01), Setting(0.7, 2, 0.3)])
def test_an_estimate_is_the_conditional_mean_of_the_stated_gaussian(setting):
    rng = np.random.default_rng(1)
    atoms = Atoms(rng.standard_normal((20, 12)), rng.standard_normal((3, 12)), variance=1.7)
    asked = asked_rows(rng)
    nearest = nearest_by_observed(asked, atoms.rows, 4)
    for i, (found,) in enumerate(estimates(asked, atoms, nearest, [setting], 1)):
        near = atoms.rows[nearest[i, : setting.n_nearest]]
        covariance = setting.share / setting.n_nearest * near.T @ near
        covariance += (1 - setting.share) * atoms.directions.T @ atoms.directions
        covariance += setting.noise * atoms.variance * np.eye(12)
        seen = asked.observed[i]
        inner, across = covariance[np.ix_(seen, seen)], covariance[np.ix_(~seen, seen)]
        np.testing.assert_allclose(found, across @ np.linalg.solve(inner, asked.values[i, seen]), atol=1e-10)


def test_threads_change_nothing():
    rng = np.random.default_rng(2)
    atoms = Atoms(rng.standard_normal((200, 12)), rng.standard_normal((3, 12)), 1.0)
    asked = asked_rows(rng, n=150)
    nearest = nearest_by_observed(asked, atoms.rows, 4)
    one, two = (list(estimates(asked, atoms, nearest, [Setting(0.9, 4, 0.1)], count)) for count in (1, 2))
    for (first,), (second,) in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)


def test_every_price_of_the_low_rank_lowers_its_objective():
    rng = np.random.default_rng(3)
    X = low_rank(rng)
    observed = rng.random(X.shape) < 0.6
    values = np.where(observed, X, 0)
    price = np.linalg.norm(values, 2) * 0.7**6

    def objective(L):
        return 0.5 * np.sum((X - L)[observed] ** 2) + price * np.linalg.norm(L, "nuc")

    table = completed_by_rank(values, observed, seed=0, n_prices=6).table
    U, s, Vt = np.linalg.svd(table)
    k = min(X.shape)
    L = (U[:, :k] * np.maximum(s - price, 0)) @ Vt[:k]
    assert objective(L) < objective(np.zeros_like(X))
    # A fixed point of the step: its own singular values, shrunk once more from the filled table, give it back.
    assert np.linalg.norm((L - table)[~observed]) < 0.02 * np.linalg.norm(table)


def test_a_table_of_low_rank_is_found_again():
    rng = np.random.default_rng(4)
    X = low_rank(rng)
    hidden = rng.random(X.shape) < 0.4
    completion = Completion.learn(np.where(hidden, np.nan, X), seed=0, n_threads=1)
    filled = completion.apply(np.where(hidden, np.nan, X))
    np.testing.assert_array_equal(filled[~hidden], X[~hidden])
    assert np.sqrt(np.mean((filled - X)[hidden] ** 2)) < 0.1 * X.std()
    assert completion.plan.error < 0.2


def test_a_union_of_subspaces_is_found_again_where_the_whole_is_not_of_low_rank():
    data = make_subspaces(8, 3, 24, 40, missing=0.3, random_state=0)  # 8 × 3 directions fill the space
    completion = Completion.learn(data.data, seed=0, n_threads=1)
    filled = completion.apply(data.data)
    hidden = data.missing_mask
    error = np.sqrt(np.mean((filled - data.clean)[hidden] ** 2)) / data.clean.std()
    assert error < 0.3
    assert any(setting.share > 0 for setting in completion.plan.rounds)


def test_noise_gets_the_means_of_its_features():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((120, 20)) + 3
    hidden = rng.random(X.shape) < 0.3
    known = np.where(hidden, np.nan, X)
    filled = Completion.learn(known, seed=0, n_threads=1).apply(known)
    means = np.broadcast_to(np.nanmean(known, axis=0), X.shape)
    assert np.sqrt(np.mean((filled - X)[hidden] ** 2)) < 1.1 * np.sqrt(np.mean((means - X)[hidden] ** 2))


def test_units_of_features_do_not_matter():
    data = make_subspaces(3, 2, 12, 30, missing=0.2, random_state=0)
    units = 2.0 ** np.arange(-2, 10)[np.newaxis]
    shifted = data.data * units
    one, other = (Completion.learn(X, seed=0, n_threads=1).apply(X) for X in (data.data, shifted))
    hidden = data.missing_mask
    spread = data.clean.std()
    assert np.sqrt(np.mean((one - data.clean)[hidden] ** 2)) < 0.3 * spread
    assert np.sqrt(np.mean((other / units - data.clean)[hidden] ** 2)) < 0.3 * spread


def test_new_rows_and_known_rows():
    data = make_subspaces(3, 3, 30, 60, missing=0.4, random_state=0, shuffle=True, dtype=np.float32)
    learnt = Completion.learn(data.data[:150], seed=0, n_threads=1)
    filled = learnt.apply(data.data[150:])
    assert filled.dtype == np.float32
    hidden = data.missing_mask[150:]
    np.testing.assert_array_equal(filled[~hidden], data.data[150:][~hidden])
    assert np.sqrt(np.mean((filled - data.clean[150:])[hidden] ** 2)) < 0.3 * data.clean.std()
    whole = learnt.apply(data.data[:150])
    # Any bit pattern of NaN is the same unknown entry.
    other = data.data[:10].copy()
    other[np.isnan(other)] = -np.float32(np.nan)
    np.testing.assert_array_equal(learnt.apply(other), whole[:10])
    assert learnt.apply(data.clean) is data.clean


def test_the_same_seed_gives_the_same_plan():
    data = make_subspaces(missing=0.3, random_state=0)
    observed = ~np.isnan(data.data)
    values = np.where(observed, data.data, 0)
    assert chosen_plan(values, observed, 7, 1) == chosen_plan(values, observed, 7, 1)


def test_a_table_with_too_little_to_hide_gets_means():
    X = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, np.nan], [np.nan, 5.0]])
    filled = Completion.learn(X, seed=0, n_threads=1).apply(X)
    np.testing.assert_allclose(filled, [[1, 3.5], [2, 2], [3, 3.5], [2, 5]])


def test_directions_are_as_long_as_rows_spread_along_them():
    rows = low_rank(np.random.default_rng(0), n=50, d=12, rank=3)
    known = np.ones(rows.shape, dtype=bool)
    directions = np.linalg.qr(np.random.default_rng(1).standard_normal((12, 5)))[0]
    atoms = _Table(rows, known, 1, rows, directions).atoms()
    np.testing.assert_allclose(atoms.directions.T @ atoms.directions, rows.T @ rows / 50, atol=1e-8)


def test_the_error_of_hidden_entries_has_no_unit():
    rng = np.random.default_rng(0)
    rows = low_rank(rng, n=40, d=12) + 0.1 * rng.standard_normal((40, 12))
    known = rng.random(rows.shape) < 0.9
    errors = [chosen_plan(scale * np.where(known, rows, 0), known, 0, 1).error for scale in (1, 10)]
    assert errors[1] == pytest.approx(errors[0], rel=1e-3)
    assert 0.02 < errors[0] < 0.9
