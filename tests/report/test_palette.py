"""Forty clusters can be told apart by colour or shape, whatever the reader's colour vision."""

import itertools

import numpy as np
import pytest

from masked_subspace.report.palette import CLASS_COLOURS, CLUSTER_COLOURS, MARKERS, SHAPES, class_look, cluster_look

# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
VISIONS = {
    "usual": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
# Ottosson (2020): linear RGB to cone responses, and their cube roots to Oklab.
TO_CONES = np.array([[0.41222, 0.53633, 0.05145], [0.21190, 0.68070, 0.10740], [0.08830, 0.28172, 0.62998]])
TO_LAB = np.array([[0.21045, 0.79362, -0.00407], [1.97800, -2.42859, 0.45059], [0.02590, 0.78277, -0.80868]])


def linear(colour):
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    return TO_LAB @ np.cbrt(np.clip(TO_CONES @ np.clip(rgb, 0, 1), 0, None))


def contrast(first, second):
    light, dark = sorted((linear(first) @ [0.2126, 0.7152, 0.0722], linear(second) @ [0.2126, 0.7152, 0.0722]))[::-1]
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_of_one_shape_differ_in_every_vision(vision):
    seen = [oklab(VISIONS[vision] @ linear(colour)) for colour in CLUSTER_COLOURS]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 0.06


def test_the_first_56_clusters_have_56_looks():
    assert len({cluster_look(k) for k in range(56)}) == 56
    assert len({class_look(k) for k in range(56)}) == 56


def test_classes_have_colours_of_their_own():
    assert not set(CLASS_COLOURS) & set(CLUSTER_COLOURS)
    pairs = itertools.product(CLASS_COLOURS, CLUSTER_COLOURS)
    apart = [np.linalg.norm(oklab(linear(a)) - oklab(linear(b))) for a, b in pairs]
    assert min(apart) > 0.03


@pytest.mark.parametrize("ground", ["#ffffff", "#1b1f25"])
def test_every_colour_shows_on_both_grounds(ground):
    assert min(contrast(colour, ground) for colour in (*CLUSTER_COLOURS, *CLASS_COLOURS)) > 1.9


def test_every_shape_can_be_drawn_by_matplotlib():
    assert set(SHAPES) == set(MARKERS)
