"""The conversation in the documentation, which docs/generate.py holds anew, is a cheap one."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "conversation.md").read_text()


def test_every_answer_of_the_conversation_has_its_tokens_and_all_of_them_are_few():
    counts = re.findall(r"\*\*: (\d+) and (\d+) tokens", PAGE)
    total = int(re.search(r"together take (\d+) tokens", PAGE)[1])
    assert len(counts) == PAGE.count("````text")
    assert sum(max(map(int, pair)) for pair in counts) == total < 6000
    assert "A token is counted as four characters" in PAGE
