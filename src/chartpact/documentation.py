"""Where the documentation is: a wheel carries `docs`, a checkout has it beside `src`."""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


@cache
def folder() -> Path:
    """The folder of the Markdown pages; setup.py copies it into wheels."""
    own = _PACKAGE / "docs"
    return own if own.is_dir() else _PACKAGE.parents[1] / "docs"
