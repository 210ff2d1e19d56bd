"""What the page gets: ties, next clusters, subspaces as pictures, and a bounded size."""

import base64
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.report import ReportContent, Round, Run, Subspace
from masked_subspace.report.payload import certain_samples, payload
from masked_subspace.report.pictures import _directions


def small_run(labels, **parts):
    n = len(labels)
    codes = np.unique(labels, return_inverse=True)[1]
    embedding = np.eye(codes.max() + 1)[codes] + 1e-3 * np.arange(n)[:, None]
    ring = csr_array((np.ones(n), (np.arange(n), np.roll(np.arange(n), 1))), shape=(n, n))
    return Run("m", np.asarray(labels), csr_array(ring + ring.T), embedding, np.ones(n), **parts)


def numbers(text, kind="<u2"):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_ties_are_counted():
    run = replace(small_run(np.repeat([0, 1], 10)), certainty=np.r_[np.ones(10), np.linspace(0.1, 0.9, 10)])
    certain = certain_samples(run)
    assert certain["tied_most"] == [10, 1]
    assert certain["tied_least"] == [10, 1]


def test_the_next_cluster_follows_memberships():
    labels = np.repeat([0, 1, 2], 4)
    shares = np.full((12, 3), 0.1)
    shares[np.arange(12), labels] = 0.6
    shares[0, 2] = 0.3
    shown = payload(ReportContent("t", runs=(small_run(labels, memberships=shares),)))["runs"][0]
    assert numbers(shown["following"])[0] == 2
    assert (numbers(shown["following"]) != numbers(shown["labels"])).all()


def test_memberships_beside_samples_of_no_cluster():
    labels = np.r_[-1, np.repeat([0, 1], 5)]
    shown = payload(ReportContent("t", runs=(small_run(labels, memberships=np.full((11, 2), 0.5)),)))["runs"][0]
    assert shown["clusters"] == ["not assigned", "0", "1"]
    assert set(numbers(shown["following"])) <= {1, 2}


def test_no_cluster_is_never_the_next_cluster():
    labels = np.r_[-1, np.repeat([0, 1], 5)]
    shown = payload(ReportContent("t", runs=(small_run(labels),)))["runs"][0]
    assert (numbers(shown["following"])[1:] == np.repeat([2, 1], 5)).all()
    assert numbers(shown["following"])[0] > 0
    alone = payload(ReportContent("t", runs=(small_run(np.r_[-1, np.zeros(5, dtype=int)]),)))["runs"][0]
    assert (numbers(alone["following"]) == 1).all()  # the only cluster has no next one


def test_subspaces_become_pictures_where_samples_are_pictures():
    labels = np.repeat([0, 1], 6)
    spaces = tuple(Subspace(np.zeros(16), np.eye(16)[:3], 3, 0.9) for _ in range(2))
    run = small_run(labels, subspaces=spaces)
    images = np.random.default_rng(0).integers(0, 255, (12, 4, 4)).astype(np.uint8)
    panel = payload(ReportContent("t", images=images, runs=(run,)))["runs"][0]["subspaces"]
    assert [one["pictures"] for one in panel] == [4, 4]
    assert panel[0]["dim"] == 3
    plain = payload(ReportContent("t", runs=(run,)))["runs"][0]["subspaces"]
    assert plain[0]["strip"] is None
    assert plain[0]["explained"] == pytest.approx(0.9)


def test_a_cluster_of_one_picture_has_a_mean_and_no_directions():
    spaces = (Subspace(np.zeros(16), np.eye(16)[:3], 3, 0.9), Subspace(np.zeros(16), np.zeros((0, 16)), 0, 1.0))
    run = small_run(np.r_[np.zeros(11, dtype=int), 1], subspaces=spaces)
    images = np.random.default_rng(0).integers(0, 255, (12, 4, 4)).astype(np.uint8)
    panel = payload(ReportContent("t", images=images, runs=(run,)))["runs"][0]["subspaces"]
    assert [(one["dim"], one["pictures"]) for one in panel] == [(3, 4), (0, 1)]


def test_the_mean_picture_is_there_without_subspaces():
    images = np.zeros((12, 4, 4), dtype=np.uint8)
    panel = payload(ReportContent("t", images=images, runs=(small_run(np.repeat([0, 1], 6)),)))["runs"][0]["subspaces"]
    assert [one["pictures"] for one in panel] == [1, 1]


def test_without_a_target_there_are_no_classes():
    assert payload(ReportContent("t", runs=(small_run(np.repeat([0, 1], 6)),)))["classes"] is None


def test_classes_that_nobody_has_are_left_out():
    run = small_run(np.repeat([0, 1], 6))
    content = ReportContent("t", target=np.repeat([0, 2], 6), class_names=["a", "b", "c"], runs=(run,))
    assert payload(content)["classes"]["names"] == ["a", "c"]


def test_classes_beyond_the_names_are_called_by_their_numbers():
    run = small_run(np.repeat([0, 1], 6))
    content = ReportContent("t", target=np.repeat([0, 2], 6), class_names=["a", "b"], runs=(run,))
    assert payload(content)["classes"]["names"] == ["0", "2"]


def test_the_footer_knows_version_date_and_command():
    made = payload(ReportContent("t", command="masked-subspace cluster a.csv"))["made"]
    assert made["command"] == "masked-subspace cluster a.csv"
    assert made["version"]
    assert made["created"].endswith("UTC")


def test_advice_is_in_the_words_of_whoever_made_the_page():
    run = small_run(np.zeros(5, dtype=int))
    by_python, by_command = (
        payload(ReportContent("t", runs=(run,), command=command))["runs"][0]["verdict"]["next"][0]
        for command in ("", "masked-subspace cluster a.csv -k 1")
    )
    assert by_python.endswith('with n_clusters="auto".')
    assert by_command.endswith("with --clusters auto.")


def test_rounds_are_drawn_on_the_scale_of_the_last():
    """Links of round 1 are half as strong as those of the last: on a scale of their own they would look the same."""
    run = small_run(np.repeat([0, 1], 10))
    run = replace(run, rounds=(Round("1", run.affinity * 0.5), Round("2", run.affinity)))
    first, last = payload(ReportContent("t", runs=(run,)))["runs"][0]["rounds"]
    assert first["scale"] == last["scale"] == 1
    assert numbers(first["strength"], "u1").max() < numbers(last["strength"], "u1").max()


def test_each_direction_uses_the_whole_range_of_gray():
    """A direction with small entries is as visible as one with large ones."""
    basis = np.zeros((2, 16))
    basis[0, 3], basis[1, 5:9] = 1.0, -0.5
    pictures = _directions(SimpleNamespace(basis=basis), (4, 4), np.zeros((3, 4, 4)))
    assert [int(picture.ravel()[place]) for picture, place in zip(pictures, (3, 5), strict=True)] == [255, 0]
