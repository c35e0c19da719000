"""A small strategy for tests, with whatever a test puts in place of a part."""

import textwrap

from chartpact.contracts import ContractError
from chartpact.contracts.reading.result import ChartFacts
from chartpact.strategies import bind, decide, load
from chartpact.strategies.moment import InputState, look

BAR = 300_000
START = 1_710_507_600_000  # Friday, 2024-03-15 13:00 UTC

PARTS = {
    "head": "strategy: small\nversion: 1.0.0",
    "inputs": """
        inputs:
          trend: {contract: ema_trend, major: 1}
          news: {contract: economic_calendar, major: 1}
        """,
    "facts": """
        facts:
          side: {is: trend.direction, none: unknown}
          near: {is: news.blackout, none: unknown}
          free: not news.holiday
        """,
    "blocks": "blocks: {event: {when: near, say: an event is near}}",
    "factors": """
        factors:
          moves: {when: side != 'neutral', weight: 2}
          open: {when: free, weight: 1}
        """,
    "grades": "grades: {A: 3, B: 1, C: 0}",
    "latches": """
        latches:
          seen: {set: side == 'bullish' and not blocked}
          left: {set: side == 'bearish', after: seen}
        """,
    "epoch": "epoch: trading_day(chart.last_time, '18:00 America/New_York')",
    "tables": """
        tables:
          permission:
            observe: [side, blocked]
            rows:
              LONG: {side: bullish, blocked: false}
              SHORT: {side: bearish, blocked: false}
              NONE: otherwise
          setup:
            observe: [seen, left]
            rows:
              IDLE: {seen: false}
              ARMED: {seen: true, left: false}
              OVER: {seen: true, left: true}
            initial: [IDLE, ARMED]
            transitions: {IDLE: [ARMED], ARMED: [OVER]}
          call:
            observe: [permission, grade]
            rows:
              TAKE: {permission: [LONG, SHORT], grade: [A, B]}
              PASS: otherwise
        """,
    "never": "never: [{call: TAKE, near: true}]",
}


def text(**parts):
    merged = {**PARTS, **parts}
    return "\n".join(textwrap.dedent(part).strip() for part in merged.values() if part) + "\n"


def make(**parts):
    return load(text(**parts))


def faults(**parts):
    """What is wrong, as (line, path, message, hint)."""
    try:
        make(**parts)
    except ContractError as error:
        return [(one.line, one.path, one.message, one.hint) for one in error.problems]
    return []


def states(side="bullish", near=False, holiday=False):
    return {"trend": {"direction": side}, "news": {"blackout": near, "holiday": holiday}}


def moment(strategy, states, bar=0, confirmed=True, previous=None, **healths):
    """The moment at a bar; `healths` are inputs that are refused, stale or missing."""
    last = START + bar * BAR
    facts = ChartFacts(
        "ES", "5m", confirmed, None, last, last - BAR if previous is None else previous
    )
    inputs = {
        name: InputState(contract.name, contract.version, "ok", last, states.get(name))
        for name, contract in strategy.contracts.items()
    }
    for name, health in healths.items():
        contract = strategy.contracts[name]
        inputs[name] = InputState(contract.name, contract.version, health)
    chart = {"symbol": "ES", "timeframe": "5m", "last_time": last, "last_price": 5000.0}
    return look(bind(strategy), inputs, chart, facts, "a test")


def decided(*moments, memory=None):
    """The decision at the last of several moments."""
    for one in moments:
        decision = decide(one, memory)
        memory = decision.memory
    return decision
