"""What became of every statement of a Pine script."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from chartpact.pine import tree as t
from chartpact.pine.errors import PineError

DIFFERS = ("approximated",)
_LICENCES = (
    (
        re.compile(
            r"Mozilla Public License\s*,?\s*(?:v\.?\s*)?2\.0|MPL[- ]?2\.0|mozilla\.org/MPL/2\.0",
            re.I,
        ),
        "MPL-2.0",
    ),
    (
        re.compile(
            r"CC BY-NC-SA 4\.0|Attribution-NonCommercial-ShareAlike 4\.0|by-nc-sa/4\.0", re.I
        ),
        "CC BY-NC-SA 4.0",
    ),
    (re.compile(r"GNU General Public|GPL", re.I), "GPL"),
    (re.compile(r"\bMIT\b"), "MIT"),
    (re.compile(r"Apache", re.I), "Apache-2.0"),
)
_AUTHOR = re.compile(
    r"^\s*(?:©|\(c\)|copyright)\s*(?:\(c\)\s*)?(?:\d{4}(?:\s*-\s*\d{4})?,?\s*)?(?P<name>[^\n]{1,80})",
    re.I,
)


@dataclass
class ImportItem:
    line: int
    column: int
    status: str  # exact helper approximated left_out assumed refused
    rule: str
    message: str
    pine: str = ""
    script_line: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "line": self.line,
            "column": self.column,
            "pine": self.pine,
            "status": self.status,
            "rule": self.rule,
            "message": self.message,
            "script_line": self.script_line,
        }


@dataclass
class Report:
    """Notes on the statements of one script, gathered while it is translated."""

    lines: list[str]
    version: int
    comments: dict[int, str]
    items: list[ImportItem] = field(default_factory=list)
    statements: int = 0
    title: str = ""
    check: dict[str, Any] | None = None
    prove: dict[str, Any] | None = None

    def restart(self) -> None:
        self.items, self.statements = [], 0

    def done(self, line: int, column: int) -> None:
        self.statements += 1

    def note(self, node: t.PineNode | Any, status: str, rule: str, message: str) -> None:
        item = ImportItem(node.line, node.column, status, rule, message, self.excerpt(node.line))
        key = (item.line, item.status, item.rule, item.message)
        if key not in {(i.line, i.status, i.rule, i.message) for i in self.items}:
            self.items.append(item)

    def refuse(self, error: PineError, statement: t.PineNode) -> None:
        self.statements += 1
        line = error.line if error.line > 1 or statement.line <= 1 else statement.line
        self.items.append(
            ImportItem(line, error.column, "refused", error.rule, error.message, self.excerpt(line))
        )

    def excerpt(self, line: int) -> str:
        text = self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""
        return text if len(text) <= 80 else text[:79] + "…"

    @property
    def licence(self) -> str | None:
        head = "\n".join(self.head())
        for pattern, name in _LICENCES:
            if pattern.search(head):
                return name
        return None

    @property
    def author(self) -> str | None:
        for text in self.head():
            found = _AUTHOR.match(text)
            if found:
                return found["name"].strip(" .")
        return None

    def head(self) -> list[str]:
        """The comments above the first statement: licence and author stand there."""
        return [
            text.strip()
            for line, text in sorted(self.comments.items())
            if line <= self.first_statement and "@version" not in text
        ]

    @property
    def first_statement(self) -> int:
        for number, text in enumerate(self.lines, 1):
            stripped = text.strip()
            if stripped and not stripped.startswith("//"):
                return number - 1
        return len(self.lines)

    def verdict(self, partial: bool = False) -> str:
        statuses = {item.status for item in self.items}
        if "refused" in statuses:
            return "partial" if partial else "refused"
        return "with differences" if statuses & {"approximated", "assumed"} else "exact"

    def to_json(self, source: str, partial: bool = False) -> dict[str, Any]:
        counts = Counter(item.status for item in self.items)
        return {
            "pine": {
                "title": self.title,
                "version": self.version,
                "lines": len(self.lines),
                "licence": self.licence,
                "author": self.author,
                "sha256": hashlib.sha256(source.encode()).hexdigest(),
            },
            "verdict": self.verdict(partial),
            "items": [
                item.to_json() for item in sorted(self.items, key=lambda i: (i.line, i.column))
            ],
            "counts": {
                "statements": self.statements,
                "exact": max(
                    0, self.statements - len({i.line for i in self.items if i.status != "left_out"})
                ),
                **{
                    name: counts[name]
                    for name in ("helper", "approximated", "assumed", "left_out", "refused")
                },
            },
            "check": self.check,
            "prove": self.prove,
        }
