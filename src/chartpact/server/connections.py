"""The open connections of a server: a flood of strangers makes room for who is signed in.

A connection is a stranger's until a request on it has shown a valid token or session. Strangers
are capped by address and in all. Over a cap the oldest of them is closed, not the newest refused:
a client that sends its request at once is served in the midst of a flood.
"""

from collections import OrderedDict
from typing import Protocol

RESERVED_FILES = 256  # for the database, workers and the program itself
MOST_PER_ADDRESS = 128
MOST_PER_USER = 128


class Connection(Protocol):
    """What is known of a connection here."""

    @property
    def idle(self) -> bool:
        """Whether no request is under way on it."""

    def abort(self) -> None: ...


class Connections:
    """Counts connections by address, and by user once they have one."""

    def __init__(self, most: int, per_address: int = MOST_PER_ADDRESS) -> None:
        self.most_strangers = max(16, most // 2)  # the other half is for who is signed in
        self._per_address = min(per_address, self.most_strangers)
        self._owners: dict[Connection, tuple[str, str]] = {}
        self._strangers: OrderedDict[Connection, None] = OrderedDict()
        self._groups: dict[tuple[str, str], OrderedDict[Connection, None]] = {}

    def open(self, connection: Connection, address: str) -> None:
        """Counts a new connection; an older stranger is closed where there is no room."""
        if len(self._strangers) >= self.most_strangers:
            self._close_one(self._strangers, connection)
        self._strangers[connection] = None
        self._join(connection, ("address", address), self._per_address)

    def sign_in(self, connection: Connection, user: str) -> None:
        """Takes a connection out of the strangers: a request on it was a user's."""
        owner = ("user", user)
        if self._owners.get(connection) == owner:
            return
        if connection in self._owners:
            self._leave(connection)
            self._join(connection, owner, MOST_PER_USER)

    def close(self, connection: Connection) -> None:
        if connection in self._owners:
            self._leave(connection)

    @property
    def strangers(self) -> int:
        return len(self._strangers)

    def _join(self, connection: Connection, owner: tuple[str, str], most: int) -> None:
        group = self._groups.setdefault(owner, OrderedDict())
        if len(group) >= most:
            self._close_one(group, connection)
        self._groups.setdefault(owner, group)[connection] = None
        self._owners[connection] = owner

    def _leave(self, connection: Connection) -> None:
        owner = self._owners.pop(connection)
        self._strangers.pop(connection, None)
        group = self._groups[owner]
        del group[connection]
        if not group:
            del self._groups[owner]

    def _close_one(self, group: "OrderedDict[Connection, None]", newest: Connection) -> None:
        """Closes the oldest on which nothing is under way, or else the oldest."""
        others = (other for other in group if other is not newest)
        oldest = next((other for other in group if other.idle and other is not newest), None)
        closed = oldest or next(others, None)
        if closed is not None:
            if closed in self._owners:
                self._leave(closed)
            closed.abort()
