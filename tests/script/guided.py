"""A coverage-guided fuzzer of the checker, the compiler and the runtime.

    python tests/script/guided.py [seconds] [corpus folder] [runs]

It grows scripts that reach new code, from the scripts this repository has, and stops at the first
one that is neither refused in words nor Starlark that ends in its budget. With a number of runs it
ends after so many, which are the same on every machine.
"""

import sys
import tempfile
from pathlib import Path

import atheris

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

with atheris.instrument_imports(include=["chartpact.script", "chartpact.syntax"]):
    from chartpact import script
    from chartpact.script import stock
    from chartpact.script.dry_run import dry_run_bars

from tests.script import oracle  # noqa: E402
from tests.script.chunks import chunks, source_of  # noqa: E402

BARS = dry_run_bars(30)
BUDGET = 20_000


def one(data: bytes) -> None:
    source = data.decode("utf-8", "replace")
    program, problems = script.examine(source, script.Limits())
    if program is None:
        assert problems
        return
    why = oracle.parses(program.source)
    assert why is None, why
    try:
        assert script.execute(program, BARS, budget=BUDGET).steps <= BUDGET
    except script.ScriptError as error:
        assert error.kind != "crash", error


def seed(folder: Path, every: int) -> None:
    """The scripts to start from; of those the suite has, every so manieth."""
    sources = [stock.source(name) for name in stock.NAMES]
    for file in sorted([*HERE.glob("language/*.star"), *HERE.glob("hostile/*.star")]):
        sources += [source_of(chunk)[0] for chunk in chunks(file)]
    for number, source in enumerate(sources[::every]):
        (folder / f"seed{number}").write_bytes(source.encode("utf-8", "replace"))


def main() -> None:
    seconds = sys.argv[1] if len(sys.argv) > 1 else "60"
    kept = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as made:
        corpus = kept or Path(made)
        corpus.mkdir(exist_ok=True)
        seed(corpus, 1 if int(seconds) >= 60 else 16)
        options = [f"-max_total_time={seconds}", "-max_len=8192", "-timeout=20", "-verbosity=0"]
        if len(sys.argv) > 3:
            options += ["-seed=1", f"-runs={sys.argv[3]}"]
        atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={corpus}/", str(corpus)], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
