"""The language, by test files written in it."""

from pathlib import Path

import pytest
from tests.script.chunks import Chunk, chunks, run

FILES = sorted((Path(__file__).parent / "language").glob("*.star"))


@pytest.mark.parametrize("chunk", [c for file in FILES for c in chunks(file)], ids=lambda c: c.id)
def test_chunk(chunk: Chunk):
    run(chunk)
