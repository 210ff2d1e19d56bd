"""Mixtures by expectation and maximization: the components of scikit-learn's `GaussianMixture`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from masked_subspace.label.agreement import adjusted_rand_index
from masked_subspace.rounds.expectation import Mixture, likeliest_mixture


def clouds(seed: int) -> np.ndarray:
    """Three that overlap, of other widths."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(3, 4))
    return np.vstack([centre + rng.normal(size=(50, 4)) * rng.uniform(0.3, 1.5, 4) for centre in centres])


@pytest.mark.parametrize(("shared", "name"), [(False, "full"), (True, "tied")])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_components_are_those_of_scikit_learn(shared, name, seed):
    X = clouds(seed)
    ours = likeliest_mixture(X, 3, shared=shared, ridge=0.01, starts=2, seed=seed)
    model = GaussianMixture(3, covariance_type=name, reg_covar=0.01, n_init=2, random_state=seed).fit(X)
    assert adjusted_rand_index(ours.labels(X), model.predict(X)) == 1
    order, theirs = np.argsort(ours.means[:, 0]), np.argsort(model.means_[:, 0])
    np.testing.assert_allclose(ours.means[order], model.means_[theirs], atol=1e-7)
    np.testing.assert_allclose(ours.shares[order], model.weights_[theirs], atol=1e-7)


@pytest.mark.parametrize("shared", [False, True])
def test_parts_give_weighted_means_covariances_and_densities(shared):
    rng = np.random.default_rng(0)
    X, parts = rng.normal(size=(40, 3)), rng.dirichlet([1, 1], size=40)
    model = Mixture.of(X, parts, shared=shared, ridge=0.5)
    sizes = parts.sum(axis=0)
    own = [np.cov(X.T, aweights=part, ddof=0) for part in parts.T]
    if shared:
        own = [np.average(own, axis=0, weights=sizes)] * 2
    np.testing.assert_allclose(model.shares, sizes / 40)
    for k in range(2):
        mean = np.average(X, axis=0, weights=parts[:, k])
        np.testing.assert_allclose(model.means[k], mean)
        density = multivariate_normal(mean, own[k] + 0.5 * np.eye(3)).logpdf(X)
        np.testing.assert_allclose(model.log_joint(X)[:, k], density + np.log(sizes[k] / 40))


def test_more_starts_are_never_less_likely():
    X = clouds(3)

    def likelihood(starts: int) -> float:
        joint = likeliest_mixture(X, 5, shared=False, ridge=0.01, starts=starts, seed=0).log_joint(X)
        return float(np.logaddexp.reduce(joint, axis=1).mean())

    assert likelihood(8) >= likelihood(1) - 1e-3


def test_single_precision_is_no_obstacle_and_labels_are_small_numbers():
    X = clouds(0)
    labels = [
        likeliest_mixture(one, 3, shared=True, ridge=0.01, starts=1, seed=0).labels(one)
        for one in (X, X.astype(np.float32))
    ]
    assert labels[0].dtype == np.int32
    assert adjusted_rand_index(*labels) > 0.98
