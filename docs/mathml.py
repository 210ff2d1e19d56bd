"""Formulas as MathML, which browsers draw themselves: no script, no font and no network is needed.

Sphinx's own choices are MathJax, which it loads from a server, and pictures, which need LaTeX. docutils carries a
converter; this extension gives it to the HTML builder.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number


def inline(translator: Any, node: nodes.math) -> None:
    """A formula inside a line."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def displayed(translator: Any, node: nodes.math_block) -> None:
    """A formula of its own, with its number at the right where it has a label."""
    translator.body.append(translator.starttag(node, "div", CLASS="math equation"))
    translator.body.append(tex2mathml(node.astext(), as_block=True))
    if node.get("number"):
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})</span>')
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(displayed, None))
    return {"version": "1", "parallel_read_safe": True}
