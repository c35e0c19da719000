"""Where benchmarks put their tables: between the marks of their name in docs/benchmarks.md."""

import os
import platform
from datetime import date
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def put(name: str, text: str) -> None:
    """Replaces what stands between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`."""
    begin, end = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
    before, rest = PAGE.read_text().split(begin)
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}")


def machine(versions: dict[str, str]) -> str:
    """When and where the run was, in words."""
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"{date.today():%B %Y}, on a {os.cpu_count()}-core {platform.machine()} virtual machine, "
        f"Python {platform.python_version()}, {told}."
    )
