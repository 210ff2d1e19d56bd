"""The diagonal leaves a graph and nothing else does, without an entry that was not there before."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import masked_subspace
from masked_subspace.label.graph import without_diagonal


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_diagonal(dtype):
    dense = np.random.default_rng(0).standard_normal((7, 7)).astype(dtype)
    dense[np.random.default_rng(1).random((7, 7)) < 0.5] = 0
    graph = csr_array(dense)
    graph.data[2] = 0  # a stored zero
    before, expected = graph.copy(), graph.toarray()
    np.fill_diagonal(expected, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = without_diagonal(graph)
    np.testing.assert_array_equal(found.toarray(), expected)
    assert found.nnz == np.count_nonzero(expected)
    assert found.dtype == dtype
    assert found.indices.dtype == found.indptr.dtype == before.indptr.dtype
    assert found.has_canonical_format
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(graph, part), getattr(before, part))


@pytest.mark.parametrize("dense", [np.eye(3), np.zeros((3, 3)), np.zeros((0, 0))])
def test_a_graph_of_nothing_else(dense):
    found = without_diagonal(csr_array(dense))
    assert found.shape == dense.shape
    assert found.nnz == 0


def test_nobody_sets_a_diagonal_of_a_sparse_matrix():
    """With scipy 1.12 every fit warned of it; newer versions are silent."""
    root = Path(masked_subspace.__file__).parent
    assert not [path.name for path in root.rglob("*.py") if ".setdiag(" in path.read_text(encoding="utf-8")]
