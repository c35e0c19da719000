"""The same script on the same bars draws, costs, prints and says the same in every process."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.effort import EXHAUSTIVE
from tests.script.chunks import chunks, source_of

from chartpact import script
from chartpact.script import stock
from chartpact.script.dry_run import dry_run_bars
from chartpact.script.limits import Limits

HERE = Path(__file__).parent
# Scripts that run until their steps are used up do so with fewer.
BUDGET = Limits().steps if EXHAUSTIVE else Limits().steps // 50
BARS = dry_run_bars()


def digest() -> str:
    """What comes of every script of the suite, compiled and run twice."""
    files = [*sorted((HERE / "language").glob("*.star")), HERE / "hostile" / "drawings.star"]
    sources = [source_of(chunk)[0] for file in files for chunk in chunks(file)]
    sources += [stock.source(name) for name in stock.NAMES]
    told = [[outcome(source), outcome(source)] for source in sources]
    assert all(cold == warm for cold, warm in told)
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def outcome(source: str) -> object:
    try:
        result = script.execute(script.load(source), BARS, budget=BUDGET)
    except script.ScriptError as error:
        return error.to_json()
    return [result.scene.to_json(), result.steps, result.log]


@pytest.mark.slow
def test_neither_the_process_nor_its_hashes_nor_its_cache_change_what_a_script_does():
    command = [
        sys.executable,
        "-c",
        "from tests.script.test_determinism import digest; print(digest())",
    ]
    children = [
        subprocess.Popen(
            command,
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=HERE.parents[1],
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "1")
    ]
    found = [child.communicate(timeout=600)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert found[0] == found[1]
