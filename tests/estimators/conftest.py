import numpy as np
import pytest
from sklearn.datasets import load_digits

from masked_subspace.datasets import make_subspaces


@pytest.fixture(scope="session")
def subspaces():
    """Four independent subspaces without noise, 30 samples each."""
    return make_subspaces(4, 3, 30, 30, arrangement="independent", random_state=0)


@pytest.fixture(scope="session")
def digits():
    """300 of scikit-learn's 8×8 digits."""
    data = load_digits()
    pick = np.random.default_rng(0).choice(len(data.data), 300, replace=False)
    return data.data[pick], data.target[pick]
