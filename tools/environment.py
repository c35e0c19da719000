"""Makes the virtual environment that the Makefile's targets run in, and says what it is doing.

    python3 tools/environment.py .venv server     # what serving needs
    python3 tools/environment.py .venv dev        # and what the tests need

It needs nothing but Python. The C extension is compiled while the other packages are fetched.
"""

import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:
    here = ".".join(map(str, sys.version_info[:2]))
    sys.exit(f"chartpact needs Python 3.11 or later, and this is {here}: make PYTHON=python3.12 …")

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
STARTED = time.monotonic()


def say(text: str) -> None:
    print(f"[{time.monotonic() - STARTED:3.0f} s] {text}", flush=True)


def requirements(extras: Iterable[str]) -> list[str]:
    """What the package and these extras require; an extra may name others."""
    optional = PROJECT["project"]["optional-dependencies"]
    wanted = list(PROJECT["project"]["dependencies"])
    for extra in extras:
        for requirement in optional[extra]:
            own = re.fullmatch(r"chartpact\[(.*)\]", requirement)
            wanted += requirements(own[1].split(",")) if own else [requirement]
    return list(dict.fromkeys(wanted))


def pip(python: Path, *words: str) -> list[str]:
    quiet = ("--disable-pip-version-check", "--no-input", "--progress-bar=off")
    return [str(python), "-m", "pip", "install", *quiet, *words]


def works(python: Path) -> bool:
    """Whether the interpreter is still there, and its pip."""
    asked = [str(python), "-m", "pip", "--version"]
    return (
        python.exists() and not subprocess.run(asked, capture_output=True, check=False).returncode
    )


def fetch(command: list[str]) -> int:
    """Runs pip and names each package that it gets."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        named: set[str] = set()
        for line in running.stdout:
            package = re.match(r"(?:Collecting|Obtaining dependency.* for) ([\w.-]+)", line)
            if package and package[1] not in named:
                named.add(package[1])
                say(f"  {package[1]}")
            elif line.startswith("Installing collected"):
                say("unpacking them")
    return running.returncode


def main(folder: str, *extras: str) -> int:
    environment = Path(folder)
    python = environment / "bin" / "python"
    marks = list(environment.glob(".ready*"))  # none: the environment is half made
    if not (marks and works(python)):
        say(f"making a virtual environment in {folder}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    for mark in marks:
        mark.unlink(missing_ok=True)
    say("getting what the C extension is built with")
    # Modules are compiled when they are first imported, and few are: most of the time is saved.
    lazily = ("--no-compile",) if extras == ("server",) else ()
    if failed := fetch(pip(python, *lazily, *PROJECT["build-system"]["requires"])):
        return failed
    say("compiling the C extension, and meanwhile getting")
    build = subprocess.Popen(
        pip(python, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    failed = fetch(pip(python, *lazily, *requirements(extras)))
    told, _ = build.communicate()
    if build.returncode:
        print(told, file=sys.stderr)
    elif not list((ROOT / "src" / "chartpact").glob("_native*.so")):
        say("there is no C compiler here: chartpact computes slowly, and has no sandbox")
    say("done" if not (failed or build.returncode) else "this did not work")
    return failed or build.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
