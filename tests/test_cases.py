"""A test of many cases fails for each of them, by name."""

import pytest
from tests.cases import in_one_test


def test_every_case_is_tried_with_the_fixtures_of_the_test():
    tried = []

    @in_one_test("case", [1, 2, 3])
    def law(fixture, case):
        tried.append((fixture, case))

    law(fixture="shared")
    assert tried == [("shared", 1), ("shared", 2), ("shared", 3)]


def test_a_failure_names_its_case():
    @in_one_test(("number", "word"), [(1, "one"), (2, "two")])
    def law(word, number):
        assert number != 2, word

    with pytest.raises(AssertionError, match="two") as failed:
        law()
    assert failed.value.__notes__ == ["number, word: 2, two"]


def test_cases_can_be_given_names():
    for ids in (["first", "second"], {1: "first", 2: "second"}.__getitem__):

        @in_one_test("number", [1, 2], ids=ids)
        def law(number):
            assert number != 2

        with pytest.raises(AssertionError) as failed:
            law()
        assert failed.value.__notes__ == ["number: second"]


def test_several_failures_are_all_told():
    @in_one_test("number", [1, 2, 3])
    def law(number):
        assert number == 2

    with pytest.raises(ExceptionGroup, match="2 of 3 cases failed") as failed:
        law()
    assert [e.__notes__ for e in failed.value.exceptions] == [["number: 1"], ["number: 3"]]


@in_one_test("number", [1, 2])
def test_a_test_of_cases_has_fixtures(tmp_path, number):
    assert tmp_path.is_dir() and number


def test_one_case_runs_alone_by_a_part_of_its_name(monkeypatch):
    tried = []

    @in_one_test("word", ["open", "close", "closed"])
    def law(word):
        tried.append(word)

    monkeypatch.setenv("CHARTPACT_CASE", "close")
    law()
    assert tried == ["close", "closed"]
    monkeypatch.setenv("CHARTPACT_CASE", "high")
    with pytest.raises(pytest.skip.Exception, match="no case has 'high' in its name"):
        law()


def test_a_law_without_cases_is_no_law():
    with pytest.raises(AssertionError, match="no cases of number"):
        in_one_test("number", [])(print)
