"""A study as Python and the shell have it: its answer, in words, as JSON and as a picture."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chartpact.render import RenderError, pool
from chartpact.render.svgdocument import document
from chartpact.studies import picture, text
from chartpact.studies.answer import StudyAnswer


@dataclass(frozen=True)
class StudyResult:
    """What followed a signal: `answer` has the tests, `str` says them in words."""

    answer: StudyAnswer

    def to_json(self) -> dict[str, Any]:
        """The study for programs, as every door gives it out."""
        return self.answer.to_json()

    def svg(self, theme: str = "dark") -> str:
        """The picture as an SVG document."""
        return document(picture.compose(self.answer, theme))

    def png(self, theme: str = "dark") -> bytes:
        """The picture as a PNG."""
        return pool.png(document(picture.compose(self.answer, theme), fonts=False))

    def save(self, path: str | Path, theme: str = "dark") -> Path:
        """Writes the picture, PNG or SVG by the ending of the path."""
        target = Path(path)
        ending = target.suffix.lower()
        if ending not in (".png", ".svg"):
            raise RenderError(f"{target.name!r} ends neither in .png nor in .svg")
        target.write_bytes(self.png(theme) if ending == ".png" else self.svg(theme).encode())
        return target

    def _repr_svg_(self) -> str:  # how a notebook shows the study
        return self.svg("light")

    def __str__(self) -> str:
        return text.write(self.answer)
