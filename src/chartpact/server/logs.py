"""Logs as one JSON object a line, on standard error."""

import json
import logging
import sys
import time
from contextvars import ContextVar

request: ContextVar[str | None] = ContextVar("request", default=None)  # the current request's id


class JsonLines(logging.Formatter):
    """A record as JSON; `extra={"fields": {…}}` adds fields of its own."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (request_id := request.get()) is not None:
            line["id"] = request_id
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def to_stderr(level: int) -> None:
    """Sends every log record to standard error, whatever was set up before."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("mcp").setLevel(max(level, logging.WARNING))
