"""`chartpact user`: the operator's accounts, on the database itself."""

import argparse
import getpass
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from chartpact.library.local import add_database, open_library
from chartpact.problem import Failure, Problem

if TYPE_CHECKING:
    from chartpact.server.auth.accounts import Accounts


def add(verbs: Any) -> None:
    """Adds the verbs to a command line (argparse gives its subparsers no public type)."""
    user = verbs.add_parser(
        "user",
        help="who may sign in to the server",
        description="Adds, lists and removes the users of a server, and sets their passwords.",
        epilog="Example: chartpact user add ann, then chartpact serve",
    )
    actions = user.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    described = {
        "add": (run_add, "add a user; what is stored under that name is theirs"),
        "list": (run_list, "every user"),
        "remove": (run_remove, "remove a user, with everything that is theirs"),
        "password": (run_password, "set a user's password, and sign out their browsers"),
        "token": (run_token, "make a personal token for a program of a user's, shown once"),
    }
    for name, (run, sentence) in described.items():
        action = actions.add_parser(name, help=sentence, description=f"{sentence.capitalize()}.")
        action.set_defaults(run=run, needs_server=True)
        if name != "list":
            action.add_argument("name", metavar="NAME", help="what the user signs in as")
        if name in ("add", "password"):
            action.add_argument(
                "--password-stdin",
                action="store_true",
                help="read the password from standard input instead of asking for it",
            )
        if name == "token":
            action.add_argument(
                "--scope", choices=SCOPES, default="both", help="what a program may do with it"
            )
            action.add_argument("--days", type=int, default=90, help="how long it lasts")
            action.add_argument("--label", default="made by the operator", help="what it is for")
        if name == "remove":
            action.add_argument("--yes", action="store_true", help="do not ask")
        add_database(action)


SCOPES = {"read": "read", "both": "read write", "read write": "read write"}


def _usage(message: str) -> Failure:
    return Failure(Problem("usage", message))


@contextmanager
def _open(args: argparse.Namespace) -> Iterator["Accounts"]:
    """The accounts of the database that the arguments name."""
    from chartpact.server.auth.accounts import Accounts

    with open_library(args.db) as database:
        yield Accounts(database)


def _ask_password(args: argparse.Namespace) -> str:
    """The hash of the password that the operator types, twice, or sends on standard input."""
    from chartpact.server.auth.passwords import hash_password

    if args.password_stdin:
        return hash_password(sys.stdin.readline().rstrip("\r\n"), args.name)
    if not sys.stdin.isatty():
        raise _usage("there is no terminal to ask for a password: use --password-stdin")
    password = getpass.getpass(f"Password of {args.name}: ")
    if getpass.getpass("Again: ") != password:
        raise _usage("the two passwords differ; nothing was changed")
    return hash_password(password, args.name)


def run_add(args: argparse.Namespace) -> int:
    with _open(args) as accounts:
        accounts.add(args.name, _ask_password(args))
    print(f"{args.name} may sign in")
    return 0


def run_list(args: argparse.Namespace) -> int:
    with _open(args) as accounts:
        for account in accounts.list():
            since = time.strftime("%Y-%m-%d", time.gmtime(account.created_at / 1000))
            password = "" if account.has_password else ", no password"
            identity = "" if account.user_id == account.name else f", id {account.user_id}"
            print(f"{account.name}  (by {account.origin}, {since}{password}{identity})")
    return 0


def run_remove(args: argparse.Namespace) -> int:
    with _open(args) as accounts:
        account = accounts.find(args.name)
        if not args.yes:
            if not sys.stdin.isatty():
                raise _usage("there is no terminal to ask whether you are sure: use --yes")
            print(f"Remove {args.name} with all scripts, bars and tokens? Type the name: ", end="")
            if input() != args.name:
                raise _usage("nothing was removed")
        accounts.remove(account.user_id)
    print(f"{args.name} is removed, with everything that was theirs")
    return 0


def run_password(args: argparse.Namespace) -> int:
    with _open(args) as accounts:
        account = accounts.find(args.name)
        accounts.set_password(account.user_id, _ask_password(args))
    print(f"{args.name} has a new password, and is signed out everywhere")
    return 0


def run_token(args: argparse.Namespace) -> int:
    from chartpact.server.auth.accounts import Accounts
    from chartpact.server.auth.grants import Denied, Grants

    with open_library(args.db) as database:
        account = Accounts(database).find(args.name)
        try:
            print(
                Grants(database).make_personal(
                    account.user_id, args.label, SCOPES[args.scope], args.days
                )
            )
        except Denied as error:
            raise _usage(error.description) from None
    return 0
