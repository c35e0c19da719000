import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import chartpact


@pytest.mark.parametrize("name", chartpact.__all__)
def test_every_public_name_is_there(name):
    assert getattr(chartpact, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'chartpact' has no attribute 'lod'"):
        _ = chartpact.lod


def test_importing_the_package_imports_nothing_else():
    code = (
        "import sys, chartpact\n"
        "print(sorted(m for m in sys.modules if 'numpy' in m or 'chartpact.' in m))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "['chartpact._version']"


def test_a_module_of_the_same_name_never_hides_a_public_function():
    importlib.import_module("chartpact.charts")
    assert callable(chartpact.chart)


def test_no_pattern_relies_on_what_the_first_releases_of_3_11_match_wrongly():
    # CPython before 3.11.5 misreads possessive quantifiers of groups; Debian 12 has 3.11.2
    source = Path(chartpact.__file__).parent
    possessive = re.compile(r"[\])}][*+?]\+|\(\?>")
    found = [
        f"{path.relative_to(source)}:{number}"
        for path in source.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if possessive.search(line)
    ]
    assert found == []
