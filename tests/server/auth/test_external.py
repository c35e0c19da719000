"""An external identity provider's JWTs: only what the operator pinned is believed."""

import base64
import json
import time

import jwt
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from tests.server.auth.conftest import PLENTY, Browser, site_with, works

from chartpact.server.auth.authority import AuthSettings
from chartpact.server.auth.configuration import from_environment
from chartpact.server.auth.external import ExternalIssuer, Provider

ISSUER, AUDIENCE = "https://idp.example", "chartpact"
KEY = ec.generate_private_key(ec.SECP256R1())
OTHER = ec.generate_private_key(ec.SECP256R1())
RSA = rsa.generate_private_key(65537, 2048)


def keys_of(**keys) -> bytes:
    algorithms = {"ES256": jwt.algorithms.ECAlgorithm, "RS256": jwt.algorithms.RSAAlgorithm}
    documents = []
    for kid, key in keys.items():
        name = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"
        public = algorithms[name].to_jwk(key.public_key(), as_dict=True)
        documents.append(public | {"kid": kid, "alg": name, "use": "sig"})
    return json.dumps({"keys": documents}).encode()


class Idp:
    """Hands out keys, counts how often, and can be away."""

    def __init__(self) -> None:
        self.keys = keys_of(one=KEY, rsa=RSA)
        self.asked = 0
        self.now = 0.0

    def fetch(self, _url: str) -> bytes:
        self.asked += 1
        if self.keys == b"":
            raise OSError("away")
        return self.keys


@pytest.fixture
def idp() -> Idp:
    return Idp()


@pytest.fixture
def issuer(idp) -> ExternalIssuer:
    provider = Provider(ISSUER, AUDIENCE, f"{ISSUER}/keys", ("ES256",))
    made = ExternalIssuer(provider, idp.fetch, lambda: idp.now)
    made.renew()
    return made


def token(key=KEY, algorithm="ES256", kid="one", header=None, **changes) -> str:
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "ann",
        "exp": time.time() + 600,
        "scope": "openid read",
    } | changes
    claims = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(claims, key, algorithm, headers={"kid": kid, **(header or {})})


def test_a_token_of_the_provider_is_a_user_of_that_issuer(issuer):
    bearer = issuer.bearer(token())
    assert bearer.user == f"{ISSUER}|ann"
    assert bearer.scopes == {"read"}
    assert issuer.bearer(token(scope=None, scp=["read", "write", 7])).scopes == {"read", "write"}
    for nothing in ("admin", {"read": 1}, 7):
        assert issuer.bearer(token(scope=nothing)).scopes == frozenset()


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"iss": f"{ISSUER}/"},
        {"aud": "another"},
        {"aud": None},
        {"aud": []},
        {"sub": None},
        {"sub": ""},
        {"sub": "a\nb"},
        {"sub": "x" * 300},
        {"exp": 1},
        {"exp": None},
        {"nbf": 4_000_000_000},  # in 2096
        {"key": OTHER},
        {"kid": "unknown"},
        {"kid": "rsa", "key": RSA, "algorithm": "RS256"},
        {"header": {"crit": ["x"], "x": 1}},
    ],
)
def test_what_differs_from_what_is_pinned_is_nobody(issuer, changes):
    assert issuer.bearer(token(**changes)) is None


def test_an_unsigned_token_or_one_signed_with_the_public_key_is_nobody(issuer):
    assert issuer.bearer(jwt.encode({"sub": "ann"}, None, "none", headers={"kid": "one"})) is None
    public = KEY.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    assert issuer.bearer(token(public * 2, "HS256")) is None
    for garbage in ("a.b.c", "..", "", "e30.e30.", "x" * 9000):
        assert issuer.bearer(garbage) is None


def test_a_key_for_encryption_or_a_shared_secret_signs_nobody_in(idp, issuer):
    document = json.loads(keys_of(one=KEY))
    document["keys"][0]["use"] = "enc"
    document["keys"].append({"kty": "oct", "kid": "shared", "k": "eHh4" * 11, "alg": "HS256"})
    idp.keys = json.dumps(document).encode()
    issuer.renew()
    assert issuer.bearer(token()) is None
    assert issuer.bearer(token(b"x" * 33, "HS256", "shared")) is None


def test_a_header_that_names_a_pinned_algorithm_over_another_keys_signature_is_nobody(issuer):
    _, claims, _ = token(RSA, "RS256", "rsa").split(".")
    header = base64.urlsafe_b64encode(b'{"alg":"ES256","kid":"rsa"}').rstrip(b"=").decode()
    signed = RSA.sign(f"{header}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    signature = base64.urlsafe_b64encode(signed).rstrip(b"=").decode()
    assert issuer.bearer(f"{header}.{claims}.{signature}") is None


def wait_for_renewal(issuer) -> None:
    thread = issuer._renewing
    if thread is not None:
        thread.join(60)


def test_keys_are_cached_and_an_unknown_one_is_asked_for_at_most_once_a_minute(idp, issuer):
    for _ in range(5):
        assert issuer.bearer(token()) is not None
        assert issuer.bearer(token(OTHER, kid="two")) is None
    wait_for_renewal(issuer)
    assert idp.asked == 1
    idp.keys = keys_of(one=KEY, two=OTHER)
    idp.now = 61
    assert issuer.bearer(token(OTHER, kid="two")) is None  # no request waits for the provider
    wait_for_renewal(issuer)
    assert idp.asked == 2
    assert issuer.bearer(token(OTHER, kid="two")) is not None


def test_a_key_that_is_withdrawn_is_refused_and_a_provider_that_is_away_changes_nothing(
    idp, issuer
):
    idp.keys, idp.now = b"", 601
    assert issuer.bearer(token()) is not None
    wait_for_renewal(issuer)
    assert issuer.bearer(token()) is not None
    idp.keys, idp.now = keys_of(two=OTHER), 1300
    issuer.bearer(token())
    wait_for_renewal(issuer)
    assert issuer.bearer(token()) is None


def test_with_a_provider_its_tokens_open_the_server_and_it_issues_none_itself(tmp_path, issuer):
    with site_with(tmp_path, AuthSettings(issuer=issuer, rates=PLENTY)) as site:
        assert works(site, token())
        assert not works(site, token(aud="another"))
        said = site.http.get("/.well-known/oauth-protected-resource/mcp").json()
        assert said["authorization_servers"] == [ISSUER]
        for path in ("/.well-known/oauth-authorization-server", "/authorize", "/token"):
            assert site.http.get(path).status_code == 401  # there is no such path
        with site.client(token(scope="write")) as client:
            assert client.get("/api/v1/symbols").status_code == 403
        with Browser(site.url) as browser:
            assert browser.sign_in("ann").status_code == 303
        # Ann of the provider is not ann of this server.
        csv = "time,open,high,low,close\n" + "".join(
            f"2024-01-02T10:0{minute}:00Z,1,2,1,2\n" for minute in range(3)
        )
        with site.client(token(scope="read write")) as client:
            assert client.put("/api/v1/my/bars/mine", content=csv).status_code == 200
        with site.client(site.grants.make_personal("ann", "x", "read", 1)) as client:
            assert client.get("/api/v1/my/bars").json()["bars"] == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"CHARTPACT_OIDC_KEYS": ""}, "also needs CHARTPACT_OIDC_KEYS"),
        ({"CHARTPACT_OIDC_ISSUER": "http://idp.example"}, "is no https address"),
        ({"CHARTPACT_OIDC_ISSUER": "https://idp.example|x"}, "is no https address"),
        ({"CHARTPACT_OIDC_ALGORITHMS": "none"}, "name some of RS256"),
        ({"CHARTPACT_OIDC_ALGORITHMS": "RS256,HS256"}, "name some of RS256"),
    ],
)
def test_a_provider_that_could_be_forged_cannot_be_configured(changes, sentence):
    environment = {
        "CHARTPACT_OIDC_ISSUER": ISSUER,
        "CHARTPACT_OIDC_AUDIENCE": AUDIENCE,
        "CHARTPACT_OIDC_KEYS": f"{ISSUER}/keys",
    }
    assert from_environment(environment).issuer.provider.algorithms == ("RS256", "ES256")
    with pytest.raises(ValueError, match=sentence):
        from_environment(environment | changes)
