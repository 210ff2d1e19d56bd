"""Table 3's pairs on graphs small enough to check by hand."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.experiments.graphs import graphs_of
from masked_subspace.experiments.pair_study import linked_pairs, pair_tables
from masked_subspace.experiments.results import Results
from masked_subspace.registry import SettingError


def graph(links):
    W = np.zeros((5, 5))
    for (i, j), value in links.items():
        W[i, j] = W[j, i] = value
    return csr_array(W)


TARGET = np.array([0, 0, 0, 1, 1])
GRAPHS = {
    "bmsc": graph({(0, 1): 0.1, (0, 2): 0.2, (0, 3): 0.5, (1, 4): 0.1, (1, 2): 0.4}),
    "gmsc": graph({(0, 1): 0.2, (0, 2): 0.2, (0, 3): 0.3}),
    "rmsc": graph({(0, 1): 0.4, (0, 2): 0.3, (3, 4): 0.6, (0, 3): 0.1, (1, 4): 0.3, (1, 2): 0.3}),
}


@pytest.fixture
def study():
    return linked_pairs("digits", GRAPHS, TARGET)


def test_every_linked_pair_is_there_once_with_all_its_values(study):
    pairs = {(int(i), int(j)): k for k, (i, j) in enumerate(zip(study.rows, study.columns, strict=True))}
    assert set(pairs) == {(0, 1), (0, 2), (0, 3), (1, 4), (1, 2), (3, 4)}
    at = pairs[0, 3]
    assert [study.values[method][at] for method in ("bmsc", "gmsc", "rmsc")] == [0.5, 0.3, 0.1]
    assert study.values["bmsc"][pairs[3, 4]] == 0
    assert [bool(study.same_class[pairs[pair]]) for pair in ((0, 1), (0, 3), (3, 4))] == [True, False, True]


def test_the_example_is_the_median_of_the_pairs_that_move_as_promised(study):
    # Same class: (0,1) rises by .3, (0,2) by .1, (3,4) by .6; (1,2) falls. The median rise is (0,1)'s.
    same = study.example(True)
    assert (study.rows[same], study.columns[same]) == (0, 1)
    # Different classes: (0,3) falls, (1,4) rises and does not count.
    different = study.example(False)
    assert (study.rows[different], study.columns[different]) == (0, 3)


def test_tables_hold_values_and_shares(study):
    examples, everything = pair_tables([study], "paper")
    assert examples.rows[0][1] == "same"
    assert examples.rows[0][2:5] == pytest.approx((0.1, 0.2, 0.4))
    assert examples.rows[0][5:] == (0.0001, 0.0399, 0.0472)
    same = everything.rows[0]
    assert same[:3] == ("digits", "same", 4)
    assert same[3] == pytest.approx((0.1 + 0.2 + 0 + 0.4) / 4)
    assert same[-2:] == (75.0, 25.0)


def test_a_setting_without_the_method_is_refused(tmp_path):
    with Results(tmp_path / "r.sqlite") as results, pytest.raises(SettingError, match="nothing for bmsc on orl"):
        graphs_of("bmsc", "tuned", "orl", results)
