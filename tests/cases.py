"""Small cases of one law in one test: pytest's own work for a test takes longer than a case."""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any

import pytest

Test = Callable[..., None]


def in_one_test(
    arguments: str | Sequence[str],
    cases: Iterable[Any],
    ids: Callable[[Any], str] | Iterable[str] = str,
) -> Callable[[Test], Test]:
    """Calls a test for each case, where `pytest.mark.parametrize` would make a test of each.

    All cases are tried, and every failure names its own. They share the fixtures of the test.
    With CHARTPACT_CASE=TEXT in the environment, only those with TEXT in their names are tried.
    """
    names = (arguments,) if isinstance(arguments, str) else tuple(arguments)
    rows = [(case,) if isinstance(arguments, str) else tuple(case) for case in cases]
    if callable(ids):
        ids = [", ".join(map(ids, row)) for row in rows]
    named = list(zip(ids, rows, strict=True))
    assert named, f"no cases of {', '.join(names)}"

    def merge(test: Test) -> Test:
        @wraps(test)
        def merged(**fixtures: Any) -> None:
            wanted, tried, failures = os.environ.get("CHARTPACT_CASE", ""), 0, []
            for name, row in named:
                if wanted not in str(name):
                    continue
                tried += 1
                try:
                    test(**fixtures, **dict(zip(names, row, strict=True)))
                except Exception as error:  # noqa: BLE001  (raised below)
                    error.add_note(f"{', '.join(names)}: {name}")
                    failures.append(error)
            if not tried:
                pytest.skip(f"no case has {wanted!r} in its name")
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(named)} cases failed", failures)

        whole = signature(test)
        rest = [own for own in whole.parameters.values() if own.name not in names]
        merged.__signature__ = whole.replace(parameters=rest)  # type: ignore[attr-defined]
        return merged

    return merge
