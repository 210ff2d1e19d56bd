"""Every kind of data in a real browser, both sizes and themes, and what axe-core has to say about it."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import load_wine

from masked_subspace.datasets import make_subspaces
from masked_subspace.report import ReportContent, Run, compare, write_report
from masked_subspace.report.palette import class_look, cluster_look

from .conftest import HOSTILE, SIZES, opened

pytestmark = pytest.mark.browser


def axe_source() -> str | None:
    """The text of axe.min.js: AXE_CORE names the file, or npm put it into node_modules."""
    named = os.environ.get("AXE_CORE")
    places = [Path(named)] if named else []
    places += [folder / "node_modules/axe-core/axe.min.js" for folder in (Path.cwd(), *Path(__file__).parents)]
    return next((place.read_text(encoding="utf-8") for place in places if place.is_file()), None)


def grouped(n: int, n_clusters: int, width: int = 6, seed: int = 0, **parts: Any) -> Run:
    """A run on a random graph of clusters, as large as one likes."""
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(0, n_clusters, n))
    embedding = 0.25 * rng.standard_normal((n, width)) + 2 * rng.standard_normal((n_clusters, width))[labels]
    first = np.repeat(np.arange(n), 4)
    second = np.clip(first + rng.integers(-15, 16, len(first)), 0, n - 1)
    kept = first != second
    W = csr_array((rng.random(kept.sum()), (first[kept], second[kept])), shape=(n, n))
    return Run("RMSC", labels, csr_array(W + W.T), embedding, rng.random(n), **parts)


def wine(path: Path) -> None:
    table = load_wine(as_frame=True)
    models = {"k-means": KMeans(3, n_init=2, random_state=0), "four": KMeans(4, n_init=2, random_state=0)}
    for model in models.values():
        model.fit((table.data - table.data.mean()) / table.data.std())
    compare(table.data, models, path, y=table.target, class_names=list(table.target_names))


def text(path: Path) -> None:
    """TF-IDF-like rows: sparse, many columns, named after words."""
    rng = np.random.default_rng(0)
    topics = np.repeat([0, 1, 2], 50)
    rows = rng.poisson(0.02 + 0.6 * (np.arange(300) // 100 == topics[:, None]))
    X = csr_array(rows * rng.random(rows.shape))
    words = [f"word{'s' * (k % 40)}{k}" for k in range(300)]
    compare(X, {"k-means": KMeans(3, n_init=2, random_state=0).fit(X)}, path, feature_names=words)


def faces(path: Path) -> None:
    """Forty clusters of ten pictures, and forty known classes."""
    rng = np.random.default_rng(0)
    run = grouped(400, 40)
    images = rng.integers(0, 256, (40, 32, 28))[run.labels] * 0.7 + rng.integers(0, 76, (400, 32, 28))
    content = ReportContent("Forty", target=run.labels, images=images.astype(np.uint8), runs=(run,))
    write_report(content, path)


def motions(path: Path) -> None:
    """Trajectories in subspaces, with all fitted attributes of the masked estimators."""
    data = make_subspaces(3, 4, 30, 30, random_state=0)
    run = grouped(90, 3)
    fitted = SimpleNamespace(
        labels_=data.target,
        affinity_matrix_=run.affinity,
        embedding_=run.embedding,
        certainty_=run.certainty,
        member_labels_=[data.target],
        structure_=0.4,
        choices_=[
            {"view": "homogeneous", "cut": "spectral", "links": 4, "agreement": 0.9, "score": 0.72, "taken": True},
            {"view": "plain", "cut": "modularity", "score": 0.5, "taken": False},
        ],
        n_clusters_scores_=[{"n_clusters": k, "score": 1 / (1 + abs(k - 3)), "agreement": k / 50} for k in range(2, 9)],
        memberships_=np.eye(3)[data.target],
        subspaces_=[{"mean": np.zeros(30), "basis": np.eye(30)[:4], "dim": 4, "explained": 0.97}] * 3,
    )
    write_report(fitted, data.data, path, y=data.target)


def large(path: Path) -> None:
    run = grouped(50_000, 12)
    write_report(ReportContent("Large", names=[f"cell {i}" for i in range(50_000)], runs=(run,)), path)


def no_truth(path: Path) -> None:
    write_report(ReportContent("No truth", runs=(grouped(60, 3),)), path)


def one_cluster(path: Path) -> None:
    write_report(ReportContent("One", runs=(grouped(30, 1),)), path)


def hostile(path: Path) -> None:
    names = [HOSTILE] * 60
    profile = {"cluster": "0", "features": [{"feature": HOSTILE, "here": 1.0, "rest": 0.0, "effect": 2.0}]}
    run = grouped(60, 2, profiles=(profile, profile), call=4 * HOSTILE, choices=({"view": HOSTILE, "score": 1.0},))
    classes = np.arange(60) % 2
    write_report(
        ReportContent(
            HOSTILE,
            HOSTILE,
            {HOSTILE: HOSTILE},
            names,
            classes,
            [HOSTILE, "endless" * 20],
            runs=(run,),
            notes=(HOSTILE,),
            command=HOSTILE,
        ),
        path,
    )


def noise(path: Path) -> None:
    """A method that leaves samples out, beside one that does not."""
    rng = np.random.default_rng(0)
    rows = [middle + rng.normal(size=(40, 2)) for middle in ([0, 0], [9, 0])]
    X = np.vstack([*rows, rng.uniform(-8, 16, (30, 2))])
    models = {"k-means": KMeans(2, n_init=2, random_state=0).fit(X), "DBSCAN": DBSCAN(eps=1.0).fit(X)}
    compare(X, models, path, y=np.arange(110) // 40, feature_names=["a_very_long_name_of_a/measurement", "b"])


CASES = {one.__name__: one for one in (wine, text, faces, motions, large, no_truth, one_cluster, hostile, noise)}


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Any:
    """Each page is written once, when it is first asked for."""
    folder = tmp_path_factory.mktemp("cases")

    def page(case: str) -> Path:
        path = folder / f"{case}.html"
        if not path.exists():
            CASES[case](path)
        return path

    return page


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", CASES)
def test_it_opens_whole_and_fits_the_width(browser, pages, case, size):
    with opened(browser, pages(case), size) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert tab.locator("#verdict .headline").inner_text()
        assert tab.locator("#verdict .next li").count() >= 1
        for section in ("embedding", "affinity", "clusters", "certain"):
            assert tab.locator(f"#{section}").is_visible(), section


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("case", [case for case in CASES if case != "large"])
def test_axe_finds_nothing_serious(browser, pages, case, scheme):
    source = axe_source()
    if source is None:
        pytest.skip("no axe-core: `npm install axe-core` here, or name axe.min.js in AXE_CORE")
    for size in SIZES:
        with opened(browser, pages(case), size, color_scheme=scheme, bypass_csp=True) as tab:
            tab.evaluate(source)
            tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            found = tab.evaluate("axe.run().then((result) => result.violations)")
        serious = [
            (one["id"], [node["html"][:120] for node in one["nodes"][:3]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], size


def test_a_table_shows_what_tells_clusters_apart(browser, pages):
    with opened(browser, pages("wine"), "desktop") as tab:
        assert tab.locator("#profile-cards .card").count() == 4
        assert "proline" in tab.locator("#profile-cards").inner_text()
        assert tab.locator("#tables table").count() == 2


def test_features_that_tell_nothing_apart_are_not_said_to(browser, tmp_path):
    """Subspaces through one origin differ in no single feature."""

    def profile(cluster, *effects):
        features = [{"feature": f"f{k}", "here": 0.0, "rest": 0.0, "effect": one} for k, one in enumerate(effects)]
        return {"cluster": cluster, "features": features}

    run = grouped(60, 2, profiles=(profile("0", 0.05, -0.01), profile("1", -0.9, 0.19)))
    write_report(ReportContent("t", runs=(run,)), tmp_path / "a.html")
    with opened(browser, tmp_path / "a.html", "desktop") as tab:
        cards = tab.locator("#profile-cards .card").all_inner_texts()
        assert "No single feature differs" in cards[0]
        assert tab.locator("#profile-cards .feature").all_inner_texts() == ["f0"]


def test_words_of_a_text_are_named(browser, pages):
    with opened(browser, pages("text"), "phone") as tab:
        assert "word" in tab.locator("#profile-cards .feature").first.inner_text()


LOOKS = "all => all.map((one) => getComputedStyle(one.firstChild).fill + one.innerHTML)"


def test_forty_clusters_have_forty_looks(browser, pages):
    with opened(browser, pages("faces"), "desktop") as tab:
        looks = tab.locator("#legend .swatch").evaluate_all(LOOKS)
        assert len(looks) == len(set(looks)) == 40
        tab.select_option("#colour", "class")
        classes = tab.locator("#legend .swatch").evaluate_all(LOOKS)
        assert not set(classes) & set(looks)


def test_classes_that_share_a_colour_differ_by_stripes(browser, pages):
    with opened(browser, pages("faces"), "desktop") as tab:
        grounds = tab.locator("#sizes .patch").evaluate_all("all => all.map((one) => getComputedStyle(one).background)")
        assert len(grounds) == len(set(grounds)) == 40
        in_bars = tab.locator("#sizes .track i").evaluate_all(
            "all => all.map((one) => getComputedStyle(one).background)"
        )
        assert set(in_bars) == set(grounds)


def test_paper_keeps_the_grounds_and_the_columns_and_drops_what_needs_a_pointer(browser, pages):
    with opened(browser, pages("wine"), "desktop") as tab:
        tab.set_viewport_size({"width": 700, "height": 900})  # the width of A4, less than a phone's limit
        tab.emulate_media(media="print")
        for part in ("#sizes .track i", "#profile-cards .effect i", ".confusion td", ".sign", ".meter i"):
            assert tab.locator(part).first.evaluate("one => getComputedStyle(one).printColorAdjust") == "exact", part
        columns = tab.locator("#verdict .points div").first.evaluate("one => getComputedStyle(one).gridTemplateColumns")
        assert len(columns.split()) == 2
        for gone in ("#point-text", "#pair-text", "#legend-text", "#sample-search", "nav"):
            assert tab.locator(gone).is_hidden(), gone
        assert tab.locator("#sample-state").inner_text() == "1–25 of 178"
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_samples_in_no_cluster_are_counted_and_gray(browser, pages):
    with opened(browser, pages("noise"), "desktop") as tab:
        assert "in no cluster" in tab.locator("#scores").inner_text()
        assert tab.locator("#gallery .group").first.locator("h4").all_inner_texts()[0].endswith("in no cluster")
        assert tab.locator("#gallery .group").first.locator("h4").count() == 1  # nobody is the most certain of them
        assert "of 110 samples are in none" in tab.locator("#verdict .headline").inner_text()
        assert "in no cluster" in tab.locator("#tables thead").first.inner_text()
        assert "NMI and BCA leave them out" in tab.locator("#verdict").inner_text()


def test_colours_follow_the_theme(browser, pages):
    """Swatches and bars by the style sheet, marks by drawing anew; both in the colours that the palette has for it."""
    with opened(browser, pages("noise"), "desktop", color_scheme="light") as tab:
        tab.select_option("#run", label="k-means")
        for theme in ("light", "dark"):
            wanted = [f"rgb{to_rgb(look.colour_in(theme))}" for look in (cluster_look(0), cluster_look(1))]
            seen = "all => all.map((one) => getComputedStyle(one.firstChild).fill)"
            assert tab.locator("#legend .swatch").evaluate_all(seen) == wanted
            classes = [f"rgb{to_rgb(class_look(k).colour_in(theme))}" for k in range(3)]
            grounds = "all => all.map((one) => getComputedStyle(one).backgroundColor)"
            assert tab.locator("#sizes .patch").evaluate_all(grounds) == classes
            drawn = tab.evaluate(
                """() => { const canvas = document.getElementById("matrix");
                const copy = document.createElement("canvas");
                Object.assign(copy, { width: canvas.width, height: canvas.height });
                const pen = copy.getContext('2d', { willReadFrequently: true }); pen.drawImage(canvas, 0, 0);
                return [0.1, 0.9].map((y) => pen.getImageData(2, Math.round(canvas.height * y), 1, 1).data)
                  .map((pixel) => `rgb(${[...pixel].slice(0, 3).join(', ')})`); }"""
            )
            assert drawn == wanted
            tab.click("#theme")


def to_rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def test_options_and_words_are_not_torn(browser, tmp_path):
    note = "some features are left out here, as they hold text only; --label-column compares with one of them"
    run = grouped(60, 3, parameters={"n_clusters": 3, "min_certainty": None}, structure=0.3)
    content = ReportContent("t", runs=(run,), notes=(note,), command="masked-subspace")
    write_report(content, tmp_path / "a.html")
    with opened(browser, tmp_path / "a.html", "phone") as tab:
        options = tab.locator(".option")
        assert "--label-column" in options.all_inner_texts()
        assert "--clusters" in options.all_inner_texts()
        assert options.evaluate_all("all => all.map((one) => one.getClientRects().length)") == [1] * options.count()
        assert tab.locator("#notes li").inner_text() == note


def test_names_of_features_are_whole(browser, pages):
    for size in SIZES:
        with opened(browser, pages("wine"), size) as tab:
            cut = tab.locator("#profile-cards .feature").evaluate_all(
                "all => all.filter((one) => one.scrollWidth > one.clientWidth"
                " || one.scrollHeight > one.clientHeight + 1).map((one) => one.textContent)"
            )
            assert cut == [], size
            # `proanthocyanins` on one line, `alcalinity_of_ash` at most after an underscore
            lines = (
                "one => Math.round(one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight))"
            )
            short = tab.locator("#profile-cards .feature", has_text="proanthocyanins").first
            assert short.evaluate(lines) == 1, size
            assert tab.locator("#profile-cards .feature wbr").count() > 0


def test_choices_and_subspaces_are_shown_where_they_are_known(browser, pages):
    with opened(browser, pages("motions"), "desktop") as tab:
        assert tab.locator("#choosing svg").count() == 2
        assert tab.locator("#choosing svg").first.get_attribute("aria-label").endswith("3 was taken")
        assert "dimension 4 of 30, holds 97 %" in tab.locator("#spaces").inner_text()
        assert "members of the ensemble" in tab.locator("#certain-text").inner_text()
    with opened(browser, pages("no_truth"), "desktop") as tab:
        for absent in ("#choosing", "#profiles", "#subspaces", "#confusion table"):
            assert not tab.locator(absent).is_visible(), absent


def test_fifty_thousand_samples_can_be_used(browser, pages):
    path = pages("large")
    assert path.stat().st_size < 10_000_000
    with opened(browser, path, "desktop") as tab:
        assert "50000 of 50000" in tab.locator("#map-state").inner_text()
        tab.fill("#search", "cell 49999")
        assert tab.locator("#selection-rows").input_value() == "49999"
        tab.fill("#sample-search", "#31")
        assert tab.locator("#sample-state").inner_text() == "1–1 of 1"
        spent = tab.evaluate(
            """(async () => { const start = performance.now(); document.getElementById('map-in').click();
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            return performance.now() - start; })()"""
        )
        assert spent < 5_000  # on a busy machine; 0.1 s on a quiet one


def test_nothing_to_paste_is_cut_off_and_long_names_leave_room(browser, pages):
    for size in SIZES:
        with opened(browser, pages("hostile"), size) as tab:
            boxes = tab.locator("#paste textarea")
            assert boxes.evaluate_all("all => all.map((one) => one.scrollHeight <= one.clientHeight)") == [True, True]
            cell = tab.locator("#samples td.text[title^=endless]").first
            assert cell.evaluate("one => one.clientWidth") < 400  # all of it takes 900
            assert cell.get_attribute("title") == "endless" * 20


def test_a_graph_without_iterations_is_said_so(browser, tmp_path):
    record = {"objective": 0.0, "objective_trace": [0.0], "n_iter": 1, "converged": True, "seconds": 0.5}
    write_report(ReportContent("Direct", runs=(grouped(30, 2, history=(record,)),)), tmp_path / "a.html")
    with opened(browser, tmp_path / "a.html", "desktop") as tab:
        said = tab.locator("#convergence-text").inner_text()
        columns = [one.strip(" ↕↑↓\n") for one in tab.locator("#history thead th").all_inner_texts()]
    assert columns == ["round", "seconds"]  # no column of zeros
    assert said == "The graph was computed directly, without iterations."


def test_hostile_names_stay_text(browser, pages):
    with opened(browser, pages("hostile"), "desktop") as tab:
        assert tab.locator("img").count() == 0
        assert tab.title().startswith("</script>")
        assert tab.locator("#made").inner_text().startswith("Made by")
