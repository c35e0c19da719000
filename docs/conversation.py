"""The page conversation.md: a first hour over MCP, from a real run with the official client."""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from mcp import Client, StdioServerParameters

PAGE = Path(__file__).with_name("conversation.md")
CHARACTERS_PER_TOKEN = 4
MOST_LINES = 14  # of an answer that are shown

FIRST = """PARAMS = [{"name": "n", "type": "int", "default": 20, "min": 2, "desc": "Bars"}]
META = {"title": "Distance from the average", "overlay": False}


def compute(ohlcv, params, chart):
    distance = (ohlcv.close - ta.emaa(ohlcv.close, params["n"])) / ta.atr(ohlcv, 14)
    chart.line(distance, title="Distance", color="teal")
    chart.dot(ta.crossunder(distance, 2), distance, color="red", label="back_down")
"""
MENDED = FIRST.replace("ta.emaa", "ta.ema")
ES = {"symbol": "sample:es-5m", "bars": 150}


class Turn(NamedTuple):
    """What the user says, and a call that the model makes for it."""

    said: str
    tool: str
    arguments: dict[str, Any]


TURNS = [
    Turn("What can you draw?", "list_symbols", {}),
    Turn("", "list_indicators", {"filter": "cipher"}),
    Turn("Draw ES with Cipher B.", "generate_chart", {"symbol": "ES", "indicators": "cipher_b"}),
    Turn("", "generate_chart", {**ES, "indicators": "cipher_b"}),
    Turn(
        "Show me how far the price is from its average, in average true ranges, and mark where it "
        "comes back from 2.",
        "get_language_reference",
        {},
    ),
    Turn("", "register_indicator", {"name": "distance", "source": FIRST}),
    Turn("", "register_indicator", {"name": "distance", "source": MENDED}),
    Turn("", "generate_chart", {**ES, "indicators": ["distance:n=50", "rsi"]}),
    Turn("Can I change WaveTrend?", "fork_indicator", {"builtin_name": "wavetrend"}),
    Turn(
        "Where does the trend stand?",
        "read_state",
        {"symbol": "sample:es-5m", "contracts": "ema_trend"},
    ),
    Turn("What is mine by now?", "list_my_indicators", {}),
    Turn("Tidy up. RSI can go too.", "delete_indicator", {"name": "distance"}),
    Turn("", "delete_indicator", {"name": "rsi"}),
]

INTRODUCTION = """\
<!-- Written by docs/conversation.py from a real run: `make docs` holds it again. -->

# A conversation over MCP

Everything below was said by `chartpact mcp` to the official Python client. What the user says is
quoted, the calls are what a model makes of it, and the answers are the text that a host hands to
its model; long ones are cut here. A token is counted as four characters. The first number is the
text, the second the structured content; hosts pass on one of them or both. A picture is counted by
each model in its own way.
"""


def tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def round_up(count: int) -> int:
    """To tens, as the last digit of a number may differ between processors."""
    return -(-count // 10) * 10


async def converse() -> tuple[str, int]:
    """The turns with their answers, and what all of them took."""
    parts, total = [], 0
    with tempfile.TemporaryDirectory() as folder:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "chartpact", "mcp", "--db", f"sqlite:///{folder}/library.db"],
            env={**os.environ, "CHARTPACT_SOURCES": ""},
        )
        async with Client(command) as client:
            for turn in TURNS:
                answer = await client.call_tool(turn.tool, turn.arguments)
                text = "".join(block.text for block in answer.content if block.type == "text")
                pictures = sum(block.type == "image" for block in answer.content)
                data = answer.structured_content
                compact = "" if data is None else json.dumps(data, separators=(",", ":"))
                counts = [round_up(tokens(text)), round_up(tokens(compact))]
                total += max(counts)
                parts.append(_write(turn, text, counts, pictures))
    return "\n".join(parts), total


def _write(turn: Turn, text: str, counts: list[int], pictures: int) -> str:
    said = f"> {turn.said}\n\n" if turn.said else ""
    shown = {name: value for name, value in turn.arguments.items() if name != "source"}
    arguments = ", ".join(f"{name}={json.dumps(value)}" for name, value in shown.items())
    script = turn.arguments.get("source")
    source = f"\n```python\n{script}```\n" if script == FIRST else ""
    arguments += ", source=…" if script else ""
    lines = text.rstrip("\n").splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES} lines more"]
    body = "\n".join(f"{line[:200]} …" if line.startswith("{") else line for line in lines)
    picture = ", and a picture" if pictures else ""
    fence = "````"
    return (
        f"{said}**`{turn.tool}({arguments})`**: {counts[0]} and {counts[1]} tokens{picture}\n"
        f"{source}\n{fence}text\n{body}\n{fence}\n"
    )


def page() -> str:
    turns, total = asyncio.run(converse())
    end = f"\nAll {len(TURNS)} answers together take {total} tokens, each by its larger part.\n"
    return f"{INTRODUCTION}\n{turns}{end}"
