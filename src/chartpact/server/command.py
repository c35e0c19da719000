"""`chartpact serve` and `chartpact mcp`: the server over HTTP, or on standard input and output."""

import argparse
import logging
import os
import signal
import socket
import sys
import time
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from chartpact.library.local import LOCAL_USER, add_database, explain_opening, open_library
from chartpact.problem import Failure, Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from chartpact.server.app import Server
    from chartpact.server.auth.authority import AuthSettings
    from chartpact.server.identity import Identify
    from chartpact.server.settings import Settings

log = logging.getLogger(__name__)

MOST_WORKERS = 64
RETRY_S = 1.0  # before a worker that cannot start is replaced


def add(verbs: Any) -> None:
    """Adds the verbs to a command line (argparse gives its subparsers no public type)."""
    serve = verbs.add_parser(
        "serve",
        help="serve charts and indicators over MCP and REST",
        description="Serves MCP (/mcp), REST (/api/v1) and a page on one address.",
        epilog="Example: chartpact serve --no-auth, then open http://127.0.0.1:8321/",
    )
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    serve.add_argument("--port", type=int, default=8321, help="the port to listen on")
    serve.add_argument("--no-auth", action="store_true", help="everybody is the local user")
    serve.add_argument(
        "--unsandboxed",
        action="store_true",
        help="listen beyond this machine although layers of the sandbox are missing",
    )
    serve.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="how many processes answer on the address (default: 1)",
    )
    serve.set_defaults(run=run_serve, speaks_protocol=True, needs_server=True)

    stdio = verbs.add_parser(
        "mcp",
        help="serve MCP on standard input and output, for one local user",
        description="Serves MCP on standard input and output; an MCP client starts it.",
    )
    stdio.set_defaults(run=run_mcp, speaks_protocol=True, needs_server=True)
    for verb in (serve, stdio):
        add_database(verb)
        verb.add_argument(
            "--log",
            choices=("plain", "json"),
            help="how to log (default: plain on a terminal, else one JSON object a line)",
        )


def _usage(message: str) -> Failure:
    return Failure(Problem("usage", message))


def run_serve(args: argparse.Namespace) -> int:
    import uvicorn

    from chartpact.sandbox import host_probe
    from chartpact.sandbox.zygote_handle import SandboxError
    from chartpact.server import logs
    from chartpact.server.auth.authority import AuthSettings
    from chartpact.server.metrics import SHARED_BYTES
    from chartpact.server.supervisor import HEALTH_S, Supervisor
    from chartpact.server.uvicorn_server import AnnouncedServer, BoundedHttp
    from chartpact.work import open_files

    if not 0 <= args.port < 65536:
        raise _usage(f"--port: {args.port} is not a number from 0 to 65535")
    logs.to_stderr(logging.INFO, args.log)
    open_files.raise_to_hard()
    identify = _choose_identity(args)
    try:
        host_probe.require_for_public_bind(args.host, anyway=args.unsandboxed)
    except SandboxError as error:
        raise _usage(f"{error} with --unsandboxed") from None
    settings = _settings(args, alone=args.no_auth)
    _refuse_unsafe(args, settings)

    def configure(app: Any, **options: Any) -> uvicorn.Config:
        return uvicorn.Config(
            app,
            http=BoundedHttp,
            # Where no proxy is configured, whoever forwards an address chooses it.
            proxy_headers=isinstance(identify, AuthSettings) and identify.public_url is not None,
            ws="none",
            access_log=False,  # the front writes its own, with request ids
            log_config=None,
            server_header=False,
            timeout_keep_alive=20,
            timeout_graceful_shutdown=25,
            **options,
        )

    with _listen(args) as listener:
        address = _address_of(listener)
        _announce_lacks()
        if args.workers == 1:
            with closing(_create(settings, identify=identify, hosts=_hosts(args))) as served:

                def announce() -> None:
                    logs.announced.info("chartpact serves on %s (Ctrl-C ends it)", address)
                    _announce_sign_in(identify, settings, address)

                for number in (signal.SIGINT, signal.SIGTERM):
                    signal.signal(number, lambda *_: None)  # uvicorn raises them again when it ends
                AnnouncedServer(configure(served.app), announce).run([listener])
            return 0

        def announce_all() -> None:
            serves = "chartpact serves on %s with %d workers (Ctrl-C ends it)"
            logs.announced.info(serves, address, args.workers)
            _announce_sign_in(identify, settings, address)

        with open_library(settings.database) as database:
            database.check_writable()  # a fault is told here, before any worker starts
        with NamedTemporaryFile(prefix="chartpact-") as counters:
            counters.truncate(SHARED_BYTES)
            worker = ServingWorker(args, counters.name)
            config = configure(
                worker, factory=True, workers=args.workers, timeout_worker_healthcheck=HEALTH_S
            )
            return Supervisor(config, listener, announce_all).serve()


@dataclass(frozen=True)
class ServingWorker:
    """Makes the application of one process among several; sent to each as it starts."""

    arguments: argparse.Namespace
    counters: str  # the file that they share

    def __call__(self) -> "ASGIApp":
        from chartpact.server import logs
        from chartpact.server.metrics import Metrics
        from chartpact.server.supervisor import end_with_supervisor

        args = self.arguments
        end_with_supervisor()
        logs.to_stderr(logging.INFO, args.log)
        try:
            return _create(
                _settings(args, alone=args.no_auth).among(args.workers),
                identify=_choose_identity(args),
                hosts=_hosts(args),
                metrics=Metrics.share(self.counters),
            ).app
        except Failure as failure:  # such as a database that is away: the next start may succeed
            log.error("%s", failure)
            time.sleep(RETRY_S)
            raise SystemExit(1) from None


def _address_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _refuse_unsafe(args: argparse.Namespace, settings: "Settings") -> None:
    """Refuses what would corrupt a database."""
    import sqlalchemy as sa

    from chartpact.library.database import find_network_disk

    try:
        disk = find_network_disk(settings.database)
    except sa.exc.ArgumentError:
        return  # which opening it explains
    if disk is not None:
        raise _usage(
            f"the database is a SQLite file on a network disk ({disk}): hosts that share it would "
            "corrupt it. Put it on a disk of this host, or use postgresql+psycopg://… for several"
        )
    if not 1 <= args.workers <= MOST_WORKERS:
        raise _usage(f"--workers: {args.workers} is not a number from 1 to {MOST_WORKERS}")


def _announce_lacks() -> None:
    """Logs what an installation without its C extension, or on another system, does not do."""
    from chartpact.sandbox import layers
    from chartpact.server.logs import announced
    from chartpact.ta import kernels

    if kernels.BACKEND != "c":
        announced.warning("ta kernels: %s", kernels.status())
    if reason := layers.unavailable():
        rule = (
            f"users' scripts run unprotected ({layers.TRUST}=1)"
            if layers.trusted()
            else f"users' scripts are refused ({layers.TRUST}=1 runs them unprotected)"
        )
        announced.warning("%s: %s", rule, reason)


def _listen(args: argparse.Namespace) -> socket.socket:
    """The address, taken before anything else is started."""
    try:
        addresses = socket.getaddrinfo(args.host, args.port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = addresses[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _usage(
            f"cannot listen on {args.host}:{args.port}: {reason}; choose another --port"
        ) from None
    listener.setblocking(False)
    return listener


def _create(settings: "Settings", **options: Any) -> "Server":
    from chartpact.server import app

    with explain_opening(settings.database):
        return app.create(settings, **options)


def run_mcp(args: argparse.Namespace) -> int:
    import anyio

    from chartpact.server import logs, mcp_stdio

    logs.to_stderr(logging.WARNING, args.log)
    _announce_lacks()
    served = _create(_settings(args, alone=True), stdio=True)

    def end(*_: object) -> None:
        # Standard input is read on a thread that nothing can wake: there is no other way out.
        served.close()
        os._exit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        following = partial(served.verbs.following.read_for_ever, LOCAL_USER)
        anyio.run(mcp_stdio.serve, served.mcp, following)
    finally:
        served.close()
    return 0


def _settings(args: argparse.Namespace, alone: bool) -> "Settings":
    """The settings; whoever is `alone` on the server has the sources of a local user."""
    from chartpact.server.settings import from_environment
    from chartpact.sources.configuration import of_local_user

    try:
        settings = from_environment()
        if alone:
            settings = replace(settings, sources=of_local_user())
    except ValueError as error:
        raise _usage(str(error)) from None
    return replace(settings, database=args.db) if args.db else settings


def _choose_identity(args: argparse.Namespace) -> "Identify | AuthSettings":
    from chartpact.sandbox import host_probe
    from chartpact.server import identity
    from chartpact.server.auth import configuration

    loopback = host_probe.is_loopback(args.host)
    if args.no_auth:
        if not loopback:
            raise _usage(
                f"--no-auth lets everybody in, and {args.host} is reached from other machines: "
                "listen on 127.0.0.1, or add users with `chartpact user add NAME`"
            )
        return identity.everybody_is_local
    if os.environ.get("CHARTPACT_TOKENS"):
        raise _usage(
            "CHARTPACT_TOKENS is no longer read: add users with `chartpact user add NAME`, and "
            "make tokens for programs with `chartpact user token NAME`"
        )
    try:
        chosen = identity.from_environment(os.environ)
        if chosen is not None:
            return chosen
        settings = configuration.from_environment(os.environ)
        if settings.issuer is not None:
            settings.issuer.renew()
    except ValueError as error:
        raise _usage(str(error)) from None
    if not loopback and settings.public_url is None:
        raise _usage(
            f"{args.host} is reached from other machines: say under which address, as in "
            "CHARTPACT_PUBLIC_URL=https://charts.example, with TLS in front"
        )
    return settings


def _announce_sign_in(
    identify: "Identify | AuthSettings", settings: "Settings", address: str
) -> None:
    """Tells how to sign in. The link goes to a terminal alone: what is redirected is a log."""
    from chartpact.server.auth.authority import Authority, AuthSettings
    from chartpact.server.logs import announced

    if not isinstance(identify, AuthSettings) or identify.issuer is not None or identify.sign_up:
        return
    with (
        open_library(settings.database) as database,
        closing(Authority(identify, database)) as authority,
    ):
        if identify.public_url is not None:
            if not authority.accounts.list():
                announced.warning("nobody can sign in: add a user with `chartpact user add NAME`")
            return
        key = authority.offer_link()
    if key is None:
        return
    if sys.stderr.isatty():
        print(f"sign in within ten minutes: {address}sign-in/link?key={key}", file=sys.stderr)
    else:
        announced.info(
            "nobody has a password yet: set one with `chartpact user password %s`", LOCAL_USER
        )


def _hosts(args: argparse.Namespace) -> tuple[str, ...]:
    from chartpact.sandbox import host_probe
    from chartpact.server.front import ANY_HOST, LOOPBACK

    named = tuple(filter(None, os.environ.get("CHARTPACT_HOSTS", "").split(",")))
    public = os.environ.get("CHARTPACT_PUBLIC_URL", "").rstrip("/").rpartition("://")[2]
    if public:
        named = (*named, public)
    # Beyond this machine everybody needs a token, which a page under another name has not.
    loopback = host_probe.is_loopback(args.host)
    return (*LOOPBACK, *named) if named or loopback else ANY_HOST
