"""The local user's scripts in the database."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from chartpact.catalogue import Catalogue
from chartpact.library.local import LOCAL_USER, database_url, open_library
from chartpact.problem import Failure

if TYPE_CHECKING:
    from chartpact.library.scripts import Script, Scripts


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
    except Failure as error:
        print(f"your own scripts are left out: {error}", file=sys.stderr)
        return ()


@contextmanager
def open_scripts(url: str | None) -> Iterator["Scripts"]:
    """The scripts in the database at a URL, or in the one that the environment names."""
    from chartpact import sandbox
    from chartpact.library.scripts import Scripts

    with open_library(url) as database:
        yield Scripts(database, lambda _user, source: sandbox.validate(source, own=True))
