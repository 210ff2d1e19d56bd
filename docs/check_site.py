"""Check the built site: python docs/check_site.py docs/site

Every internal link leads to a page and a place that exist, and no page loads anything from a network. Links that a
reader follows to other sites are not tried: the check works without a network too.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes whose address a browser fetches by itself.
_FETCHED = {
    ("script", "src"),
    ("img", "src"),
    ("source", "src"),
    ("iframe", "src"),
    ("video", "src"),
    ("object", "data"),
}
_FETCHED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "manifest"}
_IN_STYLE = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class Page(HTMLParser):
    """The names that a page offers, the links it has and the addresses it fetches."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attributes if value is not None}
        self.names.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and set(values.get("rel", "").split()) & _FETCHED_LINKS:
            self.fetched.append(values["href"])
        self.fetched += [value for name, value in values.items() if (tag, name) in _FETCHED]


def _target(page: Path, address: str) -> tuple[Path, str]:
    parts = urlsplit(address)
    path = page.parent / unquote(parts.path) if parts.path else page
    return (path / "index.html" if path.is_dir() else path).resolve(), unquote(parts.fragment)


def _pages(site: Path) -> list[Path]:
    """The pages; the theme keeps templates of its own in _static."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def broken(site: Path) -> list[str]:
    """What is wrong, one line each."""
    pages = {path.resolve(): Page(path) for path in _pages(site)}
    found = []
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        for address in [*page.links, *page.fetched]:
            outside = bool(urlsplit(address).scheme or urlsplit(address).netloc)
            if outside:
                if address in page.fetched and not address.startswith("data:"):
                    found.append(f"{where}: loads {address} from a network")
                continue
            goal, name = _target(path, address)
            if not goal.exists():
                found.append(f"{where}: {address} is not there")
            elif name and goal in pages and name not in pages[goal].names:
                found.append(f"{where}: {address} has no place {name!r}")
    for sheet in site.rglob("*.css"):
        addresses = (first or second for first, second in _IN_STYLE.findall(sheet.read_text(encoding="utf-8")))
        found += [f"{sheet.relative_to(site)}: loads {one}" for one in addresses if one.startswith(("http", "//"))]
    if not (site / "searchindex.js").exists():
        found.append("searchindex.js is not there: search does not work")
    return found


def main() -> int:
    site = Path(sys.argv[1])
    problems = broken(site)
    for problem in problems:
        sys.stderr.write(problem + "\n")
    print(f"{len(_pages(site))} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
