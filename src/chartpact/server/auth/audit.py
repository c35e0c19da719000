"""The audit log: who signed in, consented and revoked, in the database and in the log.

It holds names and addresses, never a password, a token, a code or a session id.
"""

import logging

import sqlalchemy as sa

from chartpact.clock.system import now_ms
from chartpact.library.schema import audit_events

log = logging.getLogger("chartpact.audit")

KEPT_DAYS = 400


def record(
    connection: sa.Connection,
    event: str,
    *,
    user: str | None = None,
    client: str | None = None,
    address: str | None = None,
) -> None:
    """Adds an event, within the transaction of what happened."""
    fields = {"event": event, "user_id": user, "client_id": client, "address": address}
    connection.execute(sa.insert(audit_events).values(at=now_ms(), **fields))
    log.info("audit", extra={"fields": fields})


def log_failure(event: str, address: str | None) -> None:
    """Logs what did not succeed. Strangers fill no table, and a name may be a password."""
    log.warning("audit", extra={"fields": {"event": event, "address": address}})
