"""Writes docs/reference from the code; with --check, fails when a page has drifted.

A page is a function that returns Markdown; `PAGES` names them all.
"""

import argparse
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

REFERENCE = Path(__file__).resolve().parent / "reference"
NOTE = (
    "<!-- Written by docs/generate.py from the code: edit the code, then run `make docs`. -->\n\n"
)


def cli_page() -> str:
    """Every verb with its help text."""
    from chartpact.cli import parser

    top = parser()
    verbs = next(a for a in top._actions if isinstance(a, argparse._SubParsersAction))
    parts = ["# Command line\n", _help(top)]
    for name, verb in verbs.choices.items():
        parts.append(f"## `chartpact {name}`\n\n{_help(verb)}")
        for inner in verb._actions:
            if isinstance(inner, argparse._SubParsersAction):
                parts += [
                    f"### `chartpact {name} {each}`\n\n{_help(sub)}"
                    for each, sub in inner.choices.items()
                ]
    return "\n".join(parts)


def _help(parser: argparse.ArgumentParser) -> str:
    parser.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=88)  # type: ignore
    return f"```text\n{parser.format_help().strip()}\n```\n"


def ta_page() -> str:
    """Every function of `chartpact.ta`, by family: how it is called, what it does, an example."""
    from chartpact import ta

    parts = [f"# `ta`: numeric primitives\n\n{_prose(inspect.getdoc(ta) or '')}"]
    parts += [
        f"- [{_title(family)}](#{_title(family).lower()}): "
        + " ".join(f"[`{name}`](#{name})" for name in family.__all__)
        for family in ta.FAMILIES
    ]
    for family in ta.FAMILIES:
        parts.append(f"\n## {_title(family)}\n\n{_prose(inspect.getdoc(family) or '')}")
        for name in family.__all__:
            function = ta.FUNCTIONS[name]
            text = inspect.getdoc(function) or ""
            about, example = text.split("\n\n>>>", 1)
            parts.append(f"### `{name}`\n\n`{name}{_call(function)}`\n\n{about}\n")
            parts.append(f"```pycon\n>>>{example}\n```\n")
    return "\n".join(parts)


def _title(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2].capitalize()


def _prose(text: str) -> str:
    """A docstring without its doctest."""
    return text.split("\n>>>", 1)[0].rstrip() + "\n"


def _call(function: Callable[..., object]) -> str:
    """A function's parameters as one writes them, without their types."""
    signature = inspect.signature(function)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


def scene_schema() -> str:
    from chartpact.scene import json_schema

    return json.dumps(json_schema(), indent=1) + "\n"


def snapshot_schema() -> str:
    from chartpact.snapshot import json_schema

    return json.dumps(json_schema(), indent=1) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "ta.md": ta_page,
    "scene.schema.json": scene_schema,
    "snapshot.schema.json": snapshot_schema,
}


def main() -> int:
    """Writes the pages, or tells which have drifted."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true", help="write nothing, fail on drift")
    check = options.parse_args().check
    drifted = []
    for name, page in PAGES.items():
        path = REFERENCE / name
        text = (NOTE if path.suffix == ".md" else "") + page()
        if not path.exists() or path.read_text() != text:
            drifted.append(name)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    known = set(PAGES)
    stale = sorted(p.relative_to(REFERENCE).as_posix() for p in REFERENCE.rglob("*") if p.is_file())
    stale = [name for name in stale if name not in known]
    for name in stale:
        if not check:
            (REFERENCE / name).unlink()
    if check and (drifted or stale):
        print(f"drifted: {', '.join(drifted + stale)}; run `make docs`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
