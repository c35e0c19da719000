"""Logs on standard error: one JSON object a line for programs, a few plain lines for a person."""

import json
import logging
import sys
import time
from contextvars import ContextVar

announced = logging.getLogger("chartpact.announced")  # what whoever starts the server must know
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


class PlainLines(logging.Formatter):
    """A record for a person at a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage()
        if record.levelno > logging.INFO:
            text = f"{record.levelname.lower()}: {text}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


def to_stderr(level: int, form: str | None = None) -> None:
    """Sends every log record to standard error, whatever was set up before.

    The form is "json" or "plain"; without one, a terminal gets plain lines: what is announced,
    warnings and errors.
    """
    plain = form == "plain" or (form is None and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainLines() if plain else JsonLines())
    level = max(level, logging.WARNING) if plain else level
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for chatty in ("alembic", "mcp"):
        logging.getLogger(chatty).setLevel(max(level, logging.WARNING))
    announced.setLevel(logging.INFO)
