import threading

import pytest

from chartpact.work.failure import WorkFailed
from chartpact.work.io_threads import IoThreads


def test_an_answer_comes_and_so_does_an_exception():
    threads = IoThreads()
    assert threads.submit("ann", lambda: 7).result(60) == 7
    with pytest.raises(ZeroDivisionError):
        threads.submit("ann", lambda: 1 / 0).result(60)


def test_a_user_who_waits_for_much_leaves_room_for_another():
    threads, go = IoThreads(count=4), threading.Event()
    mine = [threads.submit("ann", lambda: go.wait(60)) for _ in range(20)]
    assert threads.submit("bob", lambda: "served").result(60) == "served"
    assert not any(each.done() for each in mine)
    go.set()
    assert all(each.result(60) for each in mine)


def test_a_crowd_is_told_to_come_back():
    threads, go = IoThreads(count=2, most_waiting=1), threading.Event()
    mine = [threads.submit("ann", lambda: go.wait(60)) for _ in range(2)]
    with pytest.raises(WorkFailed, match="too many requests wait"):
        threads.submit("ann", lambda: 7)
    go.set()
    assert all(each.result(60) for each in mine)


def test_whoever_gave_up_is_not_waited_for():
    threads, go, ran = IoThreads(count=2), threading.Event(), []
    first = threads.submit("ann", lambda: go.wait(60))
    second = threads.submit("ann", lambda: ran.append(1))
    assert second.cancel()
    go.set()
    assert first.result(60)
    assert threads.submit("ann", lambda: 7).result(60) == 7
    assert ran == []
