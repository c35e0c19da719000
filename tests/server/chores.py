"""What the workers are given to do in their tests; here because it must be importable there."""

import os
import time


def add(a: int, b: int) -> int:
    return a + b


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def die() -> None:
    os.kill(os.getpid(), 9)


def refuse() -> None:
    raise ValueError("not like this")


def who() -> int:
    return os.getpid()
