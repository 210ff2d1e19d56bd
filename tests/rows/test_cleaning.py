"""v2: gross errors are found and taken out."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import f1_score

from masked_subspace import GMSC, RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.rows import cleaning
from masked_subspace.rows.cleaning import clean_samples, distance_to_range, rebuild, robust_deviation


def corrupted_subspaces(share, seed=0):
    """Four subspaces of dimension 3 in 100, 40 samples each, noise .02, entries shifted by ±.5."""
    return make_subspaces(4, 3, 100, 40, noise=0.02, outliers=share, random_state=seed)


def found(model, data):
    return f1_score(data.outlier_mask.ravel(), (model.outliers_.toarray() != 0).ravel())


@pytest.mark.parametrize("share", [0.01, 0.03, 0.06])
@pytest.mark.parametrize("seed", [0, 1])
def test_cleaned_samples_find_the_entries_and_the_subspaces(share, seed):
    data = corrupted_subspaces(share, seed)
    model = GMSC(4, outliers="auto", random_state=0).fit(data.data)
    assert found(model, data) > 0.95
    assert clustering_accuracy(data.target, model.labels_) == 1


def test_several_members_take_the_cleaned_samples_too():
    data = corrupted_subspaces(0.06)
    model = RMSC(4, members=3, outliers="auto", random_state=0).fit(data.data)
    assert found(model, data) > 0.95
    assert clustering_accuracy(data.target, model.labels_) == 1


def test_views_are_judged_on_the_cleaned_samples():
    """The same fit as that of the samples without their outliers, which are put back for `predict` and the page."""
    data = corrupted_subspaces(0.06)
    settings = {"members": 2, "max_rounds": 1, "random_state": 0}
    taken_out = RMSC(4, outliers="auto", **settings).fit(data.data)
    assert taken_out.outliers_.nnz > 0
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    cleaned = RMSC(4, **settings).fit(clean_samples(data.data, seed=seed).samples)
    np.testing.assert_array_equal(taken_out.labels_, cleaned.labels_)
    for ours, theirs in zip(taken_out.choices_, cleaned.choices_, strict=False):
        assert (ours["way"], ours["score"], ours["taken"]) == (theirs["way"], theirs["score"], theirs["taken"])
    np.testing.assert_array_equal(taken_out._samples, data.data)


PAPER = {"center": False, "normalize": False, "sparsity": 0.005, "penalty": 1.0, "penalty_growth": 1.1}


@pytest.mark.parametrize(("share", "least"), [(0.01, 1.0), (0.03, 0.95)])
def test_v2_with_a_price_beats_v1(share, least):
    """`eq:gmsc-n` as the paper has it: O leaves the target, the dictionary stays corrupted."""
    data = corrupted_subspaces(share)
    v1, v2 = (
        GMSC(4, outliers=price, affinity="symmetric", random_state=0, **PAPER).fit(data.data) for price in (None, 0.005)
    )
    accuracy = [clustering_accuracy(data.target, model.labels_) for model in (v1, v2)]
    assert accuracy[1] >= least
    assert accuracy[1] > accuracy[0]
    assert found(v2, data) > 0.85


def test_samples_plus_outliers_are_the_data():
    data = corrupted_subspaces(0.03)
    cleaned = clean_samples(data.data)
    np.testing.assert_allclose(cleaned.samples + cleaned.outliers.toarray(), data.data, atol=1e-12)
    before, after = (np.linalg.norm(X - data.clean) for X in (data.data, cleaned.samples))
    assert after < 0.4 * before
    assert cleaned.price > 0


def test_clean_data_stay_as_they_are():
    data = corrupted_subspaces(0.0)
    assert clean_samples(data.data).outliers.nnz < 0.001 * data.data.size


def test_cleaning_is_deterministic_and_keeps_its_type():
    X = corrupted_subspaces(0.03).data.astype(np.float32)
    one, two = clean_samples(X, seed=1), clean_samples(X, seed=1)
    assert one.samples.dtype == np.float32
    np.testing.assert_array_equal(one.samples, two.samples)


def test_a_value_between_those_of_the_neighbours_is_inside_their_range():
    samples = np.array([[1, 2, -1, 0], [2, 4.4, -2, 0], [-3, -5.4, 3, 0], [1, 2, -1, 0.5], [0, 0, 0, 1]])
    nearest = np.array([[1, 2], [0, 2], [0, 1], [0, 1], [0, 3]])
    outside = distance_to_range(nearest, samples, samples)
    np.testing.assert_allclose(outside[0, :2], 0, atol=0.02)  # neighbours of other lengths and signs
    assert outside[3, 3] == 0.5  # both neighbours have a zero there
    assert np.all(np.isinf(outside[4]))  # no neighbour is like it


def test_edges_that_move_from_sample_to_sample_are_no_errors():
    """A bar that turns: hard to rebuild from its neighbours, and nothing is wrong with it."""
    height, width = np.mgrid[-1:1:24j, -1:1:24j]
    turned = [np.abs(np.cos(a) * height + np.sin(a) * width) < 0.3 for a in np.linspace(0, np.pi, 60, endpoint=False)]
    X = np.array(turned, dtype=np.float64).reshape(60, -1)
    assert clean_samples(X).outliers.nnz < 0.02 * X.size
    rng = np.random.default_rng(0)
    hit = rng.random(X.shape) < 0.03
    Y = np.where(hit, 1 - X, X)
    cleaned = clean_samples(Y)
    assert f1_score(hit.ravel(), (cleaned.outliers.toarray() != 0).ravel()) > 0.6
    assert np.linalg.norm(cleaned.samples - X) < 0.7 * np.linalg.norm(Y - X)


@pytest.mark.parametrize("constant", [100, 500])
def test_constant_features_do_not_lower_the_bar(constant):
    data = make_subspaces(4, 3, 100, 40, noise=0.02, outliers=0.03, random_state=0)
    alone = clean_samples(data.data)
    padded = clean_samples(np.c_[data.data, np.zeros((160, constant))])
    np.testing.assert_array_equal(padded.outliers.toarray()[:, :100] != 0, alone.outliers.toarray() != 0)
    assert padded.price == pytest.approx(alone.price)


def test_samples_that_are_rebuilt_exactly_have_no_outliers():
    X = np.repeat(np.eye(6), 5, axis=0)
    assert clean_samples(X).outliers.nnz == 0


def test_rebuilt_rows_ignore_entries_that_are_not_trusted():
    rng = np.random.default_rng(0)
    atoms = rng.normal(size=(2, 50))
    target = np.array([3 * atoms[0]])
    target[0, 7] = 1000
    trusted = np.ones((1, 50), dtype=bool)
    trusted[0, 7] = False
    Z = csr_array(np.array([[1.0, 0.0]]))
    np.testing.assert_allclose(rebuild(Z, atoms, target, trusted)[0], 3 * atoms[0] / 1.1, rtol=1e-9)
    nothing = csr_array((1, 2))
    np.testing.assert_array_equal(rebuild(nothing, atoms, target, trusted), 0)


def test_deviation_is_that_of_the_majority():
    rng = np.random.default_rng(0)
    residual = rng.normal(scale=2, size=(300, 300))
    assert robust_deviation(residual, 0) == pytest.approx(2, rel=0.02)
    residual[rng.random(residual.shape) < 0.05] += 100
    assert robust_deviation(residual, 0) == pytest.approx(2, rel=0.1)


def test_samples_that_are_all_the_same_hold_no_error():
    X = np.full((6, 3), 0.5)
    found = clean_samples(X, center=False)
    np.testing.assert_array_equal(found.samples, X)
    assert found.outliers.nnz == 0
    assert set(GMSC(1, outliers="auto", center=False, random_state=0).fit(X).labels_) == {0}


def test_the_price_of_an_outlier_is_half_its_squared_threshold(monkeypatch):
    monkeypatch.setattr(cleaning, "robust_deviation", lambda *_: 0.2)
    X = np.random.default_rng(0).normal(size=(30, 8))
    found = clean_samples(X, rounds=1, threshold=3.0)
    assert found.price == pytest.approx(0.6**2 / 2)


class Chosen:
    """A representer that always chooses the same rows; it counts how often it is asked."""

    def __init__(self, Z):
        self.Z, self.seeds = csr_array(Z), []

    def __call__(self, **_):
        return self

    def prepare(self, rows, seed):
        self.seeds.append(seed)
        return self

    def represent(self, _mask):
        return SimpleNamespace(representation=self.Z)


def lines():
    """Ten samples on a line through the origin, of length 1 … 1.9."""
    direction = np.array([1.0, -2.0, 0.5, 3.0, 1.5, -1.0])
    return np.linspace(1, 1.9, 10)[:, None] * direction


@pytest.mark.parametrize(("shift", "gross"), [(0.55, True), (0.45, False)])
def test_an_entry_is_gross_beyond_five_deviations(monkeypatch, shift, gross):
    """With a deviation of .1 that is .5; neighbours are so far from it that half of that is left outside too."""
    X = lines()
    X[4, 0] += shift
    others = (np.ones((10, 10)) - np.eye(10)) * (np.arange(10) != 4)
    monkeypatch.setattr(cleaning, "MaskedRepresenter", Chosen(others))
    monkeypatch.setattr(cleaning, "rebuild", lambda *_: lines())
    monkeypatch.setattr(cleaning, "robust_deviation", lambda *_: 0.1)
    found = clean_samples(X, center=False)
    assert (found.outliers.nnz == 1) is gross
    assert found.price == pytest.approx(0.5**2 / 2)
    if gross:
        assert found.outliers[4, 0] == pytest.approx(shift)


def test_a_value_that_is_within_half_the_threshold_of_a_neighbours_is_no_error(monkeypatch):
    X = lines()
    X[4, 0] += 0.6
    monkeypatch.setattr(cleaning, "MaskedRepresenter", Chosen(np.ones((10, 10))))
    monkeypatch.setattr(cleaning, "rebuild", lambda *_: lines())
    monkeypatch.setattr(cleaning, "robust_deviation", lambda *_: 0.1)
    for outside, gross in ((0.2, False), (0.3, True)):
        distances = np.where(np.abs(X - lines()) > 0.55, outside, 9.0)
        monkeypatch.setattr(cleaning, "distance_to_range", lambda *_, d=distances: d)
        assert bool(clean_samples(X, center=False).outliers[4, 0] != 0) is gross


def test_three_rounds_are_played_each_from_the_samples_cleaned_before(monkeypatch):
    X = lines() + 0.01 * np.random.default_rng(0).normal(size=(10, 6))
    X[4, 0] += 2.0
    representer, seen = Chosen((np.ones((10, 10)) - np.eye(10)) * (np.arange(10) != 4)), []
    monkeypatch.setattr(cleaning, "MaskedRepresenter", representer)
    rebuilt = cleaning.rebuild

    def noted(Z, dictionary, target, trusted):
        seen.append((dictionary[4, 0], bool(trusted[4, 0])))
        return rebuilt(Z, dictionary, target, trusted)

    monkeypatch.setattr(cleaning, "rebuild", noted)
    found = clean_samples(X, center=False, seed=7)
    assert representer.seeds == [7, 7, 7]
    assert seen[0] == (X[4, 0], True)
    assert [trusted for _, trusted in seen[1:]] == [False, False]
    assert abs(seen[1][0] - lines()[4, 0]) < 0.3  # the dictionary is clean by then
    assert found.samples[4, 0] == pytest.approx(lines()[4, 0], abs=0.3)
    assert found.outliers.nnz == 1


@pytest.mark.parametrize(("cosine", "alike"), [(0.71, True), (0.69, False)])
def test_a_neighbour_is_alike_from_a_cosine_of_seven_tenths(cosine, alike):
    samples = np.array([[1.0, 0.0], [2 * cosine, 2 * np.sqrt(1 - cosine**2)]])
    outside = distance_to_range(np.array([[1], [0]]), samples, samples)
    expected = np.abs(samples[0] - samples[1] / 2)
    np.testing.assert_allclose(outside[0], expected if alike else np.inf)


def test_the_deviation_of_few_residuals_is_that_of_all_and_of_many_that_of_a_draw(monkeypatch):
    def of_smaller_four_fifths(sizes):
        return np.sqrt(np.mean(sizes[sizes <= np.quantile(sizes, 0.8)] ** 2)) / 0.6616

    residual = np.random.default_rng(0).normal(size=(40, 5))
    sizes = np.abs(residual).ravel()
    monkeypatch.setattr(cleaning, "_SAMPLED", 200)
    assert cleaning.robust_deviation(residual, 3) == pytest.approx(of_smaller_four_fifths(sizes), rel=1e-12)
    monkeypatch.setattr(cleaning, "_SAMPLED", 100)
    drawn = sizes[np.random.default_rng(3).integers(0, 200, 100)]
    assert cleaning.robust_deviation(residual, 3) == pytest.approx(of_smaller_four_fifths(drawn), rel=1e-12)
