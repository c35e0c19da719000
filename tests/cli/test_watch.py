"""`chartpact watch`: changes as lines, as JSON and for a command; the next start goes on."""

import json
import os
import signal
import subprocess
import sys

import pytest

from chartpact.cli import BAD_INPUT, DONE, UNREACHABLE, main
from chartpact.library.database import open_database
from chartpact.library.follows import Follows
from chartpact.library.journal import Journal
from chartpact.library.local import LOCAL_USER

CONTRACT = """\
contract: small
version: 1.0.0
identity: {pine_title: Small}
channels: {labels: signal}
elements:
  mark: {from: labels, where: text == 'on', count: 0..1}
states:
  light:
    observe: {on: mark != none}
    rows: {OFF: {when: {on: false}}, ON: {when: {on: true}}}
    initial: "OFF"
    transitions: {OFF: ["ON"]}
output: {light: light.state}
"""
KEEP = """
import sys
open(sys.argv[1], "a").write(sys.stdin.read())
sys.exit(int(sys.argv[2]))
"""


@pytest.fixture
def chart(tmp_path, monkeypatch):
    """Writes a snapshot of a bar with such labels; the files of the test are in its folder."""
    monkeypatch.setenv("CHARTPACT_DB", f"sqlite:///{tmp_path}/library.db")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(CONTRACT)

    def write(bar, *texts, confirmed=True):
        at = {"n": 1, "bar": 1, "time": 60_000}
        labels = [{"id": n, "x": at, "y": float(n), "yloc": "price", "text": text}
                  for n, text in enumerate(texts)]  # fmt: skip
        facts = {"symbol": "ES", "timeframe": "1m", "confirmed": confirmed, "as_of": bar * 60_000}
        data = {
            "schema": 1,
            "chart": {**facts, "last_time": bar * 60_000},
            "source": {"name": "by hand"},
            "studies": [{"name": "Small", "labels": labels, "limits": {"labels": 50}}],
        }
        fresh = tmp_path / "fresh.json"
        fresh.write_text(json.dumps(data))
        os.replace(fresh, tmp_path / "drawn.json")

    return write


def watch(capsys, *more, reads=1):
    arguments = ["watch", "small.yaml", "--snapshot", "drawn.json", "--reads", str(reads)]
    code = main([*arguments, "--every", "0.1", *more])
    out, err = capsys.readouterr()
    return code, out, err


KEYS = {
    "type", "follow", "seq", "contract", "symbol", "timeframe", "kind", "machine", "key", "from",
    "to", "epoch", "skipped", "lapsed", "why", "violation", "as_of", "first_shown", "last_time",
}  # fmt: skip


def test_every_line_has_the_same_keys_and_what_is_only_shown_has_no_number(capsys, chart):
    chart(1)
    watch(capsys)
    chart(2, "on", confirmed=False)
    _, out, _ = watch(capsys, "--json")
    shown = json.loads(out)
    assert (shown["type"], shown["from"], shown["to"]) == ("shown", "OFF", "ON")
    assert set(shown) == KEYS - {"seq"}
    chart(2, confirmed=False)
    assert json.loads(watch(capsys, "--json")[1])["type"] == "withdrawn"
    chart(3, "on", "on")
    refused = json.loads(watch(capsys, "--json")[1])
    assert (refused["type"], set(refused)) == ("refused", KEYS)


def test_changes_are_lines_of_json_and_the_next_start_goes_on(capsys, chart):
    chart(1)
    code, out, err = watch(capsys, "--json", reads=2)
    assert (code, err) == (DONE, "")
    (started,) = map(json.loads, out.splitlines())
    assert set(started) == KEYS
    assert (started["type"], started["kind"], started["to"]) == ("change", "started", "OFF")
    chart(2, "on")
    _, out, _ = watch(capsys, "--json")
    (changed,) = map(json.loads, out.splitlines())
    assert (changed["seq"], changed["from"], changed["to"]) == (2, "OFF", "ON")
    assert watch(capsys, "--json") == (DONE, "", "")


def test_a_single_reading_leaves_no_journal(capsys, chart, tmp_path):
    chart(1)
    assert main(["read", "small.yaml", "--snapshot", "drawn.json"]) == DONE
    capsys.readouterr()
    assert not (tmp_path / "library.db").exists()


def test_people_read_lines_and_chart_text_cannot_break_them(capsys, chart):
    chart(1)
    watch(capsys)
    chart(2, "on")
    code, out, _ = watch(capsys)
    assert (code, out) == (DONE, "1970-01-01 00:02:00 ES 1m small: light changed: OFF → ON\n")
    chart(3)
    _, out, _ = watch(capsys)
    assert out.endswith("light illegal: ON → OFF (ON does not lead to OFF)\n")
    chart(4, "evil\n\x1b[2Jname")
    _, out, _ = watch(capsys)
    assert "small: refused: unexpected at channels.labels" in out
    assert out.count("\n") == 1
    assert "\x1b" not in out


def test_a_command_gets_each_change_and_what_it_refuses_again(capsys, chart, tmp_path):
    chart(1)
    (tmp_path / "keep.py").write_text(KEEP)

    def run(status):
        command = f"{sys.executable} keep.py kept.jsonl {status}"
        return watch(capsys, "--exec", command)

    code, _, err = run(1)
    assert code == UNREACHABLE
    assert "ended with 1; tried again" in err
    assert run(0)[0] == DONE
    assert run(0)[0] == DONE
    kept = [json.loads(line) for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert [one["seq"] for one in kept] == [1, 1]


MARKS = """\
contract: marks
version: 1.0.0
identity: {pine_title: Small}
channels: {labels: signal}
elements:
  mark: {from: labels, reads: {worn: text == 'off'}, key: [y]}
states:
  mark:
    observe: {worn: worn}
    rows: {NEW: {when: {worn: false}}, OLD: {when: {worn: true}}}
    initial: NEW
    transitions: {NEW: [OLD]}
    gone: forget
output: {marks: {from: mark, sort: x, give: {state: state}}}
"""


def test_kill_9_while_watching_loses_no_acknowledged_change(capsys, chart, tmp_path):
    (tmp_path / "small.yaml").write_text(MARKS)
    command = [sys.executable, "-m", "chartpact", "watch", "small.yaml", "--snapshot", "drawn.json"]
    told = []
    for bar in (1, 3):
        chart(bar, *["on"] * bar)  # a mark more with every bar, so there is always a change
        with subprocess.Popen(
            [*command, "--every", "0.1", "--json"], stdout=subprocess.PIPE, text=True
        ) as watching:
            told.append(json.loads(watching.stdout.readline()))
            chart(bar + 1, *["on"] * (bar + 1))
            watching.send_signal(signal.SIGKILL)  # whatever it is about to do
            told += map(json.loads, watching.stdout.read().splitlines())
    chart(5, *["on"] * 5)
    code, out, _ = watch(capsys, "--json")  # the dead reader's lease is taken over
    assert code == DONE
    told += map(json.loads, out.splitlines())
    database = open_database(f"sqlite:///{tmp_path}/library.db")
    [follow] = Follows(database).of(LOCAL_USER)
    journal = Journal(database, follow)
    memory, changes = journal.replay()
    kept = {event["seq"]: event for event in journal.after(0)}
    database.close()
    assert [*kept] == [1, 2, 3, 4, 5]
    assert {tuple(event["key"]) for event in changes} == {(n,) for n in range(5)}
    assert len(memory.states()) == 5
    assert all(kept[event["seq"]] == event for event in told)
    assert {event["seq"] for event in told} == {*kept}  # each was told, once at least


def test_a_source_that_cannot_be_read_is_tried_again(capsys, chart, tmp_path):
    (tmp_path / "drawn.json").write_text("{")
    code, out, err = watch(capsys, reads=2)
    assert (code, out) == (UNREACHABLE, "")
    assert err.count("tried again") == 1  # the same reason is told once
    chart(1)
    assert watch(capsys)[0] == DONE


@pytest.mark.usefixtures("chart")
def test_bars_of_our_own_are_watched(capsys):
    arguments = ["watch", "ema_trend", "--bars", "sample:es-5m", "--reads", "2", "--every", "0.1"]
    assert main([*arguments, "--json"]) == DONE
    (started,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (started["machine"], started["kind"]) == ("trend", "started")


@pytest.mark.usefixtures("chart")
@pytest.mark.parametrize(
    "more, told",
    [
        (["--every", "0"], "--every is a number"),
        (["--reads", "0"], "--reads is a whole number"),
        (["--snapshot", "-"], "name a file"),
        (["--param", "a=1"], "goes with --bars"),
        (["--profile", "nobody"], "no contract has a profile"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_read(capsys, more, told):
    arguments = ["watch", "small.yaml", "--snapshot", "drawn.json", *more]
    if "--snapshot" in more:
        arguments = ["watch", "small.yaml", *more]
    assert main(arguments) == BAD_INPUT
    assert told in capsys.readouterr().err
