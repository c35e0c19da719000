import json
import time
from urllib.parse import quote

import pytest
from tests.server.auth.conftest import tool_call
from tests.server.conftest import SCRIPT
from tests.server.unstorable import HALF_A_PAIR, NUL, bodies

CHART = {"symbol": "sample:es-5m", "bars": 60, "format": "summary"}
pytestmark = pytest.mark.both_databases


def test_everything_but_the_page_and_health_needs_a_token(server):
    with server.client() as nobody:
        for path in ("/healthz", "/readyz", "/", "/openapi.json", "/sample.svg"):
            assert nobody.get(path).status_code == 200, path
        document = nobody.get("/openapi.json").json()
        for path, methods in document["paths"].items():
            for method in methods:
                answer = nobody.request(method, path.replace("{", "").replace("}", ""))
                assert answer.status_code == 401, (method, path)
        assert nobody.post("/mcp", json={}).status_code == 401
        wrong = {"Authorization": "Bearer nonsense"}
        assert nobody.get("/api/v1/symbols", headers=wrong).status_code == 401


def test_a_script_lives_from_registration_to_deletion(ann):
    assert ann.put("/api/v1/my/indicators/life", json={"source": SCRIPT}).json() == {
        "ok": True,
        "warnings": [],
    }
    listed = ann.get("/api/v1/indicators").json()["indicators"]
    [mine] = [each for each in listed if each["name"] == "life"]
    assert (mine["source"], mine["title"]) == ("user", "Average")
    assert mine["params"][0]["default"] == 3
    drawn = ann.post("/api/v1/charts", json={**CHART, "indicators": ["life:n=5"]}).json()
    [indicator] = drawn["indicators"]
    assert indicator["id"] == "life:n=5"
    assert indicator["steps"] > 0
    assert indicator["last"]["SMA"] > 0
    kept = ann.get("/api/v1/my/indicators/life").json()
    assert kept["source"] == SCRIPT
    changed = SCRIPT.replace('"SMA"', '"EMA"').replace("sma", "ema")
    assert ann.patch("/api/v1/my/indicators/life", json={"source": changed}).json()["ok"]
    drawn = ann.post("/api/v1/charts", json={**CHART, "indicators": ["life"]}).json()
    assert "EMA" in drawn["indicators"][0]["last"]  # an edit is in force on the next call
    assert [
        v["version"] for v in ann.get("/api/v1/my/indicators/life/versions").json()["versions"]
    ] == [2, 1]
    wrong = ann.post("/api/v1/my/indicators/life/restore", json={"version": True})
    assert wrong.status_code == 422
    assert ann.post("/api/v1/my/indicators/life/restore", json={"version": 1}).json()["ok"]
    assert ann.get("/api/v1/my/indicators/life").json()["source"] == SCRIPT
    assert ann.delete("/api/v1/my/indicators/life").json() == {"ok": True}
    assert ann.get("/api/v1/my/indicators/life").status_code == 404


def test_a_fork_shadows_the_builtin_for_that_user_alone_until_it_is_deleted(ann, bob):
    source = ann.get("/api/v1/forks/wavetrend").json()["source"]
    mine = source.replace('"title": "WaveTrend"', '"title": "My waves"')
    assert mine != source
    assert ann.put("/api/v1/my/indicators/wavetrend", json={"source": mine}).json() == {
        "ok": True,
        "warnings": [],
    }

    def title(client):
        listed = client.get("/api/v1/indicators").json()["indicators"]
        return next(each["title"] for each in listed if each["name"] == "wavetrend")

    assert title(ann) == "My waves"
    assert title(bob) == "WaveTrend"
    asked = {**CHART, "indicators": ["wavetrend"]}
    assert "steps" in ann.post("/api/v1/charts", json=asked).json()["indicators"][0]
    assert "steps" not in bob.post("/api/v1/charts", json=asked).json()["indicators"][0]
    ann.delete("/api/v1/my/indicators/wavetrend")
    assert title(ann) == "WaveTrend"


def test_a_fork_is_also_found_by_the_aliases_of_the_builtin(ann, bob):
    assert ann.put("/api/v1/my/indicators/stoch", json={"source": SCRIPT}).json() == {
        "ok": True,
        "warnings": [],
    }
    asked = {**CHART, "indicators": ["stochastic", "stoch"]}
    mine = ann.post("/api/v1/charts", json=asked).json()["indicators"]
    assert ["SMA" in each["last"] for each in mine] == [True, True]
    builtin = bob.post("/api/v1/charts", json=asked).json()["indicators"]
    assert not any("steps" in each for each in builtin)
    ann.delete("/api/v1/my/indicators/stoch")


def test_a_refusal_says_where_as_the_problem_does(ann):
    unknown = ann.get("/api/v1/my/indicators/nowhere").json()
    assert (unknown["step"], unknown["line"], unknown["column"]) == ("presence", None, None)
    wrong = {"source": "contract: [", "snapshot": {}}
    refused = ann.post("/api/v1/contracts/match", json=wrong).json()
    assert refused.keys() == {"kind", "message", "hint", "line", "path"}
    assert refused["line"] == 1


def test_an_unknown_name_is_answered_with_near_names_of_ones_own_and_of_nobody_elses(ann, bob):
    assert ann.put("/api/v1/my/indicators/my_waves", json={"source": SCRIPT}).json()["ok"]
    asked = {**CHART, "indicators": ["my_wave", "rsi"]}

    def hint(client) -> str:
        return client.post("/api/v1/charts", json=asked).json()["indicators"][0]["error"]["hint"]

    assert hint(ann).startswith("did you mean 'my_waves'")
    assert "my_waves" not in hint(bob)
    ann.delete("/api/v1/my/indicators/my_waves")


def test_a_script_with_errors_is_not_kept_and_its_errors_tell_the_place(ann):
    broken = SCRIPT.replace("ta.sma", "ta.smaa")
    answer = ann.put("/api/v1/my/indicators/broken", json={"source": broken}).json()
    assert answer["ok"] is False
    [problem] = answer["errors"]
    assert set(problem) == {"step", "kind", "line", "column", "message", "hint"}
    assert (problem["step"], problem["kind"], problem["line"]) == ("check", "name", 6)
    assert "ta.sma" in problem["message"] + problem["hint"]
    assert ann.get("/api/v1/my/indicators/broken").status_code == 404


def test_a_picture_is_a_picture(ann):
    png = ann.post("/api/v1/charts/image", json={**CHART, "indicators": ["rsi"], "format": "png"})
    assert png.headers["content-type"] == "image/png"
    assert png.content.startswith(b"\x89PNG")
    svg = ann.post("/api/v1/charts/image", json={**CHART, "format": "svg"})
    assert svg.text.startswith("<svg")


def test_a_timeframe_resamples_and_series_come_when_asked_for(ann):
    asked = {**CHART, "timeframe": "1h", "bars": 20, "indicators": ["rsi"], "format": "series"}
    drawn = ann.post("/api/v1/charts", json=asked).json()
    assert drawn["timeframe"] == "1h"
    assert len(drawn["time"]) == 20
    assert len(drawn["indicators"][0]["scene"]["plots"][0]["values"]) == 20


def test_series_come_beside_the_last_values_and_signals(ann):
    asks = {**CHART, "indicators": ["cipher_b", "nonsense"]}
    brief = ann.post("/api/v1/charts", json=asks).json()
    whole = ann.post("/api/v1/charts", json={**asks, "format": "series"}).json()
    times, scene = whole.pop("time"), whole["indicators"][0].pop("scene")
    assert whole == brief
    assert times[-1] == brief["last"]["time"]
    [wave] = [plot for plot in scene["plots"] if plot["kind"] == "line" and plot["title"] == "WT1"]
    assert wave["values"][-1] == brief["indicators"][0]["last"]["WT1"]


def test_limits_of_whole_numbers_are_whole_numbers(ann):
    listed = {each["name"]: each for each in ann.get("/api/v1/indicators").json()["indicators"]}
    [period] = listed["rsi"]["params"]
    assert [type(period[key]) for key in ("default", "min", "max")] == [int, int, int]


def test_volume_may_be_missing_on_some_of_the_bars_handed_over(ann):
    prices = [1.0] * 4
    bars = {"time": [0, 60, 120, 180], **dict.fromkeys(("open", "high", "low", "close"), prices)}
    asks = {"inline_bars": {**bars, "volume": [1, None, 2, None]}, "indicators": ["obv"]}
    answer = ann.post("/api/v1/charts", json=asks)
    assert answer.status_code == 200, answer.text
    assert answer.json()["last"]["volume"] is None


def test_bars_can_be_handed_over(ann):
    time = [1_700_000_000 + 60 * i for i in range(30)]
    flat = {"time": time, "open": [1] * 30, "high": [2] * 30, "low": [1] * 30, "close": [2] * 30}
    asked = {"inline_bars": flat, "indicators": ["rsi"], "format": "summary"}
    drawn = ann.post("/api/v1/charts", json=asked).json()
    assert (drawn["timeframe"], drawn["bars"], drawn["synthetic"]) == ("1m", 30, False)
    assert "inline" in ann.post("/api/v1/charts/image", json={**asked, "format": "svg"}).text
    crooked = {**flat, "high": [0.5, *[2] * 29]}
    refused = ann.post("/api/v1/charts", json={"inline_bars": crooked, "format": "summary"})
    assert refused.status_code == 422
    assert "high" in refused.json()["message"]


@pytest.mark.parametrize(
    ("ask", "status", "message"),
    [
        ({"symbol": "sample:es5m"}, 422, "es-5m"),
        ({"symbol": "../../etc/passwd"}, 422, "sample:NAME or SYMBOL@SOURCE"),
        ({"symbol": "x@nowhere"}, 422, "no source"),
        ({}, 422, "either a symbol or inline_bars"),
        ({"symbol": "sample:es-5m", "indicators": ["rsi"] * 17}, 413, "17 indicators"),
        ({"symbol": "sample:es-5m", "timeframe": "7x"}, 422, "7x"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_a_sentence(ann, ask, status, message):
    refused = ann.post("/api/v1/charts", json={"format": "summary", **ask})
    assert refused.status_code == status, refused.text
    assert message in refused.json()["message"]


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "message"),
    [
        ("GET", "/api/v1/charms", {}, 404, "nothing at /api/v1/charms; /openapi.json lists every"),
        ("GET", "/api/v1/charts", {}, 405, "GET is not for this path; POST is"),
        ("POST", "/api/v1/charts", {"data": CHART}, 422, "the header Content-Type: application/js"),
        ("POST", "/api/v1/charts", {"content": "{}"}, 422, "the header Content-Type: application/"),
        ("POST", "/api/v1/charts", {"json": [1]}, 422, "body: Input should be"),
        (
            "POST",
            "/api/v1/charts",
            {"json": {**CHART, "indicators": [7]}},
            422,
            "s.0: an indicator",
        ),
        (
            "POST",
            "/api/v1/charts",
            {"content": '{"bars": 3,}', "headers": {"Content-Type": "application/json"}},
            422,
            "the body is not JSON: ",
        ),
    ],
)
def test_a_request_that_misses_says_what_would_be_right(ann, method, path, sent, status, message):
    answer = ann.request(method, path, **sent)
    assert (answer.status_code, message in answer.json()["message"]) == (status, True), answer.text
    assert answer.headers.get("allow") == ("POST" if status == 405 else None)


def test_one_broken_indicator_stands_beside_the_good_ones(ann):
    asked = {**CHART, "indicators": ["rsi", "nonsense", "rsi:period=0", "macd"]}
    drawn = ann.post("/api/v1/charts", json=asked).json()
    kinds = [each.get("error", {}).get("kind") for each in drawn["indicators"]]
    assert kinds == [None, "name", "value", None]


def test_a_body_over_the_cap_is_refused(ann):
    for size in (5, 40):  # also of a client that is still sending when it is refused
        answer = ann.put("/api/v1/my/indicators/big", content=b"x" * (size << 20))
        assert answer.status_code == 413
    pieces = (b"x" * (1 << 20) for _ in range(40))
    assert ann.put("/api/v1/my/indicators/big", content=pieces).status_code == 413


def test_what_is_said_of_a_user_is_private_and_every_answer_has_an_id(ann):
    answer = ann.get("/api/v1/my/indicators")
    assert answer.headers["cache-control"] == "private, no-store"
    assert len(answer.headers["x-request-id"]) == 16


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
def test_what_comes_as_a_stream_is_private_too(ann, version):
    meta = {
        "progressToken": 1,
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    call = {"name": "generate_chart", "arguments": CHART, "_meta": meta}
    answer = ann.post(
        "/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
        headers={
            "Accept": "application/json, text/event-stream",
            "Mcp-Protocol-Version": version,
            "Mcp-Method": "tools/call",
            "Mcp-Name": "generate_chart",
        },
    )
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream"
    assert {"private", "no-store"} <= set(answer.headers["cache-control"].split(", "))


def test_the_log_has_ids_and_users_and_no_secrets(server, ann):
    answer = ann.get("/api/v1/symbols?token=secret-in-the-query")
    request = answer.headers["x-request-id"]
    ends = time.monotonic() + 10  # the line is written when the answer is out
    while request not in (log := server.log.read_text()) and time.monotonic() < ends:
        time.sleep(0.02)
    assert request in log
    assert '"user": "ann"' in log
    assert "secret-in-the-query" not in log
    assert "token-of-ann" not in log


STATE = {"contracts": ["ema_trend"], "symbol": "sample:es-5m"}


def test_typed_state_is_read_from_pacts_on_named_bars(ann):
    found = ann.post("/api/v1/state", json=STATE).json()
    assert list(found) == ["as_of", "source", "readings"]
    assert found["readings"]["ema_trend"]["state"]["trend"] == "BEAR"
    few = ann.post("/api/v1/state", json={**STATE, "params": {"keep": 2}}).json()
    assert len(few["readings"]["ema_trend"]["state"]["changes"]) == 2
    red = {"ema_trend": {"bull_color": "#ff0000", "bear_color": "#ff0000"}}
    refused = ann.post("/api/v1/state", json={**STATE, "config": red}).json()
    assert refused["readings"]["ema_trend"]["violations"][0]["kind"] == "config"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"contracts": ["/etc/passwd"]}, "there is no contract"),
        ({"contracts": ["rsi"]}, "there is no contract"),
        ({"contracts": ["ema_trend"] * 2}, "named twice"),
        ({"symbol": "/etc/passwd"}, ""),
        ({"params": {"nobody": 1}}, "has a parameter"),
        ({"config": {"ob_ai": {}}}, "maps their names to settings"),
        ({"profile": "tfo"}, "profile"),
        ({"contracts": []}, "contracts"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(ann, change, said):
    answer = ann.post("/api/v1/state", json={**STATE, **change})
    assert 400 <= answer.status_code < 500
    assert said in answer.json()["message"]


def test_a_fork_of_a_pact_is_read_by_its_contract_and_a_false_one_is_refused(bob):
    source = bob.get("/api/v1/forks/ema_trend").json()["source"]
    false = source.replace('"EMA: " + WORDS[phase]', '"EMA: BULL"')
    assert bob.put("/api/v1/my/indicators/ema_trend", json={"source": false}).json()["ok"]
    found = bob.post("/api/v1/state", json=STATE).json()["readings"]["ema_trend"]
    assert [v["path"] for v in found["violations"]] == ["edge_cases.cell_disagrees"]
    bob.delete("/api/v1/my/indicators/ema_trend")
    assert bob.post("/api/v1/state", json=STATE).json()["readings"]["ema_trend"]["state"]


def test_a_nul_or_half_a_surrogate_pair_in_any_field_is_no_fault_of_the_servers(server, eve):
    document = eve.get("/openapi.json").json()
    models = document["components"]["schemas"]
    as_json = {"Content-Type": "application/json"}
    for text in (NUL, HALF_A_PAIR):
        word = quote(text.encode(errors="surrogatepass"))
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                address = path
                for param in operation.get("parameters", ()):
                    name = "7" if param["schema"].get("type") == "integer" else word
                    address = address.replace(f"{{{param['name']}}}", name)
                content = operation.get("requestBody", {}).get("content", {})
                if address == path and not content:
                    continue  # there is no place for a text
                sent = [b"time,open,high,low,close\n1700000000,1,1,1,1\n"] if content else [b""]
                if schema := content.get("application/json", {}).get("schema"):
                    sent = [json.dumps(body).encode() for body in bodies(schema, models, text)]
                for body in sent:
                    headers = as_json if body.startswith(b"{") else {}
                    answer = eve.request(method, address, content=body, headers=headers)
                    assert answer.status_code < 500, (method, address, body, answer.text)
    listing = tool_call("")["json"] | {"method": "tools/list"}
    headers = tool_call("")["headers"] | {"mcp-method": "tools/list"}
    tools = eve.post("/mcp", json=listing, headers=headers).json()["result"]["tools"]
    for text in (NUL, HALF_A_PAIR):
        for tool in tools:
            schema = tool["inputSchema"]
            for arguments in bodies(schema, schema.get("$defs", {}), text):
                call = tool_call(tool["name"], **arguments)
                body = json.dumps(call["json"]).encode()
                answer = eve.post("/mcp", content=body, headers=call["headers"] | as_json)
                assert answer.status_code < 500, (call, answer.text)
    assert "the database failed" not in server.log.read_text()


def test_a_study_is_entered_in_the_ledger_of_its_user(ann, bob):
    ask = {"symbol": "sample:es-5m", "indicator": "supertrend", "long": ["flip_up"]}
    first, second = (ann.post("/api/v1/study", json=ask).json() for _ in range(2))
    assert (first["honesty"]["tests_before"], second["honesty"]["tests_before"]) == (0, 3)
    for study in (first, second):
        for signal in study["signals"]:
            for horizon in signal["horizons"]:
                horizon.pop("p_ledger")
        study["honesty"].pop("tests_before")
    assert first == second
    drawn = bob.post("/api/v1/study", json={**ask, "picture": "light"}).json()
    assert drawn["honesty"]["tests_before"] == 0
    assert drawn["svg"].startswith("<svg")
    assert ">drawn<" in drawn["svg"]


def test_a_study_that_would_not_be_honest_is_refused_with_its_kind(ann):
    ask = {"symbol": "sample:es-5m", "indicator": "supertrend"}
    refused = ann.post("/api/v1/study", json=ask)
    assert (refused.status_code, refused.json()["kind"]) == (422, "no_side")
    assert "flip_up" in refused.json()["signals"]
    early = SCRIPT.replace(
        'color="orange")',
        'color="orange")\n    for i in range(len(ohlcv)):\n'
        "        if i + 5 < len(ohlcv) and ohlcv.close[i + 5] > ohlcv.close[i]:\n"
        '            chart.dot(i, ohlcv.close[i], label="sure")',
    )
    assert early != SCRIPT
    asked = {"symbol": "sample:es-5m", "bars": 120, "hold_out": 0, "long": ["sure"]}
    assert ann.post("/api/v1/study", json={**asked, "source": early}).json()["kind"] == "rewrites"
    assert ann.post("/api/v1/study", json={"symbol": "sample:es-5m"}).json()["kind"] == "value"
