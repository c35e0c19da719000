"""The documentation as the server shows it: every page, links that lead on, and a search."""

import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from chartpact.server import docs_pages
from chartpact.server.workbench_page import POLICY


class Outline(HTMLParser):
    """The links, pictures and names of a page, and elements that were not closed."""

    VOID = frozenset({"meta", "img", "link", "br", "hr", "input"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.names: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        fields = dict(attrs)
        self.links += [fields[name] for name in ("href", "src") if name in fields]
        self.names.add(fields.get("id", ""))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag in self.VOID or self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def outline(response) -> Outline:
    return Outline(response.body.decode())


@pytest.fixture(scope="module")
def pages() -> dict[str, Outline]:
    return {path: outline(docs_pages.show(path)) for path in docs_pages._pages()}


def test_every_page_of_the_documentation_is_well_formed_and_has_a_title(pages):
    assert {"index", "web", "reference/ta", "adr/README", "gallery/README"} <= pages.keys()
    for path, page in pages.items():
        assert page.open == [], path
        assert docs_pages._pages()[path] in page.text, path


def test_every_link_leads_to_a_page_a_heading_or_a_file_that_is_served(pages):
    broken = []
    for path, page in pages.items():
        for link in page.links:
            if not link.startswith(("/docs/", "#")):
                continue
            target, _, anchor = link.partition("#")
            there = target.removeprefix("/docs/") or path
            if there not in pages:
                assert docs_pages.show(there).status_code == 200, link
            elif anchor and unquote(anchor) not in pages[there].names:
                broken.append((path, link))
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(pages):
    for path in pages:
        html = docs_pages.show(path).body.decode()
        assert not re.search(r'<(?:img|script|link)[^>]*(?:src|href)="(?!/)', html), path


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("ta.ema", "reference/ta#ema"),
        ("chart.line", "reference/chart#chartline"),
        ("CONTENT security", "web#content-security"),
        ("fork_indicator", "reference/mcp#fork_indicator"),
    ],
)
def test_a_search_finds_the_section_that_is_about_the_words(query, first):
    html = docs_pages.search(query).body.decode()
    _, _, results = html.partition('class="results"')
    assert re.search(r'href="/docs/([^"]*)"', results)[1].startswith(first)


def test_the_words_are_marked_in_the_text_around_them():
    assert "<mark>budget</mark>" in docs_pages.search("budget").body.decode()


def test_a_search_for_nothing_shows_the_first_page_and_one_in_vain_says_what_to_do():
    assert docs_pages.search("  ").body == docs_pages.show("").body
    assert "Try fewer or shorter words" in docs_pages.search("qqqqqq").body.decode()


def test_what_is_searched_for_and_a_path_are_text_on_the_page():
    hostile = '"><script>alert(1)</script>'
    for response in (docs_pages.search(hostile), docs_pages.show(hostile)):
        assert "<script>alert" not in response.body.decode()
        assert "alert(1)" in unescape(response.body.decode())
        assert response.headers["content-security-policy"] == POLICY


@pytest.mark.parametrize(
    "path",
    [
        "../README",
        "../pyproject.toml",
        "generate.py",
        "evidence.toml",
        "a\x00.svg",
        f"{'a' * 300}.svg",
        "../docs/gallery/charts/candles-dark.svg",
    ],
)
def test_no_file_but_those_of_the_documentation_is_served(path):
    assert docs_pages.show(path).status_code == 404


def test_a_picture_may_load_and_run_nothing():
    picture = docs_pages.show("gallery/charts/candles-dark.svg")
    assert picture.media_type == "image/svg+xml"
    assert "sandbox" in picture.headers["content-security-policy"]
