import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chartpact.bars import load

HEADER = "time,open,high,low,close,volume\n"


@pytest.fixture
def csv():
    """The content of a file of hourly bars, the first opening at 2024-03-04T00:00Z."""

    def content(count: int = 10, start: int = 1_709_510_400, price: float = 100.0) -> str:
        rows = (
            f"{start + 3600 * n},{price + n},{price + n + 2},{price + n - 1},{price + n + 1},{n}\n"
            for n in range(count)
        )
        return HEADER + "".join(rows)

    return content


@pytest.fixture
def folder(tmp_path, csv):
    """A folder that holds ES, NQ and BTC in the three forms that are read."""
    home = tmp_path / "bars"
    home.mkdir()
    (home / "ES_1h.csv").write_text(csv())
    (home / "NQ.csv.gz").write_bytes(gzip.compress(csv(price=200.0).encode()))
    _parquet(home / "BTC.parquet", home / "ES_1h.csv")
    return home


def _parquet(path, source) -> None:
    bars = load(source)
    columns = ("time", "open", "high", "low", "close", "volume")
    pq.write_table(pa.table({name: getattr(bars, name) for name in columns}), path)
