"""`chartpact doctor`: is all well with this installation?"""

import argparse
import platform

import numpy as np

from chartpact._version import VERSION
from chartpact.cli import DONE, Verbs
from chartpact.render import raster


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "doctor",
        help="is all well with this installation?",
        description="Says what this installation runs on and what is missing.",
    )
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:  # noqa: ARG001
    for name, finding in findings():
        print(f"{name:<12} {finding}")
    return DONE


def findings() -> list[tuple[str, str]]:
    """What was looked at, and what was found."""
    return [
        ("chartpact", VERSION),
        ("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        ("NumPy", np.__version__),
        ("kernels", _kernels()),
        ("PNG", raster.status()),
        ("sources", _sources()),
    ]


def _kernels() -> str:
    from chartpact.ta import kernels

    return kernels.status()


def _sources() -> str:
    from chartpact.sources import Misconfigured, configured

    try:
        found = configured.from_environment()
    except Misconfigured as error:
        return str(error)
    told = (
        f"{each.name} ({each.kind}{f', needs chartpact[{each.lacks}]' if each.lacks else ''})"
        for each in found
    )
    return ", ".join(told) or f"none besides the samples; {configured.VARIABLE} names others"
