"""What a server imports and compiles at its start, for a process that servers are forked from."""

import uvicorn
import uvloop

from chartpact.catalogue import shipped
from chartpact.server import app, command

__all__ = ["app", "command", "uvicorn", "uvloop"]
shipped()
