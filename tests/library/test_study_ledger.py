"""The ledger of studies: by user and bars, and nothing is forgotten."""

from chartpact.library.study_ledger import StudyLedger


def test_tests_are_counted_by_user_and_bars_and_looks_at_the_hold_out_by_subject(database):
    ledger = StudyLedger(database)
    assert ledger.enter("ann", "es", "mine", 5, False) == (0, 0)
    assert ledger.enter("ann", "es", "mine", 6, True) == (5, 0)
    assert ledger.enter("ann", "es", "other", 35, True) == (11, 0)
    assert ledger.enter("ann", "es", "mine", 1, True) == (46, 1)
    assert ledger.enter("ann", "es", "mine", 1, False) == (47, 2)
    assert ledger.enter("ann", "nq", "mine", 1, False) == (0, 0)
    assert ledger.enter("bob", "es", "mine", 1, False) == (0, 0)
