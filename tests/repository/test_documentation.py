"""What is public is documented, and the reference pages are what the code says."""

import argparse
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def prose() -> str:
    pages = [path for path in DOCS.rglob("*.md") if "adr" not in path.parts]
    return "\n".join(path.read_text() for path in pages)


def verbs() -> list[str]:
    from chartpact.__main__ import parser

    action = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    return list(action.choices)


def test_ci_checks_that_reference_pages_have_not_drifted():
    """They are written again for that, which is part of `make check` and not of `make test`."""
    checks = (ROOT / "Makefile").read_text().partition("\ncheck:")[2].partition("\n\n")[0]
    assert "docs/generate.py --check" in checks
    assert "\nmake check\n" in (ROOT / ".ci" / "run").read_text()


PINE = """
accdist alma atr barssince bb bbw cci change cmo cog correlation cross crossover crossunder cum dev
dmi ema falling highest highestbars hma iii kc kcw linreg lowest lowestbars macd max median mfi min
mode mom nvi obv percentile_linear_interpolation percentile_nearest_rank percentrank
pivot_point_levels pivothigh pivotlow pvi pvt range rci rising rma roc rsi sar sma stdev stoch
supertrend swma tr tsi valuewhen variance vwap vwma wad wma wpr wvad
"""


def test_every_function_of_pines_ta_is_there_and_tells_how_well_it_is_known():
    from chartpact import ta

    evidence = tomllib.loads((DOCS / "evidence.toml").read_text())
    kinds = evidence.pop("kinds")
    families = {family.__name__.rpartition(".")[2]: family.__all__ for family in ta.FAMILIES}
    for family, functions in evidence.items():
        assert functions.keys() <= set(families[family]), family
        for values, gaps, _ in functions.values():
            assert values in kinds
            assert gaps in ("", *kinds)
    known = {name for functions in evidence.values() for name in functions}
    assert set(PINE.split()) <= known
    assert set(PINE.split()) <= ta.FUNCTIONS.keys()


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_is_documented(verb):
    assert f"`chartpact {verb}`" in prose()


def test_every_verb_and_every_option_has_a_help_text():
    from chartpact.__main__ import parser

    def silent(each: argparse.ArgumentParser) -> list[str]:
        missing = []
        for action in each._actions:
            if isinstance(action, argparse._SubParsersAction):
                told = {choice.dest for choice in action._choices_actions if choice.help}
                missing += [f"{each.prog} {name}" for name in action.choices if name not in told]
                missing += [m for sub in action.choices.values() for m in silent(sub)]
            elif not action.help:
                missing.append(f"{each.prog} {action.dest}")
        return missing

    assert silent(parser()) == []


PAGES = [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """What a link to this page may name: its headings, spelled as code hosts spell them."""
    found: dict[str, int] = {}
    fenced = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ +(.*?) *$", fenced, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
    return {f"{slug}-{i}" if i else slug for slug, count in found.items() for i in range(count + 1)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page):
    broken = []
    for target, anchor in LINK.findall(CODE.sub("", page.read_text())):
        there = page.parent / target if target else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(f"{target}#{anchor}" if anchor else target)
    assert broken == []


def test_decisions_are_listed_by_their_numbers_and_gaps_are_explained():
    index = (DOCS / "adr" / "README.md").read_text()
    written = {path.name for path in DOCS.glob("adr/0*.md")}
    assert set(re.findall(r"\(([\w-]+\.md)\)", index)) == written
    listed = [int(number) for number in re.findall(r"^\| (\d+) \|", index, re.MULTILINE)]
    assert listed == list(range(1, max(listed) + 1))


def test_the_number_of_builtins_is_told_as_it_is():
    from chartpact.catalogue import shipped
    from chartpact.server.mcp import INSTRUCTIONS

    own = [known for known in shipped().values() if known.source == "builtin"]
    told = f"{len(own)} built in"
    assert told in INSTRUCTIONS
    assert told in (ROOT / "README.md").read_text()


def test_every_ta_function_is_documented():
    from chartpact import ta

    page = (DOCS / "reference" / "ta.md").read_text()
    assert [name for name in ta.FUNCTIONS if f"### `{name}`" not in page] == []


def test_every_public_name_is_documented():
    import chartpact

    page = (DOCS / "reference" / "python.md").read_text()
    public = [name for name in chartpact.__all__ if name != "__version__"]
    assert [name for name in public if f"## `cp.{name}`" not in page] == []


def test_every_mcp_tool_is_documented_with_its_arguments_and_named_on_the_page(tmp_path):
    import asyncio

    from chartpact.server import app, connect_page
    from chartpact.server.settings import Settings

    served = app.create(Settings(database=f"sqlite:///{tmp_path}/none.db"))
    served.close()
    reference = (DOCS / "reference" / "mcp.md").read_text()
    tools = asyncio.run(served.mcp.list_tools())
    for tool in tools:
        assert f"### `{tool.name}`" in reference
        for argument in tool.input_schema.get("properties", {}):
            assert f"| `{argument}` |" in reference
    shown = connect_page.html(connect_page.Door("http://x", token=False), tools)
    assert [tool.name for tool in tools if f"<code>{tool.name}</code>" not in shown] == []


def test_every_setting_of_the_server_is_documented():
    code = [*(ROOT / "src/chartpact/server").rglob("*.py"), ROOT / "src/chartpact/library/local.py"]
    name = re.compile(r"CHARTPACT_[A-Z]+(?:_[A-Z]+)*")
    named = {found for path in code for found in name.findall(path.read_text())}
    assert "CHARTPACT_SCRIPTS" in named
    assert [name for name in sorted(named) if f"`{name}`" not in prose()] == []
