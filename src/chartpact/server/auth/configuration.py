"""Identity as the environment configures it."""

from collections.abc import Mapping

from chartpact.server.auth.authority import AuthSettings
from chartpact.server.auth.external import ALGORITHMS, ExternalIssuer, Provider
from chartpact.server.auth.fetch import Fetcher
from chartpact.server.auth.realm import read_public_url
from chartpact.server.settings import read_switch


def from_environment(environ: Mapping[str, str]) -> AuthSettings:
    """The settings that the environment asks for; raises ValueError.

    CHARTPACT_PUBLIC_URL is the server's address as clients know it. CHARTPACT_SIGN_UP,
    CHARTPACT_REGISTRATION and CHARTPACT_CLIENT_DOCUMENTS are on or off. Four more name an
    identity provider.
    """
    public = environ.get("CHARTPACT_PUBLIC_URL")
    documents = read_switch(environ, "CHARTPACT_CLIENT_DOCUMENTS", True)
    return AuthSettings(
        public_url=read_public_url(public) if public else None,
        sign_up=read_switch(environ, "CHARTPACT_SIGN_UP", False),
        registration=read_switch(environ, "CHARTPACT_REGISTRATION", True),
        fetcher=Fetcher() if documents else None,
        issuer=_read_issuer(environ),
    )


def _read_issuer(environ: Mapping[str, str]) -> ExternalIssuer | None:
    names = {
        "issuer": "CHARTPACT_OIDC_ISSUER",
        "audience": "CHARTPACT_OIDC_AUDIENCE",
        "keys": "CHARTPACT_OIDC_KEYS",
    }
    values = {part: environ.get(name, "").strip() for part, name in names.items()}
    if not any(values.values()):
        return None
    if missing := [names[part] for part, value in values.items() if not value]:
        raise ValueError(f"an identity provider also needs {' and '.join(missing)}")
    loopback = ("http://127.0.0.1:", "http://localhost:")
    for part in ("issuer", "keys"):
        if not values[part].startswith(("https://", *loopback)) or "|" in values[part]:
            raise ValueError(f"{names[part]}: {values[part]!r:.80} is no https address")
    named = environ.get("CHARTPACT_OIDC_ALGORITHMS", "RS256,ES256")
    algorithms = tuple(filter(None, (part.strip() for part in named.split(","))))
    if not algorithms or not set(algorithms) <= set(ALGORITHMS):
        raise ValueError(f"CHARTPACT_OIDC_ALGORITHMS: name some of {', '.join(ALGORITHMS)}")
    return ExternalIssuer(
        Provider(values["issuer"], values["audience"], values["keys"], algorithms)
    )
