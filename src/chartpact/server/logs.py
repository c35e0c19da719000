"""Logs as one JSON object a line, on standard error."""

import json
import logging
import sys
import time
from contextvars import ContextVar

request: ContextVar[str | None] = ContextVar("request", default=None)  # the id of the one at hand


class Lines(logging.Formatter):
    """A record as JSON; `extra={"about": {…}}` adds fields of its own."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (at_hand := request.get()) is not None:
            line["id"] = at_hand
        line |= getattr(record, "about", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def to_stderr(level: int) -> None:
    """Everything that is logged from now on goes there, whoever set up what before."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("mcp").setLevel(max(level, logging.WARNING))
