"""Pages as axe sees them: on a desk and on a phone, in dark and in light colours."""

from pathlib import Path
from typing import Any

import pytest
from tests.effort import EXHAUSTIVE
from tests.server.web.conftest import PHONE, Open, Tab, keep_screen

AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ABOUT_COLORS = ["color-contrast", "link-in-text-block"]
SCHEMES = {"desk": ["light", "dark"], "phone": ["light", "dark"] if EXHAUSTIVE else ["dark"]}
SWITCH = """(theme) => {
  if (window.workbench) workbench.setTheme(theme);
  else document.documentElement.dataset.theme = theme;
}"""
RUN = """([part, type, values]) => axe.run(part ? document.querySelector(part) : document,
  { runOnly: { type, values }, resultTypes: ["violations"] })"""

on_each_screen = pytest.mark.parametrize("screen", SCHEMES)


class Scan:
    """A tab on a kind of screen, and what axe found wrong in it."""

    def __init__(self, open_tab: Open, screen: str) -> None:
        if not AXE.exists():
            pytest.skip("the pages were not scanned: make web installs axe")
        self.screen, self.schemes = screen, list(SCHEMES[screen])
        options = PHONE if screen == "phone" else {}
        self.tab: Tab = open_tab(color_scheme=self.schemes[0], **options)
        self.wrong: dict[str, list[tuple[str, str]]] = {}

    def __call__(self, name: str, part: str | None = None) -> None:
        """Scans the page, or the part of it that was opened since the page was scanned.

        Every rule is tried in the scheme that the page is in, and those about colours in the
        other, in which the page is left.
        """
        page = self.tab.page
        if part:
            page.locator(part).wait_for()
        if not page.evaluate("() => 'axe' in window"):
            page.evaluate(f"{AXE.read_text('utf-8')}\n;0")
        self._run(name, part, "tag", TAGS)
        for scheme in self.schemes[1:]:
            page.emulate_media(color_scheme=scheme)
            page.evaluate(SWITCH, scheme)
            self.schemes.reverse()
            self._run(name, part, "rule", ABOUT_COLORS)

    def _run(self, name: str, part: str | None, kind: str, values: list[str]) -> None:
        state = f"{name}-{self.schemes[0]}-{self.screen}"
        keep_screen(self.tab.page, state)
        found: list[Any] = self.tab.page.evaluate(RUN, [part, kind, values])["violations"]
        if found:
            self.wrong[state] = [(rule["id"], rule["nodes"][0]["html"][:160]) for rule in found]
