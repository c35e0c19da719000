"""Follows on a server: rows of users, which one process at a time reads when they are due."""

import asyncio
import logging
import os
import secrets
from functools import partial

from chartpact.cache import Cache
from chartpact.library.database import Database
from chartpact.library.follows import Follow, Follows, LostLease
from chartpact.library.journal import Journal, changes_since, latest
from chartpact.problem import Failure
from chartpact.server import contract_jobs, shapes
from chartpact.server.drawings import Drawings
from chartpact.server.execution import Execution
from chartpact.server.refusals import DATABASE_FAILED, name_cause, refuse
from chartpact.strategies.following import PREFIX

log = logging.getLogger(__name__)

LOOK_S = 1.0  # between two looks for follows that are due
MOST_AT_ONCE = 4
MOST_JOURNALS = 200  # whose memories are at hand


class Following:
    """What users follow, and the readings that are due."""

    def __init__(self, database: Database, drawings: Drawings, execution: Execution) -> None:
        self._database, self._drawings, self._execution = database, drawings, execution
        self._follows = Follows(database)
        self._owner = f"{os.uname().nodename} {os.getpid()} {secrets.token_hex(8)}"
        self._journals: Cache[tuple[str, int, int], Journal] = Cache(MOST_JOURNALS)
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)

    # ---------------------------------------------------------------------------------------- verbs

    async def follow_state(self, user: str, ask: shapes.FollowAsk) -> shapes.FollowList:
        """Follows contracts, each in a row of its own; each is read once, so that it can be."""
        every_ms, added = int(ask.every * 1000), []
        for name in ask.contracts:
            asked = {
                "symbol": ask.symbol,
                "timeframe": ask.timeframe,
                "params": ask.params,
                "config": ask.config.get(name, {}),
                "profile": ask.profile,
            }
            others = {*ask.contracts} - {name}  # what is left names no contract, and is refused
            config = {key: kept for key, kept in ask.config.items() if key not in others}
            one = shapes.StateAsk.model_validate({**asked, "contracts": [name], "config": config})
            state = await self._drawings.read(user, one, contract_jobs.read_state)
            for breach in state.readings[name].get("violations", ()):
                if breach["path"] == "identity.pine_title":  # nothing is drawn that could be read
                    raise refuse("value", f"{name} cannot be followed: {breach['message']}")
            row = f"{PREFIX}{name}" if "strategy" in state.readings[name] else name
            add = partial(self._follows.add, user, row, asked, every_ms)
            added.append(await self._execution.use_disk(user, add))
        return shapes.FollowList(follows=list(map(_describe, added)))

    async def unfollow_state(self, user: str, number: int) -> shapes.Outcome:
        await self._execution.use_disk(user, partial(self._follows.remove, user, number))
        return shapes.Outcome(ok=True)

    async def pause(self, user: str, number: int, paused: bool) -> shapes.FollowOut:
        pause = partial(self._follows.pause, user, number, paused)
        return _describe(await self._execution.use_disk(user, pause))

    async def get_follow(self, user: str, number: int) -> shapes.FollowDetail:
        """A follow, what was read last, and the latest changes."""
        follow = await self._execution.use_disk(user, partial(self._follows.get, user, number))
        present = await self._execution.use_disk(user, partial(latest, self._database, follow))
        return shapes.FollowDetail.model_validate({**follow.to_json(), **present.__dict__})

    async def list_follows(self, user: str) -> shapes.FollowList:
        follows = await self._execution.use_disk(user, partial(self._follows.of, user, "server"))
        return shapes.FollowList(follows=list(map(_describe, follows)))

    async def get_state_changes(
        self, user: str, number: int | None = None, since: str | None = None
    ) -> shapes.StateChanges:
        """The changes of one follow after a cursor; without one, its states and a cursor."""
        if number is None:
            follows = await self._execution.use_disk(
                user, partial(self._follows.of, user, "server")
            )
            if len(follows) != 1:
                return shapes.StateChanges(
                    id=None, changes=[], next=None, more=False, lost_before=None, states=[],
                    stale_since=None, follows=list(map(_describe, follows)),
                )  # fmt: skip
            follow = follows[0]
        else:
            get = partial(self._follows.get, user, number)
            follow = await self._execution.use_disk(user, get)
        look = partial(changes_since, self._database, follow, since)
        changes = await self._execution.use_disk(user, look)
        return shapes.StateChanges(
            id=follow.follow, stale_since=follow.stale_since, **changes.__dict__
        )

    # ------------------------------------------------------------------------------------- readings

    async def read_for_ever(self, user: str | None = None) -> None:
        """Reads what is due, of everybody or of one user, until it is cancelled."""
        while True:
            try:
                await self.read_due(user)
            except DATABASE_FAILED as failure:  # a line a look, for as long as it lasts
                log.error("follows cannot be read: %s", name_cause(failure).partition("\n")[0])
            except Exception:  # the next look may succeed
                log.exception("follows cannot be read")
            await asyncio.sleep(LOOK_S)

    async def read_due(self, user: str | None = None) -> int:
        """Reads every follow that is due and that no other process reads."""
        due = await self._execution.use_disk("follows", partial(self._follows.due, user))
        await asyncio.gather(*(self._read_in_turn(follow) for follow in due))
        return len(due)

    async def _read_in_turn(self, follow: Follow) -> None:
        async with self._turns:
            await self._read(follow)

    async def _read(self, follow: Follow) -> None:
        user = follow.user
        use_disk = self._execution.use_disk
        try:
            follow = await use_disk(user, partial(self._follows.lease, follow, self._owner))
        except LostLease:
            return
        try:
            name = follow.contract.removeprefix(PREFIX)
            asked = {**follow.asked, "contracts": [name]}
            asked["config"] = {name: asked["config"]}
            ask = shapes.StateAsk.model_validate(asked)
            journal = await use_disk(user, partial(self._open, follow))
            work = partial(contract_jobs.follow, known=journal.memory)
            read = await self._drawings.read(user, ask, work)
            await use_disk(user, partial(self._record, journal, read))
        except LostLease:
            self._journals.pop(_name(follow))
        except Failure as failure:
            await use_disk(user, partial(self._follows.fail, follow, str(failure)))
        except DATABASE_FAILED:
            raise  # nothing can be noted of this follow
        except Exception:  # one follow spoils no other, and is not tried again at once
            log.exception("the follow %d of %s cannot be read", follow.follow, user)
            await use_disk(user, partial(self._follows.fail, follow, "an error of the server's"))
        finally:
            await use_disk(user, partial(self._follows.release, follow, self._owner))

    def _open(self, follow: Follow) -> Journal:
        """The journal of a follow, with what every process wrote to it."""
        journal = self._journals.get(_name(follow))
        if journal is None or not journal.is_current():
            journal = Journal(self._database, follow, self._owner)
        return journal

    def _record(self, journal: Journal, read: contract_jobs.Followed) -> None:
        for reading in read.readings:
            journal.record(read.rules, read.contract, reading, read.picture)
        self._journals.put(_name(journal.follow), journal)


def _name(follow: Follow) -> tuple[str, int, int]:
    return follow.user, follow.follow, follow.created_at


def _describe(follow: Follow) -> shapes.FollowOut:
    return shapes.FollowOut.model_validate(follow.to_json())
