"""Whatever users wrote is computed as untrusted work, by every route that takes it."""

from itertools import chain

import pytest
from tests.server.conftest import SCRIPT, Running
from tests.server.test_following import CONTRACT
from tests.server.test_paths import DOTTED, GAPS

from chartpact import strategies
from chartpact.work.lanes import Workers

WRITTEN = {"source", "snapshot", "drafts", "scripts", "contracts", "version"}  # by users
SYMBOL = {"symbol": "sample:es-5m"}
NAME = "market_structure"
FIRST = {"source": SCRIPT}
STRATEGY = {"source": strategies.find("session_turn").text.replace("session_turn", "deciding")}
BODIES = {
    ("put", "/api/v1/my/indicators/{name}"): FIRST,
    ("patch", "/api/v1/my/indicators/{name}"): FIRST,
    ("post", "/api/v1/my/indicators/{name}/restore"): {"version": 1},
    ("post", "/api/v1/check"): FIRST,
    ("post", "/api/v1/prove"): {**SYMBOL, **FIRST, "bars": 100},
    ("post", "/api/v1/charts/series"): {
        **SYMBOL, "indicators": ["x"], "drafts": [{"name": "x", **FIRST}],
    },
    ("put", "/api/v1/my/library"): {
        "format": "chartpact-library-1", "scripts": [{"name": "x", **FIRST}],
    },
    ("put", "/api/v1/my/contracts/{name}"): {"source": CONTRACT},
    ("post", "/api/v1/my/contracts/{name}/restore"): {"version": 1},
    ("post", "/api/v1/contracts/check"): {"source": CONTRACT},
    ("post", "/api/v1/contracts/draft"): {**SYMBOL, "study": NAME},
    ("post", "/api/v1/contracts/match"): {**SYMBOL, "source": CONTRACT},
    ("post", "/api/v1/strategies/check"): STRATEGY,
    ("put", "/api/v1/my/strategies/{name}"): STRATEGY,
    ("post", "/api/v1/strategies/state"): {**SYMBOL, "contracts": ["deciding"]},
    ("post", "/api/v1/study"): {**GAPS, "source": DOTTED, "long": ["up"]},
    ("post", "/api/v1/state"): {**SYMBOL, "contracts": [NAME]},
    ("post", "/api/v1/my/follows"): {**SYMBOL, "contracts": [NAME], "every": 60},
}  # fmt: skip


@pytest.fixture
def submitted(monkeypatch) -> list[bool]:
    """Whether each job was submitted as untrusted."""
    jobs: list[bool] = []
    submit = Workers.submit

    def watched(self, user, job, *, untrusted=False, patient=False):
        jobs.append(untrusted)
        return submit(self, user, job, untrusted=untrusted, patient=patient)

    monkeypatch.setattr(Workers, "submit", watched)
    return jobs


def test_every_route_that_takes_what_users_wrote_computes_it_as_untrusted(here: Running, submitted):
    document = here.ask("/openapi.json").json()
    schemas = document["components"]["schemas"]

    def fields(operation) -> set[str]:
        content = operation.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        return set(schemas[schema["$ref"].rpartition("/")[2]]["properties"]) if schema else set()

    operations = chain.from_iterable(
        (((method, path), operation) for method, operation in operations.items())
        for path, operations in document["paths"].items()
    )
    assert {place for place, operation in operations if fields(operation) & WRITTEN} == {*BODIES}
    with here.client("ann") as ann:
        for (method, path), body in BODIES.items():
            submitted.clear()
            name = "deciding" if "strategies" in path else NAME if "contracts" in path else "x"
            address = path.replace("{name}", name)
            answer = ann.request(method, address, json=body)
            assert answer.status_code == 200, (path, answer.text)
            assert any(submitted), path
