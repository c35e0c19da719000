"""Small contracts for tests: a whole file around the part that is looked at."""

import textwrap

import drawings as draw

from chartpact.contracts import ContractError, load
from chartpact.contracts.language.document import describe
from chartpact.contracts.reading.engine import read
from chartpact.snapshot import Snapshot

HEAD = """\
contract: small
version: 1.0.0
identity: {pine_title: Small}
"""


def contract_text(text):
    return HEAD + textwrap.dedent(text)


def make(text):
    return load(contract_text(text))


def problems(text):
    """What is wrong with a contract, as (line, path, message, hint)."""
    try:
        make(text)
    except ContractError as error:
        return error.problems
    return ()


def told(text):
    return "\n".join(map(describe, problems(text)))


def study(**channels):
    return draw.study("Small", **channels)


def reading(text, config=None, profile=None, chart=None, source=None, **channels):
    """What a small contract reads from a picture."""
    data = draw.snapshot(study(**channels), chart=chart, source=source)
    return read(make(text), Snapshot(data), config, profile)


def state(text, **given):
    found = reading(text, **given)
    assert found.ok, [str(each) for each in found.violations]
    return found.state


def refused(text, **given):
    """The kinds and paths of the violations."""
    found = reading(text, **given)
    assert found.state is None
    return [(each.kind, each.path) for each in found.violations]
