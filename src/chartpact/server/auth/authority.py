"""The authority: every part of identity, put together over one database."""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from chartpact.library.database import Database
from chartpact.library.local import LOCAL_USER
from chartpact.server.allowance import Ledger
from chartpact.server.auth.accounts import Accounts
from chartpact.server.auth.clients import Clients
from chartpact.server.auth.external import ExternalIssuer
from chartpact.server.auth.fetch import Fetcher
from chartpact.server.auth.grants import Grants
from chartpact.server.auth.links import SignInLink
from chartpact.server.auth.passwords import Hashing
from chartpact.server.auth.realm import Realms
from chartpact.server.auth.sessions import Sessions
from chartpact.server.auth.throttle import Rates, Throttle
from chartpact.server.auth.tokens import Bearer, Lookup
from chartpact.server.refusals import DATABASE_FAILED, name_cause

log = logging.getLogger(__name__)

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

PURGE_S = 3600.0


@dataclass(frozen=True)
class AuthSettings:
    """How identity is set up."""

    public_url: str | None = None  # None: a loopback server, which has three names
    sign_up: bool = False
    registration: bool = True
    fetcher: Fetcher | None = field(default_factory=Fetcher)  # None: no metadata documents
    issuer: ExternalIssuer | None = None  # an identity provider in place of our own
    rates: Rates = field(default_factory=Rates)


class Authority:
    """Accounts, grants, sessions and clients of one server."""

    def __init__(
        self,
        settings: AuthSettings,
        database: Database,
        ledger: Ledger | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings
        self.realms = Realms(settings.public_url)
        self.accounts = Accounts(database)
        self.grants = Grants(database)
        self.lookup = Lookup(database)
        self.sessions = Sessions(database)
        self.clients = Clients(database, settings.fetcher, registration=settings.registration)
        self.throttle = Throttle(settings.rates, clock, ledger)
        self.hashing = Hashing()
        self.link = SignInLink(database)
        self._ledger = ledger
        self._embedded = database.embedded
        self._threads = ThreadPoolExecutor(4, "identity")
        self._lookups = ThreadPoolExecutor(4, "lookup")

    async def run(
        self,
        function: Callable[Arguments, Answer],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Answer:
        """Calls a function that waits for the disk, off the event loop."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: function(*args, **kwargs))

    async def find_bearer(self, token: str) -> Bearer | None:
        """The claims of a token."""
        return await self._look_up(self.lookup.bearer, token)

    async def find_session(self, session: str) -> str | None:
        """The user who is signed in with that session id."""
        return await self._look_up(self.lookup.session, session)

    async def _look_up(self, find: Callable[[str], Answer], secret: str) -> Answer:
        if self._embedded:  # a few microseconds, of which a thread would be most
            return find(secret)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._lookups, find, secret)

    async def sign_in(self, name: str, password: str) -> tuple[str, str] | None:
        """The user whose name and password these are, and the hash that says so.

        A stranger costs the same time.
        """
        user, stored = await self.run(self.accounts.credentials, name)
        matches = await self.hashing.verify(stored, password)
        return (user, stored) if matches and user is not None and stored is not None else None

    async def purge_for_ever(self) -> None:
        """Deletes what has expired, now and every hour."""
        while True:
            try:
                await self.run(self.grants.purge)
                await self.run(self.accounts.purge)
                if self._ledger is not None:
                    await self.run(self._ledger.purge)
            except DATABASE_FAILED as failure:  # the next time may succeed
                log.error("nothing could be purged: %s", name_cause(failure))
            await asyncio.sleep(PURGE_S)

    def offer_link(self) -> str | None:
        """The key of a sign-in link for the local user, while nobody has a password."""
        accounts = self.accounts.list()
        if any(account.has_password for account in accounts):
            return None
        if all(account.user_id != LOCAL_USER for account in accounts):
            self.accounts.add(LOCAL_USER, None)
        return self.link.make()

    def close(self) -> None:
        self.hashing.close()
        for threads in (self._threads, self._lookups):
            threads.shutdown(cancel_futures=True)  # waits for open connections
        self.lookup.close()
        if self.settings.issuer is not None:
            self.settings.issuer.close()
