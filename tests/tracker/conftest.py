import sys
from pathlib import Path

import pytest

from chartpact.contracts import find, load
from chartpact.tracker import Rules

sys.path.insert(0, str(Path(__file__).parent))

SMALL = """\
contract: small
version: 1.0.0
identity: {pine_title: Small}
channels: {lines: signal}
elements:
  zone: {from: lines, reads: {worn: "style == 'dotted'"}, key: [x1.time]}
states:
  zone:
    observe: {worn: worn}
    rows: {ACTIVE: {when: {worn: false}}, SPENT: {when: {worn: true}}}
    initial: ACTIVE
    transitions: {ACTIVE: [SPENT, DEAD], SPENT: [DEAD]}
    gone: DEAD
output: {zones: {from: zone, sort: x1, give: {state: state}}}
"""


@pytest.fixture
def small_contract():
    """A contract with one machine; the text is put into its head."""
    return lambda text: load(SMALL.replace("channels:", f"{text}channels:", 1))


@pytest.fixture
def pact_rules():
    return lambda name: Rules.of(find(name))
