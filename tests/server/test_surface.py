"""The tools as the design names them: arguments, answers, errors, and words on the way."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa
from mcp.server.mcpserver.exceptions import ToolError
from tests.server.conftest import SCRIPT
from tests.server.test_mcp import CHART, over_http

from chartpact.library.scripts import Scripts
from chartpact.server import app, mcp, shapes
from chartpact.server.refusals import NO_DATABASE, refuse
from chartpact.server.settings import Settings, UserLimits

NEEDED = "needed"
DRAWN = {
    "study_filter": "", "verbose": False, "symbol": None, "timeframe": None, "indicators": []
}  # fmt: skip
ARGUMENTS = {
    "list_indicators": {"filter": None, "detail": False},
    "get_language_reference": {"topic": None},
    "list_symbols": {},
    "generate_chart": {
        "symbol": None, "indicators": [], "timeframe": None, "bars": 200, "width": 1200,
        "height": 800, "theme": "dark", "format": "png", "inline_bars": None,
    },
    "get_chart_series": {
        "symbol": NEEDED, "indicators": [], "timeframe": None, "view": 200, "first": None,
        "last": None, "known": 3000, "drafts": [], "to": None,
    },
    "read_state": {
        "contracts": NEEDED, "symbol": NEEDED, "timeframe": None, "params": {}, "config": {},
        "profile": None, "to": None,
    },
    "study_signals": {
        "symbol": NEEDED, "timeframe": None, "bars": 5000, "long": [], "short": [], "states": [],
        "horizons": None, "sweep": [], "cost_ticks": None, "hold_out": 0.4, "confirm": False,
        "zone": None, "unit": "atr", "indicator": NEEDED,
    },
    "data_get_pine_labels": {**DRAWN, "max_labels": 0},
    "data_get_pine_lines": DRAWN,
    "data_get_pine_boxes": DRAWN,
    "data_get_pine_tables": DRAWN,
    "fork_indicator": {"builtin_name": NEEDED},
    "register_indicator": {"name": NEEDED, "source": NEEDED, "params_schema": None},
    "update_indicator": {"name": NEEDED, "source": NEEDED},
    "delete_indicator": {"name": NEEDED},
    "list_my_indicators": {},
    "get_indicator_source": {"name": NEEDED},
    "list_contracts": {},
    "get_contract": {"name": NEEDED},
    "register_contract": {"source": NEEDED},
    "delete_contract": {"name": NEEDED},
    "list_strategies": {},
    "get_strategy": {"name": NEEDED},
    "register_strategy": {"source": NEEDED},
    "delete_strategy": {"name": NEEDED},
    "draft_contract": {"study": NEEDED, "symbol": "sample:es-5m"},
    "follow_state": {
        "contracts": NEEDED, "symbol": NEEDED, "timeframe": None, "params": {}, "config": {},
        "profile": None, "every": 60,
    },
    "unfollow_state": {"id": NEEDED},
    "get_state_changes": {"id": None, "since": None},
}  # fmt: skip
PROBLEM = {"step", "kind", "line", "column", "message", "hint"}
# Passes the dry run on 100 bars, and fails on more.
FAILS_LATER = SCRIPT.replace(
    "    chart.line", "    if len(ohlcv) > 150:\n        fail('too many')\n    chart.line"
)


def asked(server, user, *calls):
    """The answers to calls of tools, in one session."""

    async def answers():
        async with over_http(server, user) as client:
            return [await client.call_tool(tool, arguments) for tool, arguments in calls]

    return asyncio.run(answers())


def test_every_tool_takes_exactly_the_arguments_of_the_design(server):
    async def listed():
        async with over_http(server, "ann") as ann:
            return (await ann.list_tools()).tools

    found = {}
    for tool in asyncio.run(listed()):
        needed = tool.input_schema.get("required", [])
        found[tool.name] = {
            name: NEEDED if name in needed else schema["default"]
            for name, schema in tool.input_schema["properties"].items()
        }
        # The stock TradingView server ignores arguments that it does not have.
        strict = not tool.name.startswith("data_get_pine_")
        assert (tool.input_schema.get("additionalProperties") is False) is strict
    assert found == ARGUMENTS


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("generate_chart", {**CHART, "last": 9}, "there is no argument 'last'; the arguments are"),
        ("generate_chart", {**CHART, "indicators": 7}, "indicators: Input should be a valid list"),
        ("generate_chart", {**CHART, "bars": 0}, "bars: Input should be greater than or equal"),
        ("generate_chart", {**CHART, "format": "gif"}, "format: Input should be 'png', 'svg'"),
        ("generate_chart", {}, "give either a symbol or inline_bars"),
        (
            "generate_chart",
            {**CHART, "indicators": ["rsi", "macd"], "width": 200, "height": 150},
            "panes do not fit into this height: ask for at least",
        ),
        ("generate_chart", {**CHART, "timeframe": "1M"}, "no complete 1M bar among these: ask for"),
        (
            "list_indicators",
            {"user": "ann"},
            "there is no argument 'user'; the arguments are filter, detail",
        ),
        ("register_indicator", {"name": "x"}, "source: Field required"),
        ("fork_indicator", {"builtin_name": "cypher_b"}, "did you mean 'cipher_b'"),
        ("fork_indicator", {"builtin_name": "oi"}, "'oi' cannot be forked: it draws readings"),
        ("get_indicator_source", {"name": "cipher_b"}, "a builtin: fork_indicator gives its sou"),
        ("update_indicator", {"name": "oi", "source": ""}, "a builtin: register_indicator puts a"),
        ("delete_indicator", {"name": "rsi"}, "is a builtin: builtins stay; delete_indicator del"),
        ("delete_indicator", {"name": "cipher_b"}, "a builtin which that replaced is then in for"),
        ("generate_chart", {"symbol": "BTC"}, "near: sample:btc-4h, sample:btc-1d: list_symbols"),
        ("generate_chart", {"symbol": "btcusd"}, "near: sample:btc-1d"),
        ("generate_chart", {"symbol": "sample:es5m"}, "did you mean 'es-5m'?: list_symbols lists"),
        ("generate_chart", {"symbol": "AAPL@yahoo"}, "sample:NAME: list_symbols lists what there"),
        ("generate_chart", {"symbol": "x@mine"}, "you have no bars called 'x': list_symbols list"),
        ("generate_chart", {**CHART, "indicators": [{"period": 3}]}, '0: an indicator is "rsi:per'),
        ("generate_chart", {**CHART, "indicators": [7]}, '0: an indicator is "rsi:period=7" or {'),
    ],
)
def test_what_a_tool_cannot_take_is_told_in_a_sentence(server, tool, arguments, told):
    [answer] = asked(server, "bob", (tool, arguments))
    assert answer.is_error
    assert told in answer.content[0].text
    assert "pydantic" not in answer.content[0].text


def test_outcomes_have_the_shapes_of_the_design(server):
    schema = [{"name": "n", "type": "int", "default": 4}]
    kept, broken, differs, listed, mine, source, gone = asked(
        server,
        "ann",
        ("register_indicator", {"name": "shape", "source": SCRIPT}),
        ("register_indicator", {"name": "shape", "source": SCRIPT + "\nx = nothing\n"}),
        ("register_indicator", {"name": "shape", "source": SCRIPT, "params_schema": schema}),
        ("list_indicators", {"detail": True}),
        ("list_my_indicators", {}),
        ("get_indicator_source", {"name": "shape"}),
        ("delete_indicator", {"name": "shape"}),
    )
    assert kept.structured_content == {"ok": True, "warnings": []}
    assert gone.structured_content == {"ok": True}
    for refused in (broken, differs):
        assert refused.structured_content["ok"] is False
        assert [set(each) for each in refused.structured_content["errors"]] == [PROBLEM]
    assert "PARAMS" in differs.structured_content["errors"][0]["message"]
    entries = listed.structured_content["indicators"]
    keys = {"name", "title", "aliases", "category", "source", "description", "params"}
    assert {frozenset(each) for each in entries} == {frozenset(keys)}
    assert [each["source"] for each in entries if each["name"] == "shape"] == ["user"]
    assert {each["source"] for each in entries} <= {"builtin", "pact", "user"}
    least = {"name", "type", "default", "min", "max", "options", "desc"}
    assert all(least <= set(param) for each in entries for param in each["params"])
    assert {"name", "title", "category"} <= set(mine.structured_content["indicators"][0])
    assert source.structured_content["source"] == SCRIPT


def test_a_chart_has_a_picture_values_signals_steps_and_each_indicators_own_error(server):
    asks = {**CHART, "bars": 200, "indicators": ["cipher_b", "fails", "nonsense", "rsi:period=7"]}
    _, drawn, series, _ = asked(
        server,
        "ann",
        ("register_indicator", {"name": "fails", "source": FAILS_LATER}),
        ("generate_chart", asks),
        ("generate_chart", {**asks, "format": "series"}),
        ("delete_indicator", {"name": "fails"}),
    )
    assert [block.type for block in drawn.content] == ["text", "image"]
    cipher, fails, unknown, rsi = drawn.structured_content["indicators"]
    assert cipher["signals"]
    assert set(cipher["signals"][0]) == {"bar", "confirmed_bar", "time", "value", "name"}
    assert (rsi["id"], set(rsi["last"])) == ("rsi:period=7", {"RSI"})
    assert set(fails["error"]) >= PROBLEM
    assert (fails["error"]["step"], fails["error"]["line"]) == ("run", 7)
    assert unknown["error"]["kind"] == "name"
    assert "time" not in drawn.structured_content
    assert "scene" not in cipher
    assert [block.type for block in series.content] == ["text"]
    assert len(series.structured_content["time"]) == 200
    assert len(series.structured_content["indicators"][3]["scene"]["plots"][0]["values"]) == 200


def test_indicators_are_listed_by_name_and_in_detail_where_that_is_asked_for(server):
    short, bands, detailed, none = asked(
        server,
        "ann",
        ("list_indicators", {}),
        ("list_indicators", {"filter": "Bands volume"}),
        ("list_indicators", {"filter": "bands volume", "detail": True}),
        ("list_indicators", {"filter": "cypher_b"}),
    )
    entries = short.structured_content["indicators"]
    assert len(entries) >= 58
    keys = {"name", "title", "category", "source"}
    assert {frozenset(entry) for entry in entries} == {frozenset(keys)}
    lines = short.content[0].text.splitlines()
    assert lines == [f"{entry['name']}: {entry['title']}" for entry in entries]
    assert bands.content[0].text == "vwap_bands: VWAP Bands"
    (entry,) = detailed.structured_content["indicators"]
    assert [param["name"] for param in entry["params"]][:1] == ["std_dev"]
    assert none.structured_content == {"indicators": []}
    assert "did you mean 'cipher_b'" in none.content[0].text


def test_an_indicator_like_no_other_names_the_tool_that_lists_them(server):
    [drawn] = asked(server, "ann", ("generate_chart", {**CHART, "indicators": "xyzzy"}))
    (unknown,) = drawn.structured_content["indicators"]
    assert unknown["error"]["hint"] == "list_indicators lists them"


def test_a_script_that_looks_ahead_is_warned_of_without_a_command_for_a_shell(server):
    ahead = SCRIPT.replace('ta.sma(ohlcv.close, params["n"])', "ohlcv.close / ohlcv.close[-1]")
    kept, _ = asked(
        server,
        "ann",
        ("register_indicator", {"name": "ahead", "source": ahead}),
        ("delete_indicator", {"name": "ahead"}),
    )
    (warning,) = kept.structured_content["warnings"]
    assert warning["kind"] == "lookahead"
    assert warning["hint"].startswith("a value of the last bar, such as close[-1], is not known")


@pytest.mark.parametrize("one", ["rsi", "rsi:period=7", {"name": "rsi", "period": 7}])
def test_one_indicator_may_stand_for_a_list_of_one(server, one):
    [drawn] = asked(server, "ann", ("generate_chart", {**CHART, "indicators": one}))
    (rsi,) = drawn.structured_content["indicators"]
    assert rsi["name"] == "rsi"
    with server.client("ann") as ann:
        ask = {**CHART, "indicators": one, "format": "summary"}
        answer = ann.post("/api/v1/charts", json=ask).raise_for_status().json()
    assert answer["indicators"][0]["id"] == rsi["id"]


def test_an_svg_comes_as_a_text_and_a_png_as_the_image(server):
    png, svg = asked(
        server,
        "ann",
        ("generate_chart", {**CHART, "format": "png"}),
        ("generate_chart", {**CHART, "format": "svg"}),
    )
    assert [block.type for block in png.content] == ["text", "image"]
    assert png.content[1].mime_type == "image/png"
    assert [block.type for block in svg.content] == ["text", "resource"]
    resource = svg.content[1].resource
    assert resource.mime_type == "image/svg+xml"
    assert resource.text.startswith("<svg")


def test_a_series_has_the_bars_that_were_asked_for_and_no_others(server):
    ask = {**CHART, "bars": 7, "indicators": ["rsi", "macd"], "format": "series"}
    [answer] = asked(server, "ann", ("generate_chart", ask))
    data = answer.structured_content
    assert len(data["time"]) == 7
    columns = [
        values
        for indicator in data["indicators"]
        for plot in indicator["scene"]["plots"]
        for values in plot.values()
        if isinstance(values, list)
    ]
    assert len(columns) > 4
    assert {len(values) for values in columns} == {7}


def test_the_language_reference_is_a_tool_too(server):
    whole, one, unknown = asked(
        server,
        "ann",
        ("get_language_reference", {}),
        ("get_language_reference", {"topic": "ta.ema"}),
        ("get_language_reference", {"topic": "ta.emma"}),
    )
    assert "def compute(ohlcv, params, chart)" in whole.content[0].text
    assert "`ema(source, n)`" in one.content[0].text
    assert unknown.is_error
    assert "near: ta.ema" in unknown.content[0].text


def test_a_forkable_builtins_source_can_be_read_as_a_resource_until_ones_own_takes_its_place(
    server,
):
    async def read():
        async with over_http(server, "ann") as ann:
            builtin = (await ann.read_resource("indicator://wavetrend")).contents[0].text
            await ann.call_tool("register_indicator", {"name": "wavetrend", "source": SCRIPT})
            own = (await ann.read_resource("indicator://wavetrend")).contents[0].text
            await ann.call_tool("delete_indicator", {"name": "wavetrend"})
            return builtin, own

    builtin, own = asyncio.run(read())
    assert '"title": "WaveTrend"' in builtin
    assert own == SCRIPT


def test_a_database_that_fails_is_told_as_something_that_passes(here, monkeypatch):
    def fails(*_):
        raise sa.exc.OperationalError("SELECT secrets", {}, Exception("disk I/O error"))

    def count() -> float:
        lines = httpx2.get(f"{here.url}/metrics").text.splitlines()
        [line] = [each for each in lines if each.startswith("chartpact_database_failures_total ")]
        return float(line.partition(" ")[2])

    before = count()
    monkeypatch.setattr(Scripts, "of", fails)
    with here.client("ann") as ann:
        refused = ann.get("/api/v1/my/indicators")
    assert (refused.status_code, refused.json()["message"]) == (503, NO_DATABASE)
    [answer] = asked(here, "ann", ("list_my_indicators", {}))
    assert answer.is_error
    assert NO_DATABASE in answer.content[0].text
    assert count() == before + 2


def test_what_nobody_foresaw_is_told_with_an_id_and_the_connection_serves_on(
    here, monkeypatch, caplog
):
    def fails(*_):
        raise RuntimeError("a secret of the library")

    with here.client("ann") as ann:
        with monkeypatch.context() as planted:
            planted.setattr(Scripts, "of", fails)
            failed = ann.get("/api/v1/my/indicators")
        assert failed.status_code == 500
        assert "request id" in failed.json()["message"]
        assert "secret" not in failed.text
        assert failed.headers["x-request-id"]
        for _ in range(3):
            assert ann.get("/api/v1/my/indicators").status_code == 200
    assert "a request failed" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "value", "kind"),
    [
        ("source", "x = (", "syntax"),
        ("source", SCRIPT.replace("ta.sma", "ta.gone"), "name"),
        (
            "meta_json",
            '{"params": [{"name": "n", "type": "gone", "default": 3}], "meta": {}}',
            None,
        ),
        ("meta_json", '{"params": [{"name": "n", "new": 1}], "meta": {}}', None),
        ("meta_json", "{", None),
        ("meta_json", "{}", None),
        ("meta_json", '{"params": 1, "meta": 2}', None),
    ],
)
def test_a_script_of_another_day_fails_its_own_panel_and_no_list(here, column, value, kind):
    with here.client("ann") as ann:
        ann.put("/api/v1/my/indicators/elder", json={"source": SCRIPT}).raise_for_status()
        engine = sa.create_engine(here.database)
        with engine.begin() as connection:
            change = f"UPDATE user_indicators SET {column} = :value WHERE name = 'elder'"
            connection.execute(sa.text(change), {"value": value})
        engine.dispose()
        ask = {**CHART, "indicators": ["elder", "rsi"], "format": "summary"}
        elder, rsi = ann.post("/api/v1/charts", json=ask).json()["indicators"]
        assert "RSI" in rsi["last"]
        assert elder.get("error", {}).get("kind") == kind
        assert ("last" in elder) is (kind is None)
        for path in ("indicators", "my/indicators", "my/library", "my/indicators/elder"):
            assert "elder" in ann.get(f"/api/v1/{path}").raise_for_status().text
        assert ann.delete("/api/v1/my/indicators/elder").json() == {"ok": True}


@dataclass
class Listener:
    heard: list[tuple[float, float, str]] = field(default_factory=list)

    async def report_progress(self, progress: float, total: float, message: str) -> None:
        self.heard.append((progress, total, message))


def test_long_work_is_heard_of_until_it_is_done(monkeypatch):
    monkeypatch.setattr(mcp, "BEAT_S", 0.02)
    listener = Listener()

    async def work() -> str:
        while len(listener.heard) < 4:
            await asyncio.sleep(0.01)
        return "drawn"

    assert asyncio.run(mcp._with_progress(listener, "drawing", 1.0, work())) == "drawn"
    progress = [each for each, _, _ in listener.heard]
    assert progress == sorted(set(progress))
    assert (progress[0], progress[-1]) == (0, 1)


def test_long_work_ends_with_whoever_waits_for_it():
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def leave() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await mcp._with_progress(Listener(), "drawing", 1.0, work())

    asyncio.run(leave())
    assert ended == [True]


def test_what_a_tool_refuses_is_an_error_the_model_can_read():
    tools: list[Any] = []

    @mcp._tool(tools, "Draw", mcp.READS)
    async def draw() -> str:
        """Draws nothing."""
        raise refuse("value", "not like this")

    with pytest.raises(ToolError, match="Error executing tool draw: not like this"):
        asyncio.run(tools[0].run({}, None))


def test_the_limits_that_a_schema_declares_are_the_true_ones(tmp_path):
    limits = UserLimits(indicators_per_chart=3, inline_bars=50)
    served = app.create(Settings(database=f"sqlite:///{tmp_path}/none.db", limits=limits))
    served.close()
    tools = {tool.name: tool.input_schema for tool in asyncio.run(served.mcp.list_tools())}
    chart = tools["generate_chart"]
    assert [kind["maxItems"] for kind in chart["properties"]["indicators"]["anyOf"][-1:]] == [3]
    assert chart["$defs"]["InlineBars"]["properties"]["close"]["maxItems"] == 50
    register = tools["register_indicator"]["properties"]
    assert (register["name"]["maxLength"], register["source"]["maxLength"]) == (64, 65_536)
    schemas = served.api.openapi()["components"]["schemas"]
    assert shapes.LIMIT not in f"{tools} {schemas}"
    assert schemas["ChartAsk"]["properties"]["indicators"]["anyOf"][-1]["maxItems"] == 3
    assert schemas["InlineBars"]["properties"]["close"]["maxItems"] == 50
    assert schemas["NewScript"]["properties"]["source"]["maxLength"] == 65_536
    assert schemas["Library"]["properties"]["scripts"]["maxItems"] == 200


def test_the_openapi_document_declares_that_every_route_takes_a_token(ann):
    document = ann.get("/openapi.json").json()
    assert document["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    routes = [
        route
        for path, methods in document["paths"].items()
        if path.startswith("/api/v1")
        for route in methods.values()
    ]
    assert len(routes) > 10
    assert all(route["security"] == [{"HTTPBearer": []}] for route in routes)
