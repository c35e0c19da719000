"""The one bounded cache, and its quick form."""

import threading

from chartpact.cache import Cache, Memo


def test_threads_that_make_a_value_at_once_get_the_one_that_was_ready_first():
    cache: Cache[str, object] = Cache(most=1)
    meet = threading.Barrier(4)
    values: list[object] = []

    def make() -> object:
        meet.wait(30)  # all of them found nothing, and make one each
        return object()

    def ask() -> None:
        values.append(cache.get_or_make("key", make))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(values) == 4
    assert len(set(map(id, values))) == 1


def test_a_memo_makes_a_value_once_and_starts_anew_when_its_keys_weigh_too_much():
    made: list[str] = []

    def make(key: str) -> str:
        made.append(key)
        return key.upper()

    memo: Memo[str, str] = Memo(make, most=5, weigh=len)
    assert [memo[key] for key in ("ab", "cd", "ab")] == ["AB", "CD", "AB"]
    assert made == ["ab", "cd"]
    assert memo["ef"] == "EF"
    assert dict(memo) == {"ef": "EF"}
    assert memo["longer"] == "LONGER"
