"""From Pine: a script that one already has, translated once into one of ours, with a report.

`import_pine(source)` gives the script and what became of every statement. Nothing runs Pine.
"""

from chartpact.pine.errors import PineError
from chartpact.pine.importing import Imported, import_pine

__all__ = ["Imported", "PineError", "import_pine"]
