"""The language, by test files written in it."""

from pathlib import Path

from tests.cases import in_one_test
from tests.script.chunks import chunks, run

FILES = sorted((Path(__file__).parent / "language").glob("*.star"))


@in_one_test("file", FILES, ids=lambda file: file.stem)
def test_every_chunk_of_a_file_does_what_it_says(file: Path):
    in_one_test("chunk", chunks(file), ids=lambda c: c.id)(run)()
