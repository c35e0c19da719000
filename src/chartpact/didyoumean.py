"""Did you mean: the known names that are most like an unknown one."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from itertools import pairwise

LONGEST_WORD = 80  # longer words resemble nothing, and comparing them is slow
MOST_WORDS = 5_000
MOST_COMPARED = 24  # of more words only those with the most letters in common are compared


def nearest(word: str, known: Iterable[str], most: int = 1, alike: float = 0.5) -> list[str]:
    """The known words that were probably meant, the likeliest first, whatever their case.

    >>> nearest("EMAA", ["sma", "ema", "rsi"])
    ['ema']
    """
    words: dict[str, str] = {}
    for name in known:
        if len(name) <= LONGEST_WORD:
            words.setdefault(name.lower(), name)
    if len(word) > LONGEST_WORD or len(words) > MOST_WORDS:
        return []
    likely = list(words)
    if len(words) > MOST_COMPARED:
        letters = _letters(word.lower())
        likely = sorted(words, key=lambda name: len(letters ^ _letters(name)))[:MOST_COMPARED]
    return [words[name] for name in get_close_matches(word.lower(), likely, most, alike)]


def _letters(word: str) -> set[str]:
    """The letters of a word and its pairs of neighbours."""
    return {*word, *map("".join, pairwise(word))}


def did_you_mean(
    word: str,
    known: Iterable[str],
    most: int = 1,
    alike: float = 0.6,
    before: str = "",
    show: Callable[[str], str] = repr,
) -> str:
    """The question that names what was probably meant, with `before` in front of it, or nothing.

    >>> did_you_mean("emaa", ["sma", "ema"])
    "did you mean 'ema'?"
    >>> did_you_mean("emaa", ["sma", "ema"], show="ta.{}".format)
    'did you mean ta.ema?'
    """
    near = nearest(word, known, most, alike)
    return f"{before}did you mean {' or '.join(map(show, near))}?" if near else ""
