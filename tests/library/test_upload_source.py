import gzip
import pickle

import pytest

from chartpact.bars import BarsError
from chartpact.cache import Cache
from chartpact.library import upload_source
from chartpact.library.errors import LibraryError
from chartpact.library.upload_source import UploadSource, describe_upload, parse_upload
from chartpact.library.uploads import Upload, Uploads
from chartpact.sources import Directory, UnknownSymbol

ROWS = "".join(f"2024-03-04 {hour:02}:00,1,3,1,{hour % 2 + 1},5\n" for hour in range(8))
NAIVE = f"time,open,high,low,close,volume\n{ROWS}".encode()
GIVEN = {"tz": "America/New_York", "symbol": "ES"}


@pytest.fixture
def uploads(database) -> Uploads:
    return Uploads(database, describe_upload, most_bytes=10_000)


def test_what_a_user_put_in_store_is_a_source_for_that_user_alone(uploads):
    uploads.put("ann", "mine-1h", NAIVE, GIVEN)
    ann, bob = (Directory() | UploadSource(uploads, user) for user in ("ann", "bob"))
    bars = ann.load("mine-1h@mine", "2h")
    assert (bars.symbol, bars.timeframe, bars.source, len(bars)) == (
        "ES",
        "2h",
        "mine, resampled",
        4,
    )
    [listing] = [each for each in ann.symbols() if each.source == "mine"]
    assert (listing.symbol, listing.timeframe) == ("mine-1h@mine", "1h")
    assert "mine" not in {each.source for each in bob.symbols()}
    with pytest.raises(UnknownSymbol, match=r"you have no bars called 'mine-1h'$"):
        bob.load("mine-1h@mine")


def test_what_the_user_said_of_the_file_is_kept_with_it(uploads):
    uploads.put("ann", "a", NAIVE, GIVEN)
    upload = UploadSource(uploads, "ann").get("a")
    assert upload == Upload("a", NAIVE, GIVEN)
    assert parse_upload(pickle.loads(pickle.dumps(upload))).time[0] == 1_709_528_400_000
    [stored] = uploads.of("ann")
    assert stored.facts == {
        "symbol": "ES",
        "timeframe": "1h",
        "bars": 8,
        "first": 1_709_528_400_000,
        "last": 1_709_553_600_000,
        "notes": [],
        "given": GIVEN,
    }


@pytest.mark.parametrize(
    ("content", "given", "told"),
    [
        (NAIVE, {}, "a: line 2: time 2024-03-04T00:00:00 has no time zone"),
        (NAIVE, {"zone": "UTC"}, "bars have no option 'zone' among tz, stamp"),
        (NAIVE, {"tz": "Mars"}, "'Mars' is no time zone"),
        (b"", {}, "a: the file is empty"),
        (b"\x89PNG\r\n\x1a\n", {}, "no column time"),
        (gzip.compress(bytes(70_000_000), 1, mtime=0)[:9000], {}, "gzip file is damaged"),
        (gzip.compress(NAIVE, mtime=0)[:-9], GIVEN, "gzip file is damaged"),
    ],
)
def test_a_file_that_holds_no_bars_is_refused_with_the_reason(uploads, content, given, told):
    with pytest.raises(LibraryError) as caught:
        uploads.put("ann", "a", content, given)
    assert told in str(caught.value)
    assert uploads.of("ann") == []


def test_a_small_upload_that_unpacks_to_a_huge_one_is_refused(uploads, monkeypatch):
    monkeypatch.setattr("chartpact.library.upload_source.LARGEST", 100_000)
    with pytest.raises(LibraryError, match="holds more than 100000 bytes"):
        uploads.put("ann", "a", gzip.compress(bytes(1_000_000)), {})


def test_a_deleted_file_is_gone_and_near_names_are_told(uploads):
    uploads.put("ann", "spx", NAIVE, GIVEN)
    mine = UploadSource(uploads, "ann")
    with pytest.raises(UnknownSymbol, match="you have no bars called 'SPX1'; near: spx"):
        mine.load("SPX1")
    uploads.delete("ann", "spx")
    with pytest.raises(BarsError, match="you have no bars called 'spx'"):
        mine.load("spx")


def test_an_upload_is_read_once_for_its_user_and_anew_when_anything_about_it_changes(
    uploads, monkeypatch
):
    read = []

    def counted(upload):
        read.append(upload)
        return parse_upload(upload)

    monkeypatch.setattr(upload_source, "parse_upload", counted)
    monkeypatch.setattr(upload_source, "PARSED", Cache(10))

    def close(user: str) -> float:
        return float(UploadSource(uploads, user).load("a").close[0])

    def put(user: str, content: bytes, **given: str) -> None:
        uploads.put(user, "a", content, {**GIVEN, **given})
        read.clear()  # which it was, to be checked

    put("ann", NAIVE)
    assert [close("ann"), close("ann"), len(read)] == [1, 1, 1]
    put("bob", NAIVE)  # who must not learn by the clock that ann has the same file
    assert [close("bob"), len(read)] == [1, 1]
    changed = NAIVE.replace(b"00:00,1,3,1,1,5", b"00:00,1,3,1,2,5")
    assert len(changed) == len(NAIVE)
    put("ann", changed)
    assert [close("ann"), close("bob"), len(read)] == [2, 1, 1]
    put("ann", changed, tz="UTC")
    assert [close("ann"), len(read)] == [2, 1]
    uploads.delete("ann", "a")
    with pytest.raises(UnknownSymbol):
        close("ann")


def test_an_upload_goes_by_its_whole_name_unless_that_tells_a_timeframe(uploads):
    whole = uploads.put("ann", "alpha_one", NAIVE, {"tz": "UTC"})
    assert (whole.facts["symbol"], whole.facts["notes"]) == ("alpha_one", [])
    part = uploads.put("ann", "ESZ13_1h", NAIVE, {"tz": "UTC"})
    assert (part.facts["symbol"], part.facts["notes"]) == (
        "ESZ13",
        ["symbol ESZ13 by the file's name"],
    )
