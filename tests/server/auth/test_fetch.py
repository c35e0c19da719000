"""Metadata documents of strangers: fetched from public hosts, small, in time, and as they are."""

import asyncio
import datetime
import json
import socket
import ssl
import threading
from contextlib import nullcontext
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.server.auth.conftest import PLENTY, Browser, Program, site_with, works
from tests.server.auth.test_flow import Person, Storage, call, provider_of

from chartpact.server.auth import clients
from chartpact.server.auth.authority import AuthSettings
from chartpact.server.auth.fetch import (
    AT_ONCE,
    MOST_BYTES,
    Fetcher,
    FetchError,
    check_url,
    is_public,
)
from chartpact.server.auth.grants import Denied

HOST = "client.example.com"
URL = f"https://{HOST}/client.json"
CALLBACK = "http://127.0.0.1:3999/callback"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.0.8",
        "192.0.2.1",
        "198.18.0.1",
        "203.0.113.5",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2001::1",
        "2001:db8::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "100::1",
        "localhost",
        "2130706433",
        "0x7f000001",
        "127.1",
        "",
    ],
)
def test_no_private_address_in_any_spelling_is_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://client.example.com/c.json",
        "ftp://client.example.com/c.json",
        "file:///etc/passwd",
        "https://client.example.com",
        "https://client.example.com/",
        "https://client.example.com:8443/c.json",
        "https://client.example.com:x/c.json",
        "https://user@client.example.com/c.json",
        "https://user:pass@client.example.com/c.json",
        "https://client.example.com/c.json#fragment",
        "https://client.example.com/a/../c.json",
        "https://client.example.com/./c.json",
        "https://client.example.com\\@evil/c.json",
        "https://127.0.0.1/c.json",
        "https://2130706433/c.json",
        "https://0x7f.1/c.json",
        "https://[::1]/c.json",
        "https://localhost/c.json",
        "https://[::ffff:127.0.0.1]/c.json",
        "https://[fe80::1%25eth0.com]/c.json",
        "https://client..example.com/c.json",
        "https://client.example.com./c.json",
        "https://" + "x" * 64 + ".example.com/c.json",
        "https://client;x.example.com/c.json",
        "https://client%2e.example.com/c.json",
        "https://metadata/c.json",
        "https:///c.json",
        "https://client.example.com/ c.json",
        "https://client.example.com/c.json\r\nX: y",
        "https://clïent.example.com/c.json",
        "https://client.example.com/" + "x" * 600,
    ],
)
def test_only_https_urls_of_public_names_are_fetched(url):
    with pytest.raises(FetchError):
        check_url(url)
    asked = []

    async def resolve(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["8.8.8.8"]

    with pytest.raises(FetchError):
        asyncio.run(Fetcher(resolve=resolve).fetch(url))
    assert asked == []


@pytest.mark.parametrize(
    "addresses",
    [[], ["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["169.254.169.254", "8.8.8.8"], ["::1"]],
)
def test_a_name_with_one_private_address_is_not_connected_to(addresses):
    async def resolve(_host: str, _port: int) -> list[str]:
        return addresses

    with pytest.raises(FetchError, match="the host is unknown"):
        asyncio.run(Fetcher(resolve=resolve).fetch(URL))


# ---------------------------------------------------------------------------------- a real host


class Host:
    """An https server here that plays a stranger's; `answers` maps paths to what it says."""

    def __init__(self, folder) -> None:
        self.answers = {}
        self.closing = threading.Event()
        self.asked: list[str] = []
        self.resolved: list[str] = []
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                host.asked.append(self.path)
                status, headers, body = host.answers.get(self.path, (404, {}, b""))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                if self.path == "/slow.json":
                    host.closing.wait(60)

            def log_message(self, *_: object) -> None:
                pass

        key, certificate = self._certify(folder)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.trust = ssl.create_default_context(cafile=certificate)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def _certify(self, folder):
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
        now = datetime.datetime.now(datetime.UTC)
        day = datetime.timedelta(days=1)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(1)
            .not_valid_before(now - day)
            .not_valid_after(now + day)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(key, hashes.SHA256())
        )
        files = folder / "key.pem", folder / "certificate.pem"
        pem = serialization.Encoding.PEM
        plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        files[0].write_bytes(key.private_bytes(pem, *plain))
        files[1].write_bytes(certificate.public_bytes(pem))
        return files

    async def resolve(self, name: str, _port: int) -> list[str]:
        self.resolved.append(name)
        return ["127.0.0.1"]

    def fetcher(self, **options) -> Fetcher:
        """One that takes this machine for a public one, and its port for that of https."""
        port = self.server.server_port
        options = {"resolve": self.resolve, "context": self.trust, "port": port} | options
        return Fetcher(allowed=lambda address: address == "127.0.0.1", **options)

    def say(self, path: str, document: object, status: int = 200, **headers: str) -> None:
        headers = {"Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.answers[path] = (status, headers, body)

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    opened = Host(tmp_path_factory.mktemp("host"))
    yield opened
    opened.close()


def fetch(host: Host, path: str, **options):
    return asyncio.run(host.fetcher(**options).fetch(f"https://{HOST}{path}"))


def test_a_document_is_fetched_from_the_address_that_was_checked(host):
    host.say("/ok.json", {"a": 1}, Cache_Control="public, max-age=120")
    document = fetch(host, "/ok.json")
    assert json.loads(document.body) == {"a": 1}
    assert document.max_age_s == 120
    host.resolved.clear()
    fetch(host, "/ok.json")
    assert host.resolved == [HOST]  # once: there is no second answer to be fooled by


def test_a_redirect_is_not_followed(host):
    host.say("/moved.json", {}, 302, Location=f"https://{HOST}/ok.json")
    host.asked.clear()
    with pytest.raises(FetchError, match="answered 302"):
        fetch(host, "/moved.json")
    assert host.asked == ["/moved.json"]


def test_a_document_too_large_of_another_kind_or_late_is_not_taken(host):
    host.say("/large.json", b"[" + b" " * MOST_BYTES + b"]")
    with pytest.raises(FetchError, match="more than 10240 bytes"):
        fetch(host, "/large.json")
    host.say("/page.json", b"<html>", Content_Type="text/html")
    with pytest.raises(FetchError, match="not JSON"):
        fetch(host, "/page.json")

    async def never(_host: str, _port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    with pytest.raises(FetchError, match="took too long"):
        fetch(host, "/ok.json", resolve=never, seconds=0.05)
    host.say("/slow.json", b"[", Content_Length="2")
    with pytest.raises(FetchError, match="took too long"):
        fetch(host, "/slow.json", seconds=1)


def test_a_name_server_that_does_not_answer_holds_up_nothing_else(monkeypatch):
    answers = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers.wait(60) and [])

    async def go() -> None:
        fetcher = Fetcher(seconds=0.05)
        urls = [f"https://host{number}.example.com/c.json" for number in range(2 * AT_ONCE)]
        outcomes = await asyncio.gather(*map(fetcher.fetch, urls), return_exceptions=True)
        assert {str(outcome) for outcome in outcomes} == {"the host took too long"}
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "free"), 30) == "free"

    try:
        asyncio.run(go())
    finally:
        answers.set()


def test_a_certificate_that_is_not_the_hosts_is_not_trusted(host):
    host.say("/ok.json", {})
    with pytest.raises(FetchError, match="does not answer"):
        fetch(host, "/ok.json", context=ssl.create_default_context())
    with pytest.raises(FetchError, match="does not answer"):
        asyncio.run(host.fetcher().fetch("https://other.example.com/ok.json"))


# ---------------------------------------------------------------------------------- clients


@pytest.fixture(scope="module")
def trusting(tmp_path_factory, host):
    settings = AuthSettings(rates=PLENTY, fetcher=host.fetcher())
    with site_with(tmp_path_factory.mktemp("trusting"), settings) as running:
        yield running


def document(path: str, **changes: object) -> dict[str, object]:
    return {
        "client_id": f"https://{HOST}{path}",
        "client_name": "By document",
        "redirect_uris": [CALLBACK],
        "token_endpoint_auth_method": "none",
    } | changes


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_the_official_client_is_known_by_its_document_and_registers_nothing(trusting, host, mode):
    host.say("/client.json", document("/client.json"))
    person, storage = Person(trusting.url, "ann"), Storage()

    async def go() -> None:
        provider = provider_of(trusting, person, storage, client_metadata_url=URL)
        assert await call(trusting, provider, mode)

    asyncio.run(go())
    assert storage.registration.client_id == URL
    assert works(trusting, storage.tokens.access_token)
    with trusting.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM oauth_clients").scalar() == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "https://other.example.com/x.json"},
        {"client_id": None},
        {"redirect_uris": ["http://evil.example/cb"]},
        {"redirect_uris": []},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"token_endpoint_auth_method": "private_key_jwt"},
    ],
)
def test_a_document_that_is_another_clients_or_not_public_is_refused(trusting, host, changes):
    path = f"/bad-{abs(hash(str(changes)))}.json"
    host.say(path, document(path, **changes))
    with Browser(trusting.url) as browser:
        browser.sign_in("ann")
        url = f"https://{HOST}{path}"
        answer = browser.get("/authorize", params={"client_id": url, "redirect_uri": CALLBACK})
    assert answer.status_code == 400
    assert "location" not in answer.headers


def test_documents_and_failures_are_cached_and_strangers_fetch_nothing(trusting, host):
    host.say("/cached.json", document("/cached.json"))
    host.asked.clear()
    with Browser(trusting.url) as browser:
        for path in ("/cached.json", "/gone.json"):
            fields = {"client_id": f"https://{HOST}{path}", "redirect_uri": CALLBACK}
            assert browser.get("/authorize", params=fields).status_code == 303
            assert host.asked == []
        browser.sign_in("ann")
        for path in ("/cached.json", "/gone.json"):
            fields = {"client_id": f"https://{HOST}{path}", "redirect_uri": CALLBACK}
            for _ in range(3):
                browser.get("/authorize", params=fields)
        assert sorted(host.asked) == ["/cached.json", "/gone.json"]


@pytest.mark.parametrize(
    ("path", "header", "lasts_s"),
    [
        ("/kept-120.json", "max-age=120", 120),
        ("/kept-least.json", "no-store", 60),
        ("/kept-most.json", "max-age=999999999", 86_400),
        ("/kept-never-there.json", None, 60),
    ],
)
def test_a_document_is_cached_as_its_headers_say(host, monkeypatch, path, header, lasts_s):
    if header is not None:
        host.say(path, document(path), Cache_Control=header)
    now = [0.0]
    monkeypatch.setattr(clients, "time", SimpleNamespace(monotonic=lambda: now[0]))
    known = clients.Clients(None, host.fetcher(), registration=False)
    fetches = []

    async def count() -> None:
        fetches.append(now[0])

    for now[0] in (0.0, lasts_s - 0.1, float(lasts_s)):
        with nullcontext() if header is not None else pytest.raises(Denied):
            asyncio.run(known.find(f"https://{HOST}{path}", count))
    assert fetches == [0.0, lasts_s]


def test_fetches_are_counted_by_address_and_by_account_and_cached_documents_are_not(tmp_path, host):
    most = 3
    rates = replace(PLENTY, document_by_address=most, document_by_account=most - 1)
    settings = AuthSettings(rates=rates, fetcher=host.fetcher())
    host.say("/limited.json", document("/limited.json"))
    host.asked.clear()
    with site_with(tmp_path, settings, clock=lambda: 0.0) as site:

        def ask(browser: Browser, path: str) -> httpx2.Response:
            fields = {"client_id": f"https://{HOST}{path}", "redirect_uri": CALLBACK}
            return browser.get("/authorize", params=fields)

        with Browser(site.url) as ann, Browser(site.url) as bob:
            ann.sign_in("ann")
            bob.sign_in("bob")
            for _ in range(2 * most):
                assert ask(ann, "/limited.json").status_code == 303  # back to the client
            assert ask(ann, "/none1.json").status_code == 400
            refused = ask(ann, "/none2.json")  # by account: the address has one left
            assert refused.status_code == 429
            assert "2 metadata documents of clients a minute" in refused.text
            refused = ask(bob, "/none3.json")  # that one was spent on what ann was refused
            assert refused.status_code == 429
            assert "3 metadata documents of clients a minute" in refused.text
            assert ask(bob, "/limited.json").status_code == 303  # fetched before, for ann
    assert host.asked == ["/limited.json", "/none1.json"]


def test_a_registered_client_cannot_take_the_id_of_a_document(trusting):
    program = Program(trusting, client_id=URL)
    assert program.client_id != URL
