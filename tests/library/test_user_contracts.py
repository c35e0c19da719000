"""Users' contracts: kept by user, under quotas, with versions; a shipped name is taken."""

import pytest

from chartpact.library import versioned_texts
from chartpact.library.errors import LibraryError
from chartpact.library.user_contracts import UserContracts
from chartpact.library.versioned_texts import Quota


@pytest.fixture
def own(database):
    return UserContracts(database)


def put(own, user, name="mine", source="a", version="1.0.0"):
    return own.put(user, name, version, "Mine", source)


def test_a_contract_belongs_to_its_user(own):
    put(own, "ann")
    assert [one.name for one in own.of("ann")] == ["mine"]
    assert own.of("bob") == []
    with pytest.raises(LibraryError, match="you have no contract 'mine'"):
        own.get("bob", "mine")
    with pytest.raises(LibraryError, match="you have no contract"):
        own.delete("bob", "mine")


def test_a_shipped_name_is_taken(own):
    with pytest.raises(LibraryError, match="comes with chartpact"):
        put(own, "ann", "ob_ai")


def test_versions_outlive_a_deletion_and_the_oldest_are_forgotten(own, monkeypatch):
    monkeypatch.setattr(versioned_texts, "MOST_VERSIONS", 3)
    for source in "aabcde":
        put(own, "ann", source=source)
    own.delete("ann", "mine")
    assert [(old.number, old.source) for old in own.history("ann", "mine")] == [
        (5, "e"),
        (4, "d"),
        (3, "c"),
    ]
    with pytest.raises(LibraryError, match="you have no contract"):
        own.history("bob", "mine")


def test_what_is_too_much_is_refused_and_nothing_changes(database):
    own = UserContracts(database, Quota(2, 10))
    put(own, "ann", "one")
    put(own, "ann", "two")
    with pytest.raises(LibraryError, match="you keep 2 contracts and may keep 2"):
        put(own, "ann", "three")
    with pytest.raises(LibraryError, match="would take 21 bytes of 10"):
        put(own, "ann", "two", source="x" * 20)
    assert [one.source for one in own.of("ann")] == ["a", "a"]
    put(own, "bob", "one")


def test_the_history_of_contracts_takes_no_more_bytes_than_it_may_and_what_is_in_force_stays(
    database,
):
    own = UserContracts(database, Quota(10, 100, history_bytes=100))
    for letter in "abc":
        put(own, "ann", "old", letter * 10)
        put(own, "ann", "gone", letter * 10)
    own.delete("ann", "gone")
    put(own, "bob", "old", "x" * 100)
    put(own, "ann", "new", "y" * 60)
    assert [old.number for old in own.history("ann", "gone")] == [3]
    assert [old.number for old in own.history("ann", "old")] == [3, 2, 1]
    put(own, "ann", "new", "z" * 80)
    with pytest.raises(LibraryError, match="you have no contract 'gone'"):
        own.history("ann", "gone")
    assert [old.source for old in own.history("ann", "old")] == ["c" * 10]
    assert [old.source for old in own.history("ann", "new")] == ["z" * 80]
    assert len(own.history("bob", "old")) == 1


def test_contracts_are_sorted_alike_on_every_database(own):
    names = ["B", "a", "a1", "a_b", "ab"]
    for name in reversed(names):
        put(own, "ann", name)
    assert [contract.name for contract in own.of("ann")] == names == list(own.names("ann"))


def test_an_earlier_version_is_found_by_its_number(own):
    put(own, "ann", source="a")
    put(own, "ann", source="b", version="1.1.0")
    assert own.get_version("ann", "mine", 1).source == "a"
    with pytest.raises(LibraryError, match="has no version 3: kept versions: 2, 1"):
        own.get_version("ann", "mine", 3)
