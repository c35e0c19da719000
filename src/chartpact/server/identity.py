"""Who is calling: the seam between a request's headers and a user."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from chartpact.library.local import LOCAL_USER

if TYPE_CHECKING:
    from starlette.datastructures import Headers

    from chartpact.server.auth.tokens import Bearer

EVERYTHING = frozenset({"read", "write"})  # the scopes of who has all rights


@dataclass(frozen=True, slots=True)
class Caller:
    """A user, what the call may do, and the token that says so, if one does."""

    user: str
    scopes: frozenset[str] = EVERYTHING
    bearer: "Bearer | None" = None
    by_cookie: bool = False  # of a web session, which is for the page and REST alone


Identity = Caller | str | None  # a user's name alone has all rights
Identify = Callable[["Headers"], "Identity | Awaitable[Identity]"]


def everybody_is_local(_: "Headers") -> str:
    """A server on loopback without accounts has one user."""
    return LOCAL_USER


def from_environment(environ: Mapping[str, str]) -> Identify | None:
    """The identity the environment names, if any.

    CHARTPACT_IDENTITY is `module:function`, a function from request headers to a user's name or
    None.
    """
    named = environ.get("CHARTPACT_IDENTITY")
    if not named:
        return None
    module, colon, function = named.partition(":")
    if not colon:
        raise ValueError(f"CHARTPACT_IDENTITY: {named!r} is not MODULE:FUNCTION")
    try:
        chosen: Identify = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"CHARTPACT_IDENTITY: {named!r}: {error}") from None
    if not callable(chosen):
        raise ValueError(f"CHARTPACT_IDENTITY: {named!r} is no function")
    return chosen
