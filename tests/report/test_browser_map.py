"""The map in a real browser: zoom, pan, lasso, search, pictures, layouts; by pointer and by keyboard."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import until

pytestmark = pytest.mark.browser


@pytest.fixture
def chart(tab) -> Any:
    tab.locator("#scatter").scroll_into_view_if_needed()
    return tab


def zoom(tab: Any) -> float:
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return float(tab.locator("#scatter").get_attribute("data-zoom"))


def picture(tab: Any) -> str:
    zoom(tab)
    return str(tab.evaluate("document.getElementById('scatter').toDataURL()"))


def drawn_box(tab: Any) -> tuple[float, ...]:
    """The part of the canvas that holds anything, as shares of its width and height."""
    return tuple(
        tab.evaluate(
            """(() => { const canvas = document.getElementById('scatter');
            const at = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            let [x0, x1, y0, y1] = [1e9, 0, 1e9, 0];
            for (let i = 3; i < at.length; i += 4) if (at[i] > 60) {
              const [x, y] = [(i >> 2) % canvas.width, Math.floor((i >> 2) / canvas.width)];
              [x0, x1, y0, y1] = [Math.min(x0, x), Math.max(x1, x), Math.min(y0, y), Math.max(y1, y)];
            }
            return [x0 / canvas.width, x1 / canvas.width, y0 / canvas.height, y1 / canvas.height]; })()"""
        )
    )


def test_nothing_is_cut_off(chart):
    zoom(chart)
    left, right, top, bottom = drawn_box(chart)
    assert 0.01 < left < right < 0.99
    assert 0.01 < top < bottom < 0.99
    assert max(right - left, bottom - top) > 0.7  # and the room is used


def test_zoom_and_pan_by_buttons_keys_pointer_and_wheel(chart):
    assert zoom(chart) == 1
    chart.click("#map-in")
    assert zoom(chart) == 2
    before = picture(chart)
    chart.focus("#scatter")
    chart.keyboard.press("ArrowRight")
    assert picture(chart) != before
    chart.keyboard.press("+")
    assert zoom(chart) == pytest.approx(3.2)
    chart.keyboard.press("Escape")
    assert zoom(chart) == 1
    box = chart.locator("#scatter").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    chart.mouse.dblclick(*middle)
    assert zoom(chart) == 2
    before = picture(chart)
    chart.mouse.move(*middle)
    chart.mouse.down()
    chart.mouse.move(middle[0] + 60, middle[1] + 30)
    chart.mouse.up()
    assert picture(chart) != before
    chart.focus("#scatter")
    chart.mouse.wheel(0, -400)
    until(chart, "Number(document.getElementById('scatter').dataset.zoom) > 2.5")
    chart.click("#map-out")
    chart.click("#map-all")
    assert zoom(chart) == 1


def test_the_lasso_selects_what_it_surrounds(chart):
    chart.click("#lasso")
    assert chart.locator("#lasso").get_attribute("aria-pressed") == "true"
    box = chart.locator("#scatter").bounding_box()
    corners = [(0.01, 0.01), (0.99, 0.01), (0.99, 0.99), (0.01, 0.99)]
    points = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in corners]
    chart.mouse.move(*points[0])
    chart.mouse.down()
    for point in points[1:]:
        chart.mouse.move(*point)
    chart.mouse.up()
    assert chart.locator("#selection-text").inner_text().startswith("300 samples inside the line")
    rows = chart.locator("#selection-rows").input_value().split()
    assert sorted(map(int, rows)) == list(range(300))
    chart.click("#unselect")
    assert chart.locator("#selection").is_hidden()


def test_search_and_legend_select(chart):
    chart.fill("#search", "digit 12")
    assert chart.locator("#selection-text").inner_text().startswith("11 samples found")  # 12 and 120 … 129
    chart.fill("#search", "digit 299")
    assert chart.locator("#selection-rows").input_value() == "299"
    assert zoom(chart) == 6
    assert "digit 299" in chart.locator("#point-text").inner_text()
    chart.fill("#search", "")
    assert chart.locator("#selection").is_hidden()
    legend = chart.locator("#legend button").first
    legend.focus()
    chart.keyboard.press("Enter")
    assert "of cluster 0" in chart.locator("#selection-text").inner_text()
    chart.select_option("#colour", "class")
    assert chart.locator("#legend button").nth(1).inner_text() == "one"
    chart.select_option("#colour", "certainty")
    assert chart.locator("#legend").is_hidden()


def test_pictures_names_and_layouts(chart):
    plain = picture(chart)
    chart.uncheck("#labels")
    assert picture(chart) != plain
    chart.check("#pictures")
    zoom(chart)
    assert chart.locator("#scatter").get_attribute("data-pictures") == "true"
    chart.uncheck("#pictures")
    assert chart.locator("#axes").is_hidden()
    chart.select_option("#layout", "axes")
    assert chart.locator("#axes").is_visible()
    before = picture(chart)
    chart.select_option("#axis-y", "2")
    assert picture(chart) != before


def test_pointing_shows_the_sample_and_its_thumbnail(chart):
    x, y = chart.evaluate(
        """(() => { const canvas = document.getElementById('scatter');
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const dot = pixels.findIndex((value, at) => at % 4 === 3 && value > 128) >> 2;
        const box = canvas.getBoundingClientRect();
        const scale = box.width / canvas.width;
        return [box.left + (dot % canvas.width) * scale, box.top + Math.floor(dot / canvas.width) * scale]; })()"""
    )
    chart.mouse.move(x, y)
    assert "certainty" in chart.locator("#point-text").inner_text()
    assert chart.locator("#point").is_visible()


def test_a_row_of_the_table_is_found_on_the_map(chart):
    chart.fill("#sample-search", "digit 42")
    chart.locator("#samples button.small").first.click()
    assert zoom(chart) == 6
    assert "digit 42" in chart.locator("#point-text").inner_text()
