"""One test for each thing the paper prints wrong; docs/paper/errata.md points here."""

import numpy as np
import pytest

from masked_subspace import RMSC
from masked_subspace.masks import LabelMask


@pytest.fixture
def problem():
    """A small instance of the augmented Lagrangian of GMSC, in the row convention, and a point."""
    rng = np.random.default_rng(0)
    n, d = 6, 4
    X = rng.normal(size=(n, d))
    hard = 1 - np.eye(n)
    soft = rng.uniform(0.5, 2, size=(n, n))
    U1, U2, Z, Q = (rng.normal(size=(n, n)) for _ in range(4))
    mu = 0.7

    def lagrangian(Z, C):
        data = 0.5 * np.sum((X - Z @ X) ** 2) + 0.5 * np.sum((soft * C) ** 2)
        mask = np.sum(U1 * (Z - hard * C)) + mu / 2 * np.sum((Z - hard * C) ** 2)
        sparse = np.sum(U2 * (Q - Z)) + mu / 2 * np.sum((Q - Z) ** 2)
        return data + mask + sparse

    return {"X": X, "hard": hard, "soft": soft, "U1": U1, "U2": U2, "Z": Z, "Q": Q, "mu": mu, "J": lagrangian}


def gradient(function, at, step=1e-6):
    result = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        plus, minus = at.copy(), at.copy()
        plus[index] += step
        minus[index] -= step
        result[index] = (function(plus) - function(minus)) / (2 * step)
    return result


def test_eq_c_needs_the_squared_mask(problem):
    """Eq:C prints Mˢ + μMʰ in the denominator; ∂J/∂C = 0 gives Mˢ⊙Mˢ + μMʰ."""
    numerator = (problem["U1"] + problem["mu"] * problem["Z"]) * problem["hard"]

    def stationarity(weight):
        C = numerator / (weight + problem["mu"] * problem["hard"])
        return np.abs(gradient(lambda C: problem["J"](problem["Z"], C), C)).max()

    assert stationarity(problem["soft"] ** 2) < 1e-6
    assert stationarity(problem["soft"]) > 0.1


def test_eq_b_c_needs_u1_and_the_z_step_needs_the_half(problem):
    """Eq:b-Z is stationary for ½‖X − ZX‖², the half that eq:bmsc leaves out, and with U₁ (Eq:b-C prints U)."""
    X, mu = problem["X"], problem["mu"]
    G, C = X @ X.T, np.random.default_rng(1).normal(size=(6, 6))
    right = G - problem["U1"] + mu * problem["hard"] * C + problem["U2"] + mu * problem["Q"]
    Z = right @ np.linalg.inv(G + 2 * mu * np.eye(6))
    assert np.abs(gradient(lambda Z: problem["J"](Z, C), Z)).max() < 1e-5

    def without_the_half(Z):
        return problem["J"](Z, C) + 0.5 * np.sum((X - Z @ X) ** 2)

    assert np.abs(gradient(without_the_half, Z)).max() > 0.1


def test_psi_needs_q_q_transposed():
    """ψ prints QᵀQ, which is K × K and holds cluster sizes; QQᵀ is n × n and says "same cluster"."""
    labels = np.array([0, 0, 1, 2, 2])
    Q = np.eye(3)[labels]
    assert (Q.T @ Q).shape == (3, 3)
    same = labels[:, None] == labels[None]
    np.testing.assert_array_equal(Q @ Q.T, same)
    beta = 1.1
    printed_but_for_the_product = beta * same + (1 - same) / beta
    np.testing.assert_allclose(LabelMask(labels, beta, orientation="paper").block(0, 5), printed_but_for_the_product)


def test_the_embedding_needs_a_constraint_and_the_normalised_laplacian():
    """argmin Fᵀφ(Z)F without FᵀF = I has no minimum: φ has a negative eigenvalue along which it falls for ever."""
    rng = np.random.default_rng(0)
    phi = np.abs(rng.normal(size=(8, 8)))
    phi = (phi + phi.T) / 2
    np.fill_diagonal(phi, 0)
    values, vectors = np.linalg.eigh(phi)
    assert values[0] < 0
    f = vectors[:, 0]
    assert (10 * f) @ phi @ (10 * f) < f @ phi @ f < 0


def test_the_k_means_sum_as_printed_punishes_samples_of_other_clusters():
    """Σ_k ‖F_i Q_ik − m_k‖² adds ‖m_k‖² for every cluster a sample is *not* in; Q_ik‖F_i − m_k‖² does not."""
    F = np.array([[5.0, 0], [5.0, 0], [0, 5.0], [0, 5.0]])
    Q = np.eye(2)[[0, 0, 1, 1]]
    centres = (Q.T @ F) / Q.sum(axis=0)[:, None]
    printed = sum(np.sum((F[i] * Q[i, k] - centres[k]) ** 2) for i in range(4) for k in range(2))
    intended = sum(Q[i, k] * np.sum((F[i] - centres[k]) ** 2) for i in range(4) for k in range(2))
    assert intended == 0
    assert printed == pytest.approx(4 * 25)


def test_the_printed_orientation_makes_the_rounds_disagree(digits_small):
    """With the mask as printed, links inside clusters are the dear ones and each round undoes the last."""
    X, y = digits_small
    shared = {"sparsity": 3e-4, "penalty": 0.1, "penalty_growth": 1.1, "mask_weight": 1.0, "mask_strength": 3.0}
    moved = {}
    for orientation in ("corrected", "paper"):
        model = RMSC(
            10, **shared, mask_orientation=orientation, max_rounds=4, members=1, random_state=0, affinity="symmetric"
        ).fit(X)
        links = [sum_inside(W, y) for W in model.round_affinities_]
        moved[orientation] = min(links[1:]) - links[0]
    assert moved["corrected"] > moved["paper"]


def sum_inside(W, y):
    """Share of the graph's weight between samples of one class."""
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    return W.data[y[rows] == y[W.indices]].sum() / W.data.sum()


@pytest.fixture
def digits_small():
    from sklearn.datasets import load_digits

    data = load_digits()
    pick = np.random.default_rng(0).choice(len(data.data), 200, replace=False)
    return data.data[pick], data.target[pick]
