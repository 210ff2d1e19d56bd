"""No solver calls NaN or infinity converged: it refuses the numbers, or says that it did not converge."""

from functools import partial

import numpy as np
import pytest

from masked_subspace.baselines.bdr import BdrSettings, represent_bdr, update_blocks
from masked_subspace.baselines.edsc import EdscSettings, represent_edsc
from masked_subspace.baselines.ensc import represent_ensc
from masked_subspace.baselines.lrr import LrrSettings, represent_lrr
from masked_subspace.baselines.lsr import represent_lsr
from masked_subspace.baselines.omp import represent_omp
from masked_subspace.baselines.result import Representation
from masked_subspace.baselines.ssc import SscSettings, represent_ssc
from masked_subspace.masks.soft import LabelMask
from masked_subspace.represent.dense.solve import solve_dense
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.sparse.block import largest_entry
from masked_subspace.represent.sparse.solve import solve_sparse

N = 30
OTHERS = np.array([[j for j in range(N) if j != i] for i in range(N)], dtype=np.int32)
PLAIN, MODELLED = AdmmSettings(0.01), AdmmSettings(0.01, noise=1.0, outliers=0.1)

SOLVERS = {
    "dense, blocked": lambda X: solve_dense(X, PLAIN),
    "dense, lazy": lambda X: solve_dense(X, PLAIN, path="lazy"),
    "dense, with noise": lambda X: solve_dense(X, MODELLED),
    "sparse": lambda X: solve_sparse(X, AdmmSettings(0.01, penalty=10.0), candidates=OTHERS),
    "sparse, factored": lambda X: solve_sparse(X, AdmmSettings(0.01, penalty=1e-4), candidates=OTHERS),
    "sparse, with noise": lambda X: solve_sparse(X, MODELLED, candidates=OTHERS),
    "BDR": lambda X: represent_bdr(X, BdrSettings(3)),
    "LRR": lambda X: represent_lrr(X, LrrSettings()),
    "LRR, closed form": lambda X: represent_lrr(X, LrrSettings(None)),
    "LSR, few features": lambda X: represent_lsr(X, 0.1),
    "LSR, many features": lambda X: represent_lsr(np.tile(X, 5), 0.1, zero_diagonal=True),
    "EDSC": lambda X: represent_edsc(X, EdscSettings()),
    "EDSC, with outliers": lambda X: represent_edsc(X, EdscSettings(outliers=0.1)),
    "EnSC": represent_ensc,
    "SSC-OMP": represent_omp,
    "SSC, active sets": lambda X: represent_ssc(X, SscSettings()),
    "SSC, ADMM": lambda X: represent_ssc(X, SscSettings(solver="admm")),
    "SSC, affine": lambda X: represent_ssc(X, SscSettings(affine=True)),
    "SSC, with outliers": lambda X: represent_ssc(X, SscSettings(outliers=20.0)),
}


def rows(dtype=np.float64):
    X = np.random.default_rng(0).standard_normal((N, 8))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_value_that_is_no_number_never_converges(solver, bad, dtype):
    X = rows(dtype)
    X[3, 2] = bad
    try:
        converged = SOLVERS[solver](X).converged
    except ValueError:  # LinAlgError is one
        converged = False
    assert not converged


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_same_rows_without_it_are_solved(solver):
    found = SOLVERS[solver](rows())
    matrix = found.representation if hasattr(found, "representation") else found.matrix
    assert np.isfinite(found.stopping_value)
    assert abs(matrix).sum() > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("path", ["blocked", "lazy", "sparse"])
def test_prices_that_overflow_are_refused(path, dtype):
    mask = LabelMask(np.arange(N) % 3, 1e30 if dtype == np.float32 else 1e200)
    solve = partial(solve_sparse, candidates=OTHERS) if path == "sparse" else partial(solve_dense, path=path)
    with pytest.raises(ValueError, match="mask_strength"):
        solve(rows(dtype), PLAIN, soft_mask=mask)


def test_bdr_does_not_pass_over_nan():
    """Its step takes a maximum, which is not moved by NaN."""
    Z = np.zeros((4, 4))
    Z[2, 1] = np.nan
    old_Z, W, old_B, B = (np.zeros((4, 4)) for _ in range(4))
    assert np.isnan(update_blocks(Z, old_Z, W, 0.1, old_B, B)[0])
    assert update_blocks(np.eye(4), old_Z, W, 0.1, old_B, B)[0] == 1


@pytest.mark.parametrize(
    "parts",
    [
        {"matrix": np.array([[0.0, np.nan], [1.0, 0.0]])},
        {"matrix": np.eye(2), "stopping_value": np.nan},
        {"matrix": np.eye(2), "stopping_value": np.inf},
        {"matrix": np.eye(2), "objective": np.array([1.0, np.nan])},
    ],
)
def test_a_result_that_holds_nan_has_not_converged(parts):
    assert not Representation(**parts).converged
    assert not Representation(**parts).as_solver_result(0.0).converged
    assert Representation(np.eye(2), objective=np.array([np.nan, 1.0])).converged


@pytest.mark.parametrize(
    ("X", "largest"),
    [
        ([[1.0, -3.0], [2.0, 0.0]], 3.0),
        ([[1.0, 2.0]], 2.0),
        ([[-4.0, -5.0]], 5.0),
        ([[-np.inf, 1.0]], np.inf),
        ([], 0.0),
    ],
)
def test_the_largest_entry_counts_whatever_its_sign(X, largest):
    assert largest_entry(np.reshape(X, (-1, 2))) == largest
    assert np.isnan(largest_entry(np.array([[1.0, np.nan], [-7.0, 2.0]])))
