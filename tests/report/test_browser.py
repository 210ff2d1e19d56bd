"""The page in a real browser: it opens, zooms, sorts, changes its theme, and neither complains nor calls anybody."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(params=[(1280, 900), (390, 844)], ids=["desktop", "phone"])
def tab(request, browser, page) -> Iterator[Any]:
    """The report in a tab; anything on the console and any request to outside fails the test."""
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, has_touch=width < 600)
    context.set_default_timeout(90_000)  # a busy machine is no defect
    tab = context.new_page()
    complaints: list[str] = []
    tab.on("console", lambda message: complaints.append(f"console {message.type}: {message.text}"))
    tab.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    tab.on("request", lambda sent: None if sent.url.startswith(("file:", "data:")) else complaints.append(sent.url))
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-ready=true]")
    yield tab
    context.close()
    assert complaints == []


def pixels(tab: Any, canvas: str) -> str:
    return str(tab.evaluate(f"document.getElementById('{canvas}').toDataURL()"))


def test_it_opens_without_sideways_scrolling_and_shows_everything(tab):
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for section in ("affinity", "embedding", "convergence", "clusters", "certain", "figures", "how"):
        assert tab.locator(f"#{section}").is_visible(), section
    assert tab.locator("h1").inner_text().startswith("Digits </script><img")
    assert tab.locator("img").count() == 1  # the figure, and nothing that a name brought in


def test_zooming_by_button_keys_and_double_click(tab):
    whole = pixels(tab, "matrix")
    state = tab.locator("#zoom-state")
    assert state.inner_text() == "all 300 samples"
    tab.click("#zoom-in")
    assert state.inner_text().startswith("2.0×, 150 of 300")
    assert pixels(tab, "matrix") != whole
    tab.focus("#matrix")
    tab.keyboard.press("+")
    assert state.inner_text().startswith("4.0×")
    tab.keyboard.press("Escape")
    assert state.inner_text() == "all 300 samples"
    box = tab.locator("#matrix").bounding_box()
    tab.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert state.inner_text().startswith("2.0×")
    tab.click("#zoom-all")
    assert state.inner_text() == "all 300 samples"


def test_pointing_and_walking_show_two_samples(tab):
    tab.locator("#matrix").scroll_into_view_if_needed()
    box = tab.locator("#matrix").bounding_box()
    tab.mouse.move(box["x"] + box["width"] * 0.21, box["y"] + box["height"] * 0.2)
    assert "cluster" in tab.locator("#pair-a-text").inner_text()
    assert tab.locator("#pair-a").is_visible()
    before = tab.locator("#pair-b-text").inner_text()
    tab.focus("#matrix")
    tab.keyboard.press("Shift+ArrowRight")
    assert tab.locator("#pair-b-text").inner_text() != before
    assert tab.locator("#pair-text").inner_text().startswith(("Affinity", "A sample"))


def test_rounds_change_the_matrix(tab):
    last = pixels(tab, "matrix")
    assert tab.locator("#round-title").inner_text() == "2 of 2"
    tab.focus("#round")
    tab.keyboard.press("Home")
    tab.locator("#round-title", has_text="1 of 2").wait_for()
    assert pixels(tab, "matrix") != last


def test_sorting_a_column_either_way_with_missing_cells_last(tab):
    table = tab.locator("#tables table")
    column = [table.locator("tbody tr").nth(k).locator("td").nth(1) for k in range(3)]
    button = table.locator("thead button").nth(2)
    button.click()
    assert [cell.inner_text() for cell in column] == ["10.00", "2.00", "–"]
    assert table.locator("thead th").nth(2).get_attribute("aria-sort") == "descending"
    button.click()
    assert [cell.inner_text() for cell in column] == ["2.00", "10.00", "–"]
    table.locator("thead button").nth(0).focus()
    tab.keyboard.press("Enter")
    assert table.locator("tbody th").all_inner_texts() == ["a", "b", "c"]


def test_the_theme_switches_and_redraws(tab):
    before = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    light = pixels(tab, "matrix")
    tab.click("#theme")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert pixels(tab, "matrix") != light
    tab.click("#theme")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == before


def test_another_method_is_shown(tab):
    tab.select_option("#run", "0")
    tab.wait_for_function("document.querySelector('#scores dd').textContent === 'BMSC'")
    assert tab.locator("#rounds").is_hidden()


def test_everything_that_acts_has_a_name(tab):
    unnamed = tab.evaluate(
        """[...document.querySelectorAll('button, select, input, canvas[tabindex], [role=img]')]
        .filter((one) => one.offsetParent !== null && !one.getAttribute('aria-label') && !one.textContent.trim()
          && !(one.labels && one.labels.length)).map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []


def test_scatter_shows_the_sample_under_the_pointer(tab):
    tab.locator("#scatter").scroll_into_view_if_needed()
    tab.select_option("#colour", "class")
    x, y = tab.evaluate(
        """(() => { const canvas = document.getElementById('scatter');
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const dot = pixels.findIndex((value, at) => at % 4 === 3 && value > 128) >> 2;
        const box = canvas.getBoundingClientRect();
        const scale = box.width / canvas.width;
        return [box.left + (dot % canvas.width) * scale, box.top + Math.floor(dot / canvas.width) * scale]; })()"""
    )
    tab.mouse.move(x, y)
    assert "certainty" in tab.locator("#point-text").inner_text()
    assert tab.locator("#point").is_visible()
