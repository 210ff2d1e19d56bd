"""The directive `picture`: one drawing of drawings/, light on a light page and dark on a dark one, and a caption."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def inches_of(path: Path) -> int:
    """How wide a picture is drawn, by its header, at 140 pixels an inch. On a phone it keeps a width in proportion."""
    return round(int.from_bytes(path.read_bytes()[16:20], "big") / 140)


class Picture(SphinxDirective):
    """`{picture} name` with an option `alt`; what stands in it is the caption."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        inches = f"inches-{inches_of(Path(self.env.srcdir) / '_pictures' / f'{name}-light.png')}"
        images = [
            nodes.image(
                uri=f"/_pictures/{name}-{theme}.png",
                alt=self.options["alt"],
                classes=[f"only-{theme}", inches],
            )
            for theme in ("light", "dark")
        ]
        caption = nodes.container("", *self.parse_content_to_nodes(), classes=["picture-caption"])
        return [nodes.container("", *images, classes=["picture"]), *([caption] if self.content else [])]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("picture", Picture)
    return {"version": "1", "parallel_read_safe": True}
