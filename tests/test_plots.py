"""Plots return Axes that hold what they were given."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace import RMSC, plots
from masked_subspace.datasets import make_subspaces


@pytest.fixture(scope="module")
def fitted():
    data = make_subspaces(3, 2, 12, 25, random_state=0)
    return RMSC(3, sparsity=1e-3, members=1, max_rounds=3, mask_tol=0.0, random_state=0, n_jobs=1).fit(data.data)


def test_affinity_is_sorted_by_cluster(fitted):
    ax = plots.plot_affinity(fitted)
    picture = np.asarray(ax.images[0].get_array())
    order = np.argsort(fitted.labels_, kind="stable")
    dense = fitted.affinity_matrix_.toarray()[np.ix_(order, order)]
    assert np.array_equal(picture > 0, dense > 0)
    assert len(ax.lines) == 4


def test_zoom_shows_a_part(fitted):
    ax = plots.plot_affinity(fitted.affinity_matrix_, fitted.labels_, zoom=(0, 10))
    assert np.asarray(ax.images[0].get_array()).shape == (10, 10)


def test_large_matrices_are_binned():
    W = csr_array(np.ones((1, 1000)) * np.ones((1000, 1)))
    picture = np.asarray(plots.plot_affinity(W).images[0].get_array())
    assert picture.shape == (400, 400)
    assert np.allclose(picture, 1)


def test_embedding_has_a_dot_a_sample(fitted):
    dots = [len(one.get_offsets()) for one in plots.plot_embedding(fitted).collections]
    assert dots == np.bincount(fitted.labels_).tolist()
    assert len(plots.plot_embedding(np.arange(5.0)[:, None]).collections[0].get_offsets()) == 5


def test_convergence_over_rounds_and_iterations(fitted):
    rounds = plots.plot_convergence(fitted, "objective").lines[0]
    assert len(rounds.get_ydata()) == fitted.n_rounds_
    assert len(plots.plot_convergence(fitted.history_, "objective_trace").lines) == fitted.n_rounds_
    with pytest.raises(ValueError, match="quantity='weather' is not in the history"):
        plots.plot_convergence(fitted, "weather")


def test_confusion_puts_matches_on_the_diagonal():
    truth = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    counts = np.asarray(plots.plot_confusion(truth, (truth + 1) % 3).images[0].get_array()) ** 2
    assert np.allclose(counts, 3 * np.eye(3))


def test_axes_that_are_given_are_used():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert plots.plot_accuracy_against_pairs([50.0], [80.0], ax=ax) is ax
    assert plots.plot_framework(ax=ax) is ax
    assert plots.plot_pair([np.zeros((4, 4)), np.ones((4, 4))], title="a", ax=ax) is ax
    assert plots.plot_same_class([0, 1, 0], [0, 2, 1], ax=ax) is ax


def test_the_map_is_that_of_the_report(fitted):
    from masked_subspace.report.layout import graph_map

    ax = plots.plot_map(fitted)
    drawn = np.concatenate([np.asarray(one.get_offsets()) for one in ax.collections])
    places = graph_map(fitted.affinity_matrix_, fitted.embedding_, fitted.labels_)
    order = np.argsort(fitted.labels_, kind="stable")
    assert np.allclose(drawn, places[order])
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]
    assert len(plots.plot_map(fitted, classes=np.repeat(["a", "b"], [40, 35]), names=False).collections) == 2


def test_the_number_of_clusters_marks_what_was_taken():
    scores = [{"n_clusters": k, "score": s} for k, s in ((4, 0.2), (2, 0.5), (3, 0.9))]
    ax = plots.plot_n_clusters(scores)
    assert ax.lines[0].get_xdata().tolist() == [2, 3, 4]
    assert ax.texts[0].get_text() == "3 taken"
    assert all(tick == int(tick) for tick in ax.get_xticks())
    with pytest.raises(ValueError, match="score='gap' is not in n_clusters_scores_, which has score"):
        plots.plot_n_clusters(scores, "gap")
    with pytest.raises(ValueError, match='n_clusters="auto"'):
        plots.plot_n_clusters(object())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_picture_has_two_themes(fitted, theme):
    from matplotlib.colors import to_hex

    truth = fitted.labels_
    drawn = [
        plots.plot_affinity(fitted, theme=theme),
        plots.plot_embedding(fitted, theme=theme),
        plots.plot_map(fitted, theme=theme),
        plots.plot_convergence(fitted, theme=theme),
        plots.plot_confusion(truth, truth, theme=theme),
    ]
    for ax in drawn:
        assert to_hex(ax.get_facecolor()) == plots.THEMES[theme].ground
        assert to_hex(ax.xaxis.label.get_color()) == plots.THEMES[theme].ink
    with pytest.raises(ValueError, match="theme='pink' is not known"):
        plots.plot_map(fitted, theme="pink")


@pytest.mark.parametrize(("n", "drawn"), [(799, 799), (800, 400), (1000, 500)])
def test_who_shares_a_cluster_is_drawn_in_about_four_hundred_cells(n, drawn):
    ax = plots.plot_same_class(np.arange(n) % 3, np.arange(n))
    picture = np.asarray(ax.images[0].get_array())
    assert picture.shape == (drawn, drawn)
    assert picture.diagonal().all()
