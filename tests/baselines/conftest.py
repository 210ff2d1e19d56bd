from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.datasets import make_subspaces


@pytest.fixture(scope="session")
def subspaces():
    """Four independent 3-dimensional subspaces of R^25, without noise."""
    return make_subspaces(n_subspaces=4, per_subspace=25, dim=3, ambient=25, random_state=0)


@pytest.fixture(scope="session")
def noisy_rows():
    """Unit rows of noisy, correlated data: what real images look like to a solver."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((90, 4)) @ rng.standard_normal((4, 30)) + 0.4 * rng.standard_normal((90, 30)) + 0.5
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
