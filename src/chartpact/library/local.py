"""The local user: the one of a shell, of `chartpact mcp` and of a server without accounts."""

import os
from collections.abc import Mapping
from pathlib import Path

LOCAL_USER = "local"
DATABASE = "CHARTPACT_DB"


def database_url(environ: Mapping[str, str] = os.environ) -> str:
    """The database that the environment names, or a SQLite file in the user's data folder."""
    return environ.get(DATABASE) or f"sqlite:///{data_folder() / 'library.db'}"


def data_folder() -> Path:
    """The folder of this user's data."""
    from platformdirs import user_data_path

    return user_data_path("chartpact", appauthor=False)
