"""Every proof refuses a file that breaks it, with the line, a witness and a remedy."""

import pytest
from small_strategies import faults, make, text

TABLES = """
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
    """


def test_the_small_strategy_is_proved():
    assert faults() == []


@pytest.mark.parametrize(
    ("parts", "path", "message"),
    [
        (
            {
                "inputs": "inputs: {trend: {contract: ema_trend, major: 9}, "
                "news: {contract: economic_calendar, major: 1}}"
            },
            "inputs.trend.major",
            "ema_trend is at 1.",
        ),
        (
            {"inputs": "inputs: {trend: {contract: emma, major: 1}}"},
            "inputs.trend.contract",
            "there is no contract 'emma'",
        ),
        (
            {"facts": "facts: {side: trend.direktion, near: false, free: true}"},
            "facts.side.is",
            "trend has no 'direktion'",
        ),
        (
            {
                "facts": "facts: {side: trend.direction == 'bullish', near: news.holiday, "
                "free: news.tentative_day}"
            },
            "facts.side.is",
            "trend.direction may be none here",
        ),
        (
            {"facts": "facts: {side: trend.direction, near: news.holiday, free: true}"},
            "facts.side",
            "side may be none, and nothing is said of that",
        ),
        (
            {"facts": "facts: {side: trend.averages.fast, near: news.holiday, free: true}"},
            "facts.side",
            "this is a number",
        ),
        (
            {
                "facts": "facts: {side: {is: trend.direction, none: unknown}, "
                "near: {is: news.holiday, none: unknown}, free: news.tentative_day}"
            },
            "facts.near.none",
            "near is never none",
        ),
        (
            {
                "facts": "facts: {side: {is: trend.direction, none: unknown}, "
                "near: not free, free: not near}"
            },
            "facts.near",
            "near → free → near: they refer to each other",
        ),
        (
            {"blocks": "blocks: {event: {when: near or not near, say: always}}"},
            "blocks.event.when",
            "event holds always",
        ),
        (
            {
                "factors": "factors: {moves: {when: side == 'neutral' and side == 'bullish', "
                "weight: 2}, open: {when: free, weight: 1}}"
            },
            "factors.moves.when",
            "moves holds never",
        ),
        (
            {"grades": "grades: {A: 4, B: 1, C: 0}"},
            "grades.A",
            "no score reaches A: scores go from 0 to 3",
        ),
        (
            {"grades": "grades: {A: 1, B: 3, C: 0}"},
            "grades",
            "grades go from the best to the worst, and the last begins at 0",
        ),
        (
            {"tables": TABLES.replace("NONE: otherwise", "NONE: {blocked: true}")},
            "tables.permission.rows",
            "side = neutral, blocked = false: nothing is said",
        ),
        (
            {"tables": TABLES.replace("{side: bearish, blocked: false}", "{blocked: false}")},
            "tables.permission.rows.SHORT",
            "side = bullish, blocked = false: LONG and SHORT",
        ),
        (
            {
                "tables": TABLES.replace(
                    "NONE: otherwise",
                    "NONE: otherwise\n          ODD: {side: bullish, blocked: [], }",
                )
            },
            "tables.permission.rows.ODD",
            "ODD never decides anything",
        ),
        (
            {
                "tables": TABLES.replace(
                    "transitions: {IDLE: [ARMED], ARMED: [OVER]}", "transitions: {IDLE: [ARMED]}"
                )
            },
            "tables.setup.transitions",
            "ARMED can be followed by OVER: with seen set and then",
        ),
        (
            {"tables": TABLES.replace("ARMED: [OVER]}", "ARMED: [OVER], OVER: [ARMED]}")},
            "tables.setup.transitions.OVER",
            "OVER is never followed by ARMED",
        ),
        (
            {"tables": TABLES.replace("initial: [IDLE, ARMED]", "initial: [IDLE]")},
            "tables.setup.initial",
            "an epoch can begin with ARMED",
        ),
        (
            {"tables": TABLES.replace("initial: [IDLE, ARMED]", "initial: [IDLE, ARMED, OVER]")},
            "tables.setup.initial",
            "no epoch begins with OVER",
        ),
        (
            {"never": "never: [{call: TAKE, free: false}]"},
            "never.0",
            "it can happen: ",
        ),
        (
            {"never": "never: [{call: TAKEN}]"},
            "never.0.call",
            "call is never 'TAKEN'",
        ),
        (
            {"mirror": "mirror: {bullish: bearish}"},
            "tables.permission.rows.LONG",
            "side = bullish, blocked = false gives LONG, its mirror image gives SHORT",
        ),
        (
            {"mirror": "mirror: {bullish: bearish, LONG: SHORT}"},
            "latches.seen.set",
            "seen holds with side = bullish",
        ),
        (
            {
                "inputs": "inputs: {trend: {contract: ema_trend, major: 1}, "
                "news: {contract: economic_calendar, major: 1}, macro: {contract: macro, major: 1}}"
            },
            "inputs.macro",
            "no fact looks at it",
        ),
        (
            {"windows": "windows: {lunch: {zone: America/New_York, from: '11:30', to: '13:00'}}"},
            "windows.lunch",
            "nothing looks at it",
        ),
        (
            {"config": "config: {most: {type: number, default: 3}}"},
            "config.most",
            "a threshold that may be changed has bounds",
        ),
        (
            {"reserved": "reserved: {facts: [free]}"},
            "reserved.facts.0",
            "'free' is reserved, yet used",
        ),
        (
            {
                "latches": "latches: {seen: {set: side == 'bullish', after: left}, "
                "left: {set: side == 'bearish', after: seen}}"
            },
            "latches.seen",
            "it is never set",
        ),
    ],
)
def test_a_file_that_breaks_a_proof_is_refused(parts, path, message):
    found = faults(**parts)
    line, _, told, hint = next(
        (one for one in found if one[1] == path), (None, None, f"nothing there: {found}", "")
    )
    assert told.startswith(message)
    assert line is not None
    assert hint


def test_a_table_of_too_many_combinations_is_refused():
    names = [f"f{n}" for n in range(17)]
    facts = "facts: {" + ", ".join(f"{name}: news.holiday" for name in names) + "}"
    rows = "rows: {A: {f0: true}, B: otherwise}"
    tables = f"tables: {{big: {{observe: [{', '.join(names)}], {rows}}}}}"
    found = faults(
        inputs="inputs: {news: {contract: economic_calendar, major: 1}}",
        facts=facts,
        tables=tables,
        blocks="",
        factors="",
        grades="",
        latches="",
        never="",
    )
    assert [one[1] for one in found] == ["tables.big.observe"]
    assert "131072 combinations" in found[0][2]


def test_the_order_of_a_mapping_decides_nothing():
    plain = make()
    facts = """
        facts:
          free: not news.holiday
          near: {none: unknown, is: news.blackout}
          side: {is: trend.direction, none: unknown}
        """
    turned = make(facts=facts)
    assert plain.logic.vectors == turned.logic.vectors
    assert {name: rule.table for name, rule in plain.logic.tables.items()} == {
        name: rule.table for name, rule in turned.logic.tables.items()
    }


@pytest.mark.parametrize(
    "source",
    [
        "",
        "[]",
        "strategy: x",
        "strategy: &a x\nversion: *a",
        "{" * 100_000,
        "strategy: x\n" * 2,
        "a: " + "9" * 70_000,
        text(facts="facts: {side: " + "(" * 900 + "}"),
        text(facts="facts: {side: {is: {is: 1}}}"),
        text(never="never: [{}, {side: {a: b}}, {nothing: 1}]"),
        text(
            tables="tables: {a: {observe: [b], rows: {X: {b: X}, Y: otherwise}}, "
            "b: {observe: [a], rows: {X: {a: X}, Y: otherwise}}}"
        ),
        text(
            tables="tables: {t: {observe: [side], rows: {"
            + ", ".join(f"R{n}: {{side: bullish}}" for n in range(2_000))
            + "}}}"
        ),
        text(latches="latches: {" + ", ".join(f"l{n}: {{set: free}}" for n in range(40)) + "}"),
        text(mirror="mirror: {bullish: bullish, LONG: NONE}"),
        text(windows="windows: {w: {zone: Mars/Base, from: '25:00', to: x}}"),
        text(epoch="epoch: trend"),
        text(grades="grades: {A: 1.5, A: 2}"),
        b"\xff\xfe",
    ],
)
def test_a_hostile_file_is_refused_in_words(source):
    from chartpact.contracts import ContractError
    from chartpact.strategies import load

    with pytest.raises(ContractError) as error:
        load(source)
    assert error.value.problems
