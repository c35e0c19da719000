"""Faults of chartpact's own, planted in what a script calls: they are not told as the script's."""

import logging

import pytest
from tests.cases import in_one_test

from chartpact import script, ta
from chartpact.sandbox import answers, scripts, tasks
from chartpact.sandbox.pool import Answered
from chartpact.script.dry_run import dry_run_bars
from chartpact.script.host import payload, text
from chartpact.script.host import ta as host_ta
from chartpact.script.host.chart import ScriptChart
from chartpact.script.host.ohlcv import Ohlcv
from chartpact.script.runtime.operators import Operators
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.strings import StringMethods

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\ndef compute(ohlcv, params, chart):\n'


def unassigned(*_, **__):
    if __name__ == "never":
        value = 1
    return value


def misnamed(*_, **__):
    return "".no_such_attribute


def miscalled(*_, **__):
    return len(1, 2)


def missing(*_, **__):
    return {}["secret"]


def outside(*_, **__):
    return list(range(3))[5]


def divided(*_, **__):
    return 1 // 0


def unbelievable(*_, **__):
    raise AssertionError("never")


def unusable(*_, **__):
    raise ValueError("never")


FAULTS = [unassigned, misnamed, miscalled, missing, outside, divided, unbelievable, unusable]
PLACES = [
    (ta, "sma", "x = ta.sma(ohlcv.close, 5)"),
    (ScriptChart, "hline", "chart.hline(1.5)"),
    (Ohlcv, "resample", 'x = ohlcv.resample("1D")'),
    (text.FUNCTIONS, "number", "x = text.number(1.5)"),
    (payload, "_format_value", 'x = payload.label({"A": 1})'),
    (StringMethods, "upper", 'x = "a".upper()'),
    (Operators, "_in_sequence", "x = 1 in [1, 2]"),
    (Series, "_condition_of", "x = (ohlcv.close > 1) & True"),
]


def plant(monkeypatch, holder, name, fault):
    if holder is ta:
        monkeypatch.setattr(ta, "FUNCTIONS", {**ta.FUNCTIONS, name: fault})
        monkeypatch.setattr(host_ta, "DECLARED", host_ta.declare(ta.FUNCTIONS))
    elif isinstance(holder, dict):
        monkeypatch.setitem(holder, name, fault)
    else:
        monkeypatch.setattr(holder, name, fault)


def failure(line: str) -> script.ScriptError:
    with pytest.raises(script.ScriptError) as caught:
        script.execute(script.load(f"{HEAD}    y = 1\n    {line}\n"), dry_run_bars())
    return caught.value


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("holder", "name", "line"), PLACES, ids=[each[1] for each in PLACES])
def test_a_fault_in_the_host_is_told_as_the_hosts(monkeypatch, holder, name, line, fault):
    plant(monkeypatch, holder, name, fault)
    error = failure(line)
    assert (error.step, error.kind, error.line) == ("run", "crash", 5), error.to_json()
    assert error.message == "chartpact itself failed while it ran this line"
    assert "report it" in error.hint
    assert fault.__name__ in error.internal
    assert "internal" not in error.to_json()


@in_one_test(
    ("line", "kind", "said"),
    [
        ("x = 1 // 0", "value", "division by zero"),
        ("x = y // 0.0", "value", "division by zero"),
        ("x = [1][y]", "value", "outside"),
        ("x = ohlcv.close[1000]", "value", "outside"),
        ('x = {"a": 1}[str(y)]', "value", "no key"),
        ("x = {(1, 2): 1}[(1, y)]", "value", "no key"),
        ("x = (lambda: 1)(y)", "type", "too many"),
        ('x = "a".upper(y)', "type", "too many"),
        ("x = text.number()", "type", "without"),
        ("x = ta.sma()", "type", "sma"),
        ("x = ta.atr(ohlcv)", "type", "atr"),
        ("x = ta.where(y > 0)", "type", "where"),
        ("x = ta.hour(ohlcv.time, ohlcv.close)", "value", "time zone"),
        ("x = (1 << 1023) * 4 / 3.0", "value", "1024 bits"),
        ("x = ((1 << 1023) + (1 << 1022)) * 1.5 + ((1 << 1023) + ((1 << 1023) - 1))", "value", ""),
        ("x = ((1 << 1023) + ((1 << 1023) - 1)) / 1.5", "value", "too large"),
    ],
)
def test_a_fault_of_the_script_stays_the_scripts(line, kind, said):
    error = failure(line)
    assert (error.kind, error.internal) == (kind, ""), error.to_json()
    assert said in error.message, error.message


def test_the_operator_reads_in_the_log_what_failed(monkeypatch, caplog):
    monkeypatch.setattr(scripts, "_is_unprotected", lambda *_: True)
    plant(monkeypatch, ScriptChart, "hline", unassigned)
    with caplog.at_level(logging.ERROR), pytest.raises(script.ScriptError):
        scripts.run(HEAD + "    chart.hline(1)\n", dry_run_bars())
    assert "UnboundLocalError" in caplog.text
    assert "unassigned" in caplog.text


def test_what_a_child_says_failed_is_logged_in_one_line(caplog):
    error = {"step": "run", "kind": "crash", "message": "m", "hint": "h"}
    said = Answered({"error": error, "internal": "one\ntwo \x1b[31m" + "x" * 99_999}, [])
    with caplog.at_level(logging.ERROR), pytest.raises(script.ScriptError):
        answers.read_answer(lambda *_: None, said, "run")
    [record] = caplog.records
    assert "one\\ntwo \\x1b" in record.getMessage()
    assert len(record.getMessage()) < 5_000


@pytest.mark.parametrize("internal", [None, 5, ["x"], ""])
def test_what_a_child_says_amiss_is_not_logged(caplog, internal):
    error = {"step": "run", "kind": "value", "message": "m", "hint": "h"}
    with caplog.at_level(logging.ERROR), pytest.raises(script.ScriptError):
        answers.read_answer(
            lambda *_: None, Answered({"error": error, "internal": internal}, []), "run"
        )
    assert not caplog.records


def test_a_task_that_fails_in_a_child_is_answered_with_what_failed():
    document, columns = tasks.answer_faults(unassigned)({}, [])
    assert document["error"]["kind"] == "crash"
    assert "UnboundLocalError" in document["internal"]
    assert columns == []
    with pytest.raises(MemoryError):
        tasks.answer_faults(_exhausted)({}, [])


def _exhausted(*_):
    raise MemoryError
