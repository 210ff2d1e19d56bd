"""What pictures show, in numbers: shades, lines between clusters, the number that is marked."""

import numpy as np
import pytest

from masked_subspace import plots
from masked_subspace.registry import METHODS


def test_shades_are_square_roots_up_to_the_98th_percentile():
    """Of 100 weights from 1 to 100 the two largest are drawn like the 98th percentile."""
    W = np.arange(1.0, 101).reshape(10, 10)
    drawn = np.asarray(plots.plot_affinity(W).images[0].get_array()) ** 2
    top = np.quantile(np.arange(1, 101), 0.98)
    np.testing.assert_allclose(drawn, np.minimum(W, top), rtol=1e-6)


@pytest.mark.parametrize(("n_clusters", "lines"), [(2, 1), (25, 24), (26, 0)])
def test_up_to_24_lines_part_the_clusters(n_clusters, lines):
    """One across and one down for each border; more would hide what they part."""
    labels = np.repeat(np.arange(n_clusters), 2)
    ax = plots.plot_affinity(np.eye(2 * n_clusters), labels)
    assert len(ax.lines) == 2 * lines
    across = sorted(float(line.get_ydata()[0]) for line in ax.lines[::2])
    assert across == [2.0 * k for k in range(1, lines + 1)]


def test_the_number_with_the_best_score_is_marked_and_not_the_largest():
    records = [{"n_clusters": k, "score": score} for k, score in ((2, 0.3), (3, 0.9), (7, 0.1))]
    assert plots.plot_n_clusters(records).texts[0].get_text() == "3 taken"


def test_clusters_stand_where_most_of_their_class_is():
    truth = np.repeat([0, 1, 2], [9, 7, 5])
    found = np.concatenate([[2] * 8 + [0], [0] * 6 + [1], [1] * 4 + [2]])
    counts = np.asarray(plots.plot_confusion(truth, found).images[0].get_array()) ** 2
    np.testing.assert_allclose(counts, [[8, 1, 0], [0, 6, 1], [1, 0, 4]], atol=1e-9)


def test_the_slow_method_of_the_list_has_a_quick_fit_for_tests():
    assert METHODS["ae-edsc"].tiny == {"max_epochs": 20}
    assert METHODS["kmeans"].tiny == {"n_init": 2}
