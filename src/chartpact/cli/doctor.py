"""`chartpact doctor`: is all well with this installation?"""

import argparse
import os
import platform
from pathlib import Path

import numpy as np

from chartpact._version import VERSION
from chartpact.cli import DONE, Verbs
from chartpact.library.local import database_url
from chartpact.render import raster
from chartpact.sources import archive
from chartpact.work import open_files


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "doctor",
        help="is all well with this installation?",
        description="Says what this installation runs on and what is missing.",
    )
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:  # noqa: ARG001
    for name, finding in findings():
        print(f"{name:<18} {finding}")
    return DONE


def findings() -> list[tuple[str, str]]:
    """Each part of the installation, and its state."""
    from chartpact.ta import kernels

    return [
        ("chartpact", VERSION),
        ("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        ("NumPy", np.__version__),
        ("kernels", kernels.status()),
        ("PNG", raster.status()),
        ("sources", _sources()),
        ("fetched bars", _kept_bars()),
        ("library", _library()),
        ("open files", open_files.describe()),
        *_sandbox(),
    ]


def _sandbox() -> list[tuple[str, str]]:
    """Whether scripts can be run here, and each layer of the sandbox, tried for real."""
    from chartpact.sandbox import host_probe, layers

    layers_here = host_probe.probe()
    if reason := layers.unavailable():
        whose = (
            f"everybody's scripts run unprotected ({layers.TRUST}=1)"
            if layers.trusted()
            else "your own scripts run unprotected from a shell, none in serve and mcp"
        )
        return [("sandbox", f"{whose}: {reason}")]
    if layers_here[0].name == "sandbox":
        return [("sandbox", f"no scripts: {layers_here[0].detail}")]
    absent = [layer.name for layer in layers_here if layer.needed and not layer.present]
    if refused := [layer.name for layer in layers_here if layer.refused]:
        verdict = f"no scripts: they are not run without {', '.join(refused)}"
    elif absent:
        verdict = f"scripts run, but a server for others needs {', '.join(absent)}"
    else:
        verdict = "scripts run in a process of their own, in every layer a public server needs"
    rows = [("sandbox", verdict)]
    for layer in layers_here:
        state = "" if layer.present else "MISSING: " if layer.needed else "without: "
        rows.append((f"  {layer.name}", f"{state}{layer.detail}"))
    return rows


def _sources() -> str:
    """The sources that a shell has, and the command that gives what one of them lacks."""
    from chartpact.sources import Misconfigured, configuration

    try:
        configs = configuration.of_local_user()
    except Misconfigured as error:
        return str(error)
    sources = []
    for config in configs:
        lacks = ""
        if extra := config.missing_extra:
            lacks = f", lacks: pip install 'chartpact[{extra}]'"
        elif missing := config.missing_secrets:
            lacks = f", lacks: set {' and '.join(missing)}"
        sources.append(f"{config.name} ({config.kind}{lacks})")
    named = configuration.VARIABLE in os.environ
    whose = f"by {configuration.VARIABLE}" if named else f"unless {configuration.VARIABLE} is set"
    none = f"none besides the samples; {configuration.VARIABLE} names others"
    return f"{', '.join(sources)}, {whose}" if sources else none


def _library() -> str:
    """Where scripts, contracts, uploads and the journal are."""
    url = database_url()
    file = url.removeprefix("sqlite:///")
    if file == url:
        return "a database of its own (CHARTPACT_DB)"
    there = "back it up" if Path(file).exists() else "not there yet"
    return f"{file} ({there})"


def _kept_bars() -> str:
    home = archive.folder()
    if home is None:
        return f"nowhere ({archive.VARIABLE}=off)"
    files = [path.stat().st_size for path in home.iterdir()] if home.is_dir() else []
    return f"{home} ({len(files)} files, {sum(files) / 2**20:.1f} MB)"
