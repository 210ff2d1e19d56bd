"""Forty clusters can be told apart by colour or shape, whatever the reader's colour vision."""

import itertools
import re
from importlib.resources import files

import numpy as np
import pytest

from masked_subspace.plots import THEMES
from masked_subspace.report.palette import (
    CLASS_COLOURS,
    CLUSTER_COLOURS,
    MARKERS,
    SHAPES,
    UNASSIGNED,
    class_look,
    cluster_look,
    cluster_looks,
)

# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
VISIONS = {
    "usual": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
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


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISIONS)
def test_colours_of_one_shape_differ_in_every_vision(vision, theme):
    for palette, least in ((CLUSTER_COLOURS, 0.075), (CLASS_COLOURS, 0.05)):
        seen = [oklab(VISIONS[vision] @ linear(colour)) for colour in palette[theme]]
        assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > least


def test_the_first_56_clusters_have_56_looks():
    for theme in ("light", "dark"):
        for look_of in (cluster_look, class_look):
            assert len({(look_of(k).colour_in(theme), look_of(k).shape) for k in range(56)}) == 56


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_classes_have_colours_of_their_own(theme):
    pairs = itertools.product(CLASS_COLOURS[theme], CLUSTER_COLOURS[theme])
    apart = [np.linalg.norm(oklab(linear(a)) - oklab(linear(b))) for a, b in pairs]
    assert min(apart) > 0.03


def grounds():
    """Every ground that marks and bars stand on, from the page's style sheet and from the themes of `plots`."""
    sheet = files("masked_subspace.report").joinpath("assets/report.css").read_text(encoding="utf-8")
    blocks = {"light": r":root \{(.*?)\}", "dark": r':root\[data-theme="dark"\] \{(.*?)\}'}
    for theme, pattern in blocks.items():
        block = re.search(pattern, sheet, flags=re.DOTALL)[1]
        named = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", block))
        yield from ((theme, named[name]) for name in ("page", "card", "wash", "m0"))
        yield theme, THEMES[theme].ground


@pytest.mark.parametrize(("theme", "ground"), list(grounds()))
def test_every_colour_has_a_contrast_of_three_with_every_ground_of_its_theme(theme, ground):
    looks = [UNASSIGNED, *map(cluster_look, range(8)), *map(class_look, range(8))]
    low = {look.colour_in(theme): contrast(look.colour_in(theme), ground) for look in looks}
    assert {colour: value for colour, value in low.items() if value < 3} == {}


def test_no_cluster_is_gray_and_takes_no_other_s_look():
    assert cluster_looks([-1, 0, 1]) == [UNASSIGNED, cluster_look(0), cluster_look(1)]
    assert cluster_looks([0, 1]) == [cluster_look(0), cluster_look(1)]


def test_every_shape_can_be_drawn_by_matplotlib():
    assert set(SHAPES) == set(MARKERS)
