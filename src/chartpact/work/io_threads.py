"""Threads for jobs that wait for a network or a disk rather than compute."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from chartpact.work.failure import busy
from chartpact.work.turns import Crowded, Turns

Answer = TypeVar("Answer")


class IoThreads:
    """A bounded number of daemon threads, shared fairly among users.

    Each job has a thread of its own, which ends with the process, whatever the job waits for.
    """

    def __init__(self, count: int = 32, most_waiting: int = 200) -> None:
        self._turns = Turns(count, most_waiting)

    def submit(self, user: str, wait: Callable[[], Answer]) -> "Future[Answer]":
        """The future of the job; exceptions of the job come back as they are."""
        answer: Future[Answer] = Future()

        def run() -> None:
            try:
                if answer.set_running_or_notify_cancel():
                    answer.set_result(wait())
            except BaseException as error:  # noqa: BLE001  (it belongs to the caller)
                answer.set_exception(error)
            finally:
                self._turns.done(user)

        try:
            self._turns.ask(user, threading.Thread(target=run, daemon=True).start)
        except Crowded:
            raise busy("too many requests wait") from None
        return answer
