"""Passwords that are tried first: walks over a keyboard, repetitions, and a few words with digits.

A list of millions would not fit in here. These rules know how such lists are made.
"""

import re
from functools import lru_cache
from itertools import pairwise

LEAST_VARIETY = 4  # different characters
MOST_WALKED = 0.7  # of the steps from one character to the next
ROWS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm",
        "1qaz2wsx3edc4rfv5tgb6yhn7ujm", "qwertzuiop", "azertyuiop", "yxcvbnm")  # fmt: skip
WORDS = """
abc access account admin administrator alpha angel apple april asdf august autumn azerty baby ball
base basket batman beauty best big bitcoin black blue broker buster cash change changeme charlie
chart chartpact chocolate coffee computer cookie crypto daniel december default diamond dragon
eagle everybody february flower foot forever freedom friday friend fuck game ginger god gold google
guest happy hello hockey hunter internet january jesus jordan july june killer king klaster
letme in letmein life lol love lovely lucky market master me merlin michael monday money monkey
mother my mustang name new november nothing number october orange pass passe passwd passwort
password pepper please prince princess purple qazwsx qwer qwert qwerty qwertz ranger root saturday
secret september server shadow snoopy soccer spring star starwars stock summer sun sunday sunshine
super superman sweet temp temporary test tester thomas thursday tiger trade trader trading
tradingview trustno tuesday user wednesday welcome whatever winter word work world you your zaq
zxcv zxcvbn
""".split()
_LEET = {"a": "a4@", "e": "e3", "i": "i1!", "l": "l1|", "o": "o0", "s": "s5$", "t": "t7", "b": "b8"}
_STEPS = frozenset(pair for row in ROWS for one in (row, row[::-1]) for pair in pairwise(one))


def is_common(password: str, name: str = "") -> bool:
    """Whether a password of an account of that name would be guessed with little effort.

    >>> is_common("Passw0rd123"), is_common("qwertzuiop"), is_common("annann1990", "ann")
    (True, True, True)
    >>> is_common("correct horse battery")
    False
    """
    plain = password.casefold()
    if len(set(plain)) < LEAST_VARIETY or plain in (plain + plain)[1:-1]:  # ababab repeats itself
        return True
    steps = [pair in _STEPS or pair[0] == pair[1] for pair in pairwise(plain)]
    if sum(steps) > MOST_WALKED * len(steps):
        return True
    words = [_spell(word) for word in (*WORDS, *([name.casefold()] if len(name) > 1 else ()))]
    reached = {0}  # up to where it is made of words, digits and marks
    for at, letter in enumerate(plain):
        if at in reached:
            reached |= {at + 1} if not letter.isalpha() else set()
            reached |= {match.end() for word in words if (match := word.match(plain, at))}
    return len(plain) in reached


@lru_cache(maxsize=1024)
def _spell(word: str) -> re.Pattern[str]:
    """A word, also with digits and marks in the place of letters."""
    return re.compile("".join(f"[{re.escape(_LEET.get(letter, letter))}]" for letter in word))
