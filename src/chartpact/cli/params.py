"""Parameters on the command line: `-i NAME[:k=v,…]` and `--param k=v`, alike for every verb."""

import argparse

from chartpact.cli import UsageError


def add_indicators(verb: argparse.ArgumentParser, required: bool = False) -> None:
    """The argument that asks for indicators."""
    verb.add_argument(
        "-i",
        "--indicator",
        action="append",
        default=[],
        required=required,
        metavar="NAME[:k=v,…]",
        help="an indicator and its parameters; may be given several times",
    )


def add_params(verb: argparse.ArgumentParser, whose: str = "a parameter") -> None:
    """The argument that sets one parameter."""
    verb.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="k=v",
        help=f"{whose}; may be given several times",
    )


def read_params(args: argparse.Namespace) -> dict[str, str]:
    """The parameters that the arguments set, as texts."""
    values: dict[str, str] = {}
    for pair in args.param:
        name, sign, value = pair.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"--param {pair}: write it as name=value")
        if name.strip() in values:
            raise UsageError(f"--param {name.strip()} is given twice")
        values[name.strip()] = value
    return values
