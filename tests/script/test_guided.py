"""A few seconds of the coverage-guided fuzzer; `make fuzz` runs it for longer."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed")
@pytest.mark.slow
def test_the_fuzzer_finds_nothing_in_a_few_seconds(tmp_path):
    command = [sys.executable, str(HERE / "guided.py"), "4", str(tmp_path / "corpus"), "300"]
    env = os.environ | {"PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert not list(tmp_path.glob("corpus/crash-*"))
