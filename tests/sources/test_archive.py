import numpy as np
import pytest
from tests.sources import standin
from tests.sources.standin import DAY, HOUR, NOW, Client
from tests.sources.test_exchange import exchange
from tests.sources.test_yahoo import DAYS, Module, at, frame, yahoo

from chartpact.sources import SourceFailed, archive
from chartpact.sources.archive import Archive
from chartpact.sources.remote import Deadlines

QUICK = Deadlines(request_s=1, answer_s=5, keep_s=0, keep_failure_s=0)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "bars"


@pytest.fixture
def shop(home):
    """An exchange at some moment, whose bars of closed days are kept."""

    def open_at(now, client=None, history=50):
        client = client or Client()
        client.fetch_time = lambda: now
        source = exchange(
            client,
            now=lambda: now,
            history=history,
            deadlines=QUICK,
            archive=Archive(home, "ccxt:standin"),
        )
        return source, client

    return open_at


def test_only_days_that_are_not_kept_are_asked_for(shop):
    first, before = shop(NOW)
    bars = first.load("BTC/USDT")
    later, client = shop(NOW + 2 * HOUR)
    again = later.load("BTC/USDT")
    assert len(again) == 50
    assert again.time[-1] == bars.time[-1] + 2 * HOUR
    assert again.last(10) == shop(NOW + 2 * HOUR, history=49)[0].load("BTC/USDT").last(10)
    assert min(since for _, _, since, _ in client.asked) == NOW // DAY * DAY - DAY
    assert min(since for _, _, since, _ in before.asked) < NOW // DAY * DAY - DAY


def test_what_is_joined_equals_what_is_fetched_at_once(shop, home):
    for days in range(5):
        joined = shop(NOW + days * DAY + days * HOUR)[0].load("BTC/USDT")
    for file in home.iterdir():
        file.unlink()
    assert joined == shop(NOW + 4 * DAY + 4 * HOUR)[0].load("BTC/USDT")


def test_a_service_that_tells_the_past_otherwise_is_asked_for_all_of_it(shop):
    shop(NOW)[0].load("BTC/USDT")
    split = Client()
    split.spoil = lambda rows: [[row[0], *(each / 2 for each in row[1:5]), row[5]] for row in rows]
    bars = shop(NOW + HOUR, split)[0].load("BTC/USDT")
    assert bars.close.max() < 105
    assert min(since for _, _, since, _ in split.asked) < NOW - 49 * HOUR


def test_a_longer_history_than_was_kept_is_fetched(shop):
    shop(NOW)[0].load("BTC/USDT")
    assert len(shop(NOW, history=80)[0].load("BTC/USDT")) == 80


def test_a_failed_request_is_an_error_although_bars_are_kept(shop):
    shop(NOW)[0].load("BTC/USDT")
    down = Client()

    def refuse(*_):
        raise standin.NetworkError("no route")

    down.fetch_ohlcv = refuse
    with pytest.raises(SourceFailed, match="cannot be reached"):
        shop(NOW + HOUR, down)[0].load("BTC/USDT")


def test_until_the_next_day_ends_daily_bars_are_had_without_asking(home):
    module = Module(frame(DAYS))
    kept = Archive(home, "yfinance:")
    first = yahoo(module, "2024-03-07 02:00", archive=kept).load("AAPL")
    again = yahoo(module, "2024-03-07 20:00", archive=kept).load("AAPL")
    assert len(module.asked) == 1
    assert again == first
    assert again.fetched == first.fetched == at("2024-03-07 02:00")
    yahoo(module, "2024-03-08 02:00", archive=kept).load("AAPL")
    _, options = module.asked[1]
    assert (options["start"], options["period"]) == (at("2024-03-06") // 1000, None)


def test_no_exchange_is_asked_at_the_weekend_for_days_of_a_listed_market(home):
    days = ["2024-03-06", "2024-03-07", "2024-03-08"]
    module = Module(frame(days))
    for now in ("2024-03-09 02:00", "2024-03-10 12:00", "2024-03-11 15:00"):
        source = yahoo(module, now, archive=Archive(home, "yfinance:"))
        assert len(source.load("AAPL")) == 3
    assert len(module.asked) == 1


def test_the_notes_say_how_old_the_bars_are(shop):
    shop(NOW)[0].load("BTC/USDT")
    bars = shop(NOW + DAY)[0].load("BTC/USDT")
    assert bars.fetched == NOW + DAY
    assert bars.notes == (
        "fetched 2024-03-06T12:34:56Z",
        "14 bars of closed days were kept on disk since 2024-03-05",
    )


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04"])
def test_a_damaged_file_is_fetched_anew(shop, home, content):
    shop(NOW)[0].load("BTC/USDT")
    [file] = home.iterdir()
    file.write_bytes(content)
    assert len(shop(NOW)[0].load("BTC/USDT")) == 50
    assert len(Archive(home, "ccxt:standin").read("BTC/USDT", _hour()).bars) > 0


def test_what_cannot_be_kept_is_delivered_all_the_same(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    bars = exchange(Client(), archive=Archive(blocked / "bars", "x")).load("BTC/USDT")
    assert len(bars) == 50


def test_one_service_never_answers_for_another(home, shop):
    shop(NOW)[0].load("BTC/USDT")
    assert Archive(home, "ccxt:other").read("BTC/USDT", _hour()) is None


def test_a_bar_of_a_day_that_is_not_over_is_not_kept(shop, home):
    shop(NOW)[0].load("BTC/USDT")
    kept = Archive(home, "ccxt:standin").read("BTC/USDT", _hour())
    assert kept.bars.close_time[-1] == NOW // DAY * DAY
    assert np.unique(kept.fetched).tolist() == [NOW]


def test_the_folder_is_bounded(shop, home, monkeypatch):
    monkeypatch.setattr(archive, "MOST_BYTES", 10_000)
    for symbol in standin.SYMBOLS:
        shop(NOW)[0].load(symbol)
    assert 0 < sum(path.stat().st_size for path in home.iterdir()) <= 10_000


def test_the_environment_says_where_bars_are_kept(tmp_path):
    assert archive.folder({"CHARTPACT_CACHE": str(tmp_path)}) == tmp_path
    assert archive.folder({"CHARTPACT_CACHE": "off"}) is None
    assert archive.folder({}).parts[-2:] == ("chartpact", "bars")


def _hour():
    from chartpact.clock.timeframe import Timeframe

    return Timeframe.parse("1h")
