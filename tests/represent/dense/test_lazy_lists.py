"""The lists of the lazy pass by value: who joins one, who leaves it, and what the bound must cover then."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.represent.dense import lazy_kernels as kernels
from masked_subspace.represent.dense.lazy import LazyPass, LazyProblem
from masked_subspace.represent.dense.running import run_lockstep
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.model import AdmmSettings

V = np.linalg.qr(np.random.default_rng(0).standard_normal((9, 4)))[0]


def state_of(n_rows: int = 1) -> kernels.RowState:
    coefficients = np.random.default_rng(1).standard_normal((n_rows, 6, 1, 4))
    return kernels.RowState(
        coefficients, np.zeros(n_rows), np.zeros((n_rows, 1)), np.ones(n_rows), np.zeros(n_rows, np.intp)
    )


def lists_of(columns: list[int], room: int = 8) -> kernels.Lists:
    """One row whose own column is 0, with all fields of entry e equal to e + 1."""
    places = np.zeros((1, room), np.int32)
    places[0, : len(columns)] = columns
    values = np.zeros((1, kernels.N_FIELDS, room))
    values[0, :, : len(columns)] = np.arange(1, len(columns) + 1)
    return kernels.Lists(places, np.zeros((1, room), np.int8), values, np.array([len(columns)]))


def test_an_entry_that_has_died_away_leaves_and_the_bound_covers_its_column() -> None:
    """Entries 5 and 7 hold nothing any more; 3 still has a part of U2, and 8 an entry of Q."""
    lists, state = lists_of([0, 3, 5, 7, 8]), state_of()
    own = lists.values[0]
    for field in (kernels.ZETA, kernels.ETA, kernels.CHI, kernels.Q):
        own[field, 1:5] = 0
    own[kernels.ETA, 1], own[kernels.ETA, 2], own[kernels.Q, 4] = 1e-3, 1e-10, 0.5
    state.reference_max[0, 0] = 1e-6
    kernels.prune(V, state, lists, 1e-8)
    assert lists.lengths[0] == 3
    assert lists.columns[0, :3].tolist() == [0, 3, 8]
    np.testing.assert_array_equal(own[kernels.V_ALPHA, :3], [1, 2, 5])  # all fields move with their column
    assert own[kernels.Q, 2] == 0.5
    products = np.abs(V @ state.coefficients[0, kernels.G_REFERENCE, 0])
    np.testing.assert_allclose(state.reference_max[0, 0], max(products[5], products[7]))
    state.reference_max[0, 0] = 99.0
    own[kernels.Q, 2] = 0
    kernels.prune(V, state, lists, 1e-8)
    assert (lists.lengths[0], state.reference_max[0, 0]) == (2, 99.0)  # what it covers already stays covered


def test_columns_above_the_threshold_are_counted_and_the_rest_bounds_the_next_looks() -> None:
    lists, largest = lists_of([0, 3]), np.zeros((1, 1))
    line = np.array([[9.0, -0.7, 0.2, 9.0, 0.5, -0.4, 0.1, 0.6, 0.3]])  # 0 and 3 are listed already
    n_new = np.zeros(1, np.int64)
    found = kernels.Products(line, 0, 0, np.array([0]))
    kernels.scan(found, lists, np.zeros((1, 2), np.intp), 0.45, largest, n_new)
    assert n_new[0] == 3
    assert largest[0, 0] == 0.4
    kernels.scan(found, lists, np.array([[7, 9]]), 0.45, largest, n_new)  # 7 and 8 belong to the other set
    assert (n_new[0], largest[0, 0]) == (2, 0.4)
    kernels.scan(found, lists, np.zeros((1, 2), np.intp), 5.0, largest, n_new)
    assert (n_new[0], largest[0, 0]) == (0, 0.7)


def test_the_norms_of_the_bound_are_those_of_groups_of_directions() -> None:
    """Of rank 30: directions 0 … 3, 4 … 11, 12 … 23 and the rest; for each cluster and for all samples."""
    X = np.random.default_rng(0).standard_normal((60, 30))
    spectrum, labels = Spectrum.of(X), np.arange(60) % 2
    problem = LazyProblem.of(AdmmSettings(0.01), spectrum, (0.5, 2.0), labels)
    assert problem.group_ends.tolist() == [4, 12, 24, 30]
    rows = spectrum.vectors[np.argsort(labels, kind="stable")]
    groups = np.split(rows, [4, 12, 24], axis=1)
    norms = np.array([np.linalg.norm(part, axis=1) for part in groups])
    expected = [norms[:, :30].max(axis=1), norms[:, 30:].max(axis=1), norms.max(axis=1)]
    np.testing.assert_allclose(problem.group_norms, expected)
    assert problem.bounds.tolist() == [0, 30, 60]
    np.testing.assert_allclose(problem.weights, [0.25, 4.0])


def test_a_cluster_of_any_size_is_projected_alike() -> None:
    """Small clusters by two thin products, large ones by their own Gram matrix."""
    spectrum = Spectrum.of(np.random.default_rng(0).standard_normal((60, 20)))
    labels = np.repeat([0, 1], [5, 55])
    problem = LazyProblem.of(AdmmSettings(0.01), spectrum, (0.5, 2.0), labels)
    assert problem.cluster_grams[0] is None
    assert problem.cluster_grams[1] is not None
    x = np.random.default_rng(1).standard_normal((3, 20))
    for label, rows in ((0, spectrum.vectors[:5]), (1, spectrum.vectors[5:])):
        np.testing.assert_allclose(problem.through_cluster(label, x), x @ rows.T @ rows, atol=1e-12)


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e-14), (np.float32, 1e-8)])
def test_an_entry_has_died_away_below_the_rounding_of_its_dtype(monkeypatch, dtype, size) -> None:
    asked, prune = [], kernels.prune
    monkeypatch.setattr(kernels, "prune", lambda *of: asked.append(of[-1]) or prune(*of))
    settings = AdmmSettings(0.01, penalty=0.5, max_iter=9)
    X = np.random.default_rng(0).standard_normal((30, 8)).astype(dtype)
    problem = LazyProblem.of(settings, Spectrum.of(X), (0.0,), None, patient=True)
    run_lockstep([(0, 30)], lambda a, b: LazyPass(problem, np.arange(a, b)), settings, 1, None)
    assert asked == [dtype(size)] * 2  # in every fourth iteration
