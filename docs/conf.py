"""The site: `make docs`. Everything a page needs is in the built folder, so it opens from disk without a network."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "src"))

import masked_subspace  # noqa: E402

# What is compiled for the first time says so: which example would print that depends on the machine.
logging.getLogger("masked_subspace").setLevel(logging.ERROR)

project = "masked-subspace"
author = "The masked-subspace developers"
project_copyright = "The masked-subspace developers"
version = release = masked_subspace.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "bars",
    "picture",
]
exclude_patterns = ["_build*", "site*", "images/*.md", "**/sg_execution_times.rst", "sg_execution_times.rst"]
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

autosummary_generate = True
# Docstrings put names between single backticks.
default_role = "code"
# Blocks without a language are commands.
highlight_language = "text"
# Quotes stand around values: "auto" is to be copied as it is.
smartquotes = False
autodoc_typehints = "none"
numpydoc_show_class_members = False
# "fit()" beside the page of a class, not "BilevelClustering.fit()", which is too wide.
toc_object_entries_show_parents = "hide"
# Every class lists its references; few cite them in the text by key.
suppress_warnings = ["ref.citation"]

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "masked-subspace"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["scroll_hint.js"]
html_context = {"default_mode": "auto"}
html_copy_source = False
# The report that the guide explains lies beside the pages.
html_extra_path = ["_pictures/sample-report.html"]
html_show_sourcelink = False
# Extracts are fetched page by page, which browsers refuse for files on disk.
html_show_search_summary = False
html_theme_options = {
    "navigation_with_keys": True,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
}

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "subsection_order": [f"../examples/{part}" for part in ("data", "questions", "compare", "extend")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_",
    "ignore_pattern": r"look_inside",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # those pages load scripts from a network
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "min_reported_time": 10**6,  # the clock depends on what else the machine does; example_times counts CPU seconds
    "image_scrapers": ("two_themes",),
    "reset_modules": ("matplotlib", "two_themes.reset", "example_times.note"),
    "reset_modules_order": "both",
    "copyfile_regex": r"a^",
    # The page of a name shows the examples that use it.
    "doc_module": ("masked_subspace",),
    "backreferences_dir": "gallery/backreferences",
    "inspect_global_variables": True,
}
