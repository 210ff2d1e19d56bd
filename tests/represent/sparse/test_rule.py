"""The label-free λ of the sparse solver: it keeps what it promises, on the sample and on all rows."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.neighbors.search import find_candidates
from masked_subspace.represent.sparse.rule import CandidateRule
from masked_subspace.represent.sparse.solve import solve_sparse


def rows(n: int = 400, scale: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((n // 4, 5)) @ rng.standard_normal((5, 30)) for _ in range(4)])
    X += 0.3 * rng.standard_normal(X.shape)
    return scale * X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("links", [6, 12, 20])
@pytest.mark.parametrize("penalty", [3.0, 15.0])
def test_the_solution_keeps_about_the_wanted_links(links: int, penalty: float) -> None:
    X = rows()
    candidates = find_candidates(X, 32)
    settings = AdmmSettings(sparsity=0.0, penalty=penalty, penalty_growth=2.0)
    lam = CandidateRule(X, candidates, seed=1).sparsity(links, settings)
    found = solve_sparse(X, AdmmSettings(lam, penalty=penalty, penalty_growth=2.0), candidates=candidates)
    assert found.representation.nnz / len(X) == pytest.approx(links, rel=0.15)


def test_rows_in_another_unit_give_the_same_links() -> None:
    plain, scaled = rows(), rows(scale=10.0)
    candidates = find_candidates(plain, 32)
    one = CandidateRule(plain, candidates).sparsity(12, AdmmSettings(0.0, penalty=15.0, penalty_growth=2.0))
    other = CandidateRule(scaled, candidates).sparsity(12, AdmmSettings(0.0, penalty=1500.0, penalty_growth=2.0))
    assert other == pytest.approx(100 * one, rel=1e-6)


def test_no_sample_is_emptied_to_reach_a_low_number() -> None:
    # Half the rows are nearly copies of each other, half stand alone: two links on average would strip the latter.
    rng = np.random.default_rng(3)
    X = np.concatenate(
        [rng.standard_normal((200, 40)), rng.standard_normal(40) + 0.05 * rng.standard_normal((200, 40))]
    )
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    candidates = find_candidates(X, 20)
    settings = AdmmSettings(0.0, penalty=15.0, penalty_growth=2.0)
    lam = CandidateRule(X, candidates).sparsity(2, settings)
    found = solve_sparse(X, AdmmSettings(lam, penalty=15.0, penalty_growth=2.0), candidates=candidates)
    assert np.mean(np.diff(found.representation.indptr) == 0) <= 0.03
