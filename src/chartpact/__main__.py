"""The whole command line: the verbs of `chartpact.cli` and those of the server."""

import argparse
import sys
from collections.abc import Sequence

from chartpact import cli
from chartpact.server import command, user_command


def parser() -> argparse.ArgumentParser:
    return cli.parser(command.add, user_command.add)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    return cli.main(argv, command.add, user_command.add)


if __name__ == "__main__":
    sys.exit(main())
