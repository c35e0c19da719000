"""The whole command line: the verbs of `chartpact.cli` and those of the server."""

import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

MANY_OBJECTS = 100_000  # between two searches for garbage; imports make as many, and no garbage
INTERRUPTED = 130  # as shells say it of a command that Ctrl-C ended


def parser() -> "argparse.ArgumentParser":
    from chartpact import cli
    from chartpact.server import command, user_command

    return cli.parser(command.add, user_command.add)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; Ctrl-C may also come during the imports."""
    gc.set_threshold(MANY_OBJECTS)
    try:
        from chartpact import cli
        from chartpact.server import command, user_command

        return cli.main(argv, command.add, user_command.add)
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
