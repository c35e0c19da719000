import time
from dataclasses import replace
from threading import Thread

import pytest
import sqlalchemy as sa
from tests.cases import in_one_test

from chartpact.library.errors import LibraryError
from chartpact.library.scripts import QUOTA, Scripts

from .conftest import check


def test_what_is_registered_can_be_listed_read_and_found(scripts):
    scripts.register("ann", "mine", "good 1")
    [kept] = scripts.of("ann")
    assert (kept.name, kept.source, kept.meta["title"]) == ("mine", "good 1", "Mine")
    assert scripts.get("ann", "mine") == kept
    assert scripts.find("ann", ["mine", "other"]) == {"mine": kept}


def test_a_stored_script_comes_with_its_warnings_and_a_read_one_without(scripts):
    (warning,) = scripts.register("ann", "mine", "good, slow").warnings
    assert (warning.message, warning.line, warning.details) == ("slow", 2, {"name": "mine"})
    assert scripts.get("ann", "mine").warnings == ()


def test_registering_again_replaces_the_source_and_keeps_the_birthday(scripts):
    first = scripts.register("ann", "mine", "good 1")
    second = scripts.register("ann", "mine", "good 2")
    assert second.created_at == first.created_at
    assert scripts.get("ann", "mine").source == "good 2"


def test_a_refused_source_changes_nothing(scripts):
    scripts.register("ann", "mine", "good 1")
    with pytest.raises(LibraryError) as refusal:
        scripts.register("ann", "mine", "bad")
    assert refusal.value.problems[0].kind == "syntax"
    assert scripts.get("ann", "mine").source == "good 1"
    assert [v.version for v in scripts.history("ann", "mine")] == [1]


@in_one_test("name", ["", "Mine", "1st", "_x", "a-b", "a" * 65, "a\n", "ä", "a/../b"])
def test_a_name_outside_the_rule_is_refused(scripts, name):
    with pytest.raises(LibraryError, match="not a name for an indicator"):
        scripts.register("ann", name, "good")
    assert scripts.of("ann") == []


def test_a_given_params_schema_must_equal_the_scripts_own(scripts):
    declared = [{"name": "n", "type": "int", "default": 9}]
    scripts.register("ann", "mine", "good", declared)
    scripts.register("ann", "mine", "good", [{**declared[0], "min": None, "desc": ""}])
    with pytest.raises(LibraryError, match=r'"default": 8.* is not .*"default": 9'):
        scripts.register("ann", "mine", "good 2", [{**declared[0], "default": 8}])
    with pytest.raises(LibraryError, match="0 entries, not 1"):
        scripts.register("ann", "mine", "good 2", [])
    assert scripts.get("ann", "mine").source == "good"


def test_updating_or_deleting_an_unknown_name_lists_near_names(scripts):
    scripts.register("ann", "cipher_b", "good")
    for act in (lambda: scripts.update("ann", "cipher_a", "good"),
                lambda: scripts.delete("ann", "cipher_a"),
                lambda: scripts.get("ann", "cipher_a")):  # fmt: skip
        with pytest.raises(LibraryError, match="did you mean 'cipher_b'"):
            act()


def test_near_names_are_found_among_many_in_no_time(database):
    many = Scripts(database, check, replace(QUOTA, texts=500))
    names = [f"{'ab' * 29}{number:03}" for number in range(200)]
    export = [{"name": name, "source": "good"} for name in [*names, "cipher_b", "e"]]
    many.load("ann", {"format": "chartpact-library-1", "scripts": export})
    started = time.process_time()
    for asked, near in (("cypher_b", "cipher_b"), ("ee", "e"), ("ba" * 30, "abab")):
        with pytest.raises(LibraryError, match=f"did you mean '{near}"):
            many.get("ann", asked)
    assert time.process_time() - started < 1


def test_true_is_not_1_in_a_params_schema(scripts):
    declared = {"name": "n", "type": "int", "default": 9}
    scripts.register("ann", "mine", "good", [{**declared, "default": 9.0}])
    with pytest.raises(LibraryError, match="params_schema differs"):
        scripts.register("ann", "mine", "good", [{**declared, "min": False}])


def test_users_never_meet(scripts):
    scripts.register("ann", "mine", "good of ann")
    scripts.register("bob", "mine", "good of bob")
    scripts.delete("bob", "mine")
    assert scripts.get("ann", "mine").source == "good of ann"
    assert scripts.of("bob") == []
    with pytest.raises(LibraryError) as refusal:
        scripts.update("bob", "mine", "good")
    assert "near" not in str(refusal.value)


def test_the_quota_of_scripts_is_told_and_nothing_is_kept_beyond_it(scripts):
    for name in ("a", "b", "c"):
        scripts.register("ann", name, "good")
    with pytest.raises(LibraryError, match="you keep 3 scripts and may keep 3"):
        scripts.register("ann", "d", "good")
    scripts.register("ann", "c", "good again")
    assert [s.name for s in scripts.of("ann")] == ["a", "b", "c"]


def test_the_quota_of_bytes_is_told_and_nothing_is_kept_beyond_it(scripts):
    scripts.register("ann", "a", "good" + "x" * 600)
    with pytest.raises(LibraryError, match="1208 bytes of 1000"):
        scripts.register("ann", "b", "good" + "x" * 600)
    assert [s.name for s in scripts.of("ann")] == ["a"]


def test_the_quota_counts_what_a_letter_takes_in_bytes(scripts):
    with pytest.raises(LibraryError, match="1204 bytes of 1000"):
        scripts.register("ann", "a", "good" + "é" * 600)


def test_a_nul_is_refused_in_a_source_and_in_a_name_nothing_is_found(scripts):
    with pytest.raises(LibraryError, match="no NUL character"):
        scripts.register("ann", "a", "good\0")
    for ask in (scripts.get, scripts.history, scripts.delete):
        with pytest.raises(LibraryError, match="you have no indicator"):
            ask("ann", "a\0")
    assert scripts.find("ann", ["a\0"]) == {}


def test_names_are_sorted_alike_on_every_database(database):
    scripts = Scripts(database, check)
    names = ["a", "a1", "a_b", "ab", "b"]
    for name in reversed(names):
        scripts.register("ann", name, "good")
    assert [script.name for script in scripts.of("ann")] == names == list(scripts.names("ann"))


def test_the_last_20_versions_are_kept_and_any_can_be_restored(scripts):
    for number in range(1, 26):
        scripts.register("ann", "mine", f"good {number}")
    history = scripts.history("ann", "mine")
    assert [v.version for v in history] == list(range(25, 5, -1))
    assert scripts.restore("ann", "mine", 7).source == "good 7"
    assert scripts.history("ann", "mine")[0].version == 26
    with pytest.raises(LibraryError, match="no version 5"):
        scripts.restore("ann", "mine", 5)


def test_registering_the_same_source_again_makes_no_new_version(scripts):
    scripts.register("ann", "mine", "good")
    scripts.register("ann", "mine", "good")
    assert len(scripts.history("ann", "mine")) == 1


def test_a_deleted_script_can_be_brought_back(scripts):
    scripts.register("ann", "mine", "good")
    scripts.delete("ann", "mine")
    assert scripts.find("ann", ["mine"]) == {}
    assert scripts.restore("ann", "mine", 1).source == "good"


def test_histories_of_deleted_scripts_do_not_pile_up(scripts):
    for number in range(8):
        scripts.register("ann", f"s{number}", "good")
        scripts.delete("ann", f"s{number}")
    with pytest.raises(LibraryError):
        scripts.history("ann", "s0")
    assert scripts.history("ann", "s7")


def test_a_library_can_be_exported_and_imported_whole(scripts):
    scripts.register("ann", "a", "good a")
    scripts.register("ann", "b", "good b")
    scripts.load("bob", scripts.export("ann"))
    assert scripts.export("bob") == scripts.export("ann")


def test_an_import_with_one_bad_script_brings_in_none_and_names_it(scripts):
    export = scripts.export("ann")
    export["scripts"] = [{"name": "a", "source": "good"}, {"name": "b", "source": "bad"}]
    with pytest.raises(LibraryError) as refusal:
        scripts.load("bob", export)
    assert [p.details["name"] for p in refusal.value.problems] == ["b"]
    assert scripts.of("bob") == []


def test_an_import_that_has_a_script_twice_says_which(scripts):
    export = {"format": "chartpact-library-1", "scripts": [{"name": "a", "source": "good"}] * 2}
    with pytest.raises(LibraryError, match="'a' is there twice"):
        scripts.load("ann", export)


@pytest.mark.parametrize(
    ("one", "other"),
    [("ann", "Ann"), ("ann", "ann "), ("ann", " ann"), ("\u00e9", "e\u0301"), ("a", "\u0430"),
     ("ann", "ann%"), ("%", "ann"), ("_", "a"), ("1", "01"), ("ı", "i")],
)  # fmt: skip
def test_users_whose_names_look_alike_never_meet(scripts, one, other):
    scripts.register(one, "mine", "good")
    for stranger in (other, other.upper(), ""):
        if stranger != one:
            assert scripts.find(stranger, ["mine"]) == {}
            assert scripts.of(stranger) == []
            assert scripts.names(stranger) == ()
            with pytest.raises(LibraryError):
                scripts.history(stranger, "mine")
            with pytest.raises(LibraryError):
                scripts.delete(stranger, "mine")
    assert scripts.get(one, "mine").source == "good"


def test_a_user_whose_name_has_a_nul_is_nobody_else(database, scripts):
    scripts.register("ann", "mine", "good")
    if database.embedded:
        assert scripts.of("ann\0") == []
    else:  # there can be no such user, and the server lets none in
        with pytest.raises(sa.exc.DataError):
            scripts.of("ann\0")


@in_one_test(
    "export",
    [None, [], {}, {"format": "x", "scripts": []}, {"format": "chartpact-library-1"},
     {"format": "chartpact-library-1", "scripts": [1]},
     {"format": "chartpact-library-1", "scripts": [{"name": 1, "source": "good"}]},
     {"format": "chartpact-library-1", "scripts": [{"name": "a", "source": "good"}] * 2}],
)  # fmt: skip
def test_what_is_no_export_is_refused(scripts, export):
    with pytest.raises(LibraryError):
        scripts.load("ann", export)
    assert scripts.of("ann") == []


def numbers(scripts: Scripts, name: str) -> list[int]:
    try:
        return [each.version for each in scripts.history("ann", name)]
    except LibraryError:
        return []


def test_history_takes_no_more_bytes_than_it_may_and_what_is_in_force_stays(database):
    scripts = Scripts(database, check, replace(QUOTA, bytes=1000, history_bytes=1000))
    for number in range(1, 4):
        scripts.register("ann", "old", f"good {number}" + "x" * 94)  # 100 bytes each
    for number in range(1, 6):
        scripts.register("ann", "gone", f"good {number}" + "x" * 94)
    scripts.delete("ann", "gone")
    scripts.register("bob", "mine", "good" + "x" * 500)
    scripts.register("ann", "new", "good" + "x" * 196)
    assert (numbers(scripts, "old"), numbers(scripts, "gone")) == ([3, 2, 1], [5, 4, 3, 2, 1])
    scripts.register("ann", "new", "good" + "y" * 196)
    assert (numbers(scripts, "old"), numbers(scripts, "gone")) == ([3, 2, 1], [5, 4, 3])
    scripts.register("ann", "new", "good" + "z" * 496)
    assert (numbers(scripts, "old"), numbers(scripts, "gone")) == ([3], [])
    assert numbers(scripts, "new") == [3, 2, 1]
    scripts.register("ann", "new", "good" + "é" * 350)
    assert (numbers(scripts, "old"), numbers(scripts, "new")) == ([3], [4])
    assert scripts.get("ann", "old").source == scripts.restore("ann", "old", 3).source
    assert len(scripts.history("bob", "mine")) == 1


def test_of_two_who_write_one_name_at_once_both_are_in_its_history(database):
    scripts = Scripts(database, check)
    scripts.register("ann", "mine", "good")
    writers = [
        Thread(
            target=lambda who=who: [
                scripts.update("ann", "mine", f"good {who} {n}") for n in range(9)
            ]
        )
        for who in ("one", "two")
    ]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    history = scripts.history("ann", "mine")
    assert [each.version for each in history] == list(range(19, 0, -1))
    assert history[0].source == scripts.get("ann", "mine").source
    for who in ("one", "two"):
        mine = [each.source for each in reversed(history) if who in each.source]
        assert mine == [f"good {who} {n}" for n in range(9)]


def test_an_update_of_what_is_deleted_meanwhile_brings_nothing_back(database, scripts):
    def deletes(user: str, source: str) -> object:
        scripts.delete(user, "mine")
        return check(user, source)

    scripts.register("ann", "mine", "good")
    with pytest.raises(LibraryError, match="you have no indicator 'mine'"):
        Scripts(database, deletes).update("ann", "mine", "good 2")
    assert scripts.of("ann") == []
    assert len(scripts.history("ann", "mine")) == 1


def test_what_is_forgotten_of_one_user_is_forgotten_of_no_other(scripts):
    for name in ("s0", "s1", "s2"):
        scripts.register("bob", name, "good of bob")
    for number in range(8):
        scripts.register("ann", f"s{number}", "good of ann")
        scripts.delete("ann", f"s{number}")
    assert [numbers(scripts, f"s{number}") for number in (0, 7)] == [[], [1]]
    for name in ("s0", "s1", "s2"):
        assert [each.source for each in scripts.history("bob", name)] == ["good of bob"]


def test_what_others_delete_does_not_make_one_forget(scripts):
    scripts.register("ann", "mine", "good")
    scripts.delete("ann", "mine")
    for number in range(3):
        scripts.register("bob", f"s{number}", "good")
        scripts.delete("bob", f"s{number}")
    scripts.register("ann", "other", "good")
    assert numbers(scripts, "mine") == [1]
