"""The engine: a checked contract, bound to a configuration, reads a snapshot.

`contract` checks a file, section by section (`elements`, `machines`, `edges`, `outputs`), and
`generate` writes its code. `bind` fills in a configuration; `run` reads one snapshot, with
`normalise` for the drawn records and `matching` for the elements.
"""

from chartpact.contracts.engine.contract import Contract, load, load_file
from chartpact.contracts.engine.run import read

__all__ = ["Contract", "load", "load_file", "read"]
