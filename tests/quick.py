"""Runs what a change to one room needs: its tests and doctests, without the slow ones.

    make quick ROOM="contracts snapshot"
    make quick

Without ROOM these are the rooms with files that differ from the main branch. Of the server, `auth`
and `web` are rooms of their own. What runs on both databases in the suite runs on SQLite here.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("tests/{}", "tests/test_{}.py", "src/chartpact/{}", "src/chartpact/{}.py")
PARTS = {"auth": "server/auth", "web": "server/web"}  # rooms within the server
# What every change can break, and says so soon.
ALWAYS = ("tests/repository/test_package.py", "tests/repository/test_rooms.py")


def room_of(file: str) -> str | None:
    """The room that a file of the repository belongs to, if any."""
    page = ("web/", "src/chartpact/server/static/", "tests/server/web/")
    if file.startswith(page) or "/server/auth/" in file:
        return "web" if file.startswith(page) else "auth"
    found = re.match(r"(?:src/chartpact|tests)/(\w+)/|src/chartpact/(\w+)|tests/test_(\w+)", file)
    if found is None:
        return None if file.startswith("bench/") else "repository"
    room = found[1] or found[2] or found[3]
    return "ta" if room == "native" else room


def changed_files() -> list[str]:
    def git(*words: str) -> list[str]:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout.splitlines()

    base = git("merge-base", "HEAD", "main") or git("merge-base", "HEAD", "origin/main") or ["HEAD"]
    return git("diff", "--name-only", *base) + git("ls-files", "--others", "--exclude-standard")


def paths(rooms: Iterable[str]) -> list[str]:
    """The tests and the modules of these rooms."""
    found = [place.format(PARTS.get(room, room)) for room in rooms for place in PLACES]
    return [path for path in (*found, *ALWAYS) if (ROOT / path).exists()]


def left_out(rooms: Iterable[str]) -> list[str]:
    """The parts of the server that have not been asked for."""
    return [f"--ignore=tests/{part}" for room, part in PARTS.items() if room not in rooms]


def main(rooms: Sequence[str]) -> int:
    rooms = rooms or sorted({room for file in changed_files() if (room := room_of(file))})
    for room in rooms:
        if not any((ROOT / place.format(PARTS.get(room, room))).exists() for place in PLACES):
            print(f"there is no room {room!r}", file=sys.stderr)
            return 2
    print(f"rooms: {', '.join(rooms) or 'none has changed'}", flush=True)
    command = [sys.executable, "-m", "pytest", "-m", "not slow", *paths(rooms), *left_out(rooms)]
    parallel = ["--numprocesses=auto", "--dist=loadfile"]
    environment = {"CHARTPACT_TEST_DATABASE": "sqlite", **os.environ}
    done = subprocess.run([*command, *parallel], cwd=ROOT, env=environment, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
