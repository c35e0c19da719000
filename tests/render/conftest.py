"""Pictures drawn in tests leave no process behind."""

from collections.abc import Iterator

import pytest

from chartpact.render import pool


@pytest.fixture(autouse=True, scope="module")
def no_worker_is_left() -> Iterator[None]:
    yield
    pool.process_pool().close()
