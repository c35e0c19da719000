"""A service on the network: each question asked once, answered within a deadline, and remembered.

A library's own time-outs count the silence between two bytes, so a service that sends one byte now
and then can hold its caller for ever. Requests therefore run on threads of their own, and callers
wait for the answer until the configured deadline.
"""

import logging
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from chartpact.bars import Bars, BarsError
from chartpact.cache import Cache
from chartpact.sources.errors import SourceFailed

log = logging.getLogger(__name__)

Client = TypeVar("Client")

MOST_ANSWERS = 64  # that are remembered
MOST_REQUESTS = 32  # of one source at once, abandoned ones included
RECONNECT_S = 3600  # markets come and go: a client looks them up again


@dataclass(frozen=True)
class Deadlines:
    """How long requests may take, and how long answers are remembered."""

    request_s: float = 10.0  # one request
    answer_s: float = 15.0  # all requests of one answer
    keep_s: float = 30.0  # an answer
    keep_failure_s: float = 5.0  # so that a service in trouble is not asked over and over


@dataclass
class _Session:
    """A client and the lock of whoever uses it; both are dropped when a request hangs."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    client: object | None = None
    until: float = 0.0


@dataclass
class _Answer:
    session: _Session
    bars: "Future[Bars]" = field(default_factory=Future)
    until: float | None = None  # when it is out of date; None while it is on its way


class Remote(Generic[Client]):
    """One service, asked one thing at a time.

    `failures` says what a library's exceptions mean, by the names of their classes.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], Client],
        failures: Mapping[str, str],
        deadlines: Deadlines,
    ) -> None:
        self._name = name
        self._connect = connect
        self._failures = failures
        self._deadlines = deadlines
        self._lock = threading.Lock()
        self._session = _Session()
        self._answers: Cache[Hashable, _Answer] = Cache(MOST_ANSWERS)
        self._requests: list[threading.Thread] = []

    def ask(self, key: Hashable, fetch: Callable[[Client, float], Bars]) -> Bars:
        """The answer to a question, fetched unless a fresh one is remembered.

        `fetch` gets the client and the time (of time.monotonic) at which nobody waits any more.
        """
        with self._lock:
            answer = self._answers.get(key)
            if answer is None or (answer.until is not None and answer.until < time.monotonic()):
                answer = self._send(key, fetch)
        try:
            return answer.bars.result(self._deadlines.answer_s)
        except TimeoutError:
            self._abandon(key, answer)
            raise SourceFailed(
                f"{self._name} did not answer within {self._deadlines.answer_s:g} s"
            ) from None

    def _send(self, key: Hashable, fetch: Callable[[Client, float], Bars]) -> _Answer:
        self._requests = [thread for thread in self._requests if thread.is_alive()]
        if len(self._requests) >= MOST_REQUESTS:
            raise SourceFailed(
                f"{self._name} has {MOST_REQUESTS} requests to answer already: "
                "try again in a moment"
            )
        answer = _Answer(self._session)
        self._answers.put(key, answer)
        thread = threading.Thread(target=self._work, args=(answer, fetch), daemon=True)
        self._requests.append(thread)
        thread.start()
        return answer

    def _abandon(self, key: Hashable, answer: _Answer) -> None:
        """Drops an answer and its client, which may hang; the next question gets a new client."""
        with self._lock:
            if self._answers.get(key) is answer:
                self._answers.pop(key)
            if self._session is answer.session:
                self._session = _Session()

    def _work(self, answer: _Answer, fetch: Callable[[Client, float], Bars]) -> None:
        deadline = time.monotonic() + self._deadlines.answer_s
        try:
            with answer.session.turn:
                if time.monotonic() > deadline:
                    raise SourceFailed(f"{self._name} has too much to answer: try again later")
                bars = fetch(self._client(answer.session), deadline)
        except (SourceFailed, BarsError) as error:
            self._fail(answer, error)
        except Exception as error:  # libraries raise anything on a broken answer
            log.info("%s failed", self._name, exc_info=True)
            self._fail(answer, SourceFailed(f"{self._name} {self._explain(error)}"))
        else:
            answer.until = time.monotonic() + self._deadlines.keep_s
            answer.bars.set_result(bars)

    def _fail(self, answer: _Answer, error: Exception) -> None:
        answer.until = time.monotonic() + self._deadlines.keep_failure_s
        answer.bars.set_exception(error)

    def _client(self, session: _Session) -> Client:
        if session.client is None or time.monotonic() > session.until:
            session.client = self._connect()
            session.until = time.monotonic() + RECONNECT_S
        return session.client  # type: ignore[return-value]

    def _explain(self, error: Exception) -> str:
        """What an exception of the library means, by its nearest class that has a meaning."""
        for kind in type(error).__mro__:
            if kind.__name__ in self._failures:
                return self._failures[kind.__name__]
        text = " ".join(str(error).split())
        return f"answered with something that makes no sense ({type(error).__name__}: {text:.120})"
