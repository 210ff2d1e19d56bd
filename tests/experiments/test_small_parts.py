"""Single steps of reproducing: which cells are over, what is left out of the seconds, which pairs are typical."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.experiments import compute, runner
from masked_subspace.experiments.compute import _last_labeling_seconds, load_trial, prepared_estimator
from masked_subspace.experiments.pair_study import PairStudy, linked_pairs
from masked_subspace.experiments.render import cell_text
from masked_subspace.experiments.runner import RunOptions
from masked_subspace.experiments.settings import FitSetting


@pytest.mark.parametrize(
    ("state", "older", "options", "over"),
    [
        ("done", False, {}, True),
        ("failed", False, {}, True),
        ("failed", False, {"retry_failed": True}, False),
        ("done", False, {"retry_failed": True}, True),
        ("done", True, {}, False),
        ("done", True, {"accept_older": True}, True),
        (None, False, {"accept_older": True}, False),
    ],
)
def test_a_cell_is_over_if_its_own_or_an_accepted_result_is_there(monkeypatch, state, older, options, over):
    monkeypatch.setattr(runner, "cell_keys", lambda *_: ("key", "loose"))

    def get(key, loose_key):
        assert key == "key"
        found = state is not None and (not older or loose_key == "loose")
        return {"state": state} if found else None

    assert runner._is_over(None, "hash", SimpleNamespace(get=get), RunOptions(**options)) is over


@pytest.mark.parametrize(
    ("history", "seconds"),
    [
        ([{"seconds": 9.0, "solver_seconds": 1.0}, {"seconds": 5.0, "solver_seconds": 3.5}], 1.5),
        ([{"seconds": 5.0}], 0.0),
        ([{"seconds": 5.0, "solver_seconds": 3.5, "members": []}], 0.0),
        ([], 0.0),
    ],
)
def test_the_last_spectral_step_is_left_out_of_the_seconds_of_one_member(history, seconds):
    assert _last_labeling_seconds(SimpleNamespace(history_=history)) == seconds


def test_pairs_of_one_class_should_rise_and_those_of_two_should_fall():
    before = np.array([0.1, 0.1, 0.1, 0.5, 0.5, 0.5, 0.5])
    after = np.array([0.2, 0.4, 0.3, 0.4, 0.1, 0.2, 0.9])
    same = np.array([True, True, True, False, False, False, False])
    one = PairStudy("digits", np.arange(7), np.arange(7) + 1, same, {"bmsc": before, "rmsc": after})
    assert one.example(True) == 2  # rose by .1, .2 and .3
    assert one.example(False) == 5  # fell by .1, .3 and .4
    swapped = {"bmsc": after[:3], "rmsc": before[:3]}  # nobody rises: the median of all
    assert PairStudy("digits", np.arange(3), np.arange(3), same[:3], swapped).example(True) == 2


def test_a_pair_stands_once_and_nobody_is_paired_with_himself():
    W = csr_array(np.array([[5.0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    found = linked_pairs("digits", {"bmsc": W, "rmsc": 2 * W}, np.array([0, 0, 1]))
    assert list(zip(found.rows.tolist(), found.columns.tolist(), strict=True)) == [(0, 1), (1, 2)]
    assert found.same_class.tolist() == [True, False]
    assert found.values["rmsc"].tolist() == [2, 4]


def test_the_labels_of_another_fit_are_the_first_mask_under_the_name_of_the_parameter(monkeypatch):
    labels = np.array([0, 1, 1])
    monkeypatch.setattr(compute, "fit_estimator", lambda *_: SimpleNamespace(labels_=labels))
    for method, name in (("rmsc", "init"), ("gmsc", "soft_mask")):
        setting = FitSetting(method, {"mask_weight": 0.5}, FitSetting("bmsc"))
        model = prepared_estimator(setting, np.eye(3), 2, 7, 1)
        assert getattr(model, name) is labels
        assert (model.mask_weight, model.n_clusters, model.random_state, model.n_jobs) == (0.5, 2, 7, 1)


def test_pixels_of_a_trial_run_from_0_to_1_and_the_last_two_trials_are_kept(monkeypatch):
    asked = []

    def load_protocol(dataset, trial):
        asked.append((dataset, trial))
        pixels = np.arange(8, dtype=np.uint8).reshape(2, 4) * 10
        return SimpleNamespace(data=pixels, target=np.array([0, 1]), images_shape=(2, 2), origin="here")

    monkeypatch.setattr(compute, "load_protocol", load_protocol)
    monkeypatch.setattr(compute, "_recent", type(compute._recent)())
    found = load_trial("a", 0)
    np.testing.assert_allclose(found.X, np.arange(8).reshape(2, 4) / 7, rtol=1e-6)
    assert found.X.dtype == np.float32
    assert found.n_clusters == 2
    assert load_trial("a", 0) is found
    for trial in (1, 0, 2, 1):
        load_trial("a", trial)
    assert asked == [("a", 0), ("a", 1), ("a", 2)]


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(0.123456, None, "0.1235"), (0.123456, 2, "0.12"), (12345.6, None, "1.235e+04"), (3, 2, "3"), (None, 2, "–")],
)
def test_a_cell_as_a_person_reads_it(value, decimals, text):
    assert cell_text(value, decimals) == text
