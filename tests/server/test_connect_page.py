"""The page at `/`, as a browser and as a reader of its source find it."""

import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from mcp_types import Tool

from chartpact.bars.samples import SAMPLES
from chartpact.catalogue import list_indicators
from chartpact.server import connect_page

TOOL = Tool(
    name="draw_it",
    description="Draws it.\n\nAnd more.",
    input_schema={"type": "object", "properties": {"what": {}}},
)


def shown(*, token: bool = False, address: str = "http://127.0.0.1:8321") -> str:
    return connect_page.html(connect_page.Door(address, token=token), [TOOL])


class Outline(HTMLParser):
    """Elements that were opened and not closed, headings in order, and images."""

    VOID = frozenset({"meta", "img", "source", "link", "br"})
    ICON = frozenset({("src", "/static/favicon.svg"), ("alt", "")})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.names |= {tag, *(name for name, _ in attrs)}
        if tag not in self.VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)
        if tag == "img" and set(attrs) != self.ICON:
            self.images.append(dict(attrs))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_readable_without_seeing_it():
    outline = Outline()
    outline.feed(shown())
    assert outline.open == []
    assert outline.headings[0] == "h1"
    assert outline.headings.count("h1") == 1
    levels = [int(each[1]) for each in outline.headings]
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    [image] = outline.images
    assert len(image["alt"]) > 20
    assert '<html lang="en">' in shown()
    assert 'name="viewport"' in shown()


def test_the_page_runs_what_copies_and_its_style_is_the_one_its_policy_allows():
    outline = Outline()
    outline.feed(shown())
    assert outline.names.isdisjoint({"iframe", "style-attribute", "onclick"})
    [script] = re.findall("<script[^>]*>", shown())
    assert script == '<script type="module" src="/static/js/copy.js">'
    assert " style=" not in shown()
    [style] = re.findall(r"<style>(.*?)</style>", shown(), re.S)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = connect_page.HEADERS["Content-Security-Policy"]
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def luminance(color: str) -> float:
    digits = color[1:] if len(color) == 7 else "".join(2 * each for each in color[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1])
def test_every_colour_of_text_stands_out_from_what_is_behind_it(scheme):
    colors = dict(re.findall(r"--(\w+): (#\w+);", connect_page._STYLE.split("@media")[scheme]))
    for behind in ("paper", "card"):
        for text in ("ink", "quiet", "link", "mark"):
            pair = sorted((luminance(colors[text]), luminance(colors[behind])))
            assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (text, behind)


def test_the_page_tells_what_is_served():
    told = shown()
    for each in list_indicators():
        assert f"<code>{each.name}</code>" in told
    for name in SAMPLES:
        assert f"<code>sample:{name}</code>" in told
    assert "<code>draw_it</code></th>\n<td>Draws it.<small>what</small>" in told
    assert "/openapi.json" in told


@pytest.mark.parametrize("token", [False, True])
def test_every_configuration_on_the_page_can_be_copied(token):
    texts = [unescape(each) for each in re.findall(r"<pre>(.*?)</pre>", shown(token=token), re.S)]
    shell, *documents = texts
    assert shell.startswith("claude mcp add --transport http chartpact http://127.0.0.1:8321/mcp")
    assert ("Bearer" in shell) is token
    for each in map(json.loads, documents[:2]):
        [[server]] = [list(servers.values()) for servers in each.values()]
        assert server["url"] == "http://127.0.0.1:8321/mcp"
        assert ("headers" in server) is token
    [desktop] = json.loads(documents[2])["mcpServers"].values()
    assert desktop["args"] == ["mcp"]


def test_a_host_that_is_no_name_cannot_write_into_the_page():
    assert "<b>" not in shown(address='http://"><b>x</b>').split("<main>")[1]


def test_the_running_page_names_all_its_tools_and_draws_in_both_themes(server):
    with server.client() as anybody:
        told = anybody.get("/connect")
        assert (
            told.headers["content-security-policy"]
            == connect_page.HEADERS["Content-Security-Policy"]
        )
        for tool in ("list_symbols", "generate_chart", "register_indicator", "fork_indicator"):
            assert f"<code>{tool}</code>" in told.text
        assert "Bearer &lt;token&gt;" not in told.text  # a client signs in by itself
        assert '<a href="/account">' in told.text
        pictures = set(re.findall(r'(?:src|srcset)="(/sample[^"]*)"', told.text))
        assert len(pictures) == 4
        drawn = {anybody.get(unescape(each)).text for each in pictures}
        assert len(drawn) == 4
        assert all(each.startswith("<svg") for each in drawn)
        assert (
            anybody.head("/").status_code
            == anybody.head("/connect").status_code
            == anybody.head("/healthz").status_code
            == 200
        )
        assert anybody.get("/sample.svg?theme=pink").status_code == 422
