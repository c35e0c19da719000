from chartpact.work.probation import GOOD, PROBATION, UNTRIED, Probation


def test_a_user_is_untried_then_good_and_after_a_long_job_so_many_short_ones_away_from_it():
    users = Probation()
    assert users.owed("ann") == UNTRIED
    users.was_short("ann")
    assert users.owed("ann") == GOOD
    users.took_long("ann")
    for owed in range(PROBATION, GOOD, -1):
        assert users.owed("ann") == owed
        users.was_short("ann")
    assert users.owed("ann") == GOOD
    assert users.owed("bob") == UNTRIED


def test_those_heard_of_longest_ago_are_forgotten():
    users = Probation(most_users=2)
    for user in ("ann", "bob", "ann", "cleo"):
        users.took_long(user)
    assert [users.owed(user) for user in ("ann", "bob", "cleo")] == [PROBATION, UNTRIED, PROBATION]
