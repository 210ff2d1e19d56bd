"""The strips of pictures that show a cluster's mean and directions, pixel by pixel."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest

from masked_subspace.report import Subspace
from masked_subspace.report.pictures import subspace_panel

from .test_payload import small_run

PIL_Image = pytest.importorskip("PIL.Image")


def pixels(strip):
    assert strip.startswith("data:image/png;base64,")
    return np.asarray(PIL_Image.open(io.BytesIO(base64.b64decode(strip.partition(",")[2])))).astype(int)


def rounded(values):
    return np.floor(np.asarray(values) + 0.5).astype(int)


def test_a_strip_is_the_mean_and_six_directions_with_a_white_line_between_every_two():
    """A line is a twelfth of a picture wide; a direction goes from black over middle gray to white by its own top."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [5, 4])
    images = rng.integers(0, 256, (9, 6, 24)).astype(np.uint8)
    bases = [rng.normal(size=(8, 144)) * np.arange(1, 9)[:, None], rng.normal(size=(2, 144))]
    spaces = tuple(Subspace(np.zeros(144), basis, len(basis), 0.5 + k / 4) for k, basis in enumerate(bases))
    panel = subspace_panel(small_run(labels, subspaces=spaces), images)
    assert [(one["cluster"], one["dim"], one["features"], one["explained"]) for one in panel] == [
        ("0", 8, 144, 0.5),
        ("1", 2, 144, 0.75),
    ]
    for k, one in enumerate(panel):
        shown = bases[k][:6]
        tops = np.abs(shown).max(axis=1, keepdims=True)
        parts = [rounded(images[labels == k].mean(axis=0)), *rounded(127.5 + 127.5 * shown / tops).reshape(-1, 6, 24)]
        assert one["pictures"] == len(parts)
        expected = np.full((6, 26 * len(parts) - 2), 255)
        for place, part in enumerate(parts):
            expected[:, 26 * place : 26 * place + 24] = part
        assert np.abs(pixels(one["strip"]) - expected).max() <= 1
        np.testing.assert_array_equal(pixels(one["strip"])[:, :24], parts[0])


@pytest.mark.parametrize(
    ("height", "width", "shown"),
    [(40, 30, (40, 30)), (80, 50, (40, 25)), (50, 80, (25, 40)), (400, 3, (40, 1)), (3, 400, (1, 40)), (2, 2, (2, 2))],
)
def test_pictures_are_brought_to_forty_pixels_and_keep_their_proportions(height, width, shown):
    images = np.full((4, height, width), 80, dtype=np.uint8)
    (panel,) = subspace_panel(small_run(np.zeros(4, dtype=int)), images)
    strip = pixels(panel["strip"])
    assert strip.shape == shown
    assert (strip == 80).all()


def test_a_narrow_picture_still_has_a_line_beside_it():
    images = np.zeros((4, 4, 4), dtype=np.uint8)
    space = Subspace(np.zeros(16), np.ones((1, 16)), 1, 1.0)
    (panel,) = subspace_panel(small_run(np.zeros(4, dtype=int), subspaces=(space,)), images)
    strip = pixels(panel["strip"])
    assert strip.shape == (4, 9)
    assert (strip[:, 4] == 255).all()
    assert (strip[:, :4] == 0).all()


@pytest.mark.parametrize(("n_clusters", "pictures"), [(60, 60), (61, 0)])
def test_more_than_sixty_clusters_have_no_pictures(n_clusters, pictures):
    images = np.zeros((n_clusters + 1, 2, 2), dtype=np.uint8)
    labels = np.r_[-1, np.arange(n_clusters)]  # being in none is no cluster
    assert len(subspace_panel(small_run(labels), images)) == pictures


def test_directions_of_other_features_than_pixels_are_no_pictures():
    """As many features as the sides multiply to, or only the mean; a cluster without either is left out."""
    images = np.zeros((6, 4, 2), dtype=np.uint8)
    for features, count in ((8, 2), (6, 1), (2, 1), (16, 1)):
        space = Subspace(np.zeros(features), np.ones((1, features)), 1, 1.0)
        panel = subspace_panel(small_run(np.repeat([0, 1], 3), subspaces=(space,)), images)
        assert [one["pictures"] for one in panel] == [count, 1]
        assert panel[1]["dim"] is panel[1]["features"] is panel[1]["explained"] is None
    plain = subspace_panel(small_run(np.repeat([0, 1], 3), subspaces=(space,)), None)
    assert [(one["cluster"], one["pictures"], one["strip"]) for one in plain] == [("0", 0, None)]
    assert subspace_panel(small_run(np.full(3, -1)), images[:3]) == []
