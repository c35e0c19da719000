"""Whoever is calling: what the operator's own function may say, and what becomes of it."""

import asyncio
import json

import httpx2
import pytest

from chartpact.server import identity
from chartpact.server.front import ANY_HOST, Front
from chartpact.server.settings import Limits, from_environment


async def tells_the_user(scope, _receive, send) -> None:
    body = json.dumps(scope["chartpact.user"]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


async def reads_nothing(*_) -> None:
    raise AssertionError("no large body is sent here")


def asked(identify, **headers: str) -> httpx2.Response:
    front = Front(
        tells_the_user,
        tells_the_user,
        identify=identify,
        limits=Limits(),
        hosts=ANY_HOST,
        read_body=reads_nothing,
    )

    async def ask() -> httpx2.Response:
        way = httpx2.ASGITransport(app=front)
        async with httpx2.AsyncClient(transport=way, base_url="http://x") as client:
            return await client.get("/api/v1/symbols", headers=headers)

    return asyncio.run(ask())


def fails(_headers):
    raise RuntimeError("secret of the operator")


async def is_a_coroutine(_headers):
    return "ann"


@pytest.mark.parametrize("named", ["", 7, b"ann", "ann\n", "a\x00b", "x" * 256, True, ["ann"]])
def test_what_is_no_name_of_a_user_lets_nobody_in(named):
    answer = asked(lambda _: named)
    assert answer.status_code == 500
    assert answer.json()["message"] == "the server could not find out who you are"


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("identify", [fails, is_a_coroutine])
def test_a_function_that_fails_lets_nobody_in_and_tells_nothing(identify):
    answer = asked(identify)
    assert answer.status_code == 500
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    "name", ["ann", "Ann", "ANN", " ann", "ann ", "änn", "a\u0308nn", "ｉｄ", "''"]
)
def test_users_are_who_they_are_named_to_the_letter(name):
    assert asked(lambda _: name).json() == name


def test_nobody_is_asked_for_a_token():
    assert asked(lambda _: None).status_code == 401
    by_token = identity.by_token({"t" * 20: "ann"})
    assert asked(by_token, Authorization="Bearer " + "t" * 20).json() == "ann"
    for wrong in ("Bearer", "Bearer ", "Bearer " + "T" * 20, "Basic " + "t" * 20, "t" * 20):
        assert asked(by_token, Authorization=wrong).status_code == 401


@pytest.mark.parametrize("held", ["", "\n", "short"])
def test_a_file_that_holds_no_token_lets_nobody_in(tmp_path, held):
    file = tmp_path / "token"
    file.write_text(held)
    with pytest.raises(ValueError, match="holds no token: remove it"):
        identity.local_token(file)
    file.unlink()
    assert identity.local_token(file) == identity.local_token(file)


def test_tokens_are_read_from_the_environment():
    one, other, third = ("t" * 16, "u" * 16, "v=" * 8)
    text = f" ann = {one} ,bob={other},, ann={third},ann={one}"
    identify = identity.from_environment({"CHARTPACT_TOKENS": text})
    for token, user in ((one, "ann"), (third, "ann"), (other, "bob")):
        assert asked(identify, Authorization=f"Bearer {token}").json() == user


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ann=" + "t" * 15, "tokens of 16 or more letters"),
        ("ann", "write user=token"),
        ("=" + "t" * 20, "write user=token"),
        (f"ann={'t' * 20},bob={'t' * 20}", "ann and bob have the same token"),
    ],
)
def test_tokens_that_would_let_in_somebody_else_are_refused(text, told):
    with pytest.raises(ValueError, match=told) as refusal:
        identity.from_environment({"CHARTPACT_TOKENS": text})
    assert "tttt" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("all", {"ann", "bob", "all"}),
        ("none", set()),
        ("", set()),
        ("ann", {"ann"}),
        (" ann , bob,", {"ann", "bob"}),
    ],
)
def test_whose_scripts_run_is_told_by_the_environment(text, runs):
    settings = from_environment({"CHARTPACT_SCRIPTS": text, "CHARTPACT_DB": "sqlite:///x"})
    assert {user for user in ("ann", "bob", "all", "Ann") if settings.runs_scripts_of(user)} >= runs
    if text != "all":
        assert not settings.runs_scripts_of("Ann")
        assert not settings.runs_scripts_of("")
        assert settings.runs_scripts_of("bob") == ("bob" in runs)


def test_without_a_word_everybodys_scripts_run():
    assert from_environment({"CHARTPACT_DB": "sqlite:///x"}).runs_scripts_of("anybody")


@pytest.mark.parametrize("text", ["all,ann", "ann,none", "ALL", "None"])
def test_a_list_that_could_mean_everybody_or_nobody_is_refused(text):
    with pytest.raises(ValueError, match="write all, or none, or names of users"):
        from_environment({"CHARTPACT_SCRIPTS": text, "CHARTPACT_DB": "sqlite:///x"})
