"""What is made once is made before the first call after a start."""

import asyncio

import pytest
from fastapi import routing

from chartpact import catalogue
from chartpact.server import app
from chartpact.server.settings import Settings

pytestmark = pytest.mark.slow


def test_what_is_shipped_is_compiled_before_the_first_call(request):
    catalogue.pact.cache_clear()
    catalogue.scripted.cache_clear()
    request.getfixturevalue("here")
    assert catalogue.pact.cache_info().currsize == 11
    assert catalogue.scripted.cache_info().currsize == 20


def test_no_route_is_built_while_a_caller_waits(tmp_path, monkeypatch):
    built = []
    build = routing.create_model_field

    def counted(*arguments, **options):
        built.append(arguments or options)
        return build(*arguments, **options)

    async def start_and_ask() -> tuple[int, int]:
        monkeypatch.setattr(routing, "create_model_field", counted)
        served = app.create(Settings(database=f"sqlite:///{tmp_path}/library.db"))
        try:
            async with served.api.router.lifespan_context(served.api):
                at_start = len(built)
                scope = {
                    "type": "http",
                    "method": "GET",
                    "path": "/api/v1/me",
                    "root_path": "",
                    "headers": [],
                }
                for route in served.api.router.routes:
                    route.matches(dict(scope))
                return at_start, len(built) - at_start
        finally:
            served.close()

    at_start, later = asyncio.run(start_and_ask())
    assert at_start > 50
    assert later == 0


@pytest.mark.parametrize("warm", [True, False])
def test_workers_start_with_the_server_unless_they_are_to_wait_for_a_job(tmp_path, warm):
    async def has_started_none() -> bool:
        served = app.create(Settings(database=f"sqlite:///{tmp_path}/library.db", warm=warm))
        try:
            async with served.api.router.lifespan_context(served.api):
                return served.workers.ready
        finally:
            served.close()

    assert asyncio.run(has_started_none()) is not warm
