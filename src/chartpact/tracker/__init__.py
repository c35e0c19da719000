"""The tracker: successive readings of one contract, as changes of state.

`rules` is what it knows of a contract, and `memory` what it remembers. `stepping` holds `step`, the
pure function from a memory and a reading to the next memory and what changed. Nothing here reads a
chart or a disk.
"""

from chartpact.tracker.memory import Memory
from chartpact.tracker.rules import Rules
from chartpact.tracker.stepping import Step, step

__all__ = ["Memory", "Rules", "Step", "step"]
