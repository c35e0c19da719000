"""One call from Pine source to a script and its report."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from chartpact.pine.calls import call_builtin
from chartpact.pine.emit import write
from chartpact.pine.errors import PineError
from chartpact.pine.lower import lower
from chartpact.pine.parser import parse
from chartpact.pine.report import ImportItem, Report
from chartpact.script.limits import Limits
from chartpact.script.pipeline import examine


@dataclass(frozen=True)
class Imported:
    """A translated script. `script` is empty where the import was refused."""

    script: str
    report: dict[str, Any]

    @property
    def verdict(self) -> str:
        return str(self.report["verdict"])


def import_pine(source: str, *, partial: bool = False, lines: bool = False) -> Imported:
    """The script that a Pine source becomes, with a report on every statement of it."""
    limit = sys.getrecursionlimit()
    report = Report(source.replace("\r\n", "\n").split("\n"), 0, {})
    script = ""
    try:
        sys.setrecursionlimit(max(limit, 6000))
        tree = parse(source)
        report.version, report.comments = tree.version, tree.comments
        program = lower(tree, report, call_builtin)
        if partial or report.verdict() != "refused":
            script, places = write(program, report, source, lines)
            _link(report, places)
            script = _checked(script, places, report)
    except PineError as error:
        report.items.append(
            ImportItem(
                error.line,
                error.column,
                "refused",
                error.rule,
                error.message,
                report.excerpt(error.line),
            )
        )
        script = ""
    except RecursionError:
        report.items.append(ImportItem(1, 1, "refused", "limit", "the script is too deep"))
        script = ""
    finally:
        sys.setrecursionlimit(limit)
    return Imported(script, report.to_json(source, partial and bool(script)))


def _checked(script: str, places: dict[int, int], report: Report) -> str:
    """The script, if the language accepts it; what it says else stands in the report."""
    program, problems = examine(script, Limits())
    if program is not None:
        return script
    problem = problems[0]
    line = places.get(problem.line or 0, 1)
    report.items.append(
        ImportItem(
            line,
            1,
            "refused",
            "check",
            f"the script would not run: {problem.message}",
            report.excerpt(line),
        )
    )
    return ""


def _link(report: Report, places: dict[int, int]) -> None:
    first: dict[int, int] = {}
    for line, place in places.items():
        first.setdefault(place, line)
    for item in report.items:
        item.script_line = first.get(item.line)
