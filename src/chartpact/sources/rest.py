"""Sources that answer with JSON over HTTP: what Alpaca's and OANDA's have in common."""

import os
import re
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Unpack

from chartpact.sources.errors import SourceFailed
from chartpact.sources.http import HttpError, get_json
from chartpact.sources.online import Online, Options

DECIMAL = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


class RestSource(Online[Mapping[str, str]]):
    """A service at an address, whose client is the headers that say who asks."""

    def __init__(self, name: str, *, timeframe: str, url: str, **options: Unpack[Options]) -> None:
        super().__init__(name, timeframe=timeframe, **options)
        self._url = url

    def _get(
        self, path: str, query: dict[str, str], headers: Mapping[str, str], deadline: float
    ) -> dict[str, Any]:
        """The JSON object at a path."""
        within_s = min(self._deadlines.request_s, deadline - time.monotonic())
        if within_s <= 0:
            raise SourceFailed(f"{self.name} takes too long to answer")
        try:
            answer = get_json(self._url, path, query, within_s, headers)
        except HttpError as error:
            raise SourceFailed(f"{self.name} {error}") from None
        if not isinstance(answer, dict):
            raise SourceFailed(f"{self.name} did not answer with a JSON object")
        return answer

    def _list(self, value: Any, what: str) -> list[dict[str, Any]]:
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            raise SourceFailed(f"{self.name} answered without a list of {what}")
        return value

    def _secret(self, variable: str, what: str) -> str:
        """A secret of the environment, which no message repeats."""
        secret = os.environ.get(variable, "").strip()
        if not secret or not secret.isascii() or not secret.isprintable():
            raise SourceFailed(f"{self.name} needs {what} in {variable}")
        return secret


def read_time(text: Any) -> Any:
    """UTC ms of a time with an offset, as in 2024-03-04T09:30:00Z; anything else as it is."""
    try:
        moment = datetime.fromisoformat(text)
        return round(moment.timestamp() * 1000) if moment.tzinfo else text
    except (TypeError, ValueError, OverflowError):
        return text


def read_decimal(text: Any) -> Any:
    """The number that a text writes; anything else as it is."""
    return float(text) if isinstance(text, str) and DECIMAL.fullmatch(text) else text
