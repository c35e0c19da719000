"""Which functions of the package are called, one after another.

A process that is followed from its first moment imports this: it imports little itself.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType

SOURCE = Path(__file__).resolve().parents[1] / "src" / "chartpact"
WITHIN = f"{SOURCE}/"


def is_ours(frame: FrameType) -> bool:
    """Whether a function of the package runs in a frame."""
    return frame.f_code.co_filename.startswith(WITHIN)


def follow(note: Callable[[str], object]) -> Callable[[FrameType, str, object], None]:
    """A profile function that notes every function of the package when it is entered."""

    def enter(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and is_ours(frame):
            module = (
                frame.f_code.co_filename.removeprefix(WITHIN)
                .removesuffix(".py")
                .removesuffix("/__init__")
            )
            name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
            note(f"{module.replace('/', '.')}.{name}")

    return enter


def missed(drawn: Iterable[str], called: Iterable[str]) -> list[str]:
    """The functions of a way that were not called, one after another."""
    passed = iter(called)
    return [name for name in drawn if name not in passed]
