"""An external identity provider: its JWTs in place of our own tokens.

Algorithms, issuer and audience are the operator's, never the token's. Keys are fetched from one
configured address, cached, and renewed in the background: no request waits for the provider.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
import jwt
from jwt.exceptions import PyJWTError

from chartpact.server.auth.tokens import ALL_SCOPES, Bearer

log = logging.getLogger(__name__)

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")  # no HMAC, no none
RENEW_S = 600.0
LEAST_RENEW_S = 60.0  # between two fetches for keys that are not known
LEEWAY_S = 30
MOST_BYTES = 262_144
LONGEST_USER = 255

FetchKeys = Callable[[str], bytes]


@dataclass(frozen=True)
class Provider:
    """What the operator says of the provider."""

    issuer: str
    audience: str
    keys_url: str
    algorithms: tuple[str, ...] = ("RS256", "ES256")


def fetch_keys(url: str) -> bytes:
    """The provider's keys; the address is the operator's own."""
    answer = httpx2.get(url, timeout=10, follow_redirects=False)
    answer.raise_for_status()
    if len(answer.content) > MOST_BYTES:
        raise ValueError("the keys are too large")
    return answer.content


class ExternalIssuer:
    """Checks the provider's tokens with its cached keys."""

    def __init__(
        self,
        provider: Provider,
        fetch: FetchKeys = fetch_keys,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.provider = provider
        self._fetch = fetch
        self._clock = clock
        self._lock = threading.Lock()
        self._renewing: threading.Thread | None = None
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._renewed_at = -RENEW_S

    def renew(self) -> None:
        """Fetches the keys now; raises ValueError, and then the keys stay as they were."""
        self._renewed_at = self._clock()
        try:
            document = json.loads(self._fetch(self.provider.keys_url))
            keys = jwt.PyJWKSet.from_dict(document).keys
        except (httpx2.HTTPError, PyJWTError, ValueError, KeyError, TypeError, OSError) as error:
            message = f"the identity provider's keys at {self.provider.keys_url} cannot be had"
            raise ValueError(f"{message}: {type(error).__name__}") from None
        self._keys = {
            str(key.key_id): key
            for key in keys
            if key.key_id
            and key.key_type in ("RSA", "EC", "OKP")
            and key.public_key_use in (None, "sig")
        }

    def _renew_later(self) -> None:
        with self._lock:
            if self._renewing is not None and self._renewing.is_alive():
                return
            self._renewing = threading.Thread(target=self._try_to_renew, daemon=True)
            self._renewing.start()

    def _try_to_renew(self) -> None:
        try:
            self.renew()
        except ValueError as error:
            log.warning("%s", error)

    def bearer(self, token: str) -> Bearer | None:
        """What a token of the provider says; None where it is not valid."""
        try:
            header = jwt.get_unverified_header(token)
            key = self._key(header)
            if key is None or header.get("alg") not in self.provider.algorithms:
                return None
            if header.get("crit") is not None:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=list(self.provider.algorithms),
                audience=self.provider.audience,
                issuer=self.provider.issuer,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (PyJWTError, ValueError, TypeError):
            return None
        return self._read(claims)

    def _key(self, header: Mapping[str, Any]) -> jwt.PyJWK | None:
        age = self._clock() - self._renewed_at
        key = self._keys.get(str(header.get("kid")))
        if age >= RENEW_S or (key is None and age >= LEAST_RENEW_S):
            self._renew_later()
        return key

    def _read(self, claims: Mapping[str, Any]) -> Bearer | None:
        user = f"{self.provider.issuer}|{claims['sub']}"
        if not claims["sub"] or len(user) > LONGEST_USER or not user.isprintable():
            return None
        said = claims.get("scope") or claims.get("scp") or ""
        scopes = said.split() if isinstance(said, str) else said if isinstance(said, list) else []
        granted = frozenset(scope for scope in scopes if isinstance(scope, str)) & ALL_SCOPES
        client = str(claims.get("client_id") or claims.get("azp") or self.provider.issuer)
        return Bearer(user, client, granted, None, int(claims["exp"]) * 1000)

    def close(self) -> None:
        thread = self._renewing
        if thread is not None:
            thread.join(0)
