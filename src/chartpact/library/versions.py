"""Earlier versions of scripts: each new source is one, and the oldest are forgotten.

Every function runs on a connection of its caller, within that transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from chartpact.library.schema import indicator_versions, user_indicators

MOST_VERSIONS = 20  # of one script

_COLUMNS = indicator_versions.c


@dataclass(frozen=True)
class Version:
    """An earlier (or the present) source of a script."""

    version: int
    source: str
    source_hash: str
    created_at: int


def list_versions(connection: sa.Connection, user: str, name: str) -> Sequence[Version]:
    """The versions of a script, newest first; a deleted script still has them."""
    columns = (_COLUMNS.version, _COLUMNS.source, _COLUMNS.source_hash, _COLUMNS.created_at)
    query = sa.select(*columns).where(_COLUMNS.user_id == user, _COLUMNS.name == name)
    rows = connection.execute(query.order_by(_COLUMNS.version.desc()))
    return [Version(*row) for row in rows]


def add_version(
    connection: sa.Connection, user: str, name: str, source: str, source_hash: str, now: int
) -> None:
    """Adds a source as the newest version, unless it is the newest already."""
    of_script = (_COLUMNS.user_id == user, _COLUMNS.name == name)
    latest = connection.execute(
        sa.select(_COLUMNS.version, _COLUMNS.source_hash)
        .where(*of_script)
        .order_by(_COLUMNS.version.desc())
    ).first()
    if latest is not None and latest.source_hash == source_hash:
        return
    number = 1 if latest is None else latest.version + 1
    connection.execute(
        sa.insert(indicator_versions).values(
            user_id=user,
            name=name,
            version=number,
            source=source,
            source_hash=source_hash,
            created_at=now,
        )
    )
    connection.execute(
        sa.delete(indicator_versions).where(*of_script, _COLUMNS.version <= number - MOST_VERSIONS)
    )


def forget_versions(
    connection: sa.Connection, user: str, most_scripts: int, most_bytes: int
) -> None:
    """Holds one user's history to its limits; the present version of a script always stays."""
    forget_long_deleted(connection, user, user_indicators, indicator_versions, most_scripts)
    _forget_oldest(connection, user, most_bytes)


def forget_long_deleted(
    connection: sa.Connection, user: str, present: sa.Table, versions: sa.Table, most: int
) -> None:
    """Keeps the history of as many deleted names as there may be present ones."""
    live = sa.select(present.c.name).where(present.c.user_id == user)
    columns = versions.c
    deleted = (
        sa.select(columns.name)
        .where(columns.user_id == user, columns.name.not_in(live))
        .group_by(columns.name)
        .order_by(sa.func.max(columns.created_at).desc())
        .offset(most)
        .limit(most)
    )
    names = list(connection.execute(deleted).scalars())
    if names:
        connection.execute(
            sa.delete(versions).where(columns.user_id == user, columns.name.in_(names))
        )


def _forget_oldest(connection: sa.Connection, user: str, most_bytes: int) -> None:
    """Deletes versions of deleted scripts first, then the oldest, until the rest fits."""
    size = count_bytes(connection, _COLUMNS.source)
    own = _COLUMNS.user_id == user
    used = connection.execute(sa.select(sa.func.sum(size)).where(own)).scalar() or 0
    if used <= most_bytes:
        return
    rows = connection.execute(
        sa.select(_COLUMNS.name, _COLUMNS.version, size.label("size"))
        .where(own)
        .order_by(_COLUMNS.created_at, _COLUMNS.version)
    ).all()
    live = connection.execute(
        sa.select(user_indicators.c.name).where(user_indicators.c.user_id == user)
    ).scalars()
    present = dict.fromkeys(live, 0)
    present |= {row.name: row.version for row in rows if row.name in present}
    for row in sorted(rows, key=lambda row: row.name in present):
        if used <= most_bytes:
            return
        if present.get(row.name) != row.version:
            connection.execute(
                sa.delete(indicator_versions).where(
                    own, _COLUMNS.name == row.name, _COLUMNS.version == row.version
                )
            )
            used -= row.size


def count_bytes(connection: sa.Connection, text: sa.Column[str]) -> sa.ColumnElement[int]:
    """How many bytes a text takes."""
    if connection.dialect.name == "sqlite":  # whose `length` of a text counts characters
        return sa.func.length(sa.cast(text, sa.LargeBinary))
    return sa.func.octet_length(text)
