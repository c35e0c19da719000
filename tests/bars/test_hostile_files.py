"""Files that are wrong: one sentence with the line as people count it, and nothing is mended."""

import gzip
import random
import time

import pytest

import chartpact as cp
from chartpact.bars import BarsError

HEADER = "time,open,high,low,close,volume\n"
GOOD = "60,10,12,9,11,100\n120,11,13,10,12,200\n"


@pytest.fixture
def refused(tmp_path):
    def load(content, name="x.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(BarsError) as caught:
            cp.load(path, **options)
        message = str(caught.value)
        assert message.startswith(f"{name}: ")
        assert "\n" not in message
        return message

    return load


@pytest.mark.parametrize(
    "header", ["x" * 1_500_000, "a," * 200_000, '"' * 1_000_000, ";" * 200_000]
)
def test_a_header_that_is_none_is_told_in_a_sentence(refused, header):
    assert len(refused(header)) < 1500


def test_blank_lines_before_the_header_cost_no_more_than_others(refused, tmp_path):
    started = time.process_time()
    assert "the file is empty" in refused("\n \n\t\n" * 500_000)
    assert time.process_time() - started < 5
    assert "line 2000004: high 'x'" in refused("\n" * 2_000_000 + HEADER + GOOD + "180,1,x,1,1,1\n")
    (tmp_path / "good.csv").write_text("\n \n" + HEADER + GOOD)
    assert len(cp.load(tmp_path / "good.csv")) == 2


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("60,10,12,9,11,1\n", "line 4: time 1970-01-01T00:01:00Z comes after 1970-01-01T00:02:00Z"),
        ("120,10,12,9,11,1\n", "line 4: time 1970-01-01T00:02:00Z is there twice"),
        ("180,10,12,9,nan,1\n", "line 4: close is nan"),
        ("180,10,12,9,,1\n", "line 4: close is nan"),
        ("180,inf,12,9,11,1\n", "line 4: open is inf"),
        ("180,10,10.5,9,11,1\n", "line 4: high 10.5 is below the close 11"),
        ("180,10,12,10.5,11,1\n", "line 4: low 10.5 is above the open 10"),
        ("180,10,12,9,11,-1\n", "line 4: volume is -1"),
        ("180,10,12,9,11\n", "line 4 has 5 fields, but the header has 6"),
        ("180,10,12,9,11,1,7\n", "line 4 has 7 fields, but the header has 6"),
        ("180\n", "line 4 has 1 fields"),
        ("180,ten,12,9,11,1\n", "line 4: open 'ten' is not a number"),
        ("soon,10,12,9,11,1\n", "line 4: time 'soon' is not a time"),
        ('"180,10,12,9,11,1\n', "line 4: unexpected end of data"),
        (",,,,,\n180,10,12,9,11,1\n", "line 4: time '' is not a time"),
        (",10,12,9,11,1\n", "line 4: time '' is not a time"),
        ("\n\n180,10,x,9,11,1\n", "line 6: high 'x' is not a number"),
        ('"180",10,"1\n2",9,11,1\n', "line 4: high"),
        (f"180,{'9' * 5000},12,9,11,1\n", "line 4: a field of 5000 bytes is no number or time"),
        (f'"180",{"9" * 5000},12,9,11,1\n', "line 4: a field of 5000 bytes is no number or time"),
        (f'"180",{"9" * 200_000},12,9,11,1\n', "line 4: field larger than field limit"),
        ("99999999999999999999,10,12,9,11,1\n", "outside the years 1800 to 2200"),
    ],
)
def test_the_line_is_named(refused, rows, told):
    assert told in refused(HEADER + GOOD + rows)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "the file is empty"),
        ("\n\n \n", "the file is empty"),
        (HEADER, "the file has a header, but no bars"),
        (HEADER + "\n\n", "the file has a header, but no bars"),
        (
            "time,open,high,low,final\n" + GOOD,
            "no column close; the columns are 'time', 'open', 'hi",
        ),
        (
            "when,open,high,low,close,volume\n" + GOOD,
            "no column time (a time column is called time",
        ),
        (
            "time,opens,high,low,close\n" + GOOD,
            "are 'time', 'opens', 'high', 'low', 'close'; did you mean 'opens'?",
        ),
        (GOOD, "line 1 is a row and not a header, and nothing tells which column is which"),
        ("time,open,high,low,close,Close\n" + GOOD, "there are two columns called close"),
        (b"\x00\x01\x02\xff" * 99, "zero bytes"),
        (b"\xff\xfe\x00", "UTF-16"),
        (b"\x89PNG\r\n\x1a\n" + b"x" * 50, "no column time"),
        (b"PK\x03\x04" + b"x" * 50, "a ZIP archive"),
        (gzip.compress(HEADER.encode() * 50, mtime=0)[:-12], "the gzip file is damaged"),
        (b"\x1f\x8bnonsense", "the gzip file is damaged"),
        (b"PAR1 and nothing more", "the Parquet file is damaged"),
    ],
)
def test_the_file_is_described(refused, content, told):
    assert told in refused(content)


def test_a_column_that_was_found_is_not_proposed_for_another(refused):
    told = refused("time,close\n" + GOOD)
    assert "no column open and high and low; the columns are 'time', 'close'" in told
    assert "did you mean" not in told


def test_a_missing_file_gets_the_nearest_name(tmp_path):
    (tmp_path / "prices.csv").write_text(HEADER + GOOD)
    with pytest.raises(BarsError, match=r"prizes.csv: there is no such file.*'prices.csv'"):
        cp.load(tmp_path / "prizes.csv")
    with pytest.raises(BarsError, match="no such file"):
        cp.load(tmp_path / "nowhere" / "prices.csv")
    with pytest.raises(BarsError, match="this is a folder"):
        cp.load(tmp_path)
    for nameless in ("", ".", "/"):
        with pytest.raises(BarsError, match=f"^'{nameless}': this is a folder"):
            cp.load(nameless)


@pytest.mark.parametrize("year", ["0000", "0001", "1799", "2201", "9999"])
@pytest.mark.parametrize("tz", [None, "UTC", "America/New_York", "Pacific/Kiritimati"])
def test_a_year_that_no_market_has_seen_is_told_with_its_line(refused, year, tz):
    row = f"{year}-12-31 23:30:00,10,12,9,11,1\n"
    assert "line 2: time" in refused(HEADER + row, tz=tz)
    if tz:
        assert "outside the years 1800 to 2200" in refused(HEADER + row, tz=tz)


def test_damaged_files_are_refused_or_read_but_never_crash(tmp_path):
    dice = random.Random(5)
    whole = bytearray((HEADER + GOOD * 1 + "180,12,14,11,13,300\n").encode())
    path = tmp_path / "x.csv"
    outcomes = set()
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            damaged[dice.randrange(len(damaged))] = dice.choice(b'0,9\n\r"; \t\x00\xff-.eZ')
        path.write_bytes(bytes(damaged))
        try:
            cp.load(path)
            outcomes.add("read")
        except BarsError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_a_file_of_many_different_wrong_times_is_refused_at_once(tmp_path):
    path = tmp_path / "x.csv"
    rows = "".join(f"{'x' * (n % 60)}{n},1,1,1,1,1\n" for n in range(20_000))
    path.write_text(HEADER + GOOD + "zero,1,1,1,1,1\n" + rows)
    begin = time.process_time()
    with pytest.raises(BarsError, match="line 4: time 'zero'"):
        cp.load(path)
    assert time.process_time() - begin < 5
