"""The argument that names the database of scripts, and the local user's part of it."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from chartpact.catalogue import Catalogue
from chartpact.cli import UsageError
from chartpact.library.local import LOCAL_USER, database_url

if TYPE_CHECKING:
    from chartpact.library.database import Database
    from chartpact.library.scripts import Script, Scripts


def add_database(verb: argparse.ArgumentParser, default: str | None = None) -> None:
    """The argument, alike for every verb."""
    verb.add_argument(
        "--db",
        default=default,
        metavar="URL",
        help="the database (default: CHARTPACT_DB, or a SQLite file in your data directory)",
    )


def own_catalogue() -> Catalogue:
    """The builtins and the local user's scripts."""
    own = {script.name: replace(script.indicator, own=True) for script in _own_scripts()}
    return Catalogue(own, listed_by="`chartpact indicators`")


def _own_scripts() -> "Sequence[Script]":
    """The local user's scripts; a database that cannot be read is reported, and left out."""
    url = database_url()
    file = url.removeprefix("sqlite:///")
    if file != url and not Path(file).exists():
        return ()
    try:
        with open_scripts(None) as scripts:
            return scripts.of(LOCAL_USER)
    except UsageError as error:
        print(f"your own scripts are left out: {error}", file=sys.stderr)
        return ()


@contextmanager
def open_scripts(url: str | None) -> Iterator["Scripts"]:
    """The scripts in the database at a URL, or in the one that the environment names."""
    from chartpact import sandbox
    from chartpact.library.scripts import Scripts

    with open_library(url) as database:
        yield Scripts(database, lambda _user, source: sandbox.validate(source, own=True))


@contextmanager
def open_library(url: str | None) -> Iterator["Database"]:
    """The database at a URL, or the one that the environment names."""
    import sqlalchemy as sa

    from chartpact.library.database import open_database

    url = url or database_url()
    try:
        database = open_database(url)
    except (ValueError, OSError, sa.exc.SQLAlchemyError, ModuleNotFoundError) as error:
        reason = getattr(error, "orig", None) or error
        raise UsageError(f"the database {_hide_password(url)} cannot be opened: {reason}") from None
    try:
        yield database
    except sa.exc.SQLAlchemyError as error:
        reason = getattr(error, "orig", None) or error
        raise UsageError(f"the database {_hide_password(url)} fails: {reason}") from None
    finally:
        database.close()


def _hide_password(url: str) -> str:
    import sqlalchemy as sa

    try:
        return repr(sa.make_url(url).render_as_string(hide_password=True))
    except sa.exc.ArgumentError:
        return f"{url!r:.80}"
