"""How the page opens: what the first chart waits for, and what waits for the first chart."""

import re
from importlib.resources import files
from posixpath import dirname, join, normpath

import pytest

STATIC = files("chartpact.server") / "static"
IMPORT = re.compile(r'^(?:import|export) [^;"]*"(\.[^"]+)";', re.MULTILINE)
PRELOAD = re.compile(r'<link rel="modulepreload"[^>]* href="/static/([^"]+)">')


def follow(path: str, known: set[str]) -> set[str]:
    """The module at the path and all that it imports."""
    if path not in known:
        known.add(path)
        for module in IMPORT.findall((STATIC / path).read_text("utf-8")):
            follow(normpath(join(dirname(path), module)), known)
    return known


def test_every_module_of_the_first_chart_is_asked_for_with_the_page_and_no_other():
    preloaded = PRELOAD.findall((STATIC / "workbench.html").read_text("utf-8"))
    needed = follow("js/main.js", set())
    assert sorted([*preloaded, "js/main.js"]) == sorted(needed)
    assert "js/chartview.js" in needed and "js/desk.js" not in needed


@pytest.mark.slow
def test_the_chart_is_asked_for_by_the_first_module_and_painted_before_the_rest_is_loaded(
    site, tab
):
    page = tab().open(f"{site}/?symbol=sample:es-5m&i=rsi")
    series, later = "/api/v1/charts/series", ("/static/js/desk.js", "/api/v1/indicators")
    page.wait_for_function(
        "(paths) => paths.every((path) => performance.getEntriesByType('resource')"
        ".some(({ name }) =>"
        " new URL(name).pathname.replace(/static\\/[0-9a-f]{12}/, 'static') === path))",
        arg=[series, *later],
    )
    began = page.evaluate(
        "() => performance.getEntriesByType('resource')"
        ".map(({ name, startTime }) =>"
        " [new URL(name).pathname.replace(/static\\/[0-9a-f]{12}/, 'static'), startTime])"
    )
    painted = page.evaluate("() => performance.getEntriesByName('first chart')[0].startTime")
    assert [path for path, start in began if start < painted].count(series) == 1
    assert all(start > painted for path, start in began if path in later)
