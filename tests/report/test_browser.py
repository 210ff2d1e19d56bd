"""The page in a real browser: it opens, zooms, sorts, changes its theme, and neither complains nor calls anybody."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import until

pytestmark = pytest.mark.browser


def pixels(tab: Any, canvas: str) -> str:
    return str(tab.evaluate(f"document.getElementById('{canvas}').toDataURL()"))


def test_it_opens_without_sideways_scrolling_and_shows_everything(tab):
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for section in (
        "affinity",
        "embedding",
        "convergence",
        "clusters",
        "certain",
        "figures",
        "how",
        "glossary",
        "verdict",
    ):
        assert tab.locator(f"#{section}").is_visible(), section
    assert tab.locator("h1").inner_text().startswith("Digits </script><img")
    # The figure and the mean pictures of five clusters, and nothing that a name brought in.
    assert tab.locator("#figures img").count() == 1
    assert tab.locator("img").count() == 1 + 5


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
    table = tab.locator("#tables table").first
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
    until(tab, "document.querySelector('#scores dd').textContent === 'BMSC'")
    assert "Other methods" in tab.locator("#verdict").inner_text()
    assert tab.locator("#rounds").is_hidden()


def test_everything_that_acts_has_a_name(tab):
    unnamed = tab.evaluate(
        """[...document.querySelectorAll('button, select, input, canvas[tabindex], [role=img]')]
        .filter((one) => one.offsetParent !== null && !one.getAttribute('aria-label') && !one.textContent.trim()
          && !(one.labels && one.labels.length)).map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []


def test_a_term_is_explained_on_hover_and_on_focus(tab):
    term = tab.locator("#scores .term", has_text="accuracy")
    term.focus()
    tip = tab.locator("#tip")
    assert "best one-to-one matching" in tip.inner_text()
    assert term.get_attribute("aria-describedby") == "tip"
    box = tip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= tab.viewport_size["width"]
    tab.keyboard.press("Escape")
    assert tip.is_hidden()
    tab.locator("#verdict .term").first.hover()
    assert tip.is_visible()


def test_certainty_is_explained_for_the_method_on_show(tab):
    assert "1 − (distance to its own)" in tab.locator("#certain-text").inner_text()


def test_how_to_read_opens_by_keyboard_beside_every_panel(tab):
    for section in ("embedding", "affinity", "clusters", "certain", "convergence", "how"):
        summary = tab.locator(f"#{section} > details.read > summary")
        summary.focus()
        tab.keyboard.press("Enter")
        assert tab.locator(f"#{section} > details.read p").first.is_visible(), section


def test_samples_are_searched_sorted_and_turned_over(tab):
    table = tab.locator("#samples table")
    assert tab.locator("#sample-state").inner_text() == "1–25 of 300"
    tab.click("#sample-on")
    assert tab.locator("#sample-state").inner_text() == "26–50 of 300"
    tab.fill("#sample-search", "digit 299")
    assert table.locator("tbody tr").count() == 1
    tab.fill("#sample-search", "#7")
    assert table.locator("tbody th").inner_text().startswith("</script><img")
    tab.fill("#sample-search", "cluster 0")
    assert set(table.locator("tbody tr td:nth-child(3)").all_inner_texts()) == {"0"}
    tab.fill("#sample-search", "nothing of that name")
    assert tab.locator("#sample-state").inner_text() == "nobody found"
    tab.fill("#sample-search", "")
    table.locator("thead button", has_text="row").click()
    assert table.locator("tbody td:first-child").first.inner_text() == "0"
    table.locator("thead button", has_text="row").click()
    assert table.locator("tbody td:first-child").first.inner_text() == "299"


def test_a_table_that_scrolls_says_so(tab):
    frame = tab.locator("#history .frame").first
    if tab.viewport_size["width"] > 600 and not frame.evaluate(
        "f => f.firstChild.scrollWidth > f.firstChild.clientWidth"
    ):
        return
    assert frame.locator(".more").inner_text() == "more columns →"
    frame.locator(".scroll").evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    until(tab, "!document.querySelector('#history .frame').classList.contains('right')")
    assert "left" in frame.get_attribute("class")


def test_the_footer_says_what_made_the_page(tab):
    assert "masked-subspace" in tab.locator("#made").inner_text()
    assert tab.locator("#paste textarea").input_value().startswith("RMSC(")


def test_print_is_light_opens_the_explanations_and_hides_the_tools(tab):
    tab.click("#theme")
    dark = tab.evaluate("document.documentElement.dataset.theme")
    assert dark == "dark"
    tab.emulate_media(media="print")
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("#embedding > details.read p").first.is_visible()
    assert tab.locator("#map-in").is_hidden()
    assert tab.evaluate("document.documentElement.dataset.theme") == "light"
    tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate("document.documentElement.dataset.theme") == dark


def test_the_page_comes_to_rest(tab):
    """Drawing must not change what calls for drawing."""
    changes = tab.evaluate(
        """new Promise((done) => { let count = 0;
        const watch = new MutationObserver((all) => { count += all.length; });
        setTimeout(() => watch.observe(document.body, { subtree: true, childList: true, attributes: true }), 700);
        setTimeout(() => done(count), 1500); })"""
    )
    assert changes == 0
