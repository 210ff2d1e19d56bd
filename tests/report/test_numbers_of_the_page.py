"""The numbers behind the page by value: what its script decodes, tables of several methods, stand-in graphs."""

import base64

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from masked_subspace.label.modularity import modularity
from masked_subspace.report import ReportContent
from masked_subspace.report.comparing import agreement_table, comparison_table
from masked_subspace.report.encoding import encoded, finite, sixteen_bits, small_integers
from masked_subspace.report.layout import principal_axes
from masked_subspace.report.matrix import coarse_matrix
from masked_subspace.report.payload import certain_samples, payload
from masked_subspace.report.record import Run
from masked_subspace.report.stand_in import neighbor_graph, principal_rows

from .test_doubts import blocks


def decoded(text, dtype="<u2"):
    return np.frombuffer(base64.b64decode(text), dtype=dtype)


def test_columns_become_sixteen_bits_from_their_lowest_to_their_highest():
    values = np.array([[0.0, -2.0, 5.0], [1.0, 2.0, 5.0], [0.25, 1.0, 5.0]])
    with np.errstate(all="raise"):  # what a division by zero becomes differs between processors
        found = decoded(sixteen_bits(values)).reshape(3, 3)
    np.testing.assert_array_equal(found, [[0, 0, 0], [65535, 65535, 0], [16384, 49151, 0]])
    framed = decoded(sixteen_bits(np.array([[-1.0], [0.0], [3.0]]), -1.0, 1.0))
    np.testing.assert_array_equal(framed, [0, 32768, 65535])  # what lies outside is put on the border
    np.testing.assert_array_equal(decoded(small_integers([0, 65_535, 258])), [0, 65_535, 258])
    np.testing.assert_array_equal(decoded(encoded(np.array([1, 2], dtype="<u4")), "<u4"), [1, 2])


def test_numbers_that_json_cannot_hold_become_null():
    given = {1: np.float64("nan"), "b": (np.int64(3), np.inf, [np.array([1.5, -np.inf])]), "c": "text", "d": True}
    assert finite(given) == {"1": None, "b": [3, None, [[1.5, None]]], "c": "text", "d": True}


def test_links_are_as_bright_as_the_root_of_their_strength():
    W = np.zeros((4, 4))
    W[0, 1], W[0, 2], W[1, 3], W[2, 3] = 4.0, 1.0, 0.04, 2.25
    coarse = coarse_matrix(csr_array(W + W.T), np.array([3, 2, 1, 0]), 3, scale=4.0)
    np.testing.assert_array_equal(coarse.links, [[0, 1], [1, 3], [2, 3]])  # places in the order 3, 2, 1, 0
    np.testing.assert_array_equal(coarse.strengths, [np.ceil(255 * 0.75), np.ceil(255 * 0.5), 255])
    assert (coarse.n_left_out, coarse.scale) == (1, 4.0)
    usual = coarse_matrix(csr_array(W + W.T), np.arange(4), 3)
    assert usual.scale == pytest.approx(np.quantile([4.0, 1.0, 0.04, 2.25] * 2, 0.98))


def test_the_share_of_an_axis_is_of_all_variance():
    rng = np.random.default_rng(0)
    rows = np.linalg.qr(rng.normal(size=(50, 4)) - 0.0)[0] * [4.0, 2.0, 1.0, 1.0]
    rows = rows - rows.mean(axis=0)
    values = np.linalg.svd(rows, compute_uv=False) ** 2
    projected, share = principal_axes(rows + 7, 2)
    np.testing.assert_allclose(share, values[:2] / values.sum())
    np.testing.assert_allclose((projected**2).sum(axis=0), values[:2])


def test_a_stand_in_links_the_nearest_by_their_distance():
    rows = np.random.default_rng(0).normal(size=(25, 3))
    apart = np.linalg.norm(rows[:, None] - rows, axis=2)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1)[:, :10]
    reach = np.median(np.take_along_axis(apart, near, axis=1))
    expected = np.zeros((25, 25))
    np.put_along_axis(expected, near, np.exp(-((np.take_along_axis(apart, near, axis=1) / reach) ** 2)) + 1e-6, axis=1)
    np.testing.assert_allclose(neighbor_graph(rows).toarray(), expected + expected.T)
    assert neighbor_graph(rows[:1]).nnz == 0


def test_a_stand_in_sees_centred_rows_without_gaps_along_thirty_directions():
    rng = np.random.default_rng(0)
    few = rng.normal(size=(12, 4))
    holed = few.copy()
    holed[2, 1] = np.nan
    filled = few.copy()
    filled[2, 1] = np.delete(few[:, 1], 2).mean()
    np.testing.assert_allclose(principal_rows(holed), filled - filled.mean(axis=0))
    many = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 50)) + 9
    found, centred = principal_rows(many), many - many.mean(axis=0)
    assert found.shape == (60, 30)
    np.testing.assert_allclose(found @ found.T, centred @ centred.T, atol=1e-8)
    sparse = principal_rows(csr_array(many))
    np.testing.assert_allclose(sparse @ sparse.T, many @ many.T, atol=1e-6)


@pytest.fixture
def runs():
    graph, of = blocks([12, 12, 6], between=0.05)
    other = of.copy()
    other[:4], other[-1] = 2, -1
    sure = np.linspace(0.5, 1, 30)
    return [
        Run("one", of, graph, np.eye(3)[of], sure, structure=0.7, scores={"accuracy": 0.9}),
        Run("two", other, graph, np.eye(3)[of], sure, seconds=1.5),
    ]


def test_methods_stand_side_by_side(runs):
    table = comparison_table(runs)
    assert table.columns == ("method", "clusters", "in no cluster", "accuracy", "structure", "modularity", "seconds")
    inside = runs[1].labels >= 0  # no cluster is not one
    kept = [modularity(runs[0].affinity, runs[0].labels)]
    kept.append(modularity(csr_array(runs[1].affinity[inside][:, inside]), runs[1].labels[inside]))
    assert table.rows[0] == ("one", 3, 0, 0.9, 0.7, pytest.approx(kept[0]), None)
    assert table.rows[1] == ("two", 3, 1, None, None, pytest.approx(kept[1]), 1.5)
    assert table.decimals == (None, None, None, 3, 2, 2, 2)
    assert comparison_table(runs[:1]).columns == ("method", "clusters", "accuracy", "structure", "modularity")
    agreed = adjusted_rand_score(runs[0].labels[inside], runs[1].labels[inside])
    assert agreement_table(runs).rows == (("one", 1.0, pytest.approx(agreed)), ("two", pytest.approx(agreed), 1.0))


def test_clusters_are_counted_against_classes_and_matched_one_to_one(runs):
    target = np.repeat([0, 1, 1, 2], [12, 8, 4, 6])
    page = payload(ReportContent("title", runs=tuple(runs), target=target))
    assert page["runs"][0]["confusion"] == {"counts": [[12, 0, 0], [0, 12, 0], [0, 0, 6]], "match": [0, 1, 2]}
    torn = page["runs"][1]
    assert torn["clusters"] == ["not assigned", "0", "1", "2"]
    assert torn["confusion"]["counts"] == [[0, 0, 1], [8, 0, 0], [0, 12, 0], [4, 0, 5]]
    assert torn["confusion"]["match"] == [-1, 0, 1, 2]
    assert torn["sizes"] == [1, 8, 12, 9]
    assert torn["n_links"] == runs[1].affinity.nnz // 2
    np.testing.assert_array_equal(decoded(torn["certainty"], np.uint8), np.rint(255 * runs[1].certainty))


def test_the_surest_and_the_least_sure_of_each_cluster(runs):
    found = certain_samples(runs[0])
    assert found["most"][0] == [11, 10, 9, 8, 7, 6]  # half of twelve; certainty grows with the number here
    assert found["least"][0] == [0, 1, 2, 3, 4, 5]
    assert (found["most"][2], found["least"][2]) == ([29, 28, 27], [24, 25, 26])
    many = Run("many", np.zeros(40, int), csr_array((40, 40)), np.zeros((40, 1)), np.linspace(0, 1, 40))
    assert certain_samples(many)["most"] == [list(range(39, 31, -1))]
    assert certain_samples(many)["least"] == [list(range(8))]


def test_a_stand_in_of_few_samples_links_all_of_them_along_as_many_directions_as_they_have():
    rng = np.random.default_rng(0)
    few = rng.normal(size=(5, 50))
    found, centred = principal_rows(few), few - few.mean(axis=0)
    assert found.shape == (5, 4)
    np.testing.assert_allclose(found @ found.T, centred @ centred.T, atol=1e-8)
    assert principal_rows(csr_array(few)).shape == (5, 4)  # sparse rows are not centred, and one direction is left out
    linked = neighbor_graph(few).toarray() > 0
    np.testing.assert_array_equal(linked, ~np.eye(5, dtype=bool))
    assert (np.diff(neighbor_graph(rng.normal(size=(11, 2))).indptr) == 10).all()
