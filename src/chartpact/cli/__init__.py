"""The same verbs from a shell: each noun's module adds its own, this one runs them.

What goes wrong is raised as a Failure: `main` prints it, and its kind decides the exit code.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from typing import Any, NoReturn, TextIO

from chartpact._version import VERSION
from chartpact.bars import BarsError
from chartpact.extras import require_server
from chartpact.oneline import escape_unseen
from chartpact.problem import Failure, Problem, did_you_mean
from chartpact.sources.errors import SourceFailed

# Exit codes, as every verb uses them.
DONE, ALL_FAILED, BAD_INPUT, VIOLATION, SCRIPT_ERROR, UNREACHABLE, REWRITTEN = range(7)

# Each noun's module and its verbs. A command imports the module of its own verb alone.
NOUNS = {
    "lists": ("indicators", "symbols"),
    "chart": ("chart",),
    "script": ("check", "run", "prove", "fork"),
    "pine": ("import-pine",),
    "docs": ("docs",),
    "scripts": ("scripts",),
    "snapshot": ("snapshot",),
    "contract": ("contract",),
    "strategy": ("strategy",),
    "read": ("read",),
    "study": ("study",),
    "watch": ("watch",),
    "doctor": ("doctor",),
    "completion": (),  # it tells of every verb, so it needs all of them
}

Verbs = Any  # argparse gives its subparsers no public type
Add = Callable[[Verbs], None]


class UsageError(Failure):
    """The command cannot be carried out as written; the message is all the user needs."""

    def __init__(self, message: str, code: int = BAD_INPUT) -> None:
        super().__init__(Problem("usage", message))
        self.code = code


def exit_code(error: Failure) -> int:
    """The exit code that says what kind of thing went wrong."""
    if isinstance(error, UsageError):
        return error.code
    # Sources that are set up wrongly raise a BarsError: nothing was asked that could not answer.
    unreachable = error.kind == "unavailable" and not isinstance(error, BarsError)
    return UNREACHABLE if unreachable else BAD_INPUT


class _Parser(argparse.ArgumentParser):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.register("type", int, _reader(int, "a whole number"))
        self.register("type", float, _reader(float, "a number"))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, but each verb reports its own unknown arguments."""
        known, extra = super().parse_known_args(args, namespace)
        if extra:
            options = self._option_string_actions if extra[0][:1] == "-" else ()
            question = did_you_mean(extra[0], options, before="; ")
            self.error(f"unrecognized arguments: {' '.join(extra)}{question}")
        return known, extra

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        print(f"Try '{self.prog} --help'.", file=sys.stderr)
        raise SystemExit(BAD_INPUT)


def _reader(read: Callable[[str], float], noun: str) -> Callable[[str], float]:
    def read_argument(text: str) -> float:
        try:
            return read(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r:.60} is not {noun}") from None

    return read_argument


def parser(*further: Add, verb: str = "") -> argparse.ArgumentParser:
    """The command line; `further` functions add verbs that are not of this room.

    With a `verb` of this room the other modules are left out: they take time to import.
    """
    top = _Parser(
        prog="chartpact",
        description="Trading indicators you can write yourself, and charts a program can trust.",
        epilog="A first try: chartpact chart sample:es-5m -i rsi --summary",
    )
    top.add_argument("--version", action="version", version=f"chartpact {VERSION}")
    verbs = top.add_subparsers(title="verbs", metavar="VERB", dest="verb")
    own = [noun for noun, names in NOUNS.items() if verb in names]
    for noun in own or NOUNS:
        import_module(f"chartpact.cli.{noun}").add(verbs)
    for add in () if own else further:
        add(verbs)
    return top


class Visible:
    """A stream that escapes control characters, so that no script's text moves the cursor.

    The escape is JSON's, so that JSON stays what it was.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return int(self._stream.write(escape_unseen(text)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def on_terminal() -> Any:
    """While it lasts, standard error is the terminal itself: a progress bar needs its returns."""
    return redirect_stderr(getattr(sys.stderr, "_stream", sys.stderr))


def _visible(stream: TextIO | None) -> Any:
    return None if stream is None else Visible(stream)  # None: its owner closed it


def _advice(error: Failure) -> str:
    """Advice for the command line, appended to the message."""
    if option := getattr(error, "option", None):
        flag = "bars-tz" if option == "tz" else option.replace("_", "-")
        return f" (on the command line --{flag})"
    if extra := error.problem.details.get("extra"):
        return f"; pip install 'chartpact[{extra}]' installs it"
    if isinstance(error, SourceFailed) and (symbol := error.problem.details.get("symbol")):
        return f"; `chartpact chart {symbol}` asks again"
    return "; `chartpact doctor` tells more" if error.kind == "crash" else ""


class _OnceEach:
    """Prints each warning once, for people, who have no use for its place in the source."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message)
        if text not in self._shown:
            self._shown.add(text)
            print(f"chartpact: {text}", file=sys.stderr)


def main(argv: Sequence[str] | None = None, *further: Add) -> int:
    """Runs one command and returns its exit code."""
    words = sys.argv[1:] if argv is None else argv
    with warnings.catch_warnings(record=True) as early:  # of the imports: which kernels are in use
        top = parser(*further, verb=words[0] if words else "")
    args = top.parse_args(words)
    if args.verb is None:
        top.print_help()
        return DONE
    try:
        if getattr(args, "needs_server", False):
            require_server(f"`chartpact {args.verb}`")
        if getattr(args, "speaks_protocol", False):  # to a machine, on untouched streams
            return int(args.run(args))
        with (
            redirect_stdout(_visible(sys.stdout)),
            redirect_stderr(_visible(sys.stderr)),
            warnings.catch_warnings(),
        ):
            show = warnings.showwarning = _OnceEach()
            for warning in early:
                show(warning.message)
            return int(args.run(args))
    except Failure as error:
        print(f"chartpact {args.verb}: {error}{_advice(error)}", file=_visible(sys.stderr))
        return exit_code(error)
    except BrokenPipeError:  # the reader has seen enough, as in `chartpact … | head`
        sys.stderr.close()
        return DONE
