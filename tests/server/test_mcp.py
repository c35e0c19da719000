import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import INVALID_PARAMS
from tests.server.conftest import SCRIPT, TOKENS
from tests.service import PLAIN

import chartpact as cp

TOOLS = {
    "list_symbols", "list_indicators", "generate_chart", "register_indicator", "update_indicator",
    "delete_indicator", "list_my_indicators", "get_indicator_source", "fork_indicator",
    "get_language_reference", "read_state", "study_signals", "data_get_pine_labels",
    "data_get_pine_lines", "data_get_pine_boxes", "data_get_pine_tables",
}  # fmt: skip
CHART = {"symbol": "sample:es-5m", "bars": 60}
COLUMNS = ("time", "open", "high", "low", "close", "volume")


async def whole_life(client: Client) -> None:
    assert {tool.name for tool in (await client.list_tools()).tools} >= TOOLS

    async def call(tool: str, **arguments):
        answer = await client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        return answer

    mine = await call("register_indicator", name="mine", source=SCRIPT)
    assert mine.structured_content == {"ok": True, "warnings": []}
    listed = (await call("list_my_indicators")).structured_content["indicators"]
    assert [each["name"] for each in listed] == ["mine"]
    drawn = await call("generate_chart", indicators=["mine", "rsi"], **CHART)
    kinds = [block.type for block in drawn.content]
    assert kinds == ["text", "image"]
    assert drawn.content[1].mime_type == "image/png"
    assert [each["id"] for each in drawn.structured_content["indicators"]] == ["mine", "rsi"]
    state = await call("read_state", contracts=["ema_trend"], symbol="sample:es-5m")
    assert state.structured_content["readings"]["ema_trend"]["state"]["trend"] == "BEAR"
    changed = SCRIPT.replace("Average", "Mean")
    assert (await call("update_indicator", name="mine", source=changed)).structured_content["ok"]
    source = (await call("get_indicator_source", name="mine")).structured_content["source"]
    assert source == changed
    read = await client.read_resource("indicator://mine")
    assert read.contents[0].text == changed
    fork = (await call("fork_indicator", builtin_name="cipher_b")).structured_content
    registered = await call(
        "register_indicator",
        name="cipher_b",
        source=fork["source"],
        params_schema=fork["params_schema"],
    )
    assert registered.structured_content == {"ok": True, "warnings": []}
    drawn = await call("generate_chart", indicators=["cipher_b"], format="summary", **CHART)
    assert drawn.structured_content["indicators"][0]["steps"] > 0
    for name in ("cipher_b", "mine"):
        assert (await call("delete_indicator", name=name)).structured_content == {"ok": True}
    drawn = await call("generate_chart", indicators=["cipher_b"], format="summary", **CHART)
    assert "steps" not in drawn.structured_content["indicators"][0]
    missing = await client.call_tool("update_indicator", {"name": "mine", "source": SCRIPT})
    assert missing.is_error
    assert "you have no indicator 'mine'" in missing.content[0].text


@asynccontextmanager
async def over_http(server, user: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {TOKENS[user]}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=600, verify=PLAIN) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
    ):
        yield client


@pytest.mark.slow
def test_over_http_a_script_lives_its_whole_life_for_two_users_at_once(server):
    async def both() -> None:
        async with over_http(server, "ann") as ann, over_http(server, "bob") as bob:
            await asyncio.gather(whole_life(ann), whole_life(bob))

    asyncio.run(both())


def test_tools_say_what_they_do_and_what_they_change(server):
    async def listed():
        async with over_http(server, "ann") as ann:
            return (await ann.list_tools()).tools

    for tool in asyncio.run(listed()):
        assert len(tool.description) > 40, tool.name
        assert tool.annotations.read_only_hint is not None, tool.name
        # A page of prose is a text, and would come twice if it were structured too; the replies
        # of the stock TradingView server are texts.
        is_text = tool.name.startswith(("get_language_reference", "data_get_pine_"))
        assert (tool.output_schema is None) is is_text, tool.name
    writing = {t.name for t in asyncio.run(listed()) if not t.annotations.read_only_hint}
    assert writing == {
        *("register_indicator", "update_indicator", "delete_indicator"),
        *("register_contract", "delete_contract", "follow_state", "unfollow_state"),
        *("register_strategy", "delete_strategy"),
    }


def test_the_language_and_the_functions_can_be_read_and_the_prompts_name_the_tools(server):
    async def read():
        async with over_http(server, "ann") as ann:
            language = (await ann.read_resource("docs://language")).contents[0].text
            functions = (await ann.read_resource("docs://ta")).contents[0].text
            prompt = await ann.get_prompt("fork_and_modify", {"builtin": "rsi", "change": "x"})
            return language, functions, prompt.messages[0].content.text

    language, functions, prompt = asyncio.run(read())
    assert "compute(ohlcv, params, chart)" in language
    assert "supertrend" in functions
    assert "fork_indicator" in prompt


@pytest.mark.parametrize("uri", ["indicator://not_mine", "indicator://..%2Fx", "docs://nothing"])
def test_an_unknown_resource_is_an_error(server, uri):
    async def read():
        async with over_http(server, "bob") as bob:
            with pytest.raises(MCPError):
                await bob.read_resource(uri)

    asyncio.run(read())


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("write_an_idea", {"idea": "x"}, "there are write_an_indicator, fork_and_modify"),
        ("fork_and_modify", {"builtin": "rsi"}, "it needs change; the arguments are builtin, chan"),
        ("write_an_indicator", {"idea": "x", "n": "1"}, "the arguments are idea"),
    ],
)
def test_a_prompt_asked_for_wrongly_says_what_it_takes(server, name, arguments, told):
    async def asked() -> MCPError:
        async with over_http(server, "ann") as ann:
            with pytest.raises(MCPError) as raised:
                await ann.get_prompt(name, arguments)
            return raised.value

    error = asyncio.run(asked())
    assert error.code == INVALID_PARAMS
    assert told in error.message


def test_every_argument_of_a_prompt_is_described(server):
    async def listed():
        async with over_http(server, "ann") as ann:
            return (await ann.list_prompts()).prompts

    assert all(each.description for prompt in asyncio.run(listed()) for each in prompt.arguments)


def test_what_is_refused_before_it_is_read_is_told_to_the_client_too(server):
    async def sends_too_much() -> MCPError:
        async with over_http(server, "ann") as ann:
            with pytest.raises(MCPError) as raised:
                await ann.call_tool("register_indicator", {"name": "x", "source": "#" * (5 << 20)})
            return raised.value

    assert "the body is over" in asyncio.run(sends_too_much()).message
    with server.client() as nobody:
        refused = nobody.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    told = refused.json()["error"]
    assert (refused.status_code, told["code"], told["data"]["kind"]) == (401, -32600, "forbidden")
    assert "Authorization: Bearer" in told["message"]


def test_a_pair_and_a_calendar_of_the_users_own_are_read_over_mcp(server, ann):
    """Uploads by name; the samples bring theirs; nobody reads another's, nor a file of the host."""
    bars = cp.load("sample:es-5m")
    rows = zip(*(getattr(bars, name).tolist() for name in COLUMNS), strict=True)
    pair = "\n".join([",".join(COLUMNS), *(",".join(map(repr, row)) for row in rows)])
    last = int(bars.close_time[-1])
    events = [
        {"title": "Rate", "time_utc": last + 120_000, "impact": "high", "currency": "USD"},
        {"title": "Later", "time_utc": last + 86_400_000, "impact": "high", "currency": "USD"},
    ]
    put = "/api/v1/my/bars/"
    assert ann.put(f"{put}twin?tick_size=0.25", content=pair).json()["bars"] == len(bars)
    stored = ann.put(f"{put}news", content=json.dumps(events)).json()
    assert (stored["events"], stored["bars"], stored["first"]) == (2, 0, last + 120_000)
    assert "news@mine" not in {s["symbol"] for s in ann.get("/api/v1/symbols").json()["symbols"]}
    contracts = ["smt", "smt_divergences", "economic_calendar"]
    ask = {"contracts": contracts, "symbol": "sample:es-5m"}
    own = {"pair": "twin@mine", "calendar": "news@mine"}

    async def read(name: str, **params: str):
        async with over_http(server, name) as client:
            answer = await client.call_tool("read_state", {**ask, "params": params})
            return answer.content[0].text, answer.structured_content

    def states(told):
        return {name: reading["state"] for name, reading in told[1]["readings"].items()}

    told = states(asyncio.run(read("ann", **own)))
    # An instrument does not diverge from itself, and the event is two minutes away.
    assert told["smt"]["divergences"] == told["smt_divergences"]["divergences"] == []
    assert (told["economic_calendar"]["news"], told["economic_calendar"]["blackout"]) == (
        "PRE",
        True,
    )
    samples = states(asyncio.run(read("ann")))
    assert samples["smt"]["divergences"]
    assert samples["economic_calendar"]["events"]
    for name, params in (("bob", own), ("ann", {"calendar": "/etc/hostname"})):
        words, _ = asyncio.run(read(name, **params))
        assert "calendar=" in words or "pair=" in words
