"""How each user left their web page."""

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from chartpact.clock.system import now_ms
from chartpact.library.database import Database
from chartpact.library.schema import web_layouts


class Layouts:
    """The layouts of one database, one a user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, user: str) -> dict[str, Any] | None:
        query = sa.select(web_layouts.c.layout_json).where(web_layouts.c.user_id == user)
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return None if row is None else dict(json.loads(row.layout_json))

    def put(self, user: str, layout: Mapping[str, Any]) -> None:
        text = json.dumps(layout, ensure_ascii=False, separators=(",", ":"))
        values = {"user_id": user, "layout_json": text, "updated_at": now_ms()}
        with self._database.write(user) as connection:
            connection.execute(sa.delete(web_layouts).where(web_layouts.c.user_id == user))
            connection.execute(sa.insert(web_layouts).values(values))
