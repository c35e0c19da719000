import pytest

from chartpact.library.errors import LibraryError
from chartpact.library.uploads import Upload, Uploads


def describe(upload: Upload) -> dict:
    content = upload.content
    if not content.startswith(b"time"):
        raise ValueError("there is no time column: the columns found are 'x'")
    return {"rows": content.count(b"\n")}


@pytest.fixture
def uploads(database) -> Uploads:
    return Uploads(database, describe, most_bytes=100, most_files=2)


def test_a_file_comes_back_as_it_was_put_in(uploads):
    uploads.put("ann", "ES-5m", b"time\n1\n")
    assert uploads.get("ann", "ES-5m") == Upload("ES-5m", b"time\n1\n")
    [stored] = uploads.of("ann")
    assert (stored.name, stored.size, stored.facts) == ("ES-5m", 7, {"rows": 2, "given": {}})


def test_a_file_that_makes_no_sense_is_refused_and_the_earlier_one_stays(uploads):
    uploads.put("ann", "es", b"time\n1\n")
    with pytest.raises(LibraryError, match="no time column"):
        uploads.put("ann", "es", b"x\n1\n")
    assert uploads.get("ann", "es").content == b"time\n1\n"


@pytest.mark.parametrize("name", ["", "../es", "a/b", ".hidden", "a" * 65, "é", "a\n"])
def test_a_name_that_could_be_a_path_is_refused(uploads, name):
    with pytest.raises(LibraryError, match="not a name for bars"):
        uploads.put("ann", name, b"time\n")


def test_the_quota_counts_files_and_bytes_of_that_user_alone(uploads):
    uploads.put("bob", "big", b"time" + b"x" * 90)
    uploads.put("ann", "a", b"time\n")
    uploads.put("ann", "b", b"time\n")
    with pytest.raises(LibraryError, match="3 files"):
        uploads.put("ann", "c", b"time\n")
    uploads.put("ann", "b", b"time\n2\n")
    with pytest.raises(LibraryError, match="105 bytes"):
        uploads.put("ann", "b", b"time" + b"x" * 96)
    with pytest.raises(LibraryError, match="the file has 104 bytes"):
        uploads.put("ann", "b", b"time" + b"x" * 100)
    assert [s.name for s in uploads.of("ann")] == ["a", "b"]
    assert uploads.get("ann", "b").content == b"time\n2\n"


def test_nothing_is_found_under_a_name_with_a_nul(uploads):
    assert uploads.get("ann", "es\0") is None
    with pytest.raises(LibraryError, match="you have no bars called"):
        uploads.delete("ann", "es\0")


def test_users_never_meet(uploads):
    uploads.put("ann", "es", b"time\n")
    assert uploads.get("bob", "es") is None
    with pytest.raises(LibraryError, match="you have no bars called 'es'"):
        uploads.delete("bob", "es")
    uploads.delete("ann", "es")
    assert uploads.of("ann") == []
