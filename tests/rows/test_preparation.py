"""What a view learns from the rows."""

import subprocess
import sys

import numpy as np
import pytest

from masked_subspace.rows.preparation import VIEWS, Preparation, View, evening_rotation, view_of


@pytest.mark.parametrize("name", ["homogeneous", "lifted", "distance"])
def test_the_constant_column_is_as_long_as_a_mean_row_times_what_the_view_says(name):
    X = 5 * np.random.default_rng(0).normal(size=(40, 6)) + 1
    view = VIEWS[name]
    shifted = X - X.mean(axis=0) if view.center else X
    expected = view.constant * np.sqrt((shifted**2).sum() / len(X))
    assert Preparation.learn(X, view).constant == pytest.approx(expected)


@pytest.mark.parametrize("shape", [(40, 8), (8, 40)], ids=["tall", "wide"])
def test_whitened_rows_have_equal_directions(shape):
    """rows @ V S^-1 = U: its columns are orthonormal, whichever of the two products was decomposed."""
    rows = np.random.default_rng(0).normal(size=shape)
    whitened = rows @ evening_rotation(rows, View("even", whitening=1.0))
    np.testing.assert_allclose(whitened.T @ whitened, np.eye(8), atol=1e-8)


# Topics are words of their own: tests/rows/test_words.py.
@pytest.mark.parametrize("name", [name for name, view in VIEWS.items() if not view.words])
def test_every_view_does_what_its_fields_say(name):
    """Square root, centring, scaling, constant column, unit length, directions, unit length, each written out."""
    view = VIEWS[name]
    X = np.abs(np.random.default_rng(0).normal(size=(30, 4))) * [1, 0.1, 10, 1] + 1
    rows = np.sqrt(X) if view.root else X
    rows = rows - rows.mean(axis=0) if view.center else rows
    rows = rows / X.std(axis=0) if view.standardize else rows
    if view.lift:
        length = view.constant * np.sqrt((rows**2).sum() / len(rows))
        rows = np.hstack([rows, np.full((30, 1), length)])
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    if view.whitening or view.ridge:
        U, S, _ = np.linalg.svd(rows, full_matrices=False)
        rows = U * (S / np.sqrt(S**2 + view.ridge * (S**2).mean()) if view.ridge else S ** (1 - view.whitening))
        if not view.low_rank:
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    preparation = Preparation.learn(X, view)
    found = preparation.apply(X)
    assert preparation.n_columns(4) == (5 if view.lift else 4) >= found.shape[1]
    np.testing.assert_allclose(found @ found.T, rows @ rows.T, atol=1e-8)


@pytest.mark.parametrize("shape", [(40, 8), (8, 40), (30, 30)], ids=["tall", "wide", "square"])
def test_products_of_ridge_rows_are_the_codes_of_least_squares(shape):
    """Z = G(G + μI)⁻¹ minimises ‖X − ZX‖² + μ‖Z‖², μ in mean squared singular values, whether features or samples are
    more; a column of zeros changes nothing."""
    X = np.random.default_rng(0).normal(size=shape) * np.linspace(1, 5, shape[1])
    view = View("ridge", ridge=0.2)
    G, mu = X @ X.T, 0.2 * (X**2).sum() / min(shape)
    expected = G @ np.linalg.inv(G + mu * np.eye(len(X)))
    rows = X @ evening_rotation(X, view)
    np.testing.assert_allclose(rows @ rows.T, expected, atol=1e-10)
    gradient = (expected @ X - X) @ X.T + mu * expected
    np.testing.assert_allclose(gradient, 0, atol=1e-8)
    if shape[1] <= shape[0]:
        padded = np.hstack([X[:, :3], np.zeros((len(X), 1)), X[:, 3:]])
        rotation = evening_rotation(padded, view)
        mean = (X**2).sum() / min(padded.shape)
        np.testing.assert_array_equal(rotation[3], 0)
        np.testing.assert_allclose(
            (padded @ rotation) @ (padded @ rotation).T, G @ np.linalg.inv(G + 0.2 * mean * np.eye(len(X))), atol=1e-10
        )


def test_beside_a_long_constant_column_unit_rows_differ_by_their_distance():
    X = np.random.default_rng(0).normal(size=(50, 3)) * np.linspace(0.5, 2, 50)[:, None]
    rows = Preparation.learn(X, VIEWS["distance"]).apply(X)
    apart = np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(50, 1)]
    seen = np.linalg.norm(rows[:, None] - rows, axis=2)[np.triu_indices(50, 1)]
    assert np.corrcoef(apart, seen)[0, 1] > 0.98


def test_directions_below_a_ten_thousandth_of_the_first_are_dropped():
    U, V = (np.linalg.qr(np.random.default_rng(seed).normal(size=(n, 4)))[0] for seed, n in ((0, 20), (1, 4)))
    for smallest, kept in ((2e-4, 4), (5e-5, 3)):
        rows = (U * [1, 0.5, 0.1, smallest]) @ V.T
        assert evening_rotation(rows, VIEWS["whitened"]).shape == (4, kept)
        assert evening_rotation(rows, VIEWS["whitened"], 2).shape == (4, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_that_is_the_mean_but_for_rounding_has_no_direction(dtype):
    rng = np.random.default_rng(0)
    half = rng.normal(size=(20, 5)) + 1000
    X = np.vstack([half, 2 * half.mean(axis=0) - half, half.mean(axis=0, keepdims=True)]).astype(dtype)
    rows = Preparation.learn(X, VIEWS["plain"]).apply(X)
    np.testing.assert_array_equal(rows[-1], 0)
    np.testing.assert_allclose(np.linalg.norm(rows[:-1], axis=1), 1, rtol=1e-5)


def test_constant_features_are_not_blown_up():
    X = np.hstack([np.random.default_rng(0).normal(size=(30, 2)) * 0.01, np.full((30, 1), 5.0)])
    preparation = Preparation.learn(X, VIEWS["standardized"])
    np.testing.assert_allclose(preparation.scale, [*X[:, :2].std(axis=0), 1.0])


@pytest.mark.parametrize("name", VIEWS)
def test_without_centring_only_the_views_that_leave_it_open_change(name):
    view = view_of(name, center=False)
    assert view_of(name, center=True) == VIEWS[name]
    assert view.center == (VIEWS[name].center and name not in ("plain", "root", "whitened"))
    assert view.suits(nonnegative=True)
    assert view.suits(nonnegative=False) == ("root" not in name and not view.words)


def test_a_number_is_a_whitening_power():
    view = view_of(0.3, center=False)
    assert (view.name, view.whitening, view.center) == ("whitened 0.3", 0.3, False)
    assert view_of(0, center=True) == VIEWS["plain"]


def test_which_views_members_may_take():
    def names(**asked):
        return {name for name, view in VIEWS.items() if view.permitted(**asked)}

    everything = names(center=True, only_samples=True, sparse=False)
    assert everything == set(VIEWS)
    # Masks and noise ask for codes; distances of sparse samples would need them as arrays, ridge rows are arrays.
    linked = {name for name, view in VIEWS.items() if view.by_distance or view.by_cosine}
    assert everything - names(center=True, only_samples=False, sparse=False) == linked
    without = everything - names(center=True, only_samples=True, sparse=True)
    assert without == {"distance", "distance-standardized"}
    assert everything - names(center=False, only_samples=True, sparse=False) == {
        name for name, view in VIEWS.items() if view.center and not view.words
    }


@pytest.mark.parametrize(("share", "kept"), [(1e-13, True), (1e-16, False)])
def test_a_row_that_leaves_the_mean_by_more_than_rounding_has_a_direction(share, kept):
    """Twice the distance between neighbouring numbers of the mean's length is rounding."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(20, 5)) + 1000
    mean = half.mean(axis=0)
    near = mean + share * np.linalg.norm(mean) * np.array([1, 0, 0, 0, 0])
    learnt = Preparation.learn(np.vstack([half, 2 * mean - half]), VIEWS["plain"])
    assert learnt.floor == pytest.approx(2 * 2**-52 * np.linalg.norm(mean))
    assert np.linalg.norm(learnt.apply(near[None])) == pytest.approx(1.0 if kept else 0.0)


def test_the_leading_view_keeps_thirty_directions_and_evens_them_out():
    X = np.random.default_rng(0).normal(size=(200, 50)) * np.linspace(9, 1, 50)
    learnt = Preparation.learn(X, VIEWS["leading"])
    rows = learnt.apply(X)
    assert rows.shape == (200, 30)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1)
    centred = X - X.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    U = np.linalg.svd(centred, full_matrices=False)[0][:, :30]
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    np.testing.assert_allclose(rows @ rows.T, U @ U.T, atol=1e-9)
    few = Preparation.learn(X, VIEWS["leading"], directions=7).apply(X)
    np.testing.assert_allclose(few.shape, (200, 7))


def test_preparing_rows_imports_no_scikit_learn():
    """A client of Dask prepares rows: scikit-learn would take 40 MB of its memory."""
    code = "import sys, masked_subspace.rows.preparation; print('sklearn' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"
