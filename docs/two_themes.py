"""Pictures of the gallery in both themes: each figure is saved as it is, then in the colours of a dark page.

sphinx-gallery finds this module by its name in `image_scrapers` (conf.py). Pixels and colour maps stay as they are, but
for those of affinities; ground, frames, ticks, texts and the colours of clusters change.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from sphinx_gallery.scrapers import _matplotlib_fig_titles

from masked_subspace.plots import THEMES
from masked_subspace.plots.themes import shades_of
from masked_subspace.report.palette import UNASSIGNED, class_look, cluster_look

DPI = 130
AFFINITY = shades_of(THEMES["light"]).name
_DARK_INK = 0.55  # a colour whose largest part is below this cannot be read on a dark ground
_TWINS = {
    look.colour: look.dark_colour for look in (UNASSIGNED, *map(cluster_look, range(8)), *map(class_look, range(8)))
}
_PAIR = """
.. container:: picture

   .. image:: /{light}
      :alt: {alt}
      :class: sphx-glr-single-img only-light inches-{inches}

   .. image:: /{dark}
      :alt: {alt}
      :class: sphx-glr-single-img only-dark inches-{inches}
"""


def style(theme: str) -> dict[str, Any]:
    """matplotlib's settings in the colours of a theme."""
    look = THEMES[theme]
    return {
        "figure.facecolor": look.ground,
        "axes.facecolor": look.ground,
        "savefig.facecolor": look.ground,
        "text.color": look.ink,
        "axes.labelcolor": look.ink,
        "axes.edgecolor": look.soft,
        "xtick.color": look.soft,
        "ytick.color": look.soft,
        "legend.frameon": False,
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.prop_cycle": cycler(color=[cluster_look(k).colour_in(theme) for k in range(8)]),
    }


def reset(_gallery_conf: Any, _name: Any, when: str = "before") -> None:  # noqa: ARG001 (the gallery wants this name)
    """Each example starts with the light style."""
    mpl.rcParams.update(style("light"))


def _get_sg_image_scraper() -> Any:
    return scrape


def scrape(_block: Any, block_vars: dict[str, Any], gallery_conf: Any) -> str:
    """Save the open figures twice and return the text that shows them."""
    parts = []
    for number in plt.get_fignums():
        figure = plt.figure(number)
        light = Path(next(block_vars["image_path_iterator"]))
        dark = light.with_stem(light.stem + "-dark")
        figure.savefig(light, dpi=DPI, facecolor=figure.get_facecolor())
        darken(figure)
        figure.savefig(dark, dpi=DPI, facecolor=figure.get_facecolor())
        source = Path(gallery_conf["src_dir"])
        parts.append(
            _PAIR.format(
                light=light.relative_to(source).as_posix(),
                dark=dark.relative_to(source).as_posix(),
                inches=round(figure.get_figwidth()),
                alt=" ".join(_matplotlib_fig_titles(figure).split()) or "figure of this example",
            )
        )
    plt.close("all")
    return "".join(parts)


def darken(figure: Any) -> None:
    """The figure in the colours of a dark page."""
    look = THEMES["dark"]
    figure.set_facecolor(look.ground)
    for ax in figure.axes:
        ax.set_facecolor(look.ground)
        ax.tick_params(which="both", colors=look.soft)
        for spine in ax.spines.values():
            spine.set_edgecolor(look.soft)
        for line in ax.findobj(Line2D):
            twin = _twin(line.get_color())
            if twin is not None or _unreadable(line.get_color()):
                line.set_color(twin or look.soft)
        for marks in ax.findobj(Collection):
            edges = _in_dark(marks.get_edgecolor())
            marks.set_facecolor(_in_dark(marks.get_facecolor()))
            marks.set_edgecolor(edges)
        for bar in ax.findobj(Rectangle):
            twin = _twin(bar.get_facecolor())
            if twin is not None:
                bar.set_facecolor(twin)
        on_pixels = set(ax.texts) if ax.images else set()
        for image in ax.images:
            if image.get_cmap().name == AFFINITY and not on_pixels:
                image.set_cmap(shades_of(look))
        for text in ax.findobj(Text):
            if text not in on_pixels:
                _lighten(text, look.ink)
    for text in figure.texts:
        _lighten(text, look.ink)


def _in_dark(colours: Any) -> list[Any]:
    return [_twin(colour) or colour for colour in colours]


def _lighten(text: Any, ink: str) -> None:
    if _unreadable(text.get_color()):
        text.set_color(ink)
    box = text.get_bbox_patch()
    if box is not None:
        box.set_facecolor(THEMES["dark"].ground)


def _twin(colour: Any) -> tuple[float, ...] | None:
    """The dark theme's colour of a cluster or class that the light theme draws so; None for any other colour."""
    found = _TWINS.get(to_hex(colour))
    return None if found is None else to_rgba(found, to_rgba(colour)[3])


def _unreadable(colour: Any) -> bool:
    return isinstance(colour, str | tuple) and colour != "none" and max(to_rgb(colour)) < _DARK_INK
