"""A service far away: asked once for each range, never waited for too long, its answers kept.

A library's own time-outs count the silence between two bytes, so that a service which sends one
byte now and then can hold its caller for ever. Requests therefore run on threads of their own, and
whoever asked waits for the answer no longer than the patience that is configured.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from chartpact.bars import Bars, BarsError
from chartpact.sources.errors import SourceFailed

log = logging.getLogger(__name__)

Client = TypeVar("Client")

ANSWERS_KEPT = 64
MOST_ASKING = 32  # requests of one source at once, those nobody waits for any more included
NEW_CLIENT_S = 3600  # markets come and go: what a client knows of them is looked up again


@dataclass(frozen=True)
class Patience:
    """How long things may take, and how long they hold."""

    request_s: float = 10.0  # one request
    answer_s: float = 15.0  # everything that belongs to one answer
    keep_s: float = 30.0  # an answer
    keep_failure_s: float = 5.0  # so that a service in trouble is not asked over and over


@dataclass
class _Session:
    """A client and whose turn it is; given up together when a request hangs."""

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
        patience: Patience,
    ) -> None:
        self._name = name
        self._connect = connect
        self._failures = failures
        self._patience = patience
        self._lock = threading.Lock()
        self._session = _Session()
        self._kept: OrderedDict[Hashable, _Answer] = OrderedDict()
        self._asking: list[threading.Thread] = []

    def ask(self, key: Hashable, fetch: Callable[[Client, float], Bars]) -> Bars:
        """The answer to a question, fetched unless a fresh one is there.

        `fetch` gets the client and the time (of time.monotonic) at which nobody waits any more.
        """
        with self._lock:
            answer = self._kept.get(key)
            if answer is None or (answer.until is not None and answer.until < time.monotonic()):
                answer = self._send(key, fetch)
            self._kept.move_to_end(key)
        try:
            return answer.bars.result(self._patience.answer_s)
        except TimeoutError:
            self._give_up(key, answer)
            raise SourceFailed(
                f"{self._name} did not answer within {self._patience.answer_s:g} s"
            ) from None

    def _send(self, key: Hashable, fetch: Callable[[Client, float], Bars]) -> _Answer:
        self._asking = [thread for thread in self._asking if thread.is_alive()]
        if len(self._asking) >= MOST_ASKING:
            raise SourceFailed(
                f"{self._name} has {MOST_ASKING} requests to answer already: try again in a moment"
            )
        answer = self._kept[key] = _Answer(self._session)
        while len(self._kept) > ANSWERS_KEPT:
            self._kept.popitem(last=False)
        thread = threading.Thread(target=self._work, args=(answer, fetch), daemon=True)
        self._asking.append(thread)
        thread.start()
        return answer

    def _give_up(self, key: Hashable, answer: _Answer) -> None:
        """Forgets the answer and its client, which may hang: the next question gets a new one."""
        with self._lock:
            if self._kept.get(key) is answer:
                del self._kept[key]
            if self._session is answer.session:
                self._session = _Session()

    def _work(self, answer: _Answer, fetch: Callable[[Client, float], Bars]) -> None:
        deadline = time.monotonic() + self._patience.answer_s
        try:
            with answer.session.turn:
                if time.monotonic() > deadline:
                    raise SourceFailed(f"{self._name} has too much to answer: try again later")
                bars = fetch(self._client(answer.session), deadline)
        except (SourceFailed, BarsError) as error:
            self._fail(answer, error)
        except Exception as error:  # libraries raise anything on a broken answer
            log.info("%s failed", self._name, exc_info=True)
            self._fail(answer, SourceFailed(f"{self._name} {self._meaning(error)}"))
        else:
            answer.until = time.monotonic() + self._patience.keep_s
            answer.bars.set_result(bars)

    def _fail(self, answer: _Answer, error: Exception) -> None:
        answer.until = time.monotonic() + self._patience.keep_failure_s
        answer.bars.set_exception(error)

    def _client(self, session: _Session) -> Client:
        if session.client is None or time.monotonic() > session.until:
            session.client = self._connect()
            session.until = time.monotonic() + NEW_CLIENT_S
        return session.client  # type: ignore[return-value]

    def _meaning(self, error: Exception) -> str:
        """What an exception of the library says, in the words of its nearest class we know."""
        for kind in type(error).__mro__:
            if kind.__name__ in self._failures:
                return self._failures[kind.__name__]
        told = " ".join(str(error).split())
        return f"answered with something that makes no sense ({type(error).__name__}: {told:.120})"
