"""Patterns on RE2: linear in the text, bounded in memory, remembered by text."""

from collections.abc import Mapping

import re2

from chartpact.contracts.violations import Trouble

MAX_PATTERN = 1000
MAX_TEXT = 4096
_REMEMBERED = 4096
_MEMORY = 1 << 20

_options = re2.Options()
_options.log_errors = False
_options.max_mem = _MEMORY


def fault(text: str) -> str | None:
    """What is wrong with a pattern, or nothing."""
    if len(text) > MAX_PATTERN:
        return f"a pattern of {len(text)} characters is too long; at most {MAX_PATTERN}"
    try:
        re2.compile(text, _options)
    except (re2.error, UnicodeEncodeError) as error:
        told = error.args[0] if error.args else error
        shown = told.decode(errors="replace") if isinstance(told, bytes) else str(told)
        return f"{text!r:.60} is not a pattern: {shown}"
    return None


class Pattern:
    """A pattern that must match a whole text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled = re2.compile(text, _options)
        self._groups: dict[str, int] = dict(self._compiled.groupindex)
        self._seen: dict[str, Mapping[str, str | None] | None] = {}

    @property
    def groups(self) -> frozenset[str]:
        return frozenset(self._groups)

    def match(self, text: str) -> Mapping[str, str | None] | None:
        """The named groups, where the whole text matches."""
        if text in self._seen:
            return self._seen[text]
        if len(text) > MAX_TEXT:
            raise Trouble("malformed", f"a text of {len(text)} characters is too long to match")
        try:
            found = self._compiled.fullmatch(text)
        except UnicodeEncodeError:
            raise Trouble("malformed", "a text holds half of a surrogate pair") from None
        groups = None
        if found is not None:
            groups = {name: found.group(at) for name, at in self._groups.items()}
        if len(self._seen) >= _REMEMBERED:
            self._seen.clear()
        self._seen[text] = groups
        return groups

    def matches(self, text: str) -> bool:
        return self.match(text) is not None
