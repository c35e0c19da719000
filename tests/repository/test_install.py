"""What is installed from a wheel, in an environment with nothing else, is what the README shows.

Two wheels are built: one as users get it, one where there is no C compiler. Both are installed
beside the packages that the wheel requires, and no others. Nothing is fetched: the environment is
made of links to what the tests run on.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import venv
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from runpy import run_path
from zipfile import ZipFile

import httpx2
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.effort import EXHAUSTIVE

import chartpact

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(chartpact.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
README = (ROOT / "README.md").read_text()
SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "docs", "src")
requirements = run_path(str(ROOT / "tools" / "environment.py"))["requirements"]
SCRIPT = """
META = {"title": "Mine"}
PARAMS = []

def compute(ohlcv, params, chart):
    chart.line(ta.sma(ohlcv.close, 5))
"""

pytestmark = pytest.mark.slow


def build(folder: Path, **environment: str) -> Path:
    """The wheel of this checkout."""
    done = subprocess.run(
        [sys.executable, "-c", "from setuptools import build_meta as b; b.build_wheel('dist')"],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    [wheel] = (folder / "dist").glob("*.whl")
    return wheel


def copy_sources(folder: Path) -> Path:
    ignored = shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy2(ROOT / name, folder / name)
    return folder


def place_extension(folder: Path) -> None:
    """Has the build find the extension that is tested here, so that it does not compile it anew."""
    code = (
        "from setuptools import Distribution\n"
        "build = Distribution({'ext_modules': [1]}).get_command_obj('build')\n"
        "build.ensure_finalized()\n"
        "print(build.build_lib)"
    )
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    built = folder / asked.stdout.strip() / "chartpact"
    built.mkdir(parents=True)
    for extension in PACKAGE.glob("_native*.so"):
        shutil.copy(extension, built)


def closure(wanted_first: list[str]) -> dict[str, Path]:
    """Every file and folder in site-packages that the requirements lead to, by its name."""
    found: dict[str, Path] = {}
    known: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(text) for text in wanted_first]
    while waiting:
        wanted = waiting.pop()
        key = canonicalize_name(wanted.name), frozenset(wanted.extras)
        if key in known or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        known.add(key)
        package = distribution(wanted.name)
        for file in package.files or ():
            if file.parts[0] != ".." and not file.name.endswith(".pth"):
                found[file.parts[0]] = Path(str(package.locate_file(file.parts[0])))
        for text in package.requires or ():
            needed = Requirement(text)
            extras = ("", *wanted.extras)
            if not needed.marker or any(needed.marker.evaluate({"extra": e}) for e in extras):
                needed.marker = None
                waiting.append(needed)
    return found


def place_compiled(package: Path) -> None:
    """Puts the compiled modules of this checkout beside those that were unpacked.

    Python compiles a module anew unless its source has the size and time that it had then.
    """
    for compiled in PACKAGE.rglob("*.pyc"):
        folder = compiled.parent.parent.relative_to(PACKAGE)
        name = f"{compiled.name.partition('.')[0]}.py"
        source, unpacked = PACKAGE / folder / name, package / folder / name
        if unpacked.is_file() and unpacked.read_bytes() == source.read_bytes():
            shutil.copystat(source, unpacked)
            (package / folder / "__pycache__").mkdir(exist_ok=True)
            shutil.copy(compiled, package / folder / "__pycache__")


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel and what it requires."""

    python: Path
    wheel: Path
    home: Path
    site: Path

    def run(self, command: str | list[str], **env: str) -> subprocess.CompletedProcess[str]:
        """Runs a command as somebody who has just arrived, in an empty folder."""
        return subprocess.run(
            command,
            shell=isinstance(command, str),
            cwd=self.home,
            env=self.environment | env,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def environment(self) -> dict[str, str]:
        plain = {k: v for k, v in os.environ.items() if not k.startswith(("CHARTPACT_", "PYTHON"))}
        path = f"{self.python.parent}:{plain['PATH']}"
        return plain | {"PATH": path, "XDG_DATA_HOME": str(self.home / "data")}


def install(folder: Path, wheel: Path, *extras: str) -> Installed:
    venv.create(folder / "env", symlinks=True)
    python = folder / "env" / "bin" / "python"
    [site] = (folder / "env" / "lib").glob("python3.*/site-packages")
    for name, path in closure(requirements(extras)).items():
        (site / name).symlink_to(path)
    with ZipFile(wheel) as packed:  # a wheel without data files is unpacked as it is
        packed.extractall(site)
        [points] = [name for name in packed.namelist() if name.endswith("entry_points.txt")]
        assert "chartpact = chartpact.__main__:main" in packed.read(points).decode()
    place_compiled(site / "chartpact")
    command = python.with_name("chartpact")
    command.write_text(
        f"#!{python}\nimport sys\nfrom chartpact.__main__ import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)
    (folder / "home").mkdir()
    return Installed(python, wheel, folder / "home", site)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    sources = copy_sources(tmp_path_factory.mktemp("complete"))
    place_extension(sources)
    return install(tmp_path_factory.mktemp("clean"), build(sources))


@pytest.fixture(scope="module")
def served(complete: Installed, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory.mktemp("served"), complete.wheel, "server")


@pytest.fixture(scope="module")
def without_compiler(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    sources = copy_sources(tmp_path_factory.mktemp("reference"))
    wheel = build(sources, CC="/no/such/compiler", CXX="/no/such/compiler")
    return install(tmp_path_factory.mktemp("without"), wheel, "server")


@pytest.fixture(params=["complete", "without_compiler"])
def installed(request: pytest.FixtureRequest) -> Installed:
    return request.getfixturevalue(request.param)


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_the_wheel_has_the_extension_where_there_is_a_compiler_and_none_elsewhere(
    complete, without_compiler
):
    here = len(list(PACKAGE.glob("_native*.so")))
    for wheel, expected in ((complete.wheel, here), (without_compiler.wheel, 0)):
        names = ZipFile(wheel).namelist()
        assert len([name for name in names if name.endswith(".so")]) == expected
        assert "chartpact/py.typed" in names


def test_the_documentation_is_part_of_the_wheel(served):
    code = (
        "from chartpact import documentation\nfrom chartpact.script import manual\n"
        "from chartpact.server import docs_pages\n"
        "assert manual.read('ta.ema')\n"
        "assert docs_pages.show('gallery/charts/candles-dark.svg').body.startswith(b'<svg')\n"
        "print(docs_pages.show('web').status_code, b'web#content-security' in "
        "docs_pages.search('content security').body, documentation.folder())"
    )
    done = served.run([str(served.python), "-c", code])
    status, found, folder = done.stdout.split(maxsplit=2)
    assert (status, found) == ("200", "True"), done.stderr
    assert not Path(folder).is_relative_to(ROOT / "docs")


def test_serving_from_a_checkout_needs_what_the_package_requires_and_no_linters():
    project = PROJECT["project"]
    assert len(project["dependencies"]) <= 11
    served = [*project["dependencies"], *project["optional-dependencies"]["server"]]
    assert requirements(["server"]) == served
    names = {Requirement(text).name for text in requirements(["dev"])}
    assert {"ruff", "mypy", "pytest", "ccxt", "numpy", "mcp"} <= names
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^serve: \$\(READY\)$", makefile, re.M)
    made = makefile.partition("\n$(READY):")[2].partition("\n\n")[0]
    assert made.splitlines()[1].endswith("tools/environment.py $(VENV) server")


def test_no_package_is_there_that_the_wheel_does_not_require(complete):
    for name in (
        "mcp",
        "fastapi",
        "jwt",
        "pytest",
        "pandas",
        "pyarrow",
        "ccxt",
        "yfinance",
        "hypothesis",
        "ruff",
    ):
        assert complete.run([str(complete.python), "-c", f"import {name}"]).returncode == 1, name


def test_every_command_of_the_readme_can_be_typed_in_its_order(installed):
    lines = [line for block in blocks(README, "sh") for line in block.splitlines()]
    commands = [line for line in lines if re.match(r"(\.venv/bin/)?chartpact ", line)]
    assert len(commands) > 5
    if not (EXHAUSTIVE or list(installed.site.glob("chartpact/_native*.so"))):
        # Seconds on slow kernels, what another test runs, and what computes nothing.
        spared = (" prove ", " doctor ", " indicators ")
        commands = [line for line in commands if not any(verb in line for verb in spared)]
    for command in commands:
        done = installed.run(command.replace(".venv/bin/", ""))
        assert done.returncode == 0, (command, done.stderr)
        assert "Traceback" not in done.stderr


def test_the_python_of_the_readme_runs(installed):
    [code] = blocks(README, "python")
    done = installed.run([str(installed.python), "-c", code])
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < 100


def test_without_a_compiler_a_shell_runs_a_file_of_its_user_unprotected_and_says_so_once(
    without_compiler,
):
    (without_compiler.home / "mine.star").write_text(SCRIPT)
    for command in ("check mine.star", "chart sample:es-5m -i ./mine.star"):
        done = without_compiler.run(f"chartpact {command}")
        assert (done.returncode, done.stderr.count("scripts run unprotected")) == (0, 1), done
        assert done.stderr.count("reference (slow): the C extension is not built") == 1
        trusting = without_compiler.run(f"chartpact {command}", CHARTPACT_TRUST_SCRIPTS="1")
        assert (trusting.returncode, "unprotected" in trusting.stderr) == (0, False)
    told = without_compiler.run("chartpact doctor").stdout
    assert "your own scripts run unprotected from a shell, none in serve and mcp" in told


def register_over_http(installed: Installed, warnings: list[str]) -> dict[str, object]:
    """What a server on loopback answers to a user's script; it starts with these warnings."""
    command = [str(installed.python), "-m", "chartpact", "serve", "--no-auth", "--port", "0"]
    environment = installed.environment | {"CHARTPACT_WARM": "off"}  # one chart needs one worker
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as running:
        told = []
        for line in running.stderr:
            told.append(json.loads(line))
            if address := re.search(r"serves on (http://[^/]+)/", line):
                break
        try:
            grave = [line["message"] for line in told if line["level"] != "info"]
            assert [
                message[: len(start)] for message, start in zip(grave, warnings, strict=True)
            ] == warnings
            with httpx2.Client(base_url=address[1], timeout=600) as client:
                ends = time.monotonic() + 120  # until the workers have started
                while client.get("/readyz").status_code != 200:
                    assert time.monotonic() < ends
                    time.sleep(0.1)
                chart = {"symbol": "sample:es-5m", "bars": 30, "indicators": ["rsi"]}
                drawn = client.post("/api/v1/charts/image", json=chart)
                assert drawn.content.startswith(b"\x89PNG"), drawn.text
                return client.put("/api/v1/my/indicators/mine", json={"source": SCRIPT}).json()
        finally:
            running.terminate()
            running.stderr.read()


REFUSED = "scripts cannot be run safely here: the C extension is not built"


def test_the_server_runs_where_its_extra_is_installed_and_says_so_elsewhere(complete, served):
    assert register_over_http(served, [])["ok"] is True
    for command in ("serve --no-auth", "mcp", "user list", "read ob_ai --tv-mcp true"):
        done = complete.run(f"chartpact {command}")
        assert (done.returncode, "Traceback" in done.stderr) == (2, False), command
        assert done.stderr.endswith("needs the server: pip install 'chartpact[server]'\n")


def test_without_a_compiler_a_server_draws_and_refuses_scripts_also_on_loopback(without_compiler):
    warnings = ["ta kernels: reference (slow)", "users' scripts are refused"]
    answer = register_over_http(without_compiler, warnings)
    assert answer["ok"] is False
    [error] = answer["errors"]
    assert error["message"].startswith(REFUSED)
    assert "CHARTPACT_TRUST_SCRIPTS=1" in error["hint"]


def test_without_a_compiler_workers_refuse_scripts_unless_they_are_trusted(without_compiler):
    """As workers of `serve` and of `mcp` do."""
    code = f"from chartpact import sandbox; print(sandbox.validate({SCRIPT!r}).errors)"
    for trust, told in (("0", REFUSED), ("1", "()")):
        command = [str(without_compiler.python), "-c", code]
        done = without_compiler.run(command, CHARTPACT_TRUST_SCRIPTS=trust)
        assert told in done.stdout, done.stderr
