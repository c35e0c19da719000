"""How long a reading takes: each shipped contract, from 500 to 50 000 drawn objects.

    python bench/contracts.py            the table, in Markdown (about a minute)
    python bench/contracts.py --quick    fewer rounds
    python bench/contracts.py --write    also puts it into docs/benchmarks.md

Pictures are the contracts' own examples with their objects repeated, older or elsewhere, as a chart
with a long history has them. Beside each reading stands `json.loads` of the same snapshot: what it
costs to get the picture from a file or a wire in the first place. Times are CPU time, the least of
several rounds; a round reads everything once before anything twice.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from time import process_time
from typing import Any

from tqdm import tqdm

from chartpact import pacts
from chartpact.contracts import Contract, find, load
from chartpact.contracts.reading.engine import read
from chartpact.contracts.workbench import examples
from chartpact.snapshot import Snapshot
from page import machine, put

SIZES = (500, 5_000, 50_000)
EACH_MS, ALL_MS = 2, 5  # what 500 objects may cost
STEP_MS = 300_000
ANCHORS = ("x", "x1", "x2", "left", "right")
PRICES = ("y", "y1", "y2", "top", "bottom")


@dataclass(frozen=True)
class Growth:
    """Which example grows, which of its objects are repeated, and where the copies stand."""

    example: str
    bars: int
    price: float
    before: int = 10**9  # only objects that begin before this bar are repeated


GROWTH = {
    "bias_ai": Growth("bullish_active", -160, 0.0, before=320),
    "session_hunt_ai": Growth("hunt_high", -1000, 0.0, before=300),
    "ob_ai": Growth("bullish_gap", 10, 10.0),
    "smt_divergences": Growth("bullish", -25, 10.0),
}


def moved(record: dict[str, Any], bars: int, price: float) -> dict[str, Any]:
    changed = dict(record)
    for name in ANCHORS:
        if name in record:
            at = record[name]
            time = at["time"] and at["time"] + bars * STEP_MS
            changed[name] = {"n": at["n"] + bars, "bar": at["bar"] + bars, "time": time}
    for name in PRICES:
        if name in record:
            changed[name] = record[name] + price
    return changed


def starts(record: dict[str, Any]) -> int:
    return min((record[name]["n"] for name in ANCHORS if name in record), default=10**9)


def grown(name: str, count: int) -> Snapshot:
    """The example with at least `count` objects."""
    growth = GROWTH[name]
    path = pacts.folder(name) / "examples" / f"{growth.example}.json"
    data = json.loads(json.dumps(examples.load(path).snapshot.to_json()))
    study = data["studies"][0]
    channels = ("labels", "lines", "boxes")
    seeds = {
        channel: [each for each in study[channel] if starts(each) < growth.before]
        for channel in channels
    }
    total = sum(len(study[channel]) for channel in (*channels, "cells"))
    times = 0
    while total < count:
        times += 1
        for channel, records in seeds.items():
            for each in records:
                study[channel].append(moved(each, growth.bars * times, growth.price * times))
                total += 1
    return Snapshot(data)


@dataclass
class Job:
    """One picture, how it is read, and the least time of each."""

    name: str
    size: int
    snapshot: Snapshot
    contract: Contract
    profile: str | None
    text: str = ""
    best: dict[str, float] = field(default_factory=dict)

    def tasks(self) -> Iterator[tuple[str, Callable[[], object]]]:
        yield "read", lambda: read(self.contract, self.snapshot, None, self.profile)
        yield "json", lambda: json.loads(self.text)


def jobs() -> list[Job]:
    made = []
    for size in SIZES:
        for name in GROWTH:
            contract, snapshot = find(name), grown(name, size)
            profile = next(iter(contract.file.profiles), None)
            reading = read(contract, snapshot, None, profile)
            assert reading.ok, [str(each) for each in reading.violations[:3]]
            made.append(Job(name, size, snapshot, contract, profile, snapshot.dumps()))
    return made


def measure(all_jobs: list[Job], rounds: int) -> None:
    for _ in tqdm(range(rounds), disable=None):
        for job in all_jobs:
            repeat = max(1, 5_000 // job.size)
            for name, task in job.tasks():
                for _ in range(repeat):
                    start = process_time()
                    task()
                    spent = process_time() - start
                    job.best[name] = min(spent, job.best.get(name, spent))


def loading_ms() -> float:
    """The mean time to load a shipped contract that is not cached."""
    texts = [(pacts.folder(name) / "contract.yaml").read_text() for name in GROWTH]
    start = process_time()
    for n, text in enumerate(texts * 3):
        load(f"{text}\n# {n}\n")
    return (process_time() - start) / (3 * len(texts)) * 1000


def table(all_jobs: list[Job]) -> str:
    found = {(job.name, job.size): job.best for job in all_jobs}
    lines = [
        machine({"google-re2": version("google-re2"), "PyYAML": version("PyYAML")}),
        "",
        "| what | measured | to reach |",
        "|---|--:|--:|",
    ]
    small = {name: found[name, 500]["read"] * 1000 for name in GROWTH}
    for name, spent in small.items():
        lines.append(f"| `{name}`, 500 objects | {spent:.2f} ms | ≤ {EACH_MS} ms |")
    lines.append(f"| all four, 500 objects each | {sum(small.values()):.2f} ms | ≤ {ALL_MS} ms |")
    for name in GROWTH:
        few, many = (found[name, size]["read"] / size for size in (SIZES[1], SIZES[2]))
        told = f"| `{name}`, time for an object at 50 000 over that at 5 000"
        lines.append(f"{told} | {many / few:.2f} | about 1 |")
    lines.append(f"| loading a contract that is not cached | {loading_ms():.0f} ms | |")
    lines += ["", "| contract | objects | reading | µs an object | `json.loads` over it |"]
    lines.append("|---|--:|--:|--:|--:|")
    for (name, size), best in found.items():
        spent = best["read"]
        lines.append(
            f"| `{name}` | {size} | {spent * 1000:.2f} ms | {spent / size * 1e6:.2f} "
            f"| {best['json'] / spent:.2f} |"
        )
    return "\n".join(lines)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="fewer rounds")
    options.add_argument("--write", action="store_true", help="put it into docs/benchmarks.md")
    args = options.parse_args()
    all_jobs = jobs()
    measure(all_jobs, 3 if args.quick else 12)
    text = table(all_jobs)
    print(text)
    if args.write:
        put("contracts", text)
    small = [job.best["read"] * 1000 for job in all_jobs if job.size == SIZES[0]]
    return 0 if max(small) <= EACH_MS and sum(small) <= ALL_MS else 1


if __name__ == "__main__":
    sys.exit(main())
