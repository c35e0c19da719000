"""Notices a script that is not, or no longer, what its builtin is."""

import re
from collections import Counter
from collections.abc import Iterable

from tests.script.battery import Case, cases
from tests.script.mutants import Mutant
from tests.script.parity import assert_same

from chartpact import script
from chartpact.catalogue import BUILTIN, Catalogue, ScriptIndicator
from chartpact.params import resolve
from chartpact.problem import Failure

FACE = ("title", "description", "category", "overlay")

# Changes that nobody can notice, and why. These are of any script, and those below of one.
_ANYWHERE = {
    r", (size=4|alpha=0\.2) → \(nothing\)": "it is the default, written out to be changed",
    r', color=("auto"|GRAY|"#787b86"|COBALT|"#2962ff"|COLOR) → \(nothing\)': (
        "it is the default, written out for whoever wants to change it"
    ),
    r"(chart\.\w+\(.*\)) (chart\.set_\w+\(.*\)) → \2 \1": (
        "the range and the label of a pane are no plots, and have no order among them"
    ),
}
_LEVELS = "a colour has 256 levels of opacity"
EQUIVALENT = {
    "heikin_ashi": {"open, close → close, open": "max and min take their values in any order"},
    "hvn_lvn": {"row - reach, 0 → 0, row - reach": "max takes its values in any order"},
    "sar": {"above → first": "a stop that lies below is above too on a flat bar alone"},
    "tpo": {
        "1 → 2": "bars weigh the same, whatever that is",
        "1 → 1.000001": "the same",
        "high → low": "both are as long",
        "2 → 2.000002": _LEVELS,
        "1.2 → 1.2000011999999998": _LEVELS,
        "0.55 → 0.55000055": _LEVELS,
    },
    "volume_profile": {
        "2 → 2.000002": _LEVELS,
        "1.14 → 1.1400011399999999": _LEVELS,
        "0.57 → 0.5700005699999999": _LEVELS,
    },
}


def why_equivalent(name: str, change: str) -> str | None:
    """Why nobody can notice this change of the script of a builtin; None if somebody should."""
    everywhere = (why for pattern, why in _ANYWHERE.items() if re.fullmatch(pattern, change))
    return EQUIVALENT.get(name, {}).get(change) or next(everywhere, None)


def assert_same_face(program: script.Program, name: str) -> None:
    """The script takes the parameters of the builtin, and is called and described as it is."""
    builtin = Catalogue().resolve(name)
    ours = [param.to_json() for param in program.params]
    assert ours == [param.to_json() for param in builtin.params]
    for key in FACE:
        assert program.meta[key] == getattr(builtin, key), key
    assert program.meta.get("needs_volume", False) == builtin.needs_volume


def assert_same_drawing(program: script.Program, case: Case) -> None:
    """The script draws what the builtin draws, and refuses what it refuses."""
    fork = ScriptIndicator(case.indicator, program.source, program.params, program.meta, BUILTIN)
    try:
        values = resolve(program.params, case.params, case.indicator)
        drawn = fork.run(case.bars, values, {}, case.first_visible).scene
    except Failure as error:
        assert case.wanted is None, error
        return
    assert case.wanted is not None, "the builtin refuses these bars"
    assert_same(drawn, case.wanted)


class Watch:
    """Compares scripts with one builtin, first where others were different."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.cases = cases(name)
        self.found: Counter[Case] = Counter()

    def unnoticed(self, changes: Iterable[Mutant]) -> list[Mutant]:
        return [change for change in changes if not self.notices(change.source)]

    def notices(self, source: str) -> bool:
        try:
            program = script.load(source)
            assert_same_face(program, self.name)
        except (script.ScriptError, AssertionError):
            return True
        return any(
            self._differs(program, case)
            for case in sorted(self.cases, key=self.found.__getitem__, reverse=True)
        )

    def _differs(self, program: script.Program, case: Case) -> bool:
        try:
            assert_same_drawing(program, case)
        except AssertionError:
            self.found[case] += 1
            return True
        return False
