"""The forces of the map against the same written with plain loops, and what of a run the page draws."""

import base64

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.report import payload as module
from masked_subspace.report.forces import pull_and_push
from masked_subspace.report.matrix import coarse_matrix
from masked_subspace.report.payload import _next_clusters, _points, _rounds
from masked_subspace.report.record import Round, Run


def written_out(places, first, second, weight, sweeps):
    """Attraction ∇log(1 + d²) along links, repulsion ∇−log(1 − 1/(1 + d²)) of two random samples at each end."""
    places, state = np.array(places, dtype=float), 88172645463325252
    for sweep in range(sweeps):
        rate = 1 - sweep / sweeps
        for i, j, strength in zip(first, second, weight, strict=True):
            apart = places[i] - places[j]
            pull = rate * strength * min(2 / (1 + apart @ apart), 0.5) * apart
            places[i] -= pull
            places[j] += pull
            for one in (i, i, j, j):
                state ^= (state << 13) % 2**64
                state ^= state >> 7
                state ^= (state << 17) % 2**64
                other = state % len(places)
                apart = places[one] - places[other]
                squared = apart @ apart
                push = rate * strength * 2 / ((0.05 + squared) * (1 + squared)) * apart
                places[one] += np.clip(push, -1, 1)
    return places


@pytest.mark.parametrize("sweeps", [1, 5])
def test_linked_samples_pull_and_random_ones_push(sweeps):
    rng = np.random.default_rng(0)
    places = 3 * rng.normal(size=(8, 2))
    first, second = np.array([0, 1, 2, 5, 6]), np.array([1, 2, 3, 6, 7])
    weight = np.array([1.0, 0.3, 0.7, 0.05, 1.0])
    found = pull_and_push(places, first, second, weight, sweeps)
    np.testing.assert_allclose(found, written_out(places, first, second, weight, sweeps), atol=1e-9)
    assert np.abs(found - places).max() > 0.1


def run_of(rounds, n=6):
    rng = np.random.default_rng(0)
    graphs = [csr_array(np.triu(rng.random((n, n)), 1)) for _ in range(rounds)]
    graphs = [csr_array(one + one.T) for one in graphs]
    of_rounds = tuple(Round(f"round {k}", one) for k, one in enumerate(graphs))
    labels = np.arange(n) % 2
    return Run(
        "run", labels, graphs[-1] if graphs else csr_array((n, n)), np.eye(2)[labels], np.ones(n), rounds=of_rounds
    )


def test_rounds_share_the_links_and_the_scale_of_the_last(monkeypatch):
    asked = []

    def noted(affinity, order, max_links, scale=None):
        asked.append((max_links, scale))
        return coarse_matrix(affinity, order, max_links, scale)

    monkeypatch.setattr(module, "coarse_matrix", noted)
    run = run_of(3)
    drawn = _rounds(run, np.arange(6))
    assert [one["title"] for one in drawn] == ["round 0", "round 1", "round 2"]
    last = coarse_matrix(run.rounds[-1].affinity, np.arange(6), 100).scale
    # A quarter of 160,000 links for each, and twice as many for the last.
    assert asked == [(80_000, None), (40_000, last), (40_000, last)]
    assert {one["scale"] for one in drawn} == {last}
    titles = [one["title"] for one in _rounds(run_of(20), np.arange(6))]
    assert len(titles) == 12
    assert (titles[0], titles[-1]) == ("round 0", "round 19")
    assert [one["title"] for one in _rounds(run_of(0), np.arange(6))] == ["final"]


def test_the_second_choice_is_the_next_membership_or_the_next_centre():
    labels, clusters = np.array([0, 0, 1, 2]), np.arange(3)
    graph, sure = csr_array((4, 4)), np.ones(4)
    shares = np.array([[0.5, 0.2, 0.3], [0.5, 0.4, 0.1], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    run = Run("run", labels, graph, np.eye(3)[labels], sure, memberships=shares)
    np.testing.assert_array_equal(_next_clusters(run, clusters, labels), [2, 1, 0, 0])
    line = Run("run", labels, graph, np.array([[0.0], [2.0], [4.0], [9.0]]), sure)
    np.testing.assert_array_equal(_next_clusters(line, clusters, labels), [1, 1, 0, 1])
    alone = Run("run", np.array([-1, 3, 3, 3]), graph, np.eye(4), sure)
    np.testing.assert_array_equal(_next_clusters(alone, np.array([-1, 3]), np.array([0, 1, 1, 1])), [1, 1, 1, 1])
    np.testing.assert_array_equal(_next_clusters(line, np.array([0]), np.zeros(4, int)), 0)


def test_every_sample_is_a_point_up_to_a_limit_and_few_axes_are_kept_of_many(monkeypatch):
    rng = np.random.default_rng(0)
    labels = np.arange(20) % 2
    run = Run("run", labels, csr_array((20, 20)), rng.normal(size=(20, 8)), np.ones(20))
    found = _points(run)
    assert (found["axes"], found["samples"]) == (6, None)
    monkeypatch.setattr(module, "MAX_AXES_VALUES", 60)
    assert _points(run)["axes"] == 3
    monkeypatch.setattr(module, "MAX_AXES_VALUES", 20)
    assert _points(run)["axes"] == 2
    monkeypatch.setattr(module, "MAX_POINTS", 20)
    assert _points(run)["samples"] is None
    monkeypatch.setattr(module, "MAX_POINTS", 5)
    chosen = np.frombuffer(base64.b64decode(_points(run)["samples"]), dtype="<u4")
    np.testing.assert_array_equal(chosen, [0, 4, 9, 14, 19])
