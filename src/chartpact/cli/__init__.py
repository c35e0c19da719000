"""The same verbs from a shell: each noun's module adds its own, this one runs them."""

import argparse
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from typing import Any, NoReturn, TextIO

from chartpact._version import VERSION
from chartpact.bars.errors import nearest

# Exit codes, as every verb uses them.
DONE, ALL_FAILED, BAD_INPUT, VIOLATION, SCRIPT_ERROR, UNREACHABLE = range(6)

NOUNS = ("chart", "script", "scripts", "snapshot", "contract", "read", "doctor", "serve")

PROTOCOLS = ("serve", "mcp")  # verbs that answer machines, and log in colours

# What terminals obey, and what turns the reading direction; not the ends of lines, not tabs.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

Verbs = Any  # argparse gives its subparsers no public type


class UsageError(Exception):
    """The command cannot be carried out as written; the message is all the user needs."""

    def __init__(self, message: str, code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


class _Parser(argparse.ArgumentParser):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.register("type", int, _whole)
        self.register("type", float, _number)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, but a verb itself tells what it does not know."""
        known, extra = super().parse_known_args(args, namespace)
        if extra:
            near = nearest(extra[0], self._option_string_actions) if extra[0][:1] == "-" else ""
            self.error(f"unrecognized arguments: {' '.join(extra)}{near}")
        return known, extra

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        print(f"Try '{self.prog} --help'.", file=sys.stderr)
        raise SystemExit(BAD_INPUT)


def _whole(written: str) -> int:
    try:
        return int(written)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{written!r:.60} is not a whole number") from None


def _number(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{written!r:.60} is not a number") from None


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


class Visible:
    """A stream on which no text of a stranger's script can move the cursor or hide what it says.

    The escape is JSON's, so that JSON stays what it was.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        written = _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
        return int(self._stream.write(written))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _shown(stream: TextIO | None) -> Any:
    return None if stream is None else Visible(stream)  # who closed it wants to see nothing


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    top = parser()
    args = top.parse_args(argv)
    if args.verb is None:
        top.print_help()
        return DONE
    try:
        if args.verb in PROTOCOLS:
            return int(args.run(args))
        with redirect_stdout(_shown(sys.stdout)), redirect_stderr(_shown(sys.stderr)):
            return int(args.run(args))
    except UsageError as error:
        print(f"chartpact {args.verb}: {error}", file=_shown(sys.stderr))
        return error.code
    except BrokenPipeError:  # the reader has seen enough, as in `chartpact … | head`
        sys.stderr.close()
        return DONE
