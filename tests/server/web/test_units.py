"""The page's pure modules: their unit tests run in Node's own runner."""

import shutil
import subprocess
from pathlib import Path

import pytest

UNITS = sorted((Path(__file__).parent / "units").glob("*.test.js"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name.removesuffix(".test.js"))
def test_a_module_of_the_page_passes_its_own_tests(unit):
    node = shutil.which("node")
    if node is None:
        pytest.skip("the page's modules were not tried: there is no node")
    ran = subprocess.run(
        [node, "--test", str(unit)], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
