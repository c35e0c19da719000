"""How many tests a user ran on the same bars. Who tries often enough finds something by chance."""

from typing import NamedTuple

import sqlalchemy as sa

from chartpact.library.database import Database
from chartpact.library.schema import study_ledger

_ROW = study_ledger.c


class Earlier(NamedTuple):
    """What the ledger held before an entry: tests on these bars, and looks at the hold-out."""

    tests: int
    confirmations: int


class StudyLedger:
    """The ledger of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def enter(self, user: str, bars: str, subject: str, tests: int, confirmed: bool) -> Earlier:
        """Enters a study by the hashes of its bars and its subject; says what was there before."""
        own = (_ROW.user_id == user, _ROW.bars_hash == bars)
        with self._database.write(user) as connection:
            rows = connection.execute(sa.select(study_ledger).where(*own)).all()
            known = [row for row in rows if row.subject_hash == subject]
            earlier = Earlier(
                sum(row.tests for row in rows), sum(row.confirmations for row in known)
            )
            if known:
                counts = {
                    "tests": _ROW.tests + tests,
                    "confirmations": _ROW.confirmations + int(confirmed),
                }
                mine = (*own, _ROW.subject_hash == subject)
                connection.execute(sa.update(study_ledger).where(*mine).values(counts))
            else:
                connection.execute(
                    sa.insert(study_ledger).values(
                        user_id=user,
                        bars_hash=bars,
                        subject_hash=subject,
                        tests=tests,
                        confirmations=int(confirmed),
                    )
                )
        return earlier
