"""n_clusters="auto" and (low, high) in the estimators."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs

from masked_subspace import BMSC, GMSC, RMSC, BilevelClustering, cluster_graph
from masked_subspace.datasets import make_subspaces
from masked_subspace.estimators import rmsc
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.rounds import judge


@pytest.fixture(scope="module")
def seven():
    return make_subspaces(7, per_subspace=30, noise=0.04, random_state=0)


@pytest.mark.parametrize("method", [BMSC, GMSC, RMSC])
def test_the_number_is_found(method, seven):
    model = method("auto", random_state=0).fit(seven.data)
    assert model.n_clusters_ == 7
    assert model.n_clusters_candidates_[0] == 7
    assert clustering_accuracy(seven.target, model.labels_) > 0.95
    assert model.memberships_.shape == (210, 7)
    numbers = [record["n_clusters"] for record in model.n_clusters_scores_]
    assert numbers == sorted(set(numbers))
    assert 7 in numbers
    assert (model.predict(seven.data) == model.labels_).all()


def test_a_chosen_number_gives_the_clusters_of_that_number(seven):
    """RMSC represents once, before the number is known: nothing else may change."""
    chosen = RMSC((2, 30), random_state=0).fit(seven.data)
    given = RMSC(7, random_state=0).fit(seven.data)
    assert np.array_equal(chosen.labels_, given.labels_)
    assert [one["way"] for one in chosen.choices_] == [one["way"] for one in given.choices_]


def test_the_paper_s_rmsc_and_the_frame_choose_in_their_first_round(seven):
    for model in (RMSC("auto", members=1, random_state=0), BilevelClustering(n_clusters="auto", random_state=0)):
        assert model.fit(seven.data).n_clusters_ == 7
        assert len(np.unique(model.labels_)) == 7


def test_a_range_is_kept(seven):
    model = BMSC((2, 5), random_state=0).fit(seven.data)
    assert 2 <= model.n_clusters_ <= 5
    assert {record["n_clusters"] for record in model.n_clusters_scores_} == {2, 3, 4, 5}


def test_known_labels_need_as_many_clusters(seven):
    known = np.full(210, -1)
    known[[0, 1]] = 0, 8
    assert BMSC("auto", random_state=0).fit(seven.data, partial_labels=known).n_clusters_ >= 9


def test_low_rank_data_are_counted_by_their_gap():
    three = make_subspaces(3, 3, 20, 30, random_state=1)
    model = RMSC("auto", random_state=0).fit(three.data)
    assert model.n_clusters_ == 3
    assert [one["way"] for one in model.choices_ if one["taken"]] == ["low-rank"]


def test_a_graph_of_any_origin(seven):
    graph = BMSC(7, random_state=0).fit(seven.data).affinity_matrix_
    assert BMSC("auto", affinity="precomputed", random_state=0).fit(graph).n_clusters_ == 7
    assert len(np.unique(cluster_graph(graph, "auto", random_state=0))) == 7


def test_a_given_number_leaves_no_scores(seven):
    model = BMSC((6, 8), random_state=0).fit(seven.data)
    model.set_params(n_clusters=5).fit(seven.data)
    assert model.n_clusters_ == 5
    assert not hasattr(model, "n_clusters_scores_")
    assert clone(model).n_clusters == 5


def test_mistakes_are_said_before_work(seven):
    with pytest.raises(ValueError, match="'n_clusters' parameter of BMSC"):
        BMSC("many").fit(seven.data)
    with pytest.raises(ValueError, match=r"n_clusters is \(9, 3\); a range is \(low, high\)"):
        RMSC((9, 3)).fit(seven.data)
    with pytest.raises(ValueError, match="n_samples=210 should be >= n_clusters=300"):
        BMSC((2, 300)).fit(seven.data)


@pytest.mark.filterwarnings("ignore:The clusters may not be real")
@pytest.mark.parametrize("centers", [3, 6])
def test_clouds_of_few_features_are_counted_by_their_gaps(centers):
    X, _ = make_blobs(60 * centers, 3, centers=centers, cluster_std=0.8, random_state=2)
    model = RMSC("auto", random_state=0, n_jobs=1).fit(X)
    assert model.n_clusters_ == centers


def test_where_mixtures_count_the_clouds_nothing_is_represented_for_it(monkeypatch):
    asked = []
    represent = judge.family_of

    def family_of(name, *rest):
        asked.append(name)
        return represent(name, *rest)

    monkeypatch.setattr(judge, "family_of", family_of)
    X, _ = make_blobs(120, 8, centers=4, random_state=0)
    model = RMSC("auto", random_state=0, n_jobs=1).fit(X)
    assert model.n_clusters_ == 4
    assert asked == []
    monkeypatch.setattr(rmsc, "number_of_mixtures", lambda *_: None)
    assert RMSC("auto", random_state=0, n_jobs=1).fit(X).n_clusters_ == 4
    assert asked == ["standardized", "near"]  # only views that see clouds, where these stand apart


def test_families_that_were_not_asked_for_the_number_are_judged_all_the_same():
    """Clouds in the plane: the judge compares every family after the number is known."""
    X, _ = make_blobs(120, 2, centers=3, cluster_std=0.6, random_state=2)
    chosen = RMSC("auto", random_state=0, n_jobs=1).fit(X)
    given = RMSC(chosen.n_clusters_, random_state=0, n_jobs=1).fit(X)
    assert np.array_equal(chosen.labels_, given.labels_)
    assert chosen.choices_ == given.choices_
    assert {"plain", "ridge", "standardized", "near"} <= {record["way"] for record in given.choices_}


@pytest.mark.filterwarnings("ignore:The clusters may not be real")
def test_tables_are_not_cut_into_cells():
    wine = load_wine().data
    model = RMSC("auto", random_state=0, n_jobs=1).fit((wine - wine.mean(axis=0)) / wine.std(axis=0))
    assert model.n_clusters_ == 3  # agreement of looks alone took 17
    assert all({"agreement", "information", "score"} <= set(record) for record in model.n_clusters_scores_)
    order = np.random.default_rng(0).permutation(len(wine))
    permuted = RMSC("auto", random_state=0, n_jobs=1).fit(((wine - wine.mean(axis=0)) / wine.std(axis=0))[order])
    assert permuted.n_clusters_ == 3
    assert RMSC("auto", random_state=0, n_jobs=1).fit(load_iris().data).n_clusters_ == 3  # 9 and 2 before
    assert RMSC((4, 6), random_state=0, n_jobs=1).fit(load_iris().data).n_clusters_ in (4, 5, 6)
