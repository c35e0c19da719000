"""Whoever is calling: what the operator's own function may say, and what becomes of it."""

import asyncio
import json

import httpx2
import pytest

from chartpact.server.front import ANY_HOST, Front
from chartpact.server.identity import Caller
from chartpact.server.settings import UserLimits, from_environment


async def tells_the_user(scope, _receive, send) -> None:
    body = json.dumps(scope["chartpact.user"]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


async def reads_nothing(*_) -> None:
    raise AssertionError("no large body is sent here")


def asked(identify, *pairs, method="GET", path="/api/v1/symbols", **headers) -> httpx2.Response:
    front = Front(
        tells_the_user,
        tells_the_user,
        identify=identify,
        limits=UserLimits(),
        hosts=ANY_HOST,
        read_body=reads_nothing,
    )

    async def ask() -> httpx2.Response:
        way = httpx2.ASGITransport(app=front)
        async with httpx2.AsyncClient(transport=way, base_url="http://x") as client:
            sent = [*headers.items(), *pairs]
            return await client.request(method, path, headers=sent)

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


def test_a_function_may_wait_for_what_it_asks():
    assert asked(is_a_coroutine).status_code == 200


def test_a_function_that_fails_lets_nobody_in_and_tells_nothing():
    answer = asked(fails)
    assert answer.status_code == 500
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    "name", ["ann", "Ann", "ANN", " ann", "ann ", "änn", "a\u0308nn", "ｉｄ", "''"]
)
def test_users_are_who_they_are_named_to_the_letter(name):
    assert asked(lambda _: name).json() == name


def test_nobody_is_asked_for_a_token():
    answer = asked(lambda _: None)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


def test_two_authorization_headers_are_refused_whatever_they_say():
    def by_header(headers):
        return headers["authorization"]

    assert asked(by_header, Authorization="ann").json() == "ann"
    for pair in (("ann", "bob"), ("ann", "ann"), ("", "ann")):
        answer = asked(by_header, *(("authorization", name) for name in pair))
        assert answer.status_code == 400
        assert answer.json()["message"] == "a request has one Authorization at most"


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("GET", "/api/v1/symbols", "read"),
        ("POST", "/api/v1/charts", "read"),
        ("POST", "/api/v1/charts/image", "read"),
        ("POST", "/api/v1/charts/other", "write"),
        ("PUT", "/api/v1/my/library", "write"),
        ("PATCH", "/x", "write"),
        ("DELETE", "/x", "write"),
        ("BREW", "/x", "write"),
    ],
)
def test_what_a_token_does_not_allow_is_refused(method, path, needed):
    for scope in ("read", "write"):
        answer = asked(lambda _: Caller("ann", frozenset({scope})), method=method, path=path)  # noqa: B023
        assert answer.status_code == (200 if scope == needed else 403)


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
