"""Whatever is asked for wrongly, by any verb: the place is named, the remedy too, and the code."""

from pathlib import Path

import pytest
from tests.cases import in_one_test

from chartpact import pacts
from chartpact.__main__ import main
from chartpact.cli import ALL_FAILED, BAD_INPUT, SCRIPT_ERROR

FILES = {
    "ok.csv": "time,open,high,low,close\n1700000000,1,2,0.5,1.5\n1700000300,1,2,0.5,1.5\n",
    "no_close.csv": "time,open,high,low\n1700000000,1,2,0.5\n",
    "word.csv": "time,open,high,low,close\n1700000000,1,2,0.5,x\n",
    "naive.csv": "time,open,high,low,close\n2020-01-01 00:00,1,2,0.5,1\n2020-01-01 00:05,1,2,1,1\n",
    "empty.csv": "",
    "ok.star": 'PARAMS = [{"name": "n", "type": "int", "default": 3, "min": 1}]\n'
    'META = {"title": "x"}\ndef compute(ohlcv, params, chart):\n'
    '    chart.line(ta.sma(ohlcv.close, params["n"]))\n',
    "bad.star": 'PARAMS = []\nMETA = {"title": "x"}\ndef compute(ohlcv, params, chart):\n'
    '    chart.line(ohlcv.close, titel="x")\n',
    "bad.json": "{",
    "bad.yaml": "contract: x\n",
    "list.json": "[]",
}

ES = "sample:es-5m"
DB = "--db sqlite:///library.db"
CASES = [
    ("frobnicate", "invalid choice: 'frobnicate' (choose from 'indicators'"),
    ("symbols extra", "chartpact symbols: unrecognized arguments: extra"),
    ("indicators --jsn", "did you mean '--json'?"),
    ("contract list extra", "chartpact contract list: unrecognized arguments: extra"),
    ("doctor extra", "Try 'chartpact doctor --help'."),
    ("chart", "required: BARS"),
    ("chart okk.csv", "okk.csv: there is no such file; did you mean 'ok.csv'?"),
    ("chart no/such/ok.csv", "no/such/ok.csv: there is no such file"),
    ("chart folder", "folder: this is a folder, not a file"),
    ("chart binary", "binary: the file holds zero bytes: it is not a CSV file"),
    ("chart no_close.csv", "no_close.csv: no column close; the columns are 'time', 'open'"),
    ("chart word.csv", "word.csv: line 2: close 'x' is not a number"),
    ("chart naive.csv", "on the command line --bars-tz"),
    ("chart naive.csv --bars-tz Mars", "use an IANA name such as 'America/New_York'"),
    ("chart empty.csv", "empty.csv: the file is empty"),
    ("chart sample:es", "there is no sample 'es' among es-1m, es-5m"),
    ("chart BTC/USDT@", "BTC/USDT@: there is no such file; bars of a source are asked for as"),
    ("chart BTC/USDT@nobody", "no source called 'nobody' is configured"),
    (f"chart {ES} --bars x", "argument --bars: 'x' is not a whole number"),
    (f"chart {ES} --bars 0", "--bars 0: at least one bar must be shown"),
    (f"chart {ES} --json --summary", "--summary: not allowed with argument --json"),
    (f"chart {ES} -i", "argument -i/--indicator: expected one argument"),
    (f"chart {ES} -o x.gif", "'x.gif' ends neither in .png nor in .svg"),
    (f"chart {ES} -o no/x.svg", "no/x.svg: there is no folder 'no': make it first"),
    (f"chart {ES} -o folder.svg", "folder.svg: this is a folder, not a file"),
    (f"chart {ES} -o x.svg --size 10", "'10' is not a size: write it as 1200x800"),
    (f"chart {ES} -o x.svg --size 100000x9", "100000 is not between 160 and 4096 pixels"),
    (f"chart {ES} -o x.svg --scale x", "argument --scale: 'x' is not a number"),
    (f"chart {ES} -o x.svg --scale 9", "a scale of 9.0 is not between 0.25 and 4"),
    (f"chart {ES} --theme blue", "(choose from 'dark', 'light')"),
    (f"chart {ES} --tz Nowhere", "--tz: 'Nowhere' is no time zone"),
    (f"chart {ES} --from noon", "--from 'noon' is not a time: write 2024-03-05"),
    (f"chart {ES} --from 2099-01-01", "there is no bar between --from and --to"),
    (f"chart {ES} --timeframe 7q", "'7q' is no timeframe: write it like 1m 5m"),
    (f"chart {ES} --timeframe 1m", "bars of 5m cannot be resampled to 1m"),
    ("chart ok.csv --timeframe 1D", "there is no whole bar of 1D in 2 bars of 5m"),
    ("chart ok.csv --day-roll 25:00", "write '18:00 America/New_York'"),
    ("chart ok.csv --market stocks", "(choose from '24x7', 'fx', 'listed')"),
    ("chart ok.csv --tick-size 0", "tick_size is 0.0: it is a positive number"),
    ("check ok.sta", "ok.sta: there is no such file; did you mean 'ok.star'?"),
    ("check folder", "folder: this is a folder, not a file"),
    ("check binary", "binary: this is not a text in UTF-8"),
    ("run ok.star", "required: BARS"),
    ("run ok.star okk.csv", "did you mean 'ok.csv'?"),
    (f"run ok.star {ES} --param n", "--param n: write it as name=value"),
    (f"run ok.star {ES} --param n=0", "n takes a whole number of at least 1"),
    (f"run ok.star {ES} --param m=1", "no parameter 'm': it takes n"),
    (f"run ok.star {ES} --param n=1 --param n=2", "--param n is given twice"),
    ("fork funding", "'funding' cannot be forked: it draws readings that no script can fetch"),
    ("scripts", "required: ACTION"),
    ("scripts frob", "(choose from 'list', 'add', 'update'"),
    (f"scripts add Bad-Name ok.star {DB}", "use a lower-case letter, then up to 63"),
    (f"scripts add x ok.sta {DB}", "did you mean 'ok.star'?"),
    (f"scripts {DB} show nobody", "you have no indicator 'nobody': list your indicators"),
    (f"scripts restore nobody one {DB}", "argument VERSION: 'one' is not a whole number"),
    (f"scripts import bad.json {DB}", "bad.json is not JSON: "),
    (f"scripts export -o no/x.json {DB}", "no/x.json: there is no folder 'no': make it first"),
    ("scripts list --db library.db", "write sqlite:/// and the path of a file"),
    (f"snapshot --bars {ES}", "name an indicator to draw: -i NAME"),
    (f"snapshot --bars {ES} -i rsi --study Nope", "drawn: 'Relative Strength Index'"),
    (f"snapshot --bars {ES} -i rsi -o no/x.json", "there is no folder 'no': make it first"),
    ("contract show nobody", "there is no contract 'nobody' (shipped: bias_ai"),
    ("contract check binary", "binary: this is not a text in UTF-8"),
    ("contract check bad.yaml", "bad.yaml: line 1: version: version is missing (add `version: …`)"),
    ("contract diff ob_ai", "required: NEW"),
    ("read ob_ai", "one of the arguments --snapshot --bars --tv --tv-mcp is required"),
    ("read ob_ai --snapshot nope.json", "nope.json: there is no such file"),
    ("read ob_ai --snapshot bad.json", "bad.json: this is not JSON: "),
    ("read ob_ai --snapshot list.json", "list.json: "),
    ("read ob_ai --snapshot binary", "binary: this is not a text in UTF-8"),
    ("read ob_ai --snapshot bad.json --config list.json", "a config maps keys to values"),
    ("read ob_ai --snapshot bad.json --param a=1", "--param sets parameters of an indicator"),
    (f"read undrawn.yaml --bars {ES}", "there is no indicator 'undrawn' to draw what"),
    ("serve --port x", "argument --port: 'x' is not a whole number"),
    ("serve --port 99999", "chartpact serve: --port: 99999 is not a number from 0 to 65535"),
    ("serve --host 0.0.0.0 --no-auth", "listen on 127.0.0.1, or add users"),
    ("mcp extra", "chartpact mcp: unrecognized arguments: extra"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    contract = (Path(pacts.__file__).parent / "ob_ai" / "contract.yaml").read_text()
    (tmp_path / "undrawn.yaml").write_text(contract.replace("contract: ob_ai", "contract: undrawn"))
    (tmp_path / "binary").write_bytes(b"\xff\x00\xff")
    for name in ("folder", "folder.svg"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHARTPACT_DB", "sqlite:///library.db")


def refused(command, capsys):
    """The exit code, and what was said."""
    try:
        code = main(command.split())
    except SystemExit as stop:
        code = stop.code
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.usefixtures("folder")
@in_one_test(("command", "told"), CASES, ids=[case[0] for case in CASES])
def test_bad_usage_names_its_place_and_its_remedy(command, told, capsys):
    code, out, err = refused(command, capsys)
    assert (code, out) == (BAD_INPUT, "")
    assert told in err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "command", ["check bad.star", f"run bad.star {ES}", "scripts add bad.star"]
)
def test_a_faulty_script_is_told_with_its_line_and_what_would_be_right(command, capsys):
    code, _, err = refused(command, capsys)
    assert code == SCRIPT_ERROR
    assert "bad.star:4:5: type: line takes no argument 'titel'" in err
    assert "write chart.line(s, title=…" in err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("stok", "there is no indicator 'stok': did you mean 'stoch'"),
        ("rsi:perod=3", "rsi has no parameter 'perod': did you mean 'period'"),
        ("rsi:period=abc", "period takes a whole number from 1 to 5000"),
        ("rsi:period", "rsi: 'period' is given without a value: write rsi:period=VALUE"),
        ("rsi:period=1,period=2", "'period' is given twice"),
    ],
)
def test_an_indicator_that_cannot_be_drawn_says_why_and_nothing_else_was_drawn(asked, told, capsys):
    for command in (f"chart {ES} --json -i {asked}", f"snapshot --bars {ES} -i {asked}"):
        code, _, err = refused(command, capsys)
        assert code == ALL_FAILED
        assert told in err
