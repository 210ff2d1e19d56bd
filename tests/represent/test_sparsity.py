"""The label-free rules for λ: they keep what they promise, agree with plain bisection, and do nothing unasked."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from masked_subspace.represent import model
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.model import AdmmSettings, CandidateStep, FirstStep
from masked_subspace.represent.neighbors.search import find_candidates
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.represent.sparse import block
from masked_subspace.represent.sparse.solve import solve_sparse
from masked_subspace.rounds.recursion import draw_members


def rows(n: int = 400, scale: float = 1.0, dtype: type = np.float64) -> np.ndarray:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((n // 4, 5)) @ rng.standard_normal((5, 30)) for _ in range(4)])
    X += 0.3 * rng.standard_normal(X.shape)
    return (scale * X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)


def lonely_rows() -> np.ndarray:
    """Half the rows are nearly copies of each other, half stand alone: few links on average would strip the latter."""
    rng = np.random.default_rng(3)
    X = np.concatenate(
        [rng.standard_normal((200, 40)), rng.standard_normal(40) + 0.05 * rng.standard_normal((200, 40))]
    )
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def bisected(rule: CandidateStep, penalty: float, wanted: float) -> float:
    """The referee: bisections over seven decades until λ is known to a millionth."""
    low, high = 1e-7 * rule._most, rule._most
    for _ in range(24):
        middle = float(np.sqrt(low * high))
        kept, empty = rule.kept(middle, penalty)
        if empty <= 0.01 and abs(kept - wanted) <= 0.03 * wanted:
            return middle
        low, high = (low, middle) if kept < wanted or empty > 0.01 else (middle, high)
    return low


@pytest.mark.parametrize("links", [6, 12, 20])
@pytest.mark.parametrize("penalty", [3.0, 15.0])
def test_the_solution_keeps_about_the_wanted_links(links: int, penalty: float) -> None:
    X = rows()
    candidates = find_candidates(X, 32)
    lam = CandidateStep(X, candidates, seed=1).sparsity(penalty, links / 4)
    found = solve_sparse(X, AdmmSettings(lam, penalty=penalty, penalty_growth=2.0), candidates=candidates)
    assert found.representation.nnz / len(X) == pytest.approx(links, rel=0.15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("data", ["subspaces", "lonely"])
@pytest.mark.parametrize("penalty", [0.1, 3.2, 7.0, 12.0, 31.0, 100.0])
@pytest.mark.parametrize("links", [1.0, 4.0, 6.5, 10.0])
def test_agrees_with_bisection_to_its_tolerance(dtype, data, penalty, links) -> None:
    """Both keep the links wanted within 3 %, or both stop where more than 1 % of the samples would lose all links."""
    X = (rows() if data == "subspaces" else lonely_rows()).astype(dtype)
    rule = CandidateStep(X, find_candidates(X, 48), seed=3)
    ours, plain = rule.sparsity(penalty, links), bisected(rule, penalty, 4 * links)
    (kept, empty), (kept_plain, _) = rule.kept(ours, penalty), rule.kept(plain, penalty)
    assert empty <= 0.01
    if abs(kept_plain - 4 * links) <= 0.03 * 4 * links:
        assert kept == pytest.approx(4 * links, rel=0.03)
    else:
        assert kept == pytest.approx(kept_plain, rel=0.03)
        assert ours == pytest.approx(plain, rel=0.02)


@pytest.mark.parametrize("seed", [0, 4])
@pytest.mark.parametrize("penalty", [3.2, 12.0])
@pytest.mark.parametrize("links", [1.0, 4.0, 6.5])
def test_links_that_fall_together_are_counted_on_the_way_down(seed, penalty, links) -> None:
    """Near copies lose their links together: in draw 4 at penalty 3.2 from 27 to 1 while λ grows by .3 %."""
    X = lonely_rows()
    rule = CandidateStep(X, find_candidates(X, 48), seed=seed)
    ours, plain = rule.sparsity(penalty, links), bisected(rule, penalty, 4 * links)
    (kept, empty), (kept_plain, _) = rule.kept(ours, penalty), rule.kept(plain, penalty)
    assert empty <= 0.01
    assert kept <= 1.03 * max(4 * links, kept_plain)
    if abs(kept - 4 * links) > 0.03 * 4 * links:
        assert kept > 4 * links
        assert rule.kept(1.005 * ours, penalty)[1] > 0.01


def test_the_curve_serves_all_members(monkeypatch) -> None:
    X = rows()
    solves: list[float] = []
    solve = block.solve_admm
    monkeypatch.setattr(
        block, "solve_admm", lambda *arguments: (solves.append(arguments[1].penalty), solve(*arguments))[1]
    )
    rule = CandidateStep(X, find_candidates(X, 64), seed=0)
    members = draw_members(X, 18, AdmmSettings(0.0), 0, rule=rule, links=(4,))
    assert len(solves) <= 60  # fourteen bisections for each were up to 252
    alone = CandidateStep(X, find_candidates(X, 64), seed=0)
    last = members[-1].settings
    links = 4 + 6 * ((np.random.default_rng(0).uniform(size=3) + 18 * np.array([0, 0.7548776662, 0])) % 1)[1]
    assert alone.sparsity(last.penalty, links) == last.sparsity  # whoever asked before


def test_rows_in_another_unit_give_the_same_links() -> None:
    plain, scaled = rows(), rows(scale=10.0)
    candidates = find_candidates(plain, 32)
    one = CandidateStep(plain, candidates).sparsity(15.0, 3)
    other = CandidateStep(scaled, candidates).sparsity(1500.0, 3)
    assert other == pytest.approx(100 * one, rel=1e-6)


def test_no_sample_is_emptied_to_reach_a_low_number() -> None:
    X = lonely_rows()
    candidates = find_candidates(X, 20)
    lam = CandidateStep(X, candidates).sparsity(15.0, 0.5)
    found = solve_sparse(X, AdmmSettings(lam, penalty=15.0, penalty_growth=2.0), candidates=candidates)
    assert np.mean(np.diff(found.representation.indptr) == 0) <= 0.03


def test_rows_of_zeros_have_a_price() -> None:
    X = np.zeros((20, 4))
    assert CandidateStep(X, find_candidates(X, 5)).sparsity(1.0) == 0.0


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
def test_the_first_step_keeps_its_links(shape) -> None:
    X = np.random.default_rng(1).normal(size=shape)
    n, penalty = shape[0], 15.0
    lam = FirstStep(X, 0).sparsity(penalty, 3.0)
    G = X @ X.T
    Z = np.abs(G @ np.linalg.inv(G + 2 * penalty * np.eye(n)))[~np.eye(n, dtype=bool)]
    # Z is symmetric, so an odd number would split a pair
    assert abs((np.sqrt(2 * lam / penalty) < Z).sum() - 3 * (n - 1)) <= 1


@pytest.mark.parametrize("solver", ["dense", "sparse"])
def test_nothing_is_searched_until_someone_asks(solver, monkeypatch) -> None:
    asked: list[float] = []
    for rule in (FirstStep, CandidateStep):
        search = rule.sparsity
        monkeypatch.setattr(
            rule, "sparsity", lambda self, *given, search=search: (asked.append(1), search(self, *given))[1]
        )
    X = rows(120)
    prepared = MaskedRepresenter(solver=solver, n_candidates=16).prepare(X)
    assert np.isnan(prepared.template.sparsity)
    prepared.represent_many([AdmmSettings(1e-3)], None)
    assert not asked
    assert prepared.settings.sparsity > 0
    prepared.represent(None)
    assert len(asked) == 1


def test_the_dense_solver_factors_once(monkeypatch) -> None:
    factored: list[int] = []
    of = Spectrum.of.__func__
    monkeypatch.setattr(
        Spectrum,
        "of",
        classmethod(lambda cls, X, *, n_threads=1: (factored.append(n_threads), of(cls, X, n_threads=n_threads))[1]),
    )
    prepared = MaskedRepresenter(solver="dense", n_jobs=2).prepare(rows(120))
    prepared.represent(None)
    prepared.sparsity_rule(0).sparsity(15.0)
    prepared.represent(None)
    assert factored == [2]


def test_a_part_of_rows_and_columns_has_the_quantile_of_all(monkeypatch) -> None:
    monkeypatch.setattr(model, "_ROWS", 40)
    monkeypatch.setattr(model, "_COLUMNS", 60)
    X, penalty, links = rows(200), 15.0, 5.0
    rule = FirstStep(X, 0)
    assert (len(rule.rows), len(rule.cols)) == (40, 60)
    G = X @ X.T
    Z = np.abs(G @ np.linalg.inv(G + 2 * penalty * np.eye(200)))[np.ix_(rule.rows, rule.cols)]
    seen = np.sort(Z[rule.rows[:, None] != rule.cols])
    kept = round(len(seen) * links / 200)  # five of two hundred, whatever the part
    tau = (seen[-kept] + seen[-kept - 1]) / 2
    assert rule.sparsity(penalty, links) == pytest.approx(penalty * tau**2 / 2, rel=1e-6)


def test_no_more_is_wanted_than_nine_tenths_of_the_candidates() -> None:
    X = rows()
    rule = CandidateStep(X, find_candidates(X, 10))
    assert rule.kept(rule.sparsity(15.0, 10.0), 15.0)[0] == pytest.approx(9, rel=0.04)


def test_above_half_the_squared_norm_no_link_is_worth_its_price() -> None:
    X = 3 * rows()
    rule = CandidateStep(X, find_candidates(X, 10))
    assert rule._most == pytest.approx(4.5, rel=1e-6)
    assert rule.kept(1.01 * rule._most, 15.0 * 9)[0] == 0


class Told(CandidateStep):
    """A rule whose links are a formula: two for each halving of λ, and four for each decade of μ₀."""

    def __init__(self) -> None:
        self._most, self._unit, self._curve = 3.0, 2.0, {}
        self.asked: list[tuple[float, float]] = []

    def kept(self, sparsity: float, penalty: float) -> tuple[float, float]:
        self.asked.append((round(float(np.log2(sparsity / 3.0)), 9), penalty))
        return -2 * float(np.log2(sparsity / 3.0)) + 4 * float(np.log10(penalty / 2.0)), 0.0


def test_the_curve_is_measured_between_the_halvings_of_the_price_that_are_needed() -> None:
    """At its first penalty, 10^½ of the mean squared norm, nine links lie between 2^-4 and 2^-3 of the limit."""
    rule = Told()
    assert rule._price_on_curve(0, 9.0) == pytest.approx(np.log(3.0 * 2**-3.5))
    assert {power for power, _ in rule.asked} == {-7, -6, -5, -4, -3}
    assert [penalty for _, penalty in rule.asked] == pytest.approx([2 * 10**0.5] * len(rule.asked))
    rule._price_on_curve(0, 9.0)
    assert len(rule.asked) == len(set(rule.asked))  # nothing is measured twice
    below = Told()
    assert below._price_on_curve(0, 23.0) == pytest.approx(np.log(3.0 * 2**-10.5))
    assert min(power for power, _ in below.asked) == -11
    # No price is above the limit, and none is looked for below 2^-22 of it.
    assert Told()._price_on_curve(0, 1.0) == pytest.approx(np.log(3.0))
    assert Told()._price_on_curve(0, 99.0) == pytest.approx(np.log(3.0 * 2**-22))


@pytest.mark.parametrize(
    ("decades", "halvings"), [(0.5, 3.5), (0.75, 3.0), (1.0, 2.5), (1.25, 2.0), (3.0, 1.5), (0, 3.5)]
)
def test_between_the_penalties_of_the_curve_the_guess_lies_between_theirs(decades, halvings) -> None:
    guess = Told()._guess(2 * 10**decades, 9.0)
    assert guess == pytest.approx(np.log(3.0 * 2**-halvings))


def test_links_are_counted_where_supports_are_settled() -> None:
    """μ doubles for sixty iterations or until nothing moves by a thousandth; no mask, and affine if Z is to be."""
    X = rows(60)
    rule = CandidateStep(X, find_candidates(X, 8), affine=True)
    asked = []

    def solve(_small, settings, weights):
        asked.append((settings, weights))
        return SimpleNamespace(counts=np.array([0, 2, 4, 6]))

    rule._solve = solve
    assert rule.kept(0.02, 3.0) == (3.0, 0.25)
    settings, weights = asked[0]
    assert settings == AdmmSettings(0.02, penalty=3.0, penalty_growth=2.0, max_iter=60, tol=1e-3, affine=True)
    assert not weights.any()
