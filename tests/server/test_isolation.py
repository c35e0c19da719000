"""What ann keeps, bob can neither see nor run, overwrite nor infer, by any way in.

Bob asks by every route for what ann has, and for what nobody has: the answers must not differ.
Routes, tools, resources and prompts are counted, so that a new one fails until it is in a table.
"""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from mcp import MCPError
from tests.postgres import url_for
from tests.server.conftest import SCRIPT, serving
from tests.server.test_mcp import over_http

pytestmark = pytest.mark.both_databases


@pytest.fixture(scope="module")
def server(storage, tmp_path_factory):
    """A server with room for more calls a minute than the default: a fast machine makes them."""
    folder = tmp_path_factory.mktemp("server")
    plenty = "calls_per_minute=1000000"
    with serving(folder, url=url_for(folder, kind=storage), CHARTPACT_LIMITS=plenty) as running:
        yield running


@dataclass(frozen=True)
class Names:
    script: str
    bars: str


ANNS = Names("ann_hidden_wave", "ann-hidden-bars")
NOBODYS = Names("nil_hidden_wave", "nil-hidden-bars")  # as near to any other name as ann's
HIDDEN = SCRIPT.replace("Average", "Anns hidden title").replace("SMA", "Anns hidden line")
PRICES = "".join(
    f"2024-01-02T{10 + i // 60:02}:{i % 60:02}:00Z,98765.25,98766.25,98764.25,98765.5,7\n"
    for i in range(120)
)
BARS = f"time,open,high,low,close,volume\n{PRICES}"
SECRETS = ("Anns hidden", "9876", "ann_hidden", "ann-hidden")
SAMPLE = {"symbol": "sample:es-5m", "bars": 30}


def without(fields: dict, name: str) -> dict:
    return {key: value for key, value in fields.items() if key != name}


def rest(names: Names) -> dict[str, list[tuple[str, dict]]]:
    """For every route, the requests that would reach what goes by these names."""
    script, bars = f"/api/v1/my/indicators/{names.script}", f"/api/v1/my/bars/{names.bars}"
    drawn = [
        {**SAMPLE, "indicators": [names.script, f"{names.script}:n=5", names.script[:-1]]},
        {"symbol": f"{names.bars}@mine", "bars": 30},
        {"symbol": f"{names.bars[:-1]}@mine", "bars": 30},
        {**SAMPLE, "indicators": [{"name": "own", "other": f"{names.bars}@mine"}]},
    ]
    watched = f"/api/v1/my/watchlists/{names.script}"
    exported = {"format": "chartpact-library-1"}
    exported["scripts"] = [{"name": names.script, "source": SCRIPT}]
    return {
        "get /api/v1/indicators": [("/api/v1/indicators", {})],
        "get /api/v1/symbols": [("/api/v1/symbols", {})],
        "post /api/v1/charts": [
            ("/api/v1/charts", {"json": {**each, "format": "series"}}) for each in drawn
        ],
        "post /api/v1/charts/image": [
            ("/api/v1/charts/image", {"json": {**each, "format": "svg"}}) for each in drawn
        ],
        "post /api/v1/charts/series": [
            ("/api/v1/charts/series", {"json": {**without(each, "bars"), "view": 30}})
            for each in drawn
        ],
        "post /api/v1/bars/after": [
            ("/api/v1/bars/after", {"json": {"symbol": f"{names.bars}@mine", "after": 0}})
        ],
        "get /api/v1/my/watchlists": [("/api/v1/my/watchlists", {})],
        "put /api/v1/my/watchlists/{name}": [(watched, {"json": {"symbols": ["BTC@x"]}})],
        "delete /api/v1/my/watchlists/{name}": [(watched, {})],
        "get /chart.png": [(f"/chart.png?symbol={names.bars}@mine&i={names.script}", {})],
        "get /chart.svg": [(f"/chart.svg?symbol={names.bars}@mine&i={names.script}", {})],
        "post /api/v1/check": [("/api/v1/check", {"json": {"source": "x = ("}})],
        "post /api/v1/study": [
            ("/api/v1/study", {"json": {"symbol": "sample:es-5m", "indicator": names.script}}),
            ("/api/v1/study", {"json": {"symbol": f"{names.bars}@mine", "indicator": "rsi"}}),
        ],
        "post /api/v1/prove": [
            ("/api/v1/prove", {"json": {"symbol": "sample:es-5m", "indicator": names.script}}),
            ("/api/v1/prove", {"json": {"symbol": f"{names.bars}@mine", "indicator": "rsi"}}),
        ],
        "get /api/v1/reference": [("/api/v1/reference", {})],
        "get /api/v1/thumbnails": [("/api/v1/thumbnails", {})],
        "get /api/v1/me": [("/api/v1/me", {})],
        "get /api/v1/my/layout": [("/api/v1/my/layout", {})],
        "put /api/v1/my/layout": [("/api/v1/my/layout", {"json": {"layout": {}}})],
        "post /api/v1/my/bars/{name}/check": [(f"{bars}/check", {"content": "time,open\n"})],
        "post /api/v1/state": [("/api/v1/state", {"json": ask}) for ask in read(names)],
        "get /api/v1/contracts": [("/api/v1/contracts", {})],
        "post /api/v1/contracts/check": [("/api/v1/contracts/check", {"json": {"source": ""}})],
        "post /api/v1/contracts/draft": [
            ("/api/v1/contracts/draft", {"json": {"study": names.script, "symbol": "sample:es-5m"}})
        ],
        "post /api/v1/contracts/match": [
            ("/api/v1/contracts/match", {"json": {"contract": names.script, "symbol": "x"}}),
            (
                "/api/v1/contracts/match",
                {"json": {"contract": "ema_trend", "symbol": f"{names.bars}@mine"}},
            ),
        ],
        "get /api/v1/strategies": [("/api/v1/strategies", {})],
        "post /api/v1/strategies/check": [("/api/v1/strategies/check", {"json": {"source": ""}})],
        "post /api/v1/strategies/state": [
            (
                "/api/v1/strategies/state",
                {"json": {"contracts": [names.script], "symbol": "sample:es-5m"}},
            )
        ],
        "get /api/v1/strategies/{name}": [(f"/api/v1/strategies/{names.script}", {})],
        "put /api/v1/my/strategies/{name}": [
            (f"/api/v1/my/strategies/{names.script}", {"json": {"source": "strategy: x"}})
        ],
        "delete /api/v1/my/strategies/{name}": [(f"/api/v1/my/strategies/{names.script}", {})],
        "get /api/v1/contracts/{name}": [(f"/api/v1/contracts/{names.script}", {})],
        "put /api/v1/my/contracts/{name}": [
            (f"/api/v1/my/contracts/{names.script}", {"json": {"source": "contract: x"}})
        ],
        "delete /api/v1/my/contracts/{name}": [(f"/api/v1/my/contracts/{names.script}", {})],
        "get /api/v1/my/contracts/{name}/versions": [
            (f"/api/v1/my/contracts/{names.script}/versions", {})
        ],
        "post /api/v1/my/contracts/{name}/restore": [
            (f"/api/v1/my/contracts/{names.script}/restore", {"json": {"version": 1}})
        ],
        "get /api/v1/my/follows": [("/api/v1/my/follows", {})],
        "post /api/v1/my/follows": [("/api/v1/my/follows", {"json": ask}) for ask in read(names)],
        "get /api/v1/my/follows/{number}": [("/api/v1/my/follows/1", {})],
        "patch /api/v1/my/follows/{number}": [("/api/v1/my/follows/1", {"json": {"paused": True}})],
        "delete /api/v1/my/follows/{number}": [("/api/v1/my/follows/1", {})],
        "get /api/v1/my/follows/{number}/changes": [("/api/v1/my/follows/1/changes", {})],
        "get /api/v1/forks/{builtin_name}": [(f"/api/v1/forks/{names.script}", {})],
        "get /api/v1/my/indicators": [("/api/v1/my/indicators", {})],
        "get /api/v1/my/indicators/{name}": [(script, {}), (script[:-1], {})],
        "put /api/v1/my/indicators/{name}": [(script, {"json": {"source": SCRIPT}})],
        "patch /api/v1/my/indicators/{name}": [(script, {"json": {"source": SCRIPT}})],
        "delete /api/v1/my/indicators/{name}": [(script, {})],
        "get /api/v1/my/indicators/{name}/versions": [(f"{script}/versions", {})],
        "post /api/v1/my/indicators/{name}/restore": [
            (f"{script}/restore", {"json": {"version": 1}})
        ],
        "get /api/v1/my/bars": [("/api/v1/my/bars", {})],
        "put /api/v1/my/bars/{name}": [(bars, {"content": BARS.replace("9876", "1234")})],
        "get /api/v1/my/bars/{name}": [(bars, {}), (bars[:-1], {})],
        "delete /api/v1/my/bars/{name}": [(bars, {})],
        "get /api/v1/my/library": [("/api/v1/my/library", {})],
        "put /api/v1/my/library": [("/api/v1/my/library", {"json": exported})],
    }


def read(names: Names) -> list[dict]:
    """What would read state from ann's bars, or by her script's name."""
    return [
        {"contracts": ["ema_trend"], "symbol": f"{names.bars}@mine"},
        {"contracts": [names.script], "symbol": "sample:es-5m"},
        {
            "contracts": ["smt_divergences"],
            "symbol": "sample:es-5m",
            "params": {"pair": f"{names.bars}@mine"},
        },
    ]


def tools(names: Names) -> dict[str, list[dict]]:
    return {
        "read_state": read(names),
        "study_signals": [
            {"symbol": "sample:es-5m", "indicator": names.script},
            {"symbol": f"{names.bars}@mine", "indicator": "supertrend", "long": ["flip_up"]},
        ],
        "list_contracts": [{}],
        "get_contract": [{"name": names.script}],
        "register_contract": [{"source": f"contract: {names.script}"}],
        "delete_contract": [{"name": names.script}, {"name": names.script[:-1]}],
        "draft_contract": [{"study": names.script}],
        "list_strategies": [{}],
        "get_strategy": [{"name": names.script}],
        "register_strategy": [{"source": f"strategy: {names.script}"}],
        "delete_strategy": [{"name": names.script}],
        "follow_state": read(names),
        "unfollow_state": [{"id": 1}],
        "get_state_changes": [{}, {"id": 1}],
        **{
            f"data_get_pine_{kind}": [
                {"symbol": f"{names.bars}@mine", "indicators": ["market_structure"]},
                {**SAMPLE, "indicators": [names.script, names.script[:-1]]},
            ]
            for kind in ("labels", "lines", "boxes", "tables")
        },
        "get_language_reference": [{"topic": names.script}],
        "list_symbols": [{}],
        "list_indicators": [{}],
        "generate_chart": [
            {**SAMPLE, "indicators": [names.script, names.script[:-1]], "format": "series"},
            {"symbol": f"{names.bars}@mine", "bars": 30, "format": "svg"},
        ],
        # Its columns are in base64, the name that was asked for too: REST answers it as text above.
        "get_chart_series": [
            {"symbol": f"{names.bars}@mine", "view": 30},
            {"symbol": f"{names.bars[:-1]}@mine", "view": 30},
        ],
        "register_indicator": [{"name": names.script, "source": SCRIPT}],
        "update_indicator": [{"name": names.script, "source": SCRIPT}],
        "delete_indicator": [{"name": names.script}, {"name": names.script[:-1]}],
        "list_my_indicators": [{}],
        "get_indicator_source": [{"name": names.script}, {"name": names.script[:-1]}],
        "fork_indicator": [{"builtin_name": names.script}],
    }


RESOURCES = {
    "indicator://{name}": ["indicator://{script}", "indicator://{bars}", "indicator://cipher_b"],
    "docs://language": ["docs://language"],
    "docs://ta": ["docs://ta"],
    "ui://chartpact/chart.html": ["ui://chartpact/chart.html"],
}
PROMPTS = {
    "write_an_indicator": {"idea": "{script}"},
    "fork_and_modify": {"builtin": "{script}", "change": "x"},
}


def same_for_all(text: str, names: Names) -> str:
    """The answer without the names asked for, the time of day and how long it took."""
    for name in (names.script, names.bars, names.script[:-1], names.bars[:-1]):
        text = text.replace(name, "NAME")
    return re.sub(r'\b1\d{12}\b|clip\d+|"ms":[\d.]+', "NOW", text)


def keep(ann, bob) -> None:
    """Ann has a script and bars; bob has a script that can be given a second symbol."""
    ann.put(f"/api/v1/my/indicators/{ANNS.script}", json={"source": HIDDEN}).raise_for_status()
    ann.put(f"/api/v1/my/bars/{ANNS.bars}", content=BARS).raise_for_status()
    watched = {"symbols": ["sample:es-5m", f"{ANNS.bars}@mine"]}
    ann.put(f"/api/v1/my/watchlists/{ANNS.script}", json=watched).raise_for_status()
    other = '{"name": "other", "type": "symbol", "default": "sample:es-5m"}'
    own = SCRIPT.replace("PARAMS = [", f"PARAMS = [{other}, ")
    assert bob.put("/api/v1/my/indicators/own", json={"source": own}).json() == {
        "ok": True,
        "warnings": [],
    }


@pytest.fixture(scope="module")
def anns(server) -> Iterator[list]:
    """What ann has on this server for as long as bob tries to reach it."""
    with server.client("ann") as ann, server.client("bob") as bob:
        keep(ann, bob)
        drawn = draw(ann)
        yield what_ann_has(ann)
        assert draw(ann) == drawn


@pytest.fixture
def kept(anns, ann, bob):
    yield
    assert what_ann_has(ann) == anns
    mine = bob.get("/api/v1/my/library").json()
    assert [script["name"] for script in mine["scripts"]] == ["own"]  # so that each begins alike
    assert bob.get("/api/v1/my/bars").json() == {"bars": []}


def what_ann_has(ann) -> list:
    asked = [
        ann.get("/api/v1/my/library"),
        ann.get(f"/api/v1/my/indicators/{ANNS.script}/versions"),
        ann.get("/api/v1/my/bars"),
        ann.get("/api/v1/my/watchlists"),
    ]
    assert [each.status_code for each in asked] == [200] * 4
    return [each.json() for each in asked]


def draw(ann) -> dict:
    """The chart of ann's bars with ann's script."""
    asked = {"symbol": f"{ANNS.bars}@mine", "indicators": [ANNS.script], "format": "series"}
    drawn = ann.post("/api/v1/charts", json=asked)
    assert "Anns hidden line" in drawn.text
    return drawn.json()


def test_the_table_has_every_rest_route(ann):
    paths = ann.get("/openapi.json").json()["paths"]
    there = {f"{method} {path}" for path, methods in paths.items() for method in methods}
    assert set(rest(ANNS)) == there


def over_rest(bob, route: str, names: Names) -> list[tuple[int, str]]:
    """What the route answers to bob, who asks for what goes by these names."""
    method = route.split(maxsplit=1)[0]
    found = []
    for path, body in rest(names)[route]:
        answer = bob.request(method, path, **body)
        assert answer.status_code < 500, answer.text
        found.append((answer.status_code, same_for_all(answer.text, names)))
    if method == "put" or route.endswith("/restore"):  # and gone again, so that both begin alike
        bob.delete(f"/api/v1/my/indicators/{names.script}")
        bob.delete(f"/api/v1/my/bars/{names.bars}")
        bob.delete(f"/api/v1/my/watchlists/{names.script}")
    return found


def hidden(shown: object) -> list[str]:
    """What of ann's can be seen."""
    return [secret for secret in SECRETS if secret in str(shown)]


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("route", list(rest(ANNS)))
def test_over_rest_what_ann_has_answers_bob_like_what_nobody_has(bob, route):
    shown = over_rest(bob, route, ANNS)
    assert hidden(shown) == []
    assert shown == over_rest(bob, route, NOBODYS)


def test_the_tables_have_every_tool_resource_and_prompt(server):
    async def listed():
        async with over_http(server, "bob") as bob:
            templates = (await bob.list_resource_templates()).resource_templates
            fixed = (await bob.list_resources()).resources
            return (
                {each.name for each in (await bob.list_tools()).tools},
                {each.uri_template for each in templates} | {str(each.uri) for each in fixed},
                {each.name for each in (await bob.list_prompts()).prompts},
            )

    assert asyncio.run(listed()) == (set(tools(ANNS)), set(RESOURCES), set(PROMPTS))


def by_tool(server, bob, tool: str, names: Names) -> list[str]:
    """What the tool answers to bob, who asks for what goes by these names."""

    async def answers() -> list[str]:
        async with over_http(server, "bob") as client:
            found = []
            for arguments in tools(names)[tool]:
                answer = await client.call_tool(tool, arguments)
                found.append(same_for_all(answer.model_dump_json(), names))
            return found

    found = asyncio.run(answers())
    bob.delete(f"/api/v1/my/indicators/{names.script}")
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("tool", list(tools(ANNS)))
def test_over_mcp_what_ann_has_answers_bob_like_what_nobody_has(server, bob, tool):
    shown = by_tool(server, bob, tool, ANNS)
    assert hidden(shown) == []
    assert shown == by_tool(server, bob, tool, NOBODYS)


def by_resource(server, resource: str, names: Names) -> list[str]:
    """What bob reads of the resource by these names."""

    async def answers() -> list[str]:
        async with over_http(server, "bob") as client:
            found = []
            for uri in RESOURCES[resource]:
                try:
                    read = (await client.read_resource(uri.format(**vars(names)))).model_dump_json()
                except MCPError as error:
                    read = str(error.error)
                found.append(same_for_all(read, names))
            return found

    return asyncio.run(answers())


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("resource", RESOURCES)
def test_resources_of_ann_answer_bob_like_those_of_nobody(server, resource):
    shown = by_resource(server, resource, ANNS)
    assert hidden(shown) == []
    assert shown == by_resource(server, resource, NOBODYS)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("prompt", PROMPTS)
def test_prompts_know_nothing_of_anns(server, prompt):
    async def answer(names: Names) -> str:
        filled = {key: value.format(**vars(names)) for key, value in PROMPTS[prompt].items()}
        async with over_http(server, "bob") as client:
            return same_for_all((await client.get_prompt(prompt, filled)).model_dump_json(), names)

    assert asyncio.run(answer(ANNS)) == asyncio.run(answer(NOBODYS))
