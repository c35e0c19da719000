"""The whole command line: the verbs of `chartpact.cli` and those of the server."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chartpact.work.garbage import search_rarely

if TYPE_CHECKING:
    import argparse

INTERRUPTED = 130  # as shells say it of a command that Ctrl-C ended


def parser() -> "argparse.ArgumentParser":
    from chartpact import cli
    from chartpact.server import command, user_command

    return cli.parser(command.add, user_command.add)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; Ctrl-C may also come during the imports."""
    search_rarely()
    try:
        from chartpact import cli
        from chartpact.server import command, user_command

        return cli.main(argv, command.add, user_command.add)
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
