"""Records of fitted clusterers: ours with and without the newer attributes, and anybody's."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import DBSCAN, KMeans

from masked_subspace import GMSC, RMSC
from masked_subspace._common.reporting import ReportMixin
from masked_subspace.report import compare, content_of, run_from_estimator, write_report
from masked_subspace.report.fitted import call_text
from masked_subspace.report.record import AGREEMENT, MARGIN

from .test_page import payload_of


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    return rng.standard_normal((90, 4)) + 6 * np.eye(4)[y], y


def with_everything(labels, n=90):
    """A fitted estimator as it is meant to be, with all attributes of the design."""
    return SimpleNamespace(
        labels_=labels,
        affinity_matrix_=csr_array(np.equal.outer(labels, labels).astype(float) - np.eye(n)),
        embedding_=np.eye(3)[labels],
        certainty_=np.full(n, 0.9),
        structure_=np.float64(0.8),
        choices_=[{"view": "plain", "cut": "spectral", "score": np.float32(0.5), "taken": True, "graph": object()}],
        n_clusters_=3,
        n_clusters_scores_=[{"n_clusters": 2, "score": 0.1}, {"n_clusters": 3, "score": 0.9}],
        memberships_=np.eye(3)[labels],
        subspaces_=[SimpleNamespace(mean=np.zeros(4), basis=np.eye(4)[:2], dim=2, explained=np.array([0.5, 0.3]))] * 3,
        member_labels_=[labels],
    )


def test_everything_that_is_there_is_read(table):
    run = run_from_estimator(with_everything(table[1]), "RMSC", X=table[0], feature_names=["a", "b", "c", "d"])
    assert run.structure == pytest.approx(0.8)
    assert run.choices == ({"view": "plain", "cut": "spectral", "score": 0.5, "taken": True},)
    assert [one["n_clusters"] for one in run.n_clusters_scores] == [2, 3]
    assert run.memberships.shape == (90, 3)
    assert run.subspaces[0].dim == 2
    assert run.subspaces[0].explained == pytest.approx(0.8)
    assert run.certainty_kind == AGREEMENT
    assert [one["features"][0]["feature"] for one in run.profiles] == ["a", "b", "c"]


def test_what_is_not_there_stays_empty(fitted_rmsc):
    bare = SimpleNamespace(
        **{name: getattr(fitted_rmsc, name) for name in ("labels_", "affinity_matrix_", "embedding_")}
    )
    run = run_from_estimator(bare, "mine")
    assert (run.structure, run.choices, run.n_clusters_scores, run.memberships, run.subspaces) == (
        None,
        (),
        (),
        None,
        (),
    )
    assert run.certainty_kind == MARGIN
    assert run.profiles == ()
    assert ((run.certainty >= 0) & (run.certainty <= 1)).all()


def test_any_clusterer_is_shown_on_its_neighbors(table):
    means = KMeans(3, n_init=2, random_state=0).fit(table[0])
    run = run_from_estimator(means, "k-means", X=table[0])
    assert run.graph_kind == "neighbors"
    assert abs(run.affinity - run.affinity.T).max() == 0
    assert run.affinity.diagonal().max() == 0
    with pytest.raises(ValueError, match="KMeans has no affinity_matrix_ and X is None"):
        run_from_estimator(means, "k-means")


def test_noise_and_sparse_rows_are_compared(table, tmp_path):
    X = csr_array(np.maximum(table[0], 0))
    noisy = DBSCAN(eps=1.5).fit(X)
    assert (noisy.labels_ == -1).any()
    path = compare(X, {"k-means": KMeans(3, n_init=2, random_state=0).fit(X), "DBSCAN": noisy}, tmp_path / "c.html")
    payload = payload_of(path.read_text(encoding="utf-8"))
    assert payload["runs"][1]["clusters"][0] == "not assigned"
    assert [table["title"] for table in payload["tables"]] == ["Comparison", "Who agrees with whom"]
    agreement = payload["tables"][1]["rows"]
    assert agreement[0][1] == 1
    assert agreement[0][2] == pytest.approx(agreement[1][1])


def test_one_model_from_python(table, tmp_path):
    class Mine(ReportMixin):
        def __init__(self):
            vars(self).update(vars(with_everything(table[1])))

    path = Mine().report(tmp_path / "mine.html", table[0], y=np.array(["x", "y", "z"])[table[1]])
    payload = payload_of(path.read_text(encoding="utf-8"))
    assert payload["classes"]["names"] == ["x", "y", "z"]
    assert payload["runs"][0]["scores"]["accuracy"] == 1
    assert payload["runs"][0]["structure"] == pytest.approx(0.8)
    assert Mine().report(tmp_path / "again.html").exists()  # without the samples
    with pytest.raises(TypeError, match="needs a path"):
        write_report(Mine(), table[0])


def test_columns_of_a_data_frame_are_named(table):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table[0], columns=["w", "x", "y", "z"])
    content = content_of({"k": KMeans(3, n_init=2, random_state=0).fit(frame)}, frame)
    assert {one["features"][0]["feature"] for one in content.runs[0].profiles} == {"w", "x", "y"}


def test_unlike_samples_are_refused(table):
    means = KMeans(3, n_init=2, random_state=0).fit(table[0])
    with pytest.raises(ValueError, match="y has 5 samples"):
        content_of({"k": means}, table[0], y=np.zeros(5))
    with pytest.raises(ValueError, match=r"without labels_; fit it first"):
        content_of({"k": KMeans(3)}, table[0])
    with pytest.raises(ValueError, match="models is empty"):
        compare(table[0], {})


def test_the_call_holds_what_differs_from_the_defaults():
    assert call_text(RMSC(5, random_state=0)) == "RMSC(n_clusters=5, random_state=0)"
    assert call_text(RMSC((2, 5))) == "RMSC(n_clusters=(2, 5))"
    text = call_text(GMSC(5, soft_mask=np.zeros(3)))
    assert text == "GMSC(\n    n_clusters=5,\n    soft_mask=…,  # ndarray (3,)\n)"
    assert eval(call_text(RMSC(4, affinity="symmetric", n_links=7)), {"RMSC": RMSC}).get_params()["n_links"] == 7


def test_a_certainty_lies_between_0_and_1_whatever_a_clusterer_says(table):
    model = with_everything(table[1])
    model.certainty_[:3] = [-0.5, 1.5, 0.25]
    assert run_from_estimator(model, "mine").certainty[:4].tolist() == [0, 1, 0.25, 0.9]


def test_shares_of_directions_are_added(table):
    found = run_from_estimator(with_everything(table[1]), "mine").subspaces
    assert [one.explained for one in found] == [pytest.approx(0.8)] * 3
    assert [one.dim for one in found] == [2, 2, 2]
