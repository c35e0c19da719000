# The C extension as the type checker sees it; kernels are looked up by name.
from typing import Any

def sandbox_await(socket: int, ruleset: int, zygote: int, /) -> None: ...
def sandbox_enter(
    job: int,
    job_size: int,
    answer: int,
    answer_size: int,
    ruleset: int,
    statm: int,
    zygote: int,
    layers: int,
    user: int,
    memory: int,
    cpu_seconds: int,
    alarm_ms: int,
    /,
) -> tuple[memoryview, memoryview]: ...
def sandbox_landlock() -> tuple[int, int, int, int, int]: ...
def sandbox_filter(machine: str = ..., /) -> bytes: ...
def sandbox_calls() -> list[tuple[str, int, int]]: ...
def __getattr__(name: str) -> Any: ...
