"""Mutants of everything that is parsed: each is read or refused in words, and nothing else happens.

`make nightly` runs `python -m tests.fuzz 20000`; the suite tries a few of each parser.
"""

import gzip
import io
import json
import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache, partial
from pathlib import Path

from chartpact import contracts, indicator
from chartpact.bars import samples
from chartpact.contracts import ContractError
from chartpact.library.upload_source import describe_upload
from chartpact.library.uploads import Upload
from chartpact.prices import OHLC
from chartpact.problem import Failure
from chartpact.sandbox import answers, packing, wire
from chartpact.sandbox.pool import Answered
from chartpact.server import bodies, contract_jobs

PACTS = Path(contracts.__file__).parents[1] / "pacts"
# What parsers stumble over: ends, limits of number types, halves of characters, other types.
BYTES = (b"\0", b"\xff", b"\xc3", b'"', b"\n", b"9" * 400, b"-1", b"1e999", b"null", b"[", b"{}")
VALUES = (None, True, -1, 2**63, 10**400, 1e308, "", "x", [None], {}, {"n": [1]}, "\ud800")


def mutate(data: bytes, dice: random.Random) -> bytes:
    """The data with a few bytes overwritten, inserted, removed or doubled."""
    mutant = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 4))):
        at = dice.randrange(len(mutant) + 1)
        match dice.randrange(5):
            case 0:
                mutant[at : at + 1] = bytes([dice.randrange(256)])
            case 1:
                mutant[at:at] = dice.choice(BYTES)
            case 2:
                del mutant[at : at + dice.randint(1, 40)]
            case 3:
                mutant[at:at] = mutant[at : at + dice.randint(1, 200)]
            case 4:
                del mutant[at:]
    return bytes(mutant)


def places(value: object) -> Iterator[tuple[object, object]]:
    """Every key of a mapping and place of a list inside a value, with what holds it."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def mutate_json(data: bytes, dice: random.Random) -> bytes:
    """The document with a few values of other types; now and then other bytes."""
    if not dice.randrange(8):
        return mutate(data, dice)
    document = json.loads(data)
    for _ in range(dice.randint(1, 3)):
        holder, key = dice.choice([*places(document)])
        holder[key] = deepcopy(dice.choice(VALUES))  # type: ignore[index]
    return json.dumps(document).encode()


# ------------------------------------------------------------------------------------- the parsers


@cache
def _table() -> bytes:
    rows = ("".join(f"{1709510400 + 3600 * n},1,3,1,2,{n}\n" for n in range(50))).encode()
    return b"time,open,high,low,close,volume\n" + rows


@cache
def _parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names, *rows = (line.split(",") for line in _table().decode().splitlines())
    columns = {name: [float(row[i]) for row in rows] for i, name in enumerate(names)}
    file = io.BytesIO()
    pq.write_table(pa.table({**columns, "symbol": ["é"] * len(rows)}), file, compression="none")
    return file.getvalue()


def _read_upload(data: bytes, name: str) -> None:
    describe_upload(Upload(name, data, {"timeframe": "1h"}))


def _read_contract(data: bytes) -> None:
    contracts.load(data)


def _read_snapshot(data: bytes, contract: str) -> None:
    try:
        snapshot = json.loads(bodies.read(data, mcp=False).body)["snapshot"]
    except (LookupError, TypeError):
        return
    text = contracts.find(contract).text
    contract_jobs.match_contract(text, snapshot, {}, None).model_dump_json()
    name = snapshot["studies"][0].get("name", "")
    contract_jobs.draft_contract(snapshot, str(name))


def _example(contract: str) -> bytes:
    """The first picture that comes with a contract."""
    return min((PACTS / contract / "examples").glob("*.json")).read_bytes()


@cache
def _contract() -> bytes:
    return contracts.find("ob_ai").text.encode()


def _body(mcp: bool) -> bytes:
    bars = {"time": [0, 3600], **{name: [1.0, 1.0] for name in OHLC}}
    asked = {"symbol": "x", "indicators": [{"name": "rsi", "period": 3}], "inline_bars": bars}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    return json.dumps(
        call | {"params": {"name": "x", "arguments": asked}} if mcp else asked
    ).encode()


@cache
def _packet() -> bytes:
    columns: list[wire.Column] = []
    bars = samples.bars("sample:es-5m").last(60)
    scene = packing.pack_scene(indicator("cipher_b")(bars), columns)
    return b"".join(wire.encode({"scene": scene, "steps": 1, "log": ["x"]}, columns))


def _read_packet(data: bytes) -> None:
    try:
        document, columns = wire.decode(data)
    except wire.WireError:
        return
    read = partial(answers.read_result, bars=60)
    result = answers.read_answer(read, Answered(document, columns), "run")
    result.scene.to_json()


PARSERS: dict[str, tuple[Callable[[], bytes], Callable[[bytes], None], bool]] = {
    "csv": (_table, partial(_read_upload, name="x.csv"), False),
    "gzip": (lambda: gzip.compress(_table()), partial(_read_upload, name="x.csv.gz"), False),
    "parquet": (_parquet, partial(_read_upload, name="x.parquet"), False),
    "contract": (_contract, _read_contract, False),
    **{
        f"snapshot of {name}": (
            partial(_example, name),
            partial(_read_snapshot, contract=name),
            True,
        )
        for name in ("ob_ai", "bias_ai", "economic_calendar")
    },
    "body": (partial(_body, False), lambda data: bodies.read(data, mcp=False) and None, True),
    "mcp": (partial(_body, True), lambda data: bodies.read(data, mcp=True) and None, True),
    "packet": (_packet, _read_packet, False),
}
REFUSALS = (Failure, ContractError)


def fuzz(name: str, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """How many mutants were read, refused and failed, and how those that failed did so."""
    make, read, structured = PARSERS[name]
    whole, dice = make(), random.Random(f"{name} {seed}")
    told, failures = Counter[str](), []
    read(whole)
    for _ in range(count):
        mutant = (mutate_json if structured else mutate)(whole, dice)
        try:
            read(mutant)
            told["read"] += 1
        except REFUSALS as refusal:
            str(refusal)
            told["refused"] += 1
        except Exception:  # noqa: BLE001 - what nobody expected is what is looked for
            told["failed"] += 1
            failures.append(f"{mutant[:2000]!r}\n{traceback.format_exc(limit=-6)}")
    return told, failures


def main(count: int, seed: int) -> int:
    failed = 0
    for name in PARSERS:
        told, failures = fuzz(name, count, seed)
        print(f"{name}: {count} tried, {dict(told)}", flush=True)
        failed += len(failures)
        for failure in failures[:3]:
            print(failure)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
