"""The same verbs from a shell: each noun's module adds its own, this one runs them."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from chartpact._version import VERSION

# Exit codes, as every verb uses them.
DONE, ALL_FAILED, BAD_INPUT, VIOLATION, SCRIPT_ERROR, UNREACHABLE = range(6)

NOUNS = ("chart", "script", "scripts", "snapshot", "contract", "read", "doctor", "serve")

Verbs = Any  # argparse gives its subparsers no public type


class UsageError(Exception):
    """The command cannot be carried out as written; the message is all the user needs."""

    def __init__(self, message: str, code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        print(f"Try '{self.prog} --help'.", file=sys.stderr)
        raise SystemExit(BAD_INPUT)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = _Parser(
        prog="chartpact",
        description="Trading indicators you can write yourself, and charts a program can trust.",
        epilog="A first try: chartpact chart sample:es-5m -i rsi --summary",
    )
    top.add_argument("--version", action="version", version=f"chartpact {VERSION}")
    verbs = top.add_subparsers(title="verbs", metavar="VERB", dest="verb")
    for noun in NOUNS:
        import_module(f"chartpact.cli.{noun}").add(verbs)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    top = parser()
    args = top.parse_args(argv)
    if args.verb is None:
        top.print_help()
        return DONE
    try:
        return int(args.run(args))
    except UsageError as error:
        print(f"chartpact {args.verb}: {error}", file=sys.stderr)
        return error.code
    except BrokenPipeError:  # the reader has seen enough, as in `chartpact … | head`
        sys.stderr.close()
        return DONE
