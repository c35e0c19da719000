from chartpact.server import standing
from chartpact.server.standing import GOOD, PROBATION, UNTRIED, Standing


def test_a_user_is_untried_then_good_and_after_a_long_job_so_many_short_ones_away_from_it():
    known = Standing()
    assert known.of("ann") == UNTRIED
    known.was_short("ann")
    assert known.of("ann") == GOOD
    known.took_long("ann")
    for owed in range(PROBATION, GOOD, -1):
        assert known.of("ann") == owed
        known.was_short("ann")
    assert known.of("ann") == GOOD
    assert known.of("bob") == UNTRIED


def test_those_heard_of_longest_ago_are_forgotten(monkeypatch):
    monkeypatch.setattr(standing, "MOST_USERS", 2)
    known = Standing()
    for user in ("ann", "bob", "ann", "cleo"):
        known.took_long(user)
    assert [known.of(user) for user in ("ann", "bob", "cleo")] == [PROBATION, UNTRIED, PROBATION]
