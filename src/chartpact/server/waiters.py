"""Threads for what waits for others rather than computes: users in turn, none with all of them."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from chartpact.sandbox.turns import Crowded, Turns
from chartpact.server.worker import WorkFailed

Answer = TypeVar("Answer")


class Waiters:
    """As many threads as may wait at once; they end with the process, whatever they wait for."""

    def __init__(self, count: int = 32, most_waiting: int = 200) -> None:
        self._turns = Turns(count, most_waiting)

    def submit(self, user: str, wait: Callable[[], Answer]) -> "Future[Answer]":
        """The answer to come; exceptions come back as they are."""
        answer: Future[Answer] = Future()

        def run() -> None:
            try:
                if answer.set_running_or_notify_cancel():
                    answer.set_result(wait())
            except BaseException as error:  # noqa: BLE001  (it belongs to whoever asked)
                answer.set_exception(error)
            finally:
                self._turns.done(user)

        try:
            self._turns.ask(user, lambda: threading.Thread(target=run, daemon=True).start())
        except Crowded:
            raise WorkFailed("busy", "too many requests wait", "try again in a moment") from None
        return answer
