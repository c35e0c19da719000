"""Text that a script or a chart wrote, as one line of ours.

Whoever writes such a text into lines for people or models (a summary, a log, an error, a tool's
answer) passes it through here, so that it cannot end the line, hide a part of it, turn the reading
direction or move a cursor. JSON needs none of it.
"""

import json
import re

LONGEST = 200  # characters of a name

# Controls of terminals, signs that turn the reading direction, invisible ones, halves of surrogate
# pairs, and the letters of tags, which a model reads and nobody sees. Joiners are part of words.
_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u2028\u2029\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_UNSEEN_SIGN = re.compile(f"[{_UNSEEN}]")
_LINE_SIGN = re.compile(f"[\t\n{_UNSEEN}]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MARKS = re.compile(r'[,:;"]|^ | $|  ')  # what ends a name in our lists


def escape_unseen(text: str) -> str:
    """The text with its invisible signs escaped as JSON does; the ends of its lines stay."""
    return _UNSEEN_SIGN.sub(_escape, text)


def one_line(text: str) -> str:
    """The text as one line.

    >>> one_line("a\\n  signal: BUY \\u202e now")
    'a\\\\n  signal: BUY \\\\u202e now'
    """
    return _LINE_SIGN.sub(_escape, text)


def as_name(text: str) -> str:
    """The text as a name in a list: short, and in quotes where it would not read as one name.

    >>> as_name("RSI"), as_name("RSI 5, MACD 9")
    ('RSI', '"RSI 5, MACD 9"')
    """
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    if _MARKS.search(short) or _LINE_SIGN.search(short):
        return one_line(json.dumps(short, ensure_ascii=False))
    return short


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or json.dumps(match[0])[1:-1]
