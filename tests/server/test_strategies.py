"""Strategies behind the server's doors: the same answers, kept by user, under contracts' rules."""

import asyncio
import json

from tests.server.test_following import CONTRACT, wait_for
from tests.server.test_mcp import over_http

import chartpact as cp
from chartpact import strategies

OWN = strategies.find("session_turn").text.replace("session_turn", "my_turn")
ASK = {"contracts": ["session_turn"], "symbol": "sample:es-5m"}


def expected():
    found = strategies.read_bars(strategies.find("session_turn"), cp.load("sample:es-5m"))
    return json.loads(json.dumps(found.to_json()))


def test_a_strategy_decides_the_same_over_rest_mcp_and_python(server):
    with server.client("ann") as ann:
        rest = ann.post("/api/v1/state", json=ASK).json()
        beside = ann.post("/api/v1/strategies/state", json=ASK).json()

    async def call():
        async with over_http(server, "ann") as client:
            return (await client.call_tool("read_state", ASK)).structured_content

    mcp = asyncio.run(call())
    assert rest == beside == mcp
    assert rest["readings"]["session_turn"] == expected()


def test_contracts_and_strategies_are_read_together_in_the_order_asked(server):
    ask = {**ASK, "contracts": ["session_turn", "ema_trend"]}
    with server.client("ann") as ann:
        answer = ann.post("/api/v1/state", json=ask).json()
    assert [*answer["readings"]] == ["session_turn", "ema_trend"]
    assert answer["readings"]["ema_trend"]["contract"] == "ema_trend"


def test_own_strategies_follow_the_rules_of_own_contracts(server):
    with server.client("ann") as ann, server.client("bob") as bob:
        kept = ann.put("/api/v1/my/strategies/my_turn", json={"source": OWN}).json()
        assert kept == {"ok": True, "strategy": "my_turn", "version": "1.0.0"}
        names = [one["name"] for one in ann.get("/api/v1/strategies").json()["strategies"]]
        assert names == ["ict_hunt", "session_turn", "my_turn"]
        assert ann.get("/api/v1/strategies/my_turn").json()["text"] == OWN
        assert bob.get("/api/v1/strategies/my_turn").status_code == 404
        read = ann.post("/api/v1/state", json={**ASK, "contracts": ["my_turn"]}).json()
        assert read["readings"]["my_turn"]["state"] == expected()["state"]
        listed = ann.get("/api/v1/contracts").json()["contracts"]
        assert "my_turn" not in [one["name"] for one in listed]
        assert ann.delete("/api/v1/my/strategies/my_turn").json() == {"ok": True}
        assert ann.get("/api/v1/strategies/my_turn").status_code == 404


def test_contracts_and_strategies_share_their_names(server):
    with server.client("bob") as bob:
        bob.put("/api/v1/my/contracts/market_structure", json={"source": CONTRACT})
        taken = OWN.replace("strategy: my_turn", "strategy: market_structure")
        answer = bob.put("/api/v1/my/strategies/market_structure", json={"source": taken}).json()
        assert answer["ok"] is False
        for name in ("ema_trend", "session_turn"):
            shipped = OWN.replace("strategy: my_turn", f"strategy: {name}")
            refused = bob.put(f"/api/v1/my/strategies/{name}", json={"source": shipped}).json()
            assert refused["ok"] is False


def test_a_strategy_with_a_fault_is_refused_with_its_line(server):
    with server.client("bob") as bob:
        wrong = OWN.replace("major: 1}", "major: 7}", 1)
        answer = bob.post("/api/v1/strategies/check", json={"source": wrong}).json()
    assert answer["ok"] is False
    assert answer["errors"][0]["path"] == "inputs.session.major"
    assert answer["errors"][0]["line"]


def test_a_strategy_is_followed_like_a_contract(server):
    with server.client("cleo") as cleo:
        ask = {**ASK, "every": 5}
        (follow,) = cleo.post("/api/v1/my/follows", json=ask).json()["follows"]
        assert follow["contract"] == "strategy:session_turn"
        place = f"/api/v1/my/follows/{follow['id']}"
        detail = wait_for(lambda: cleo.get(place).json(), lambda one: one["states"])
        states = {one["machine"]: one["state"] for one in detail["states"]}
        assert states == expected()["state"]
        assert detail["reading"]["state"]["score"] == expected()["score"]
        change = detail["changes"][0]
        assert {"because", "blocked_by", "score"} <= change.keys()
        assert cleo.delete(place).status_code == 200
