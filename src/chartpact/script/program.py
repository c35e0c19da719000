"""A compiled script: its code, what it asks for, and what comes of running it."""

import hashlib
import marshal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType, MappingProxyType
from typing import Any

from chartpact._version import VERSION
from chartpact.bars import Bars
from chartpact.cache import Cache
from chartpact.params import Param
from chartpact.problem import Problem
from chartpact.scene import Scene
from chartpact.script.errors import ScriptError

# Bytecode fits only the Python and the compiler that made it.
_STAMP = f"chartpact {VERSION} {sys.implementation.cache_tag} {sys.version_info[:3]}"


@dataclass(frozen=True)
class Program:
    """A script that passed every check, ready to run on any bars.

    `weights` are the steps that one call of each function is charged, `uses` the functions of the
    host that it calls, such as "ta.ema".
    """

    source: str
    params: tuple[Param, ...]
    meta: Mapping[str, Any]
    code: CodeType
    weights: Mapping[str, int] = field(default_factory=dict)
    uses: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()  # of the check; a dumped program leaves them out

    @property
    def key(self) -> str:
        return source_key(self.source)

    def dump(self) -> bytes:
        """The program without its source, for a cache that does not look inside."""
        params = [{**param.__dict__} for param in self.params]
        return marshal.dumps(
            (_STAMP, self.key, params, dict(self.meta), self.code, dict(self.weights), self.uses)
        )

    @classmethod
    def undump(cls, source: str, data: bytes) -> "Program | None":
        """The program that was dumped for this very source, else None."""
        stamp, key, params, meta, code, weights, uses = marshal.loads(data)
        if stamp != _STAMP or key != source_key(source):
            return None
        return cls(
            source,
            tuple(Param(**param) for param in params),
            MappingProxyType(meta),
            code,
            weights,
            uses,
        )


compiled_programs: Cache[str, Program] = Cache(1024)  # the programs of sources, by `source_key`


def source_key(source: str) -> str:
    """The hash of a source, under which its program is cached."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Inspected:
    """What a source declares, or what is wrong with it; `code` is the dumped program.

    `warnings` are what the check says of a source that can be used.
    """

    params: tuple[Param, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    errors: tuple[ScriptError, ...] = ()
    code: bytes = b""
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Extras:
    """What a run is given besides the bars: what PARAMS declared, by the name of the parameter.

    `first_visible` is the first bar in view.
    """

    symbols: Mapping[str, Bars] = field(default_factory=dict)
    calendars: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    first_visible: int = 0


@dataclass(frozen=True)
class Result:
    """What one run drew, what it cost, and what it printed.

    `cpu_ms` is the processor time of a run that was timed; unlike the steps it differs from run to
    run.
    """

    scene: Scene
    steps: int
    log: tuple[str, ...] = ()
    cpu_ms: float | None = field(default=None, compare=False)
