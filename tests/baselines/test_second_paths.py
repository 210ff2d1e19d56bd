"""The paths that small, easy samples never take: eigenvectors from those of the last step, stops, warm starts."""

import numpy as np
import pytest

from masked_subspace.baselines import bdr
from masked_subspace.baselines.autoencoder import AutoencoderSettings
from masked_subspace.baselines.bdr import BdrSettings, smallest_eigenvectors
from masked_subspace.baselines.edsc import EdscSettings
from masked_subspace.baselines.lrr import LrrSettings, represent_lrr
from masked_subspace.baselines.soft_s3c import WeightedSparseRepresenter
from masked_subspace.baselines.ssc import PreparedSsc, SscSettings
from masked_subspace.masks.soft import ArrayMask, ConstantMask


def ring_of_blocks(n=320, blocks=4, between=0.02):
    """Blocks of equal size with random weights, weakly linked."""
    rng = np.random.default_rng(0)
    own = np.arange(n) % blocks
    B = rng.random((n, n)) * np.where(own[:, None] == own, 1.0, between)
    B = (B + B.T) / 2
    np.fill_diagonal(B, 0)
    return B


def projection(vectors):
    return vectors @ vectors.T


@pytest.fixture
def direct(monkeypatch):
    """How often the direct solver was asked."""
    asked = []
    solve = bdr.smallest_eigenpairs
    monkeypatch.setattr(bdr, "smallest_eigenpairs", lambda A, count: asked.append(count) or solve(A, count))
    return asked


def test_from_the_vectors_of_the_last_step_a_few_steps_find_the_smallest(direct):
    B = ring_of_blocks()
    laplacian = np.diag(B.sum(axis=1)) - B
    exact = np.linalg.eigh(laplacian)[1][:, :4]
    start = np.linalg.qr(exact + 0.02 * np.random.default_rng(1).standard_normal(exact.shape))[0]
    found = smallest_eigenvectors(B, 4, start)
    assert direct == []
    np.testing.assert_allclose(found.T @ found, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(projection(found), projection(exact), atol=5e-3)
    before, after = (np.trace(V.T @ laplacian @ V) for V in (start, found))
    assert after < before


def test_what_a_few_steps_do_not_find_is_solved_directly(direct):
    """A chain of 320 samples has no gap: ten steps from anywhere are far from its smallest eigenvectors."""
    B = np.diag(np.ones(319), 1) + np.diag(np.ones(319), -1)
    exact = np.linalg.eigh(np.diag(B.sum(axis=1)) - B)[1][:, :3]
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((320, 3)))[0]
    found = smallest_eigenvectors(B, 3, start)
    assert direct == [3]
    np.testing.assert_allclose(projection(found), projection(exact), atol=1e-8)


@pytest.mark.parametrize(("n", "count", "started"), [(300, 4, True), (320, 41, True), (320, 4, False)])
def test_few_samples_many_vectors_and_the_first_step_are_solved_directly(direct, n, count, started):
    B = ring_of_blocks(n)
    exact = np.linalg.eigh(np.diag(B.sum(axis=1)) - B)[1][:, :count]
    found = smallest_eigenvectors(B, count, exact if started else None)
    assert direct == [count]
    np.testing.assert_allclose(projection(found), projection(exact), atol=1e-8)


def test_settings_have_the_published_numbers():
    assert LrrSettings() == LrrSettings(0.18, 1e-6, 1.1, 1e10, 1e-8, 1000)
    assert EdscSettings() == EdscSettings(1.0, None, 1e-2, 1.1, 1e-6, 500)
    assert BdrSettings(3) == BdrSettings(3, 50.0, 1.0, 1e-3, 1000)
    assert SscSettings() == SscSettings(20.0, False, None, "auto", None, 1000)
    assert AutoencoderSettings() == AutoencoderSettings((15,), (3,), 300, 256, 1e-3, 20, 1e-3)


def test_dense_codes_and_affine_ones_are_those_of_the_published_iteration():
    assert [SscSettings(alpha).uses_admm for alpha in (20.0, 200.0, 200.1)] == [False, False, True]
    assert SscSettings(affine=True).uses_admm
    assert SscSettings(solver="admm").uses_admm
    assert not SscSettings(800.0, solver="active-set").uses_admm


def test_the_published_iteration_stops_at_two_ten_thousandths_unless_told_otherwise(noisy_rows):
    tolerances = (None, 2e-4, 2e-3, 2e-5)
    found = {tol: PreparedSsc(noisy_rows, SscSettings(solver="admm", tol=tol)).solve() for tol in tolerances}
    assert 2e-5 < found[None].stopping_value < 2e-4
    assert found[None].n_iter == found[2e-4].n_iter
    assert found[2e-3].n_iter < found[None].n_iter < found[2e-5].n_iter


def test_weighted_codes_start_from_those_of_the_round_before(noisy_rows):
    """The same prices again: the codes stand, and one look at all atoms says so."""
    prepared = WeightedSparseRepresenter().prepare(noisy_rows)
    first, again = (prepared.represent(ConstantMask(len(noisy_rows), 0.5)) for _ in range(2))
    assert first.n_iter > 1
    assert again.n_iter == 1
    assert abs(first.representation - again.representation).max() < 1e-5


def test_a_pair_costs_one_and_its_weighted_distance(noisy_rows):
    prices = np.random.default_rng(0).uniform(0, 2, (len(noisy_rows),) * 2)
    prices = (prices + prices.T) / 2
    for weight in (0.3, 2.0):
        found = WeightedSparseRepresenter(alpha=9.0, structure_weight=weight).prepare(noisy_rows)
        weighted = PreparedSsc(noisy_rows, SscSettings(9.0)).solve(lambda a, b, w=weight: 1 + w * prices[a:b])
        assert abs(found.represent(ArrayMask(prices)).representation - weighted.matrix).max() < 1e-12


def test_lrr_has_converged_though_no_iteration_is_left():
    rows = np.random.default_rng(0).standard_normal((12, 8))
    found = represent_lrr(rows, LrrSettings(tol=1e-3))
    assert found.n_iter < 1000
    assert represent_lrr(rows, LrrSettings(tol=1e-3, max_iter=found.n_iter)).converged
    assert not represent_lrr(rows, LrrSettings(tol=1e-3, max_iter=found.n_iter - 1)).converged
