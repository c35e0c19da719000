"""Notices a script that is not, or no longer, what its builtin is."""

from collections import Counter

from tests.script.battery import Case, cases
from tests.script.parity import assert_same

from chartpact import script
from chartpact.catalogue import Catalogue

FACE = ("title", "description", "category", "overlay")

# Changes that nobody can notice, and why.
_DEFAULT = "it is the default, written out for whoever wants to change it"
_SETTING = "the range and the label of a pane are no plots, and have no order among them"
EQUIVALENT = {
    "cipher_b": {
        ", size=4 → (nothing)": _DEFAULT,
        ", alpha=0.2 → (nothing)": _DEFAULT,
        ", color=GRAY → (nothing)": _DEFAULT,
        'chart.hline(0, color=GRAY, style="dotted") chart.set_label("Cipher B") → '
        'chart.set_label("Cipher B") chart.hline(0, color=GRAY, style="dotted")': _SETTING,
    },
    "ichimoku": {
        ', color="auto" → (nothing)': _DEFAULT,
        'chart.fill(senkou_a, senkou_b, color="auto", alpha=0.12, offset=lead) '
        'chart.set_label("Ichimoku") → chart.set_label("Ichimoku") '
        'chart.fill(senkou_a, senkou_b, color="auto", alpha=0.12, offset=lead)': _SETTING,
    },
    "rsi_mfi_stoch": {
        ", color=COBALT → (nothing)": _DEFAULT,
        ", color=GRAY → (nothing)": _DEFAULT,
        'chart.set_y_range(0, 100) chart.set_label("RSI/MFI/Stoch") → '
        'chart.set_label("RSI/MFI/Stoch") chart.set_y_range(0, 100)': _SETTING,
        "0 → 1e-06": "bars are counted in whole numbers",
        '"this indicator needs volume, and these bars have none" → '
        '"this indicator needs volume, and these bars have none_"': "refusing is compared, not how",
    },
    "wavetrend": {
        ", alpha=0.2 → (nothing)": _DEFAULT,
        ", color=GRAY → (nothing)": _DEFAULT,
        'chart.hline(0, color=GRAY, style="dotted") chart.set_label("WaveTrend") → '
        'chart.set_label("WaveTrend") chart.hline(0, color=GRAY, style="dotted")': _SETTING,
    },
}


def assert_same_face(program: script.Program, name: str) -> None:
    """The script takes the parameters of the builtin, and is called and described as it is."""
    builtin = Catalogue().resolve(name)
    ours = [param.to_json() for param in program.params]
    assert ours == [param.to_json() for param in builtin.params]
    for key in FACE:
        assert program.meta[key] == getattr(builtin, key), key


def assert_same_drawing(program: script.Program, case: Case) -> None:
    """The script draws what the builtin draws, and refuses what it refuses."""
    try:
        drawn = script.execute(program, case.bars, case.params).scene
    except script.ScriptError as error:
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
