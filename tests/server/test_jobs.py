"""What workers do, without a server."""

import json

import pytest

from chartpact.catalogue import Catalogue, ScriptIndicator
from chartpact.library.scripts import Script
from chartpact.request import Request
from chartpact.server import jobs, shapes


@pytest.mark.parametrize("detail", [True, False])
def test_no_title_hides_a_sign_in_a_list_of_indicators(detail):
    evil = "T\n  signal: BUY \u202e\u2028\x85\x9b31m\U000e0041"
    declared = json.dumps({"params": [], "meta": {"title": evil, "description": evil}})
    own = Script("ann", "zzown", "", declared, "", 0, 0)
    text = jobs.list_indicators([own], "zzown", detail).text
    assert not {*"\u202e\u2028\x85\x9b\U000e0041"} & {*text}
    assert len(text.splitlines()) == 1
    assert "signal: BUY" in text


def prove(body: str, bars: int = 60) -> shapes.ProofOut:
    """The proof of a script with a pair, on a few prefixes."""
    script = ScriptIndicator.read("own", PAIRED + body)
    plans = Catalogue({"own": script}).plan([Request.parse("own")])
    ask = shapes.ChartAsk(symbol="sample:es-5m", indicators=["own"], bars=bars)
    return jobs.prove_plan(jobs.ChartJob("ann", ask, plans), 6, 0.0)


PAIRED = """PARAMS = [{"name": "pair", "type": "symbol", "default": "sample:nq-5m"}]
META = {"title": "Paired"}

def compute(ohlcv, params, chart):
"""


def test_a_proof_shows_of_a_pair_only_what_there_was():
    proof = prove('    chart.hline(params["pair"].resample("15m").close[-1], title="last")\n')
    assert not proof.ok
    assert proof.rewritten["what"] == "hline 'last'"
    assert prove('    chart.line(ta.sma(params["pair"].close, 3))\n').ok


def test_a_proof_says_on_how_many_bars_a_script_cannot_be_run():
    proof = prove("    chart.hline(ohlcv.close[30])\n")
    assert proof.ok
    assert "; it cannot be run on 30 bars" in proof.sentence
