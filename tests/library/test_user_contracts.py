"""Users' contracts: kept by user, under quotas, with versions; a shipped name is taken."""

import pytest

from chartpact.library import user_contracts as module
from chartpact.library.errors import LibraryError
from chartpact.library.user_contracts import UserContracts


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
    monkeypatch.setattr(module, "MOST_VERSIONS", 3)
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


def test_what_is_too_much_is_refused_and_nothing_changes(own, monkeypatch):
    monkeypatch.setattr(module, "MOST_CONTRACTS", 2)
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    put(own, "ann", "one")
    put(own, "ann", "two")
    with pytest.raises(LibraryError, match="you keep 2 contracts and may keep 2"):
        put(own, "ann", "three")
    with pytest.raises(LibraryError, match="would take 21 bytes of 10"):
        put(own, "ann", "two", source="x" * 20)
    assert [one.source for one in own.of("ann")] == ["a", "a"]
    put(own, "bob", "one")
