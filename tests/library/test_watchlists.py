"""Watchlists: kept for each user, in order, within their limits."""

import pytest

from chartpact.library.errors import LibraryError
from chartpact.library.watchlists import MOST_LISTS, MOST_SYMBOLS, Watchlists


def test_a_list_keeps_its_order_counts_a_symbol_once_and_is_the_users_own(database):
    kept = Watchlists(database)
    kept.put("ann", "mine", ["ES@x", "sample:es-5m", "ES@x"])
    kept.put("ann", "mine", ["sample:es-5m", "ES@x", "sample:es-5m"])
    assert kept.get("ann", "mine").symbols == ("sample:es-5m", "ES@x")
    assert kept.list("bob") == ()
    with pytest.raises(LibraryError, match="no watchlist 'mine'"):
        kept.remove("bob", "mine")
    kept.remove("ann", "mine")
    assert kept.list("ann") == ()


@pytest.mark.parametrize("name", ["", "Mine", "a b", "../x", "x" * 65, "é"])
def test_a_name_that_no_script_could_have_is_refused(database, name):
    with pytest.raises(LibraryError, match="no name of a watchlist"):
        Watchlists(database).put("ann", name, [])


@pytest.mark.parametrize("symbol", ["", "a b", "a\nb", "x" * 129, "\x00"])
def test_what_is_no_symbol_is_refused_and_what_was_kept_stays(database, symbol):
    kept = Watchlists(database)
    kept.put("ann", "mine", ["ok"])
    with pytest.raises(LibraryError, match="is no symbol"):
        kept.put("ann", "mine", ["fine", symbol])
    assert kept.get("ann", "mine").symbols == ("ok",)


def test_lists_and_symbols_have_a_limit_and_a_full_shelf_can_still_be_changed(database):
    kept = Watchlists(database)
    with pytest.raises(LibraryError, match=f"at most {MOST_SYMBOLS}"):
        kept.put("ann", "mine", [str(n) for n in range(MOST_SYMBOLS + 1)])
    for number in range(MOST_LISTS):
        kept.put("ann", f"l{number}", [])
    with pytest.raises(LibraryError, match="which is the most"):
        kept.put("ann", "other", [])
    assert kept.put("ann", "l3", ["ES"]).symbols == ("ES",)
