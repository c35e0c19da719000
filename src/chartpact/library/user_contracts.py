"""Each user's own contracts: register, delete, list, and the way back to earlier versions."""

from dataclasses import dataclass

from chartpact import pacts
from chartpact.library.database import Database
from chartpact.library.schema import contract_versions, user_contracts
from chartpact.library.versioned_texts import Quota, TextKind, VersionedTexts

QUOTA = Quota(100, 2 * 1024 * 1024)


@dataclass(frozen=True)
class UserContract:
    """A contract of a user's, whose proofs held when it was registered."""

    user: str
    name: str
    source: str
    version: str
    title: str
    source_hash: str
    created_at: int
    updated_at: int

    @property
    def decides(self) -> bool:
        """Whether it is a strategy: these have no title of a study, and share the names."""
        return not self.title


@dataclass(frozen=True)
class ContractVersion:
    """An earlier (or the present) text of a contract."""

    number: int
    source: str
    version: str
    source_hash: str
    created_at: int


_KIND = TextKind(
    present=user_contracts,
    versions=contract_versions,
    number="number",
    text=UserContract,
    version=ContractVersion,
    noun="contract",
    plural="contracts",
    hint="list_contracts lists them",
)


class UserContracts(VersionedTexts[UserContract, ContractVersion]):
    """The contracts of all users in one database."""

    def __init__(self, database: Database, quota: Quota = QUOTA) -> None:
        super().__init__(database, _KIND, quota)

    def put(self, user: str, name: str, version: str, title: str, source: str) -> UserContract:
        """Stores a contract that has been checked, in place of what was there."""
        if name in pacts.names():
            message = f"{name!r} is a contract that comes with chartpact"
            raise self._refuse("name", message, "give yours another name")
        columns = {"source": source, "version": version, "title": title}
        return self._store(user, {name: columns})[0]
