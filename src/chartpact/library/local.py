"""The local user, of a shell, `chartpact mcp` and servers without accounts; and their database."""

import argparse
import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from chartpact.problem import Failure, Problem

if TYPE_CHECKING:
    from chartpact.library.database import Database

LOCAL_USER = "local"
DATABASE = "CHARTPACT_DB"


def database_url(environ: Mapping[str, str] = os.environ) -> str:
    """The database that the environment names, or a SQLite file in the user's data folder."""
    return environ.get(DATABASE) or f"sqlite:///{data_folder() / 'library.db'}"


def data_folder() -> Path:
    """The folder of this user's data."""
    from platformdirs import user_data_path

    return user_data_path("chartpact", appauthor=False)


def add_database(verb: argparse.ArgumentParser, default: str | None = None) -> None:
    """The argument that names the database, alike for every verb."""
    verb.add_argument(
        "--db",
        default=default,
        metavar="URL",
        help="the database (default: CHARTPACT_DB, or a SQLite file in your data directory)",
    )


@contextmanager
def open_library(url: str | None) -> Iterator["Database"]:
    """The database at a URL, or the one that the environment names; raises Failure."""
    import sqlalchemy as sa

    from chartpact.library.database import open_database

    url = url or database_url()
    with explain_opening(url):
        database = open_database(url)
    with closing(database):
        try:
            yield database
        except sa.exc.SQLAlchemyError as error:
            raise _failure(url, "fails", error) from None


@contextmanager
def explain_opening(url: str) -> Iterator[None]:
    """Raises a Failure in place of what opening a database raises."""
    import sqlalchemy as sa

    try:
        yield
    except (ValueError, OSError, sa.exc.SQLAlchemyError, ImportError) as error:
        raise _failure(url, "cannot be opened", error) from None


def _failure(url: str, what: str, error: Exception) -> Failure:
    import sqlalchemy as sa

    try:
        shown = repr(sa.make_url(url).render_as_string(hide_password=True))
    except sa.exc.ArgumentError:
        shown = f"{url!r:.80}"
    reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
    return Failure(Problem("usage", f"the database {shown} {what}: {reason}"))
