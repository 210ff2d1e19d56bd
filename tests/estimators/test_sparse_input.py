"""Every masked estimator takes sparse samples: the labels are those of the array, and no array of X is ever made."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csc_matrix, csr_array
from sklearn.cluster import KMeans

from masked_subspace import BMSC, GMSC, RMSC, BilevelClustering
from masked_subspace._common.rows import content_order
from masked_subspace._common.sparse.implicit import ImplicitRows
from masked_subspace.datasets import make_subspaces
from masked_subspace.label.nearest_subspace import NearestSubspace
from masked_subspace.metrics import adjusted_rand_index, clustering_accuracy
from masked_subspace.rounds.judge import yardsticks
from masked_subspace.rows.checks import check_samples, row_hashes
from masked_subspace.rows.preparation import VIEWS, Preparation

pytestmark = pytest.mark.filterwarnings("ignore:The clusters may not be real")


def documents(n=180, d=600, seed=0, dtype=np.float64):
    """Weighted words of three groups, each with words of its own, and the groups."""
    rng = np.random.default_rng(seed)
    group, own = np.arange(n) % 3, max(8, d // 10)
    words = rng.poisson(0.03, size=(n, d)) * rng.random((n, d))
    for k in range(3):
        words[group == k, own * k : own * k + own] += rng.poisson(0.5, size=((group == k).sum(), own))
    return words.astype(dtype), group


@pytest.fixture
def implicit(monkeypatch):
    """Treat few samples as many are treated."""
    monkeypatch.setattr("masked_subspace._common.sparse.samples.COORDINATES_UP_TO", 10)


models = pytest.mark.parametrize(
    "model",
    [
        BMSC(3, random_state=0),
        BMSC(3, affine=True, view="lifted", random_state=0),
        GMSC(3, soft_mask=KMeans(3, n_init=3), random_state=0),
        RMSC(3, random_state=0),
        RMSC(3, members=1, random_state=0),
        BilevelClustering(n_clusters=3, random_state=0),
    ],
    ids=["BMSC", "affine", "GMSC", "RMSC", "RMSC-1", "Bilevel"],
)


def same(dense, model, X, new):
    """One fit of the array against one of the sparse matrix."""
    assert adjusted_rand_index(dense.labels_, model.labels_) == 1
    difference = abs(dense.representation_matrix_ - model.representation_matrix_).max()
    assert difference < 1e-8
    assert model.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(model.predict(csr_array(X)), model.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict(csr_array(new)), dense.predict(new))
    np.testing.assert_array_equal(dense.predict(csr_array(new)), dense.predict(new))
    np.testing.assert_allclose(model.subspace_residuals(csr_array(new)), dense.subspace_residuals(new), atol=1e-6)


@models
def test_sparse_samples_have_the_labels_of_the_array(model):
    X, _ = documents()
    new, _ = documents(20, seed=1)
    dense = pickle.loads(pickle.dumps(model)).fit(X)
    same(dense, model.fit(csc_matrix(X)), X, new)


@pytest.mark.usefixtures("implicit")
@pytest.mark.parametrize(
    "model",
    [
        BMSC(3, solver="sparse", random_state=0),
        BMSC(3, solver="sparse", view="root", random_state=0),
        BMSC(3, solver="sparse", view="standardized", normalize=False, affine=True, random_state=0),
        GMSC(3, solver="sparse", soft_mask=np.arange(180) % 3, hard_mask=None, random_state=0),
        RMSC(3, members=1, solver="sparse", random_state=0),
        RMSC(3, view="low-rank", random_state=0),
    ],
    ids=["BMSC", "root", "standardized", "GMSC", "RMSC-1", "low-rank"],
)
def test_implicit_rows_have_the_labels_of_the_array(model):
    X, _ = documents()
    new, _ = documents(20, seed=1)
    dense = pickle.loads(pickle.dumps(model)).fit(X)
    fitted = model.fit(csr_array(X))
    if model.get_params()["view"] != "low-rank":
        assert isinstance(fitted._rows, ImplicitRows)
    same(dense, fitted, X, new)
    np.testing.assert_allclose(fitted.memberships(csr_array(new)), dense.predict_proba(new), atol=1e-8)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(new), fitted.predict(new))


@pytest.mark.usefixtures("implicit")
def test_many_samples_of_the_default_method():
    X, group = documents(300)
    dense, model = RMSC(3, random_state=0).fit(X), RMSC(3, random_state=0).fit(csr_array(X))
    assert adjusted_rand_index(dense.labels_, model.labels_) == 1
    assert clustering_accuracy(group, model.labels_) > 0.95
    assert [one["way"] for one in model.choices_ if one["taken"]] == [
        one["way"] for one in dense.choices_ if one["taken"]
    ]


@pytest.mark.usefixtures("implicit")
def test_choices_say_that_evened_views_have_leading_directions_only(monkeypatch):
    monkeypatch.setattr("masked_subspace.rows.sparse_preparation.IMPLICIT_DIRECTIONS", 50)
    X, _ = documents(120)
    X[:, ::2] *= -1  # no words: these are not asked for evened views
    model = RMSC(3, random_state=0).fit(csr_array(X))
    directions = {one["way"]: one.get("directions") for one in model.choices_}
    assert directions["ridge"] == 50
    assert directions["plain"] is None


@pytest.mark.parametrize("view", sorted(VIEWS))
@pytest.mark.parametrize("few", [True, False])
def test_every_view_has_the_products_of_the_dense_one(view, few, monkeypatch):
    if not few:
        monkeypatch.setattr("masked_subspace._common.sparse.samples.COORDINATES_UP_TO", 10)
    X, _ = documents(60, 80)
    new, _ = documents(7, 80, seed=1)
    dense, ours = (Preparation.learn(one, VIEWS[view]) for one in (X, check_samples(BMSC(2), csr_array(X), reset=True)))
    sparse_rows, rows = ours.apply(check_samples(BMSC(2), csr_array(X), reset=True)), dense.apply(X)
    fresh = ours.apply(csr_array(new))
    if isinstance(sparse_rows, ImplicitRows):
        products, across = sparse_rows.products(sparse_rows), fresh.products(sparse_rows)
    else:
        products, across = sparse_rows @ sparse_rows.T, fresh @ sparse_rows.T
    np.testing.assert_allclose(products, rows @ rows.T, atol=1e-9)
    np.testing.assert_allclose(across, dense.apply(new) @ rows.T, atol=1e-9)


@pytest.mark.parametrize("view", sorted(VIEWS))
@pytest.mark.parametrize("shape", [(60, 80), (90, 40)])
def test_few_sparse_samples_are_drawn_in_the_order_of_the_array(view, shape):
    """Coordinates are a rotation of the samples; the order by content must not be that of another direction."""
    X, _ = documents(*shape)
    samples = check_samples(BMSC(2), csr_array(X), reset=True)
    ours, dense = (Preparation.learn(one, VIEWS[view]).apply(one) for one in (samples, X))
    np.testing.assert_array_equal(content_order(ours), content_order(dense))
    np.testing.assert_array_equal(content_order(samples), content_order(X))


@pytest.mark.parametrize("shape", [(150, 120), (120, 150), (80, 60)])
def test_the_judge_splits_few_sparse_samples_as_the_array(shape):
    X, _ = documents(*shape)
    X[2] = (X[0] + X[1]) / 2  # fewer directions than samples; a multiple of a row would be its twin, in any order
    samples = check_samples(BMSC(2), csr_array(X), reset=True)
    for ours, dense in zip(yardsticks(samples), yardsticks(X), strict=True):
        np.testing.assert_array_equal(content_order(ours), content_order(dense))


@pytest.mark.usefixtures("implicit")
def test_the_judge_measures_sparse_samples_with_the_same_yardsticks():
    X, _ = documents(80, 60)
    for ours, dense in zip(yardsticks(check_samples(BMSC(2), csr_array(X), reset=True)), yardsticks(X), strict=True):
        squared = ((dense[:, None] - dense[None]) ** 2).sum(axis=2)
        np.testing.assert_allclose(((ours[:, None] - ours[None]) ** 2).sum(axis=2), squared, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.int64, bool])
def test_real_types_are_taken_as_arrays_are(dtype):
    X = (documents(60, 80)[0] > 0.2).astype(dtype)
    model, dense = BMSC(3, random_state=0).fit(csr_array(X)), BMSC(3, random_state=0).fit(X)
    assert model.representation_matrix_.dtype == dense.representation_matrix_.dtype
    assert adjusted_rand_index(model.labels_, dense.labels_) >= 0.99


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_format_is_taken_and_left_as_it_was(form, kind):
    X, _ = documents(45, 30)
    given = getattr(sparse, f"{form}_{kind}")(X)
    labels = BMSC(3, random_state=0).fit_predict(given)
    np.testing.assert_array_equal(labels, BMSC(3, random_state=0).fit_predict(X))
    np.testing.assert_array_equal(given.toarray(), X)


def test_equal_rows_are_known_again_whether_sparse_or_not():
    for dtype in (np.float32, np.float64):
        X = documents(30, 40, dtype=dtype)[0]
        hashes = row_hashes(check_samples(BMSC(2), csr_array(X), reset=True))
        np.testing.assert_array_equal(hashes, row_hashes(X))
        assert len(set(hashes.tolist())) == 30


def test_subspaces_are_in_the_features_of_x():
    X, _ = documents(90, 150)
    dense, model = BMSC(3, random_state=0).fit(X), BMSC(3, random_state=0).fit(csr_array(X))
    for ours, theirs in zip(model.subspaces_, dense.subspaces_, strict=True):
        assert ours.basis.shape == (ours.dim, 150)
        assert (ours.dim, ours.size) == (theirs.dim, theirs.size)
        np.testing.assert_allclose(ours.mean, theirs.mean, atol=1e-12)
        np.testing.assert_allclose(ours.basis.T @ ours.basis, theirs.basis.T @ theirs.basis, atol=1e-8)
        assert ours.explained == pytest.approx(theirs.explained)
    np.testing.assert_array_equal(model.predict(csr_array(X), method="subspace"), dense.predict(X, method="subspace"))
    assert model.score(csr_array(X)) == pytest.approx(dense.score(X))


def test_what_looks_at_single_entries_is_refused_by_name():
    X = csr_array(documents(45, 30)[0])
    for model, name in (
        (GMSC(3, noise=1.0), "noise=1.0"),
        (GMSC(3, outliers=0.1), "outliers=0.1"),
        (RMSC(3, outliers="auto"), "outliers='auto'"),
    ):
        with pytest.raises(TypeError, match=f"X is sparse, but {name} changes single entries"):
            model.fit(X)


def test_bad_sparse_samples_are_named_as_in_arrays():
    X, _ = documents(45, 30)
    bad = X.copy()
    bad[7, 3] = np.nan
    with pytest.raises(ValueError, match="X contains NaN, first at row 7, column 3"):
        BMSC(3).fit(csr_array(bad))
    with pytest.raises(ValueError, match="X is constant"):
        BMSC(3).fit(csr_array(np.ones((9, 4))))
    with pytest.raises(ValueError, match="X has negative entries"):
        BMSC(3, view="root").fit(csr_array(-X))
    with pytest.raises(ValueError, match="X has 5 features, but BMSC is expecting 30"):
        BMSC(3, random_state=0).fit(csr_array(X)).predict(csr_array((2, 5)))
    with pytest.warns(UserWarning, match="45 of the 45 rows of X have an identical copy"):
        BMSC(3, random_state=0).fit(csr_array(np.repeat(X[:15], 3, axis=0)))


@pytest.mark.parametrize("missing", ["error", "ignore"])
def test_unknown_entries_need_arrays(missing):
    X, _ = documents(45, 30)
    holed = X.copy()
    holed[7, 3] = np.nan
    refused = 'X contains NaN, first at row 7, column 3; missing="ignore" takes NaN for unknown in arrays only'
    with pytest.raises(ValueError, match=refused):
        BMSC(3, missing=missing).fit(csr_array(holed))
    for kind in (csr_array, np.asarray):
        model = BMSC(3, missing=missing, random_state=0).fit(kind(X))
        assert model.n_missing_ == 0
        with pytest.raises(ValueError, match=refused):
            model.predict(csr_array(holed))
    sparse_fit = BMSC(3, missing="ignore", random_state=0).fit(csr_array(X))
    with pytest.raises(ValueError, match=refused):
        sparse_fit.predict(holed)
    holed[7, 3] = np.inf
    with pytest.raises(ValueError, match=r"X contains infinity \(inf\), first at row 7, column 3; remove or impute"):
        BMSC(3, missing=missing).fit(csr_array(holed))


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_a_row_of_zeros_is_a_sample_where_it_has_a_direction(kind):
    X, _ = documents(60, 80)
    X[11] = 0
    for model in (BMSC(3), BMSC(3, view="homogeneous", center=False), RMSC(3), GMSC(3, view="standardized")):
        fitted = model.set_params(random_state=0).fit(kind(X))
        assert fitted.representation_matrix_[[11]].nnz > 0
    for model in (BMSC(3, center=False), BMSC(3, view="uncentered"), RMSC(3, center=False)):
        with pytest.raises(ValueError, match="X has a row of zeros, row 11; without centring or a constant column"):
            model.fit(kind(X))


def test_an_own_representer_is_given_arrays(monkeypatch):
    monkeypatch.setattr("masked_subspace._common.sparse.samples.COORDINATES_UP_TO", 10)
    from masked_subspace.represent.representer import MaskedRepresenter

    seen = []

    class Own(MaskedRepresenter):
        def prepare(self, X, **more):
            seen.append(type(X))
            return super().prepare(X, **more)

    X, _ = documents(60, 80)
    model = BilevelClustering(Own(), n_clusters=3, random_state=0).fit(csr_array(X))
    assert seen == [np.ndarray]
    assert adjusted_rand_index(BilevelClustering(n_clusters=3, random_state=0).fit(X).labels_, model.labels_) == 1


WIDE = """
    import numpy as np
    from scipy.sparse import csr_array
    from masked_subspace import BMSC
    from masked_subspace._common.peak_memory import peak_bytes
    from masked_subspace.metrics import clustering_accuracy

    rng, n, d = np.random.default_rng(0), 3_000, 200_000
    group = np.arange(n) % 4
    own = rng.integers(0, 300, (n, 40)) + group[:, None] * 50_000
    words = np.where(rng.random((n, 40)) < 0.5, own, rng.integers(0, d, (n, 40)))
    X = csr_array((np.ones(words.size), (np.repeat(np.arange(n), 40), words.ravel())), shape=(n, d))
    model = BMSC(4, random_state=0).fit(X[:2_900])
    new = model.predict(X[2_900:])
    print(clustering_accuracy(group[2_900:], new), peak_bytes() / 2**20)
"""


@pytest.mark.slow
def test_x_is_never_made_dense():
    """3,000 × 200,000: the array would have 4.8 GB; the whole process stays below 600 MB."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(WIDE)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    accuracy, megabytes = map(float, done.stdout.split())
    assert accuracy == 1
    assert 0 < megabytes < 600


@pytest.mark.parametrize("model", [BMSC("auto", random_state=0), RMSC((2, 5), random_state=0)], ids=["BMSC", "RMSC"])
def test_the_number_of_clusters_is_that_of_the_array(model):
    X, _ = documents(90, 60)
    dense = pickle.loads(pickle.dumps(model)).fit(X)
    assert model.fit(csr_array(X)).n_clusters_ == dense.n_clusters_
    assert adjusted_rand_index(dense.labels_, model.labels_) == 1


@pytest.mark.parametrize("view", ["plain", "lifted"])
def test_directions_of_noise_are_counted_among_all_features(view):
    """150 samples have 150 coordinates, but noise in each of their 250 features: its edge lies elsewhere."""
    made = make_subspaces(
        3, 20, per_subspace=50, ambient=250, noise=0.035, arrangement="intersecting", overlap=14, random_state=0
    )
    kept = []
    for X in (made.data, csr_array(made.data)):
        model = BMSC(3, view=view, constraints="hard", random_state=0).fit(X, partial_labels=made.target)
        np.testing.assert_array_equal(model.labels_, made.target)
        model.predict(X[:2], method="subspace")
        kept.append([basis.shape[1] for _, basis in model._nearest.subspaces])
    assert model._rows.shape[1] < 200
    assert kept[0] == kept[1]
    coordinates = NearestSubspace.learn(model._rows, made.target, 3, model._rows.shape[1])
    assert kept[1] != [basis.shape[1] for _, basis in coordinates.subspaces]  # so that the width is seen
