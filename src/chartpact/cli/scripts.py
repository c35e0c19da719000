"""`chartpact scripts`: your own indicators, kept under their names with their earlier versions."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chartpact.cli import DONE, SCRIPT_ERROR, UsageError, Verbs
from chartpact.cli.database import open_scripts
from chartpact.cli.files import read_text, write_text
from chartpact.cli.script import format_error
from chartpact.clock.walltime import iso
from chartpact.library.local import LOCAL_USER, add_database
from chartpact.oneline import one_line

if TYPE_CHECKING:
    from chartpact.library.scripts import Script, Scripts


def add(verbs: Verbs) -> None:
    noun = verbs.add_parser(
        "scripts",
        help="keep your own indicators",
        description=(
            "Keeps your own indicators under their names, with the last 20 versions of each. "
            "They are the local user's, as in `chartpact mcp` and `chartpact serve --no-auth`."
        ),
        epilog="Example: chartpact scripts add my_waves my_waves.star",
    )
    add_database(noun)
    actions = noun.add_subparsers(title="actions", metavar="ACTION", required=True)

    def action(name: str, run: Callable[[argparse.Namespace], int], text: str) -> Any:
        verb = actions.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        verb.add_argument("--json", action="store_true", help="the outcome as JSON")
        add_database(verb, default=argparse.SUPPRESS)  # what the noun was given stays
        verb.set_defaults(run=run)
        return verb

    action("list", run_list, "list your scripts")

    for name, run, text in (
        ("add", run_add, "check a script and keep it, in place of one that has its name"),
        ("update", run_update, "check a script and keep it as a new version of one that is there"),
    ):
        verb = action(name, run, text)
        verb.add_argument(
            "name", metavar="NAME", nargs="?", help="its name (default: that of the file)"
        )
        verb.add_argument("file", metavar="FILE", help="the script, or - for standard input")

    verb = action("show", run_show, "print the source of a script")
    _add_name(verb)
    verb.add_argument("--version", type=int, metavar="N", help="an earlier version of it")

    _add_name(action("history", run_history, "list the kept versions of a script, newest first"))

    verb = action("restore", run_restore, "put an earlier version back in force, as a new version")
    _add_name(verb)
    verb.add_argument("version", type=int, metavar="VERSION", help="its number in the history")

    _add_name(action("remove", run_remove, "take a script out of use; it can still be restored"))

    verb = action("export", run_export, "write all your scripts as one JSON document")
    verb.add_argument("-o", "--output", metavar="FILE", help="write there, not to stdout")

    verb = action("import", run_import, "keep every script of an export, or none of them")
    verb.add_argument("file", metavar="FILE", help="the export, or - for standard input")


def _add_name(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("name", metavar="NAME", help="the name of a script")


# ------------------------------------------------------------------------------------------ reading


def run_list(args: argparse.Namespace) -> int:
    with open_scripts(args.db) as library:
        scripts = library.of(LOCAL_USER)
    if args.json:
        print(json.dumps({"scripts": [_describe(script) for script in scripts]}))
        return DONE
    width = max((len(script.name) for script in scripts), default=0)
    for script in scripts:
        title = one_line(script.meta.get("title", ""))
        print(f"{script.name:<{width}}  {iso(script.updated_at)[:19]}Z  {title}")
    if not scripts:
        print("There are no scripts yet: chartpact scripts add NAME FILE", file=sys.stderr)
    return DONE


def _describe(script: "Script") -> dict[str, Any]:
    return {
        "name": script.name,
        "title": script.meta.get("title", script.name),
        "params": list(script.params),
        "meta": dict(script.meta),
        "created_at": script.created_at,
        "updated_at": script.updated_at,
    }


def run_show(args: argparse.Namespace) -> int:
    with open_scripts(args.db) as library:
        if args.version is None:
            script = library.get(LOCAL_USER, args.name)
            source, data = script.source, {**_describe(script), "source": script.source}
        else:
            history = {old.version: old for old in library.history(LOCAL_USER, args.name)}
            if args.version not in history:
                kept = f"kept versions: {', '.join(map(str, history))}"
                raise UsageError(f"{args.name!r} has no version {args.version}; {kept}")
            version = history[args.version]
            source, data = version.source, {"name": args.name, **version.__dict__}
    print(json.dumps(data) if args.json else source, end="\n" if args.json else "")
    return DONE


def run_history(args: argparse.Namespace) -> int:
    with open_scripts(args.db) as library:
        versions = library.history(LOCAL_USER, args.name)
    if args.json:
        print(json.dumps({"versions": [version.__dict__ for version in versions]}))
        return DONE
    for version in versions:
        created = f"{iso(version.created_at)[:19]}Z"
        print(f"{version.version:>4}  {created}  {version.source_hash[:12]}")
    return DONE


def run_export(args: argparse.Namespace) -> int:
    with open_scripts(args.db) as library:
        exported = json.dumps(library.export(LOCAL_USER), indent=1) + "\n"
    write_text(args.output, exported)
    return DONE


# ----------------------------------------------------------------------------------------- changing


def _keep(args: argparse.Namespace, method: str, done: str) -> int:
    """Hands the script that the arguments name to a method of the library."""
    if args.name is None and args.file == "-":
        raise UsageError("a script from standard input needs a name: scripts add NAME -")
    name = Path(args.file).stem if args.name is None else args.name
    source = read_text(args.file)
    return _change(
        args,
        lambda library: [getattr(library, method)(LOCAL_USER, name, source)],
        f"{name} is {done}",
        source,
    )


def run_add(args: argparse.Namespace) -> int:
    return _keep(args, "register", "kept")


def run_update(args: argparse.Namespace) -> int:
    return _keep(args, "update", "updated")


def run_restore(args: argparse.Namespace) -> int:
    return _change(
        args,
        lambda library: [library.restore(LOCAL_USER, args.name, args.version)],
        f"version {args.version} of {args.name} is back in force",
    )


def run_remove(args: argparse.Namespace) -> int:
    def remove(library: "Scripts") -> "Sequence[Script]":
        library.delete(LOCAL_USER, args.name)
        return []

    return _change(args, remove, f"{args.name} is removed; its history brings it back")


def run_import(args: argparse.Namespace) -> int:
    try:
        exported = json.loads(read_text(args.file))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{args.file} is not JSON: {error}") from None
    return _change(
        args,
        lambda library: library.load(LOCAL_USER, exported),
        "all scripts of the export are kept",
    )


def _change(
    args: argparse.Namespace,
    change: "Callable[[Scripts], Sequence[Script]]",
    done: str,
    source: str = "",
) -> int:
    """Carries out a change; one that is refused changes nothing and says why."""
    with open_scripts(args.db) as library:
        from chartpact.library.errors import LibraryError

        try:
            scripts = change(library)
        except LibraryError as error:
            if args.json:
                problems = [problem.to_json() for problem in error.problems]
                print(json.dumps({"ok": False, "errors": problems}))
            if not error.of_script:
                raise
            for problem in error.problems:
                place = problem.details.get("name") or getattr(args, "file", args.name)
                print(format_error(problem, source, place), file=sys.stderr)
            return SCRIPT_ERROR
    warnings = [warning for script in scripts for warning in script.warnings]
    if args.json:
        kept = [_describe(script) for script in scripts]
        answer = {"ok": True, "scripts": kept, "warnings": [w.to_json() for w in warnings]}
        print(json.dumps(answer))
    else:
        print(done, file=sys.stderr)
    for warning in warnings:
        place = getattr(args, "file", args.name) if source else warning.details["name"]
        print(format_error(warning, source, place, "warning"), file=sys.stderr)
    return DONE
