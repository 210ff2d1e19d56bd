"""The directive `picture`: one drawing of drawings/, light on a light page and dark on a dark one, and a caption."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Picture(SphinxDirective):
    """`{picture} name` with an option `alt`; what stands in it is the caption."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        images = [
            nodes.image(
                uri=f"/_pictures/{self.arguments[0]}-{theme}.png",
                alt=self.options["alt"],
                classes=[f"only-{theme}"],
            )
            for theme in ("light", "dark")
        ]
        caption = nodes.container("", *self.parse_content_to_nodes(), classes=["picture-caption"])
        return [nodes.container("", *images, classes=["picture"]), *([caption] if self.content else [])]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("picture", Picture)
    return {"version": "1", "parallel_read_safe": True}
