"""A server of readings for the indicators that need one, and bars to put them on."""

import numpy as np
import pytest
from tests.service import Service

from chartpact.bars import Bars
from chartpact.sources import readings

HOUR = 3_600_000
START = 1_709_510_400_000  # 2024-03-04T00:00Z, a Monday


@pytest.fixture
def service(monkeypatch):
    """A running server, whose address the environment names for this test."""
    running = Service()
    monkeypatch.setenv("CHARTPACT_FUTURES_URL", running.url)
    monkeypatch.setenv("CHARTPACT_SENTIMENT_URL", running.url)
    monkeypatch.setenv("CHARTPACT_HTTP_TIMEOUT_S", "2")
    readings._services.clear()
    yield running
    running.close()
    readings._services.clear()


@pytest.fixture
def hourly():
    """24 hourly bars of a crypto pair, from midnight UTC on."""
    close = 100.0 + np.arange(24)
    return Bars(
        START + HOUR * np.arange(24),
        close,
        close + 1,
        close - 1,
        close,
        np.ones(24),
        "BTCUSDT",
        "1h",
    )
