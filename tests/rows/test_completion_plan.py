"""How hidden entries choose the plan, step by step: what is hidden, when a round is played, what is left."""

from types import SimpleNamespace

import numpy as np
import pytest

from masked_subspace.rows.missing import _SETTINGS, Completion, Frame, _Table, chosen_plan, nearest_of
from masked_subspace.rows.missing_low_rank import _path, completed_by_rank
from masked_subspace.rows.missing_rows import Asked, Atoms


def hidden_by(monkeypatch, values, observed, seed):
    """What is still seen of a table while its plan is chosen."""
    seen = []

    def noted(_, values, observed, *__, **___):
        seen.append((values, observed))
        raise InterruptedError

    monkeypatch.setattr(_Table, "start", classmethod(noted))
    with pytest.raises(InterruptedError):
        chosen_plan(values, observed, seed, 1)
    return seen[0]


def test_some_observed_entries_are_hidden_and_every_row_keeps_one(monkeypatch):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(150, 12))
    observed = rng.random(values.shape) < 0.15
    observed[:, 0] = True
    values = np.where(observed, values, 0)
    given, seen = hidden_by(monkeypatch, values, observed, 0)
    hidden = observed & ~seen
    assert not (seen & ~observed).any()
    np.testing.assert_array_equal(given, np.where(seen, values, 0))
    assert seen.any(axis=1).all()
    assert hidden.any(axis=1).sum() <= 100  # in a hundred rows at most
    again, other = (hidden_by(monkeypatch, values, observed, seed)[1] for seed in (0, 1))
    np.testing.assert_array_equal(seen, again)
    assert not np.array_equal(seen, other)


def test_about_fifteen_of_a_hundred_entries_are_hidden(monkeypatch):
    values, observed = np.random.default_rng(0).normal(size=(100, 40)), np.ones((100, 40), dtype=bool)
    _, seen = hidden_by(monkeypatch, values, observed, 0)
    assert 0.13 < 1 - seen.mean() < 0.17


@pytest.fixture
def scripted(monkeypatch):
    """A plan for errors that are written down: each round's smallest, at place 3 of the settings."""

    def plan(start, *rounds):
        played, script = [], iter(rounds)

        def errors(*_):
            found = np.full(len(_SETTINGS), 9.0)
            found[3] = next(script)
            return list(found)

        table = SimpleNamespace(
            estimate=np.zeros((50, 6)),
            atoms=lambda: None,
            errors=errors,
            play=lambda setting, _: played.append(setting),
        )
        monkeypatch.setattr(_Table, "start", classmethod(lambda *_, **__: (table, 4)))
        values = np.full((50, 6), 2.0)  # the means, which are zero here, miss by 2
        table.estimate = values - start
        return chosen_plan(values, np.ones((50, 6), dtype=bool), 0, 1), played

    return plan


def test_rounds_are_played_while_each_lowers_the_error_by_a_hundredth(scripted):
    plan, played = scripted(1.5, 1.0, 0.9, 0.895)
    assert plan.rounds == (_SETTINGS[3],) * 2 == tuple(played)
    assert plan.of_new_rows == _SETTINGS[3]
    assert plan.n_prices == 4
    assert plan.error == pytest.approx(0.9 / 2)


def test_six_rounds_at_most(scripted):
    plan, _ = scripted(1.5, *(0.9**step for step in range(9)))
    assert len(plan.rounds) == 6
    assert plan.error == pytest.approx(0.9**5 / 2)


def test_what_is_no_better_than_means_is_not_done(scripted):
    plan, played = scripted(2.0, 2.1)
    assert (plan.rounds, plan.of_new_rows, played) == ((), None, [])
    assert plan.error == pytest.approx(1)
    # New rows have no low-rank start: what is worse than that start may still be better than means.
    plan, played = scripted(1.0, 1.2)
    assert (plan.rounds, plan.of_new_rows, played) == ((), _SETTINGS[3], [])
    assert plan.error == pytest.approx(0.5)


def test_features_are_measured_in_their_spread_but_hardly_ever_varying_ones_are_not_blown_up():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [1, 10, 1e-6, 1] + [5, 0, 1, 0]
    X[:, 3] = np.nan
    X[:20, 0] = np.nan
    frame = Frame.of(X, ~np.isnan(X))
    spread = np.append(np.nanstd(X[:, :3], axis=0), 0)
    least = 0.1 * np.sqrt(np.mean(spread**2))
    np.testing.assert_allclose(frame.scale, [max(spread[0], least), spread[1], least, 0], rtol=1e-10)
    np.testing.assert_allclose(frame.mean[:3], np.nanmean(X[:, :3], axis=0))
    inside = frame.inside(X, frame.observed(X))
    known = ~np.isnan(X)
    np.testing.assert_allclose(frame.outside(inside)[known], X[known])
    assert not inside[~known].any()


def test_a_row_is_not_its_own_neighbour_in_a_small_table():
    rows = np.random.default_rng(0).normal(size=(8, 5))
    asked = Asked(rows, np.ones(rows.shape, dtype=bool), np.zeros(rows.shape, dtype=bool), np.arange(8))
    found = nearest_of(asked, Atoms(rows, np.zeros((1, 5)), 1.0))
    assert found.shape == (8, 7)
    assert not (found == np.arange(8)[:, None]).any()
    new = nearest_of(Asked(rows, asked.observed, asked.wanted), Atoms(rows, np.zeros((1, 5)), 1.0))
    np.testing.assert_array_equal(new[:, 0], np.arange(8))


def test_prices_fall_until_two_in_turn_are_no_better():
    rng = np.random.default_rng(0)
    values, observed = rng.normal(size=(30, 10)), rng.random((30, 10)) < 0.7
    values = np.where(observed, values, 0)
    path = {one.n_prices: one.table for one in _path(values, observed, 0)}
    errors = {0: 5.0, 1: 4.0, 2: 4.5, 3: 3.0, 4: 3.5, 5: 3.1, 6: 1.0}
    asked = []

    def error(table):
        number = next(one for one, kept in path.items() if np.array_equal(kept, table))
        asked.append(number)
        return errors[number]

    assert completed_by_rank(values, observed, seed=0, error=error).n_prices == 3
    assert asked == [0, 1, 2, 3, 4, 5]
    for table in path.values():
        np.testing.assert_array_equal(table[observed], values[observed])


def test_unknown_entries_of_the_rows_of_fit_are_those_of_the_last_round():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 8)) + 3
    X[rng.random(X.shape) < 0.2] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    learnt = Completion.learn(X, seed=0, n_threads=1)
    expected = np.where(np.isnan(X), learnt.frame.outside(learnt.atoms.rows), X)
    np.testing.assert_allclose(learnt.apply(X), expected)
    assert learnt.n_missing == np.isnan(X).sum()


@pytest.mark.parametrize("shape", [(30, 10), (8, 14)], ids=["tall", "wide"])
def test_the_low_rank_path_is_soft_thresholding_at_falling_prices(shape):
    """Written with whole SVDs: each price is seven tenths of the one before, six repetitions or until nothing moves."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(shape[0], 3)) @ rng.normal(size=(3, shape[1])) * np.linspace(1, 3, shape[1])
    observed = rng.random(shape) < 0.7
    values = np.where(observed, values, 0)
    table, price = values.copy(), np.linalg.norm(values, 2)
    found = list(_path(values, observed, 0))
    assert [one.n_prices for one in found] == list(range(23))
    np.testing.assert_array_equal(found[0].table, values)
    for one in found[1:8]:
        price *= 0.7
        for _ in range(6):
            U, s, Vt = np.linalg.svd(table, full_matrices=False)
            change = np.where(observed, 0, (U * np.maximum(s - price, 0)) @ Vt - table)
            table = table + change
            if np.linalg.norm(change) <= 1e-3 * np.linalg.norm(table):
                break
        np.testing.assert_allclose(one.table, table, atol=0.02 * np.abs(table).max())
        np.testing.assert_allclose(one.directions.T @ one.directions, np.eye(min(shape)), atol=1e-8)


def table_of(estimate, observed):
    values = np.where(observed, estimate, 0)
    directions = np.linalg.qr(np.random.default_rng(1).normal(size=(estimate.shape[1], 3)))[0]
    return _Table(values, observed, 1, estimate, directions)


def test_a_direction_is_as_long_as_the_root_mean_square_of_the_rows_along_it():
    rng = np.random.default_rng(0)
    estimate, observed = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 8)), rng.random((50, 8)) < 0.8
    table = table_of(estimate, observed)
    atoms = table.atoms()
    lengths = np.linalg.norm(atoms.directions, axis=1)
    np.testing.assert_allclose(lengths, np.linalg.svd(estimate, compute_uv=False)[:3] / np.sqrt(50), rtol=1e-6)
    along = estimate @ (atoms.directions / lengths[:, None]).T
    np.testing.assert_allclose(np.sqrt((along**2).mean(axis=0)), lengths, rtol=1e-6)
    assert atoms.variance == pytest.approx((estimate[observed] ** 2).mean())
    assert atoms.rows is table.estimate


def test_the_error_of_a_setting_is_the_root_mean_square_over_hidden_entries(monkeypatch):
    rng = np.random.default_rng(0)
    truth, rows = rng.normal(size=(4, 8)), np.arange(4)
    hidden = rng.random((4, 8)) < 0.4
    table = table_of(rng.normal(size=(20, 8)), np.ones((20, 8), dtype=bool))
    off = 0.1 * (1 + np.arange(len(_SETTINGS)))
    told = [[row[of] + one for one in off] for row, of in zip(truth, hidden, strict=True)]
    monkeypatch.setattr("masked_subspace.rows.missing.estimates", lambda *_: iter(told))
    np.testing.assert_allclose(table.errors(rows, hidden, truth, table.atoms()), off)


def test_a_round_changes_unknown_entries_alone(monkeypatch):
    rng = np.random.default_rng(0)
    estimate, observed = rng.normal(size=(6, 5)), np.ones((6, 5), dtype=bool)
    observed[1, [0, 3]] = observed[4, 2] = False
    table, setting = table_of(estimate, observed), _SETTINGS[2]
    asked_for = []

    def told(asked, _atoms, _nearest, settings, _threads):
        asked_for.append((asked.own.tolist(), asked.wanted.tolist(), list(settings)))
        return iter([[np.array([7.0, 8.0])], [np.array([9.0])]])

    monkeypatch.setattr("masked_subspace.rows.missing.estimates", told)
    table.play(setting, table.atoms())
    expected = estimate.copy()
    expected[1, [0, 3]], expected[4, 2] = [7, 8], 9
    np.testing.assert_array_equal(table.estimate, expected)
    assert asked_for == [([1, 4], (~observed[[1, 4]]).tolist(), [setting])]
