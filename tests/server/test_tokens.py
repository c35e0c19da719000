"""What each answer costs a model: a table of budgets that fails when an answer outgrows its own.

A token is counted as four characters. Hosts hand their model the text of an answer, its structured
content, or both, so each has a budget.
"""

import asyncio
import json
from typing import Any, NamedTuple

import pytest
from tests.server.conftest import SCRIPT
from tests.server.test_mcp import over_http

from chartpact.indicators import table
from chartpact.server import chart_app

CHARACTERS_PER_TOKEN = 4
ES = {"symbol": "sample:es-5m", "format": "summary"}
SIGNALS = {"symbol": "sample:es-5m", "indicator": "supertrend", "long": ["flip_up"]}
PACT = {"symbol": "sample:es-5m", "indicators": ["fvg_ob_mss"]}
MANY = list(table())[:16]
WRONG = SCRIPT.replace("ta.sma(", "ta.smaa(")


class Budget(NamedTuple):
    tool: str
    arguments: dict[str, Any]
    text: int
    structured: int


BUDGETS = [
    Budget("list_symbols", {}, 100, 350),
    Budget("list_indicators", {}, 650, 2200),
    Budget("list_indicators", {"filter": "bands"}, 60, 200),
    Budget("list_indicators", {"filter": "rsi", "detail": True}, 1800, 1800),
    Budget("list_indicators", {"filter": "no such thing"}, 30, 10),
    Budget("list_indicators", {"detail": True}, 16000, 16000),
    Budget("generate_chart", {"symbol": "sample:es-5m"}, 80, 250),
    Budget("generate_chart", {**ES, "indicators": "rsi"}, 100, 250),
    Budget("generate_chart", {**ES, "indicators": "cipher_b"}, 300, 1000),
    Budget("generate_chart", {**ES, "indicators": "cipher_b", "bars": 2000}, 400, 1600),
    Budget("generate_chart", {**ES, "indicators": MANY, "bars": 2000}, 1000, 3500),
    Budget("generate_chart", {**ES, "indicators": "nonsense"}, 120, 300),
    Budget("generate_chart", {**ES, "indicators": "rsi", "bars": 50, "format": "series"}, 100, 900),
    Budget("generate_chart", {"symbol": "BTC"}, 60, 0),
    Budget("read_state", {"symbol": "sample:es-5m", "contracts": "ema_trend"}, 500, 500),
    Budget("list_contracts", {}, 300, 300),
    Budget("get_contract", {"name": "ema_trend"}, 1800, 1800),
    Budget("read_state", {"symbol": "sample:es-5m", "contracts": "session_turn"}, 600, 600),
    Budget("study_signals", SIGNALS, 850, 900),
    Budget("list_strategies", {}, 600, 600),
    Budget("get_strategy", {"name": "session_turn"}, 1600, 1600),
    Budget("register_strategy", {"source": "name: thrift"}, 250, 250),
    Budget("delete_strategy", {"name": "thrift"}, 60, 0),
    Budget("draft_contract", {"study": "ema_trend"}, 1200, 1200),
    Budget("register_contract", {"source": "name: thrift"}, 250, 250),
    Budget("delete_contract", {"name": "thrift"}, 40, 0),
    Budget("follow_state", {"symbol": "sample:es-5m", "contracts": "ema_trend"}, 80, 80),
    Budget("get_state_changes", {}, 60, 60),
    Budget("unfollow_state", {"id": 1}, 5, 10),
    Budget("data_get_pine_labels", {**PACT}, 1000, 0),
    Budget("data_get_pine_lines", {**PACT}, 20, 0),
    Budget("data_get_pine_boxes", {**PACT}, 150, 0),
    Budget("data_get_pine_boxes", {**PACT, "verbose": True}, 1500, 0),
    Budget("data_get_pine_tables", {**PACT}, 600, 0),
    Budget("get_language_reference", {}, 1300, 0),
    Budget("get_language_reference", {"topic": "ta"}, 1800, 0),
    Budget("get_language_reference", {"topic": "chart"}, 800, 0),
    Budget("get_language_reference", {"topic": "pine"}, 2400, 0),
    Budget("get_language_reference", {"topic": "ta.ema"}, 100, 0),
    Budget("get_language_reference", {"topic": "nothing"}, 300, 0),
    Budget("register_indicator", {"name": "thrift", "source": WRONG}, 60, 80),
    Budget("register_indicator", {"name": "thrift", "source": SCRIPT}, 5, 15),
    Budget("update_indicator", {"name": "thrift", "source": SCRIPT}, 5, 15),
    Budget("list_my_indicators", {}, 20, 80),
    Budget("get_indicator_source", {"name": "thrift"}, 100, 200),
    Budget("fork_indicator", {"builtin_name": "cipher_b"}, 2200, 2600),
    Budget("delete_indicator", {"name": "thrift"}, 5, 10),
    Budget("delete_indicator", {"name": "rsi"}, 70, 0),
]
# Named by what is read; a resource is a whole page, which hosts fetch when their user says so.
OTHERS = {"tools": 6700, "docs://language": 5000, "docs://ta": 13000, "prompt": 150}


def tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)


async def read_others(client: Any) -> dict[str, int]:
    tools = (await client.list_tools()).tools
    shown = [{"n": t.name, "d": t.description, "s": t.input_schema} for t in tools]
    prompt = await client.get_prompt("write_an_indicator", {"idea": "x"})
    pages = {
        uri: tokens((await client.read_resource(uri)).contents[0].text)
        for uri in ("docs://language", "docs://ta")
    }
    return {
        "tools": tokens(json.dumps(shown)),
        "prompt": tokens(prompt.messages[0].content.text),
        **pages,
    }


@pytest.fixture(scope="module")
def costs(server) -> tuple[list[tuple[int, int]], dict[str, int], set[str]]:
    """What the text and the structured part of each answer take, in one session."""

    async def ask():
        async with over_http(server, "fay") as client:
            taken = []
            for budget in BUDGETS:
                answer = await client.call_tool(budget.tool, budget.arguments)
                texts = "".join(block.text for block in answer.content if block.type == "text")
                data = answer.structured_content
                compact = "" if data is None else json.dumps(data, separators=(",", ":"))
                taken.append((tokens(texts), tokens(compact)))
            tools = (await client.list_tools()).tools  # of which hosts keep one from models
            names = {tool.name for tool in tools if tool.meta != chart_app.APP_ONLY}
            return taken, await read_others(client), names

    return asyncio.run(ask())


@pytest.mark.slow
def test_no_answer_takes_more_tokens_than_its_budget(costs):
    over = [
        (budget.tool, budget.arguments, taken)
        for budget, taken in zip(BUDGETS, costs[0], strict=True)
        if taken[0] > budget.text or taken[1] > budget.structured
    ]
    assert not over, "\n".join(map(str, over))


def test_no_budget_is_so_wide_that_an_answer_could_double_unseen(costs):
    wide = [
        (budget.tool, budget.arguments, taken)
        for budget, taken in zip(BUDGETS, costs[0], strict=True)
        if budget.text > 2 * taken[0] + 20 or budget.structured > 2 * taken[1] + 20
    ]
    assert not wide, "\n".join(map(str, wide))


def test_every_tool_has_a_budget_and_what_else_is_read_has_one_too(costs):
    assert {budget.tool for budget in BUDGETS} == costs[2]
    assert {name: taken for name, taken in costs[1].items() if taken > OTHERS[name]} == {}
