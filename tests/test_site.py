"""The site's own tools: the check of a built site, and that the code in its pages is Python."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from masked_subspace.estimators.parameters import PARAMETERS
from masked_subspace.report.png import gray_png
from masked_subspace.rows.preparation import VIEWS
from public_names import public_objects

ROOT = Path(__file__).parent.parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def _tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _site(folder, body):
    (folder / "searchindex.js").write_text("")
    (folder / "other.html").write_text('<p id="here">there</p>')
    (folder / "index.html").write_text(body)
    return folder


@pytest.mark.parametrize(
    "body",
    ['<a href="other.html#here">x</a>', '<a href="https://example.org">x</a>', '<p id="top"></p><a href="#top">x</a>'],
)
def test_a_site_whose_links_lead_somewhere_passes(tmp_path, body):
    assert _tool("check_site").broken(_site(tmp_path, body)) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="gone.html">x</a>', "gone.html is not there"),
        ('<a href="other.html#away">x</a>', "no place 'away'"),
        ('<img src="gone.png">', "gone.png is not there"),
        ('<script src="https://example.org/a.js"></script>', "from a network"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "from a network"),
    ],
)
def test_a_broken_link_or_a_network_is_found(tmp_path, body, said):
    problems = _tool("check_site").broken(_site(tmp_path, body))
    assert len(problems) == 1
    assert said in problems[0]


def test_a_style_sheet_that_loads_from_a_network_is_found(tmp_path):
    (tmp_path / "a.css").write_text("@font-face { src: url('https://example.org/a.woff2') }")
    assert any("a.css" in one for one in _tool("check_site").broken(_site(tmp_path, "")))


def test_the_width_of_a_picture_is_read_from_its_header(tmp_path):
    pytest.importorskip("sphinx")
    (tmp_path / "a.png").write_bytes(gray_png(np.zeros((10, 560), dtype=np.uint8)))
    assert _tool("picture").inches_of(tmp_path / "a.png") == 4


def test_bars_outside_code_are_escaped():
    pytest.importorskip("sphinx")
    lines = ["the graph |Z| of `|z|` and ``|x|``", ">>> a | b"]
    _tool("bars").escape(None, "class", "X", None, None, lines)
    assert lines == [r"the graph \|Z\| of `|z|` and ``|x|``", ">>> a | b"]


def test_versions_of_scikit_learn_are_left_out():
    pytest.importorskip("sphinx")
    lines = ["Fit and label.", "", "    .. versionadded:: 1.4", ""]
    _tool("bars").escape(None, "method", "X", None, None, lines)
    assert lines == ["Fit and label.", "", ""]


def _pages():
    """What is written, without what a build left there."""
    built = {"site", "site-quick", "_build", "_build-quick", "gallery", "generated"}
    return [page for page in sorted((ROOT / "docs").rglob("*.md")) if not built & set(page.relative_to(ROOT).parts)]


def test_pictures_of_pages_are_drawn_by_code_in_both_themes():
    assert [page.name for page in _pages() if re.search(r"!\[.*\]\(", page.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("page", _pages(), ids=lambda page: page.name)
def test_code_of_pages_is_python(page):
    for code in _PYTHON.findall(page.read_text(encoding="utf-8")):
        ast.parse(code)


def test_files_that_pages_name_are_there():
    homes = [ROOT / part for part in ("", "src/masked_subspace", "docs", "tests", "benchmarks")]
    named = re.compile(
        r"`([\w/.-]+\.(?:py|toml|jsonl|diff))(?:::\w+)?`|(?:python|pytest) ((?:benchmarks|tests|docs)/[\w/.]+)"
    )
    pages = [*_pages(), *ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md"]
    found = [(page.name, one or other) for page in pages for one, other in named.findall(page.read_text("utf-8"))]
    assert len(found) > 30
    assert [(page, name) for page, name in found if not any((home / name).exists() for home in homes)] == []


def test_the_page_of_parameters_has_every_view():
    text = (ROOT / "docs" / "guide" / "parameters.md").read_text(encoding="utf-8")
    assert [name for name in VIEWS if f'`"{name}"`' not in text] == []


def test_the_page_of_parameters_has_every_parameter():
    text = (ROOT / "docs" / "guide" / "parameters.md").read_text(encoding="utf-8")
    assert [name for name in PARAMETERS if f"`{name}" not in text] == []


def test_an_example_that_takes_too_long_is_said_and_the_others_keep_their_times(tmp_path, monkeypatch):
    pytest.importorskip("sphinx")
    times, said = _tool("example_times"), []
    seconds = iter([(0.0, 0.0), (3.0, 5.0), (0.0, 0.0), (times.LIMIT + 1.0, 200.0), (0.0, 0.0), (1.0, 2.0)])
    monkeypatch.setattr(times, "now", lambda: next(seconds))
    monkeypatch.setattr(times._LOG, "warning", lambda *words: said.append(words[1]))
    conf = {"src_dir": str(tmp_path), "plot_gallery": True}
    for name in ("plot_b", "plot_a", "plot_b"):
        times.note(conf, f"examples/{name}.py", "before")
        times.note(conf, f"examples/{name}.py", "after")
    assert said == ["plot_a"]
    kept = (tmp_path / "_build" / "example_times.tsv").read_text(encoding="utf-8").splitlines()
    assert kept[1:] == [f"plot_a\t{times.LIMIT + 1:.1f}\t200.0", "plot_b\t1.0\t2.0"]


def test_the_api_lists_everything_public():
    listed, module = [], None
    for line in (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            listed.append(f"{module}.{line.strip()}")
    assert sorted(listed) == sorted(public_objects())


def test_pages_of_the_guide_have_code_to_look_at():
    texts = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "guide").glob("*.md")]
    assert sum(bool(_PYTHON.search(text)) for text in texts) >= 8


def test_every_example_begins_with_a_title_and_ends_in_pictures():
    examples = sorted((ROOT / "examples").rglob("plot_*.py"))
    assert len(examples) >= 14
    for path in examples:
        text = path.read_text(encoding="utf-8")
        title, line = ast.get_docstring(ast.parse(text)).split("\n")[:2]
        assert set(line) == {"="}, path
        assert len(line) == len(title), path
        assert "plt.show()" in text, path


@pytest.mark.browser
def test_on_a_phone_what_is_too_wide_says_so_and_tables_of_words_are_cards(tmp_path):
    """The script and the style sheet of the site on a page with both kinds of tables."""
    static = ROOT / "docs" / "_static"
    if not static.exists() or CHROMIUM is None:
        pytest.skip("no docs/ in this checkout, or no Chromium on this machine")
    row = "<tr>" + "<td>a cell of words</td>" * 12 + "</tr>"
    (tmp_path / "a.html").write_text(
        f"<style>{(static / 'site.css').read_text()} td {{ white-space: nowrap; }}</style>"
        f'<article class="bd-article"><table id="wide">{row}</table><table id="cards" class="stacked">{row}</table>'
        f'<table id="few"><tr><td>one</td><td>two</td><td>{"a sentence of some words " * 4}</td></tr></table>'
        f"</article><script>{(static / 'scroll_hint.js').read_text()}</script>"
    )
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 390, "height": 844})
        tab.goto((tmp_path / "a.html").as_uri())
        assert tab.locator("#wide.scrolls-right").count() == 1
        assert tab.locator("#cards.scrolls-right").count() == 0
        assert tab.locator("#few.stacked").count() == 1
        tab.evaluate("document.getElementById('wide').scrollLeft = 10000")
        tab.wait_for_selector("#wide:not(.scrolls-right)")
        browser.close()
