"""`chartpact import-pine`: a Pine script as one of ours, with a report on every statement."""

import argparse
import json
import sys
from typing import Any

from chartpact.cli import DONE, SCRIPT_ERROR, VIOLATION, Verbs
from chartpact.cli.files import read_text, write_text
from chartpact.pine import import_pine

_MARKS = {
    "exact": "exact: every statement is one whose rule is known",
    "with differences": "with differences: what is listed looks or counts otherwise",
    "partial": "partial: what is refused is left out",
    "refused": "refused: nothing is written",
}


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "import-pine",
        help="translate a Pine script",
        description="Translates a Pine script (v1 to v6) into a script of ours, once, and says of "
        "every line what became of it. Exit code 3 means with differences or partial, 4 refused.",
        epilog="Example: chartpact import-pine my.pine -o my.star",
    )
    verb.add_argument("file", metavar="FILE", help="the Pine script, or - for standard input")
    verb.add_argument("-o", "--output", metavar="FILE.star", help="where the script is written")
    verb.add_argument("--json", action="store_true", help="script and report, as JSON")
    verb.add_argument("--partial", action="store_true", help="write what can be translated")
    verb.add_argument("--lines", action="store_true", help="tell Pine's line beside each line")
    verb.set_defaults(run=run_import_pine)


def run_import_pine(args: argparse.Namespace) -> int:
    found = import_pine(read_text(args.file), partial=args.partial, lines=args.lines)
    if args.json:
        print(json.dumps({"script": found.script or None, "report": found.report}))
    else:
        _tell(args.file, found.report)
    if found.script and args.output:
        write_text(args.output, found.script)
    elif found.script and not args.json:
        print(found.script, end="")
    if found.verdict == "refused":
        return SCRIPT_ERROR
    return DONE if found.verdict == "exact" else VIOLATION


def _tell(name: str, report: dict[str, Any]) -> None:
    for item in report["items"]:
        place = f"{name}:{item['line']}:{item['column']}"
        print(f"{place}: {item['status'].replace('_', ' ')}: {item['message']}", file=sys.stderr)
    pine = report["pine"]
    facts = [f"licence {pine['licence']}" if pine["licence"] else "no licence stated"]
    if pine["author"]:
        facts.append(f"by {pine['author']}")
    print(f"{pine['title'] or name} (Pine v{pine['version']}, {', '.join(facts)})", file=sys.stderr)
    print(_MARKS[report["verdict"]], file=sys.stderr)
