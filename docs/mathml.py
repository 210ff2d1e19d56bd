"""Formulas as MathML, which browsers draw themselves: no script, no font and no network is needed.

Sphinx's own choices are MathJax, which it loads from a server, and pictures, which need LaTeX. docutils carries a
converter; this extension gives it to the HTML builder.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number

# \tag{5} in a formula is the number to print: the paper's, where a page retells the paper.
_TAG = re.compile(r"\\tag\{(.+?)\}")


def inline(translator: Any, node: nodes.math) -> None:
    """A formula inside a line."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def displayed(translator: Any, node: nodes.math_block) -> None:
    """A formula of its own, with its number at the right where it has a tag or a label."""
    formula = node.astext()
    tag = _TAG.search(formula)
    translator.body.append(translator.starttag(node, "div", CLASS="math equation"))
    translator.body.append(tex2mathml(_TAG.sub("", formula), as_block=True))
    number = tag[1] if tag else get_node_equation_number(translator, node) if node.get("number") else None
    if number:
        translator.body.append(f'<span class="eqno">({number})</span>')
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(displayed, None))
    return {"version": "1", "parallel_read_safe": True}
