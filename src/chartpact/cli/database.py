"""The argument that names the database of scripts, and the local user's part of it."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from chartpact.catalogue import Catalogue
from chartpact.cli import UsageError
from chartpact.server.identity import LOCAL_USER

if TYPE_CHECKING:
    from chartpact.library import Script, Scripts


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
    return Catalogue({script.name: script.indicator for script in _own_scripts()})


def _own_scripts() -> "Sequence[Script]":
    """The local user's scripts, if there is a database; one that fails is told, and left out."""
    try:
        from chartpact.server.settings import default_database

        url = os.environ.get("CHARTPACT_DB") or default_database()
    except ModuleNotFoundError:  # without what keeps scripts, none were kept
        return ()
    file = url.removeprefix("sqlite:///")
    if file != url and not Path(file).exists():
        return ()
    try:
        with opened(argparse.Namespace(db=None)) as scripts:
            return scripts.of(LOCAL_USER)
    except UsageError as error:
        print(f"your own scripts are left out: {error}", file=sys.stderr)
        return ()


@contextmanager
def opened(args: argparse.Namespace) -> Iterator["Scripts"]:
    """The scripts in the database that the arguments or the environment name."""
    try:
        import sqlalchemy as sa

        from chartpact import sandbox
        from chartpact.library import Scripts, open_database
        from chartpact.server.settings import default_database
    except ModuleNotFoundError as error:
        raise UsageError(
            f"scripts are kept by {error.name}, which is not installed: "
            "pip install 'chartpact[server]'"
        ) from None
    url = args.db or os.environ.get("CHARTPACT_DB") or default_database()
    try:
        engine = open_database(url)
    except (ValueError, OSError, sa.exc.SQLAlchemyError, ModuleNotFoundError) as error:
        told = getattr(error, "orig", None) or error
        raise UsageError(f"the database {_shown(url)} cannot be opened: {told}") from None
    try:
        yield Scripts(engine, lambda _user, source: sandbox.validate(source))
    except sa.exc.SQLAlchemyError as error:
        told = getattr(error, "orig", None) or error
        raise UsageError(f"the database {_shown(url)} fails: {told}") from None
    finally:
        engine.dispose()


def _shown(url: str) -> str:
    """The URL without its password."""
    import sqlalchemy as sa

    try:
        return repr(sa.make_url(url).render_as_string(hide_password=True))
    except sa.exc.ArgumentError:
        return f"{url!r:.80}"
