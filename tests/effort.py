"""How hard the suite tries: a third of the examples, or all of them with `make exhaustive`."""

import os

EXHAUSTIVE = bool(os.environ.get("CHARTPACT_EXHAUSTIVE"))


def examples(all_of_them: int) -> int:
    """How many examples Hypothesis tries of a law that so many would do justice to."""
    return all_of_them if EXHAUSTIVE else max(all_of_them // 3, min(all_of_them, 15))
