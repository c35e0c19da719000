"""How large a script, its run and its drawing may be."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The caps of one run; the defaults are what the documentation promises.

    >>> Limits().steps
    10000000
    """

    source_bytes: int = 65_536
    steps: int = 10_000_000
    cpu_ms: int = 1_000  # of the run's own processor time
    wall_ms: int = 3_000  # a backstop
    memory_mb: int = 64
    bars: int = 100_000


# A script is tried on this many bars when it is checked, within this time.
DRY_RUN_BARS = 100
DRY_RUN = Limits(cpu_ms=200)
# A check warns when it fails on FORECAST_BARS; how far it is over budget, TREND_BARS tell.
FORECAST_BARS, TREND_BARS = 5_000, 200
BRIEF = Limits(steps=500_000)  # of a run on FORECAST_BARS on a busy host
# A check looks for a past that is rewritten on prefixes of PROOF_BARS: on the fewest, or on as many
# up to the most as take PROOF_STEPS.
PROOF_BARS, FEWEST_PREFIXES, MOST_PREFIXES, PROOF_STEPS = 300, 8, 24, 5_000_000

# Source: what the parser and the compiler are never asked to go beyond.
BRACKETS = 60  # brackets, and operators that open to the right, inside one another
DEPTH = 150  # of the syntax tree: blocks, brackets and operators inside one another
PARTS = 25_000  # of the syntax tree: statements, and expressions within expressions
LOCALS = 500  # names of one function
LOOP_DEPTH = 12  # loops and lists within them; Python's compiler ends at 20, or crashes
CALL_DEPTH = 60  # functions that call one another, and calls in progress at run time
LITERAL_DIGITS = 300

# Values.
INT_BITS = 1024
RANGE_BITS = 53  # a range counts bars, so whole numbers a float64 holds will do
TEXT_CHARS = 1_000_000
LIST_ITEMS = 2_000_000  # of one list or tuple that an operator or a builtin makes
VALUE_DEPTH = 60  # lists within lists, where something has to walk them

# The log of print().
LOG_LINES = 200
LOG_LINE_CHARS = 2_000

# The drawing, before it leaves the run.
POINTS = 4_000_000  # numbers in all plots together
PLOTS = 2_000  # of which each draws a series, a level or a line
DOTS = 200_000
DOT_TEXT_CHARS = 4_000_000  # labels of all dots, each counted as often as it stands there
TABLE_CELLS = 2_000
POLYLINE_POINTS = 10_000
VERTICES = 100_000  # points of all polylines together
OBJECT_TEXT_CHARS = 4_096
SCENE_TEXT_CHARS = 1_000_000
