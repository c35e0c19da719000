"""Users' own contracts and follows over REST and MCP: kept by user, read by one process."""

import asyncio
import base64
import os
import sys
import time

import pytest
import sqlalchemy as sa
from mcp import Client, StdioServerParameters
from tests.postgres import url_for
from tests.server.test_mcp import over_http, whole_life

from chartpact.clock.system import now_ms
from chartpact.library.database import open_database
from chartpact.library.follows import Follows
from chartpact.server.following import Following

pytestmark = pytest.mark.both_databases
CONTRACT = """\
contract: market_structure
version: 1.0.0
identity: {pine_title: Market Structure}
channels: {labels: signal, lines: cosmetic}
elements:
  turn: {from: labels, where: text == 'CHoCH', meaning: structure turned}
  continued: {from: labels, where: text == 'BOS', meaning: structure went on}
states:
  light:
    observe: {on: "len([t for t in turn]) > 0"}
    rows: {OFF: {when: {on: false}}, ON: {when: {on: true}}}
    initial: ["OFF", "ON"]
    transitions: {OFF: ["ON"]}
output: {light: light.state, breaks: "len([b for b in continued])"}
"""
FOLLOW = {"contracts": ["market_structure"], "symbol": "sample:es-5m", "every": 5}


@pytest.fixture
def cleo(server):
    """A user with a contract for a builtin, who follows nothing."""
    with server.client("cleo") as client:
        _keep(client)
        yield client
        for follow in client.get("/api/v1/my/follows").json()["follows"]:
            client.delete(f"/api/v1/my/follows/{follow['id']}")


def _keep(ann):
    answer = ann.put("/api/v1/my/contracts/market_structure", json={"source": CONTRACT}).json()
    assert answer == {"ok": True, "contract": "market_structure", "version": "1.0.0"}


def wait_for(ask, fits):
    """The first answer that fits; the server reads a follow within seconds of its being due."""
    ends = time.monotonic() + 120
    while not fits(answer := ask()):
        assert time.monotonic() < ends, answer
        time.sleep(0.1)
    return answer


def test_the_server_is_on_the_database_of_the_test_whatever_ran_before(server, storage):
    assert server.database.startswith(storage)


def test_a_contract_of_ones_own_reads_the_indicator_of_its_name(cleo, bob):
    ask = {"contracts": ["market_structure"], "symbol": "sample:es-5m"}
    reading = cleo.post("/api/v1/state", json=ask).json()["readings"]["market_structure"]
    assert reading["state"]["light"] == "ON"
    other = bob.post("/api/v1/state", json=ask)
    assert (other.status_code, "there is no contract" in other.json()["message"]) == (404, True)


def test_contracts_are_listed_read_checked_and_deleted(cleo, bob):
    listed = {
        one["name"]: one["source"] for one in cleo.get("/api/v1/contracts").json()["contracts"]
    }
    assert (listed["market_structure"], listed["ob_ai"]) == ("user", "pact")
    assert cleo.get("/api/v1/contracts/market_structure").json()["text"] == CONTRACT
    assert "contract: ob_ai" in cleo.get("/api/v1/contracts/ob_ai").json()["text"]
    bobs = bob.get("/api/v1/contracts").json()["contracts"]
    assert "market_structure" not in {one["name"] for one in bobs}
    wrong = CONTRACT.replace("text == 'BOS'", "txt == 'BOS'")
    answer = cleo.put("/api/v1/my/contracts/market_structure", json={"source": wrong}).json()
    assert (answer["ok"], answer["errors"][0]["line"]) == (False, 7)
    assert cleo.post("/api/v1/contracts/check", json={"source": CONTRACT}).json()["ok"] is True
    for name, source in (
        ("ob_ai", CONTRACT.replace("market_structure", "ob_ai", 1)),
        ("other", CONTRACT),
    ):
        answer = cleo.put(f"/api/v1/my/contracts/{name}", json={"source": source}).json()
        assert answer["ok"] is False, name
    changed = CONTRACT.replace("light: light.state, ", "")
    answer = cleo.put("/api/v1/my/contracts/market_structure", json={"source": changed}).json()
    assert answer["ok"] is True
    assert any("another version than 1.0.0" in one for one in answer["warnings"])
    versions = cleo.get("/api/v1/my/contracts/market_structure/versions").json()["versions"]
    assert [one["number"] for one in versions] == [2, 1]
    assert cleo.post("/api/v1/my/contracts/market_structure/restore", json={"version": 1}).json()[
        "ok"
    ]
    assert cleo.delete("/api/v1/my/contracts/market_structure").json() == {"ok": True}
    assert cleo.get("/api/v1/contracts/market_structure").status_code == 404


def test_a_draft_is_written_of_an_indicator_and_of_a_snapshot(cleo):
    text = cleo.post(
        "/api/v1/contracts/draft", json={"study": "market_structure", "symbol": "sample:es-5m"}
    ).json()["text"]
    assert 'pine_title: "Market Structure"' in text
    checked = cleo.post("/api/v1/contracts/check", json={"source": text}).json()
    assert {one["message"] for one in checked["errors"]} == {"this is a draft"}
    named = text.replace("meaning: TODO", "meaning: a mark")
    assert cleo.post("/api/v1/contracts/check", json={"source": named}).json()["ok"] is True
    refused = cleo.post("/api/v1/contracts/draft", json={"study": "market_structure"})
    assert refused.status_code == 422


def test_a_follow_is_read_when_it_is_due_and_tells_what_changed(cleo, bob):
    (follow,) = cleo.post("/api/v1/my/follows", json=FOLLOW).json()["follows"]
    assert cleo.post("/api/v1/my/follows", json=FOLLOW).json()["follows"][0]["id"] == follow["id"]
    changes = f"/api/v1/my/follows/{follow['id']}/changes"
    found = wait_for(lambda: cleo.get(changes).json(), lambda answer: answer["states"])
    assert found["changes"] == []  # without a cursor
    begin = base64.urlsafe_b64encode(f"{follow['created_at']}.0".encode()).decode().rstrip("=")
    found = cleo.get(changes, params={"since": begin}).json()
    (change,) = found["changes"]
    assert (change["kind"], change["to"], change["seq"]) == ("started", "ON", 1)
    assert [state["state"] for state in found["states"]] == ["ON"]
    assert cleo.get(changes, params={"since": found["next"]}).json()["changes"] == []
    one = f"/api/v1/my/follows/{follow['id']}"
    shown = cleo.get(one).json()
    assert shown["reading"]["state"]["light"] == "ON"
    assert shown["states"][0]["since"] == shown["changes"][0]["as_of"] == shown["reading"]["as_of"]
    assert cleo.patch(one, json={"paused": True}).json()["paused"] is True
    assert cleo.get(one).json()["paused"] is True
    assert bob.get(one).status_code == bob.patch(one, json={"paused": False}).status_code == 404
    assert bob.get(changes).status_code == 404
    assert bob.delete(f"/api/v1/my/follows/{follow['id']}").status_code == 404
    assert cleo.delete(f"/api/v1/my/follows/{follow['id']}").json() == {"ok": True}
    assert cleo.get("/api/v1/my/follows").json() == {"follows": []}


def test_a_follow_that_cannot_be_read_tells_why_and_waits(cleo):
    (follow,) = cleo.post("/api/v1/my/follows", json=FOLLOW).json()["follows"]
    cleo.delete("/api/v1/my/contracts/market_structure").raise_for_status()
    (told,) = wait_for(
        lambda: cleo.get("/api/v1/my/follows").json()["follows"],
        lambda follows: follows[0]["error"],
    )
    assert "there is no contract 'market_structure'" in told["error"]
    assert told["stale_since"] >= follow["created_at"]


@pytest.mark.parametrize(
    "wrong, status",
    [
        ({"every": 4}, 422),
        ({"contracts": ["nobody"]}, 404),
        ({"symbol": "/etc/passwd"}, 422),
        (
            {"config": {"market_structure": {"depth": 1}}},
            200,
        ),  # refused by the contract, so followed
    ],
)
def test_what_cannot_be_followed_is_refused_when_it_is_asked_for(cleo, wrong, status):
    assert cleo.post("/api/v1/my/follows", json={**FOLLOW, **wrong}).status_code == status


def test_a_model_registers_drafts_follows_and_asks_for_changes(server):
    async def talk():
        async with over_http(server, "dan") as client:
            await follow_and_ask(client)

    asyncio.run(talk())


@pytest.mark.slow
def test_over_stdio_a_script_and_a_followed_contract_live_their_whole_lives(tmp_path):
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "chartpact", "mcp", "--db", f"sqlite:///{tmp_path}/library.db"],
        env=dict(os.environ),
    )

    async def talk():
        async with Client(command) as client:
            await whole_life(client)
            await follow_and_ask(client)

    asyncio.run(talk())


async def follow_and_ask(client):
    """What a model does with a contract of its own, from its draft to its deletion."""

    async def call(tool, **arguments):
        answer = await client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        return answer.structured_content

    drafted = await call("draft_contract", study="market_structure")
    assert "meaning: TODO" in drafted["text"]
    assert (await call("register_contract", source=CONTRACT))["ok"] is True
    assert "market_structure" in (await call("get_contract", name="market_structure"))["text"]
    names = [one["name"] for one in (await call("list_contracts"))["contracts"]]
    assert "market_structure" in names
    (follow,) = (await call("follow_state", **FOLLOW))["follows"]
    ends = time.monotonic() + 120
    while not (found := await call("get_state_changes"))["states"]:
        assert time.monotonic() < ends
        await asyncio.sleep(0.1)
    assert (found["id"], found["states"][0]["state"]) == (follow["id"], "ON")
    assert (await call("unfollow_state", id=follow["id"])) == {"ok": True}
    assert (await call("get_state_changes"))["follows"] == []
    assert (await call("delete_contract", name="market_structure")) == {"ok": True}


def test_a_database_that_is_gone_costs_a_line_of_the_log_a_look_and_the_looks_go_on(
    monkeypatch, caplog
):
    looks = []

    async def look(*_: object) -> None:
        looks.append(1)
        if len(looks) == 3:
            raise asyncio.CancelledError
        raise sa.exc.OperationalError("SELECT", {}, Exception("connection refused\nis it running?"))

    monkeypatch.setattr("chartpact.server.following.LOOK_S", 0.0)
    monkeypatch.setattr(Following, "read_due", look)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(Following(None, None, None).read_for_ever())
    told = [(record.getMessage(), record.exc_info) for record in caplog.records]
    assert told == [("follows cannot be read: connection refused", None)] * 2


def test_a_clock_that_was_set_back_stops_no_follow_and_is_told(tmp_path, storage, monkeypatch):
    database = open_database(url_for(tmp_path, kind=storage))
    kept = Follows(database)
    follow = kept.add("ann", "c", {}, 5_000)
    kept.lease(follow, "one")
    now = now_ms()
    monkeypatch.setattr("chartpact.library.follows.now_ms", lambda: now - 3 * 3_600_000)
    assert kept.get("ann", follow.follow).stale_since == follow.created_at
    assert [due.follow for due in kept.due()] == [follow.follow]
    assert kept.lease(follow, "other").lease_owner == "other"
    database.close()
