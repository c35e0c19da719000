"""The documentation at `/docs`: the repository's Markdown as pages, and a search over sections."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from html import escape
from itertools import islice, pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from chartpact import documentation
from chartpact.server.connect_page import PICTURE_POLICY
from chartpact.server.templating import render
from chartpact.server.workbench_page import CHECKED, POLICY

_FILES = {".svg": "image/svg+xml", ".json": "application/json", ".star": "text/plain"}
_GROUPS = {"": "Guides", "reference/": "Reference", "adr/": "Decisions", "gallery/": "Gallery"}
_HEADING = re.compile(r"(#{1,4}) +(.*?) *")
_MARKUP = re.compile(r"^[-: |]+$|^```.*$|<!--.*?-->|!?\[([^]]*)\]\([^)]*\)|[`*|]", re.MULTILINE)
_FIRST = "index"
MOST_RESULTS = 40
LONGEST_QUERY = 100
MOST_WORDS = 6  # of a query that are searched for
MOST_COUNTED = 9  # times that a word in a section counts
REMEMBERED = 64  # results of searches
EXCERPT = 200


@dataclass(frozen=True)
class Section:
    """A heading with the text beneath it."""

    page: str
    title: str
    anchor: str
    text: str
    searched: str = ""  # the text and the titles of section and page, in small letters


@cache
def _pages() -> dict[str, str]:
    """The titles of all pages by their paths, guides first."""
    folder = documentation.folder()
    paths = sorted(file.relative_to(folder).as_posix()[:-3] for file in folder.rglob("*.md"))
    titles = {path: next(_sections(path)).title for path in paths}
    order = list(_GROUPS)
    return dict(
        sorted(
            titles.items(),
            key=lambda item: (order.index(_group(item[0])), item[0] != _FIRST, item[0]),
        )
    )


def _group(path: str) -> str:
    return next(prefix for prefix in reversed(_GROUPS) if path.startswith(prefix))


def _read(path: str) -> str:
    return (documentation.folder() / f"{path}.md").read_text("utf-8")


class _Anchors:
    """The names of headings within a page, spelled as code hosts spell them."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def name(self, title: str) -> str:
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        self._seen[slug] += 1
        return slug if self._seen[slug] == 1 else f"{slug}-{self._seen[slug] - 1}"


def _plain(markdown: str) -> str:
    """Markdown as words."""
    return _MARKUP.sub(lambda match: match[1] or "", markdown)


def _sections(path: str) -> Iterator[Section]:
    anchors, fenced = _Anchors(), False
    title, anchor, lines = path, "", list[str]()
    for line in _read(path).splitlines():
        fenced ^= line.startswith("```")
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading is None:
            lines.append(line)
            continue
        if anchor:
            yield Section(path, title, anchor, _plain("\n".join(lines)))
        title = _plain(heading[2])
        anchor, lines = anchors.name(title), []
    yield Section(path, title, anchor, _plain("\n".join(lines)))


@cache
def _index() -> tuple[Section, ...]:
    return tuple(
        replace(section, searched=f"{page}\n{section.title}\n{section.text}".lower())
        for path, page in _pages().items()
        for section in _sections(path)
    )


class _Renderer(RendererHTML):
    """HTML in which comments are left out and other raw markup is text."""

    def fence(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        # A keyboard scrolls what has the focus.
        return f'<pre tabindex="0"><code>{escape(tokens[idx].content)}</code></pre>\n'

    def html_block(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return _escape_html(tokens[idx].content)

    def html_inline(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return _escape_html(tokens[idx].content)


def _escape_html(content: str) -> str:
    return "" if content.startswith("<!--") else escape(content)


def _resolve(page: str, target: str) -> str | None:
    """The address of a link's target; None for a file that is not part of the documentation."""
    if "://" in target or target.startswith(("#", "mailto:")):
        return target
    file, mark, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), file))
    if path.endswith(".md"):
        path = path[:-3]
        return f"/docs/{path}{mark}{anchor}" if path in _pages() else None
    return f"/docs/{path}" if path in _files() else None


@cache
def _files() -> dict[str, Path]:
    """The pictures and schemas beside the pages, by their paths: nothing else is looked for."""
    folder = documentation.folder()
    files = (file for file in folder.rglob("*") if file.suffix in _FILES and file.is_file())
    return {file.relative_to(folder).as_posix(): file for file in files}


@cache
def _render(path: str) -> tuple[Markup, list[tuple[str, str]]]:
    """A page's body, and the anchors and titles of its sections."""
    parser = MarkdownIt("commonmark", {"html": True}, renderer_cls=_Renderer).enable("table")
    tokens = parser.parse(_read(path))
    anchors, contents = _Anchors(), list[tuple[str, str]]()
    for token, inner in pairwise(tokens):
        if token.type == "heading_open":
            title = _plain(inner.content)
            token.attrSet("id", anchors.name(title))
            if token.tag == "h2":
                contents.append((str(token.attrGet("id")), title))
        elif token.type == "table_open":
            token.attrSet("tabindex", "0")
        for child in token.children or ():
            if child.type == "link_open":
                address = _resolve(path, str(child.attrGet("href")))
                child.attrs = {"href": address} if address is not None else {}
                if address is not None and "://" in address:
                    child.attrs |= {"rel": "noopener noreferrer", "target": "_blank"}
            elif child.type == "image":
                child.attrs["src"] = _resolve(path, str(child.attrGet("src"))) or ""
                child.attrs["loading"] = "lazy"
    return Markup(parser.renderer.render(tokens, parser.options, {})), contents


def _respond(
    template: str, title: str, *, path: str = "", query: str = "", status: int = 200, **values: Any
) -> HTMLResponse:
    groups: dict[str, list[tuple[str, str]]] = {}
    for known, shown in _pages().items():
        groups.setdefault(_GROUPS[_group(known)], []).append((known, shown))
    contents = _render(path)[1] if path else []
    page = render(
        template, title=title, path=path, query=query, groups=groups, contents=contents, **values
    )
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": CHECKED}
    return HTMLResponse(page, status, headers)


def show(path: str) -> Response:
    """A page, or a file that a page shows."""
    path = path.removesuffix(".md") or _FIRST
    if (file := _files().get(path)) is not None:
        headers = {"Content-Security-Policy": PICTURE_POLICY, "Cache-Control": CHECKED}
        return Response(file.read_bytes(), media_type=_FILES[file.suffix], headers=headers)
    title = _pages().get(path)
    if title is None:
        return _respond("docs_missing.html", "No such page", wanted=repr(path[:80]), status=404)
    return _respond("docs_page.html", title, body=_render(path)[0], path=path)


def _pattern(word: str) -> re.Pattern[str]:
    """A word, or the beginning of one."""
    return re.compile(rf"(?<!\w){re.escape(word)}", re.IGNORECASE)


def _score(section: Section, words: list[re.Pattern[str]]) -> int:
    """How well a section fits: 0 where a word is neither in it nor in the title of its page."""
    total = 0
    for word in words:
        heading = word.search(section.title)
        score = 40 * bool(heading) + 40 * (heading is not None and heading[0] == section.title)
        score += 10 * bool(word.search(_pages()[section.page]))
        score += sum(1 for _ in islice(word.finditer(section.text), MOST_COUNTED))
        if not score:
            return 0
        total += score
    return total


def _excerpt(text: str, words: list[re.Pattern[str]]) -> list[tuple[str, bool]]:
    """The text around the first word, in pieces, and which of these are to be marked."""
    text = " ".join(text.split())
    pattern = re.compile("|".join(word.pattern for word in words), re.IGNORECASE)
    match = pattern.search(text)
    start = max(match.start() - EXCERPT // 3, 0) if match else 0
    cut = text[start : start + EXCERPT]
    pieces, end = [("… " if start else "", False)], 0
    for match in pattern.finditer(cut):
        pieces += [(cut[end : match.start()], False), (match[0], True)]
        end = match.end()
    after = " …" if start + EXCERPT < len(text) else ""
    return [*pieces, (cut[end:] + after, False)]


@dataclass(frozen=True)
class SearchResult:
    """A section that was found."""

    address: str
    title: str
    page: str
    excerpt: list[tuple[str, bool]]


def search(query: str) -> Response:
    """The sections that have every word of the query, the best first."""
    query = " ".join(query[:LONGEST_QUERY].split())
    if not query.replace(".", ""):
        return show(_FIRST)
    count, results = _find(query)
    return _respond(
        "docs_search.html", f"Search: {query}", query=query, count=count, results=results
    )


@lru_cache(maxsize=REMEMBERED)
def _find(query: str) -> tuple[int, list[SearchResult]]:
    """How many sections fit, and the best of them."""
    spelled = query.lower().replace(".", " ").split()  # ta.ema is the section ema on the page ta
    spelled = list(dict.fromkeys(spelled))[:MOST_WORDS]
    words = [_pattern(word) for word in spelled]
    ranked = sorted(
        (
            (score, section)
            for section in _index()
            if all(word in section.searched for word in spelled)
            and (score := _score(section, words))
        ),
        key=lambda pair: -pair[0] - 60 * pair[1].title.lower().startswith(query.lower()),
    )
    return len(ranked), [
        SearchResult(
            f"/docs/{section.page}#{quote(section.anchor)}",
            section.title,
            _pages()[section.page],
            _excerpt(section.text, words),
        )
        for _, section in ranked[:MOST_RESULTS]
    ]
