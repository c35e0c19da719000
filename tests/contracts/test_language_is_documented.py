"""The contract reference mentions every word of the language."""

import re
from pathlib import Path

from tests.cases import in_one_test

from chartpact import pacts
from chartpact.contracts.language import model
from chartpact.snapshot import FIELDS

DOCS = Path(__file__).resolve().parents[2] / "docs"
REFERENCE = (DOCS / "contracts.md").read_text()
PROSE = re.sub(r"```.*?```", "", REFERENCE, flags=re.DOTALL)
PAYLOADS = (DOCS / "payload-format.md").read_text()
SNAPSHOTS = (DOCS / "snapshots.md").read_text()


def words(section):
    return [field.alias or name for name, field in section.model_fields.items()]


SECTIONS = [
    model.ContractFile, model.Identity, model.ConfigKey, model.MemberSpec, model.Attach,
    model.Element, model.Row, model.Machine, model.EdgeCase, model.Reserved, model.OutputList,
    model.EventList, model.Directions,
]  # fmt: skip


@in_one_test("section", SECTIONS, ids=lambda each: each.__name__)
def test_every_word_of_a_section_is_explained(section):
    mentioned = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`[^`]+`", PROSE))))
    assert [word for word in words(section) if word not in mentioned] == []


def test_every_kind_of_violation_and_every_function_is_explained():
    for kind in model.KINDS:
        if kind != "illegal_transition":
            assert f"`{kind}`" in REFERENCE
    for (
        name
    ) in "abs min max mean near round_to_tick alpha starts_with matches len any all only".split():
        assert f"`{name}(" in REFERENCE


def test_every_word_and_type_of_a_payload_is_explained():
    for word in words(model.Decode):
        assert f"{word}:" in PAYLOADS or f"`{word}`" in PAYLOADS, word
    for word in words(model.PayloadField):
        assert f"{word}:" in PAYLOADS or f"`{word}`" in PAYLOADS, word
    for kind in ("text", "number", "bool", "choice", "time"):
        assert f"| `{kind}` |" in PAYLOADS


def test_every_field_of_a_snapshot_is_listed():
    for fields in FIELDS.values():
        for name, field in fields.items():
            assert f"`{name}{'?' if field.nullable else ''}`" in SNAPSHOTS, name


@in_one_test("name", pacts.names())
def test_every_contract_has_its_page_and_its_story(name):
    assert f"reference/contracts/{name}.md" in REFERENCE
    assert (DOCS / "reference" / "contracts" / f"{name}.md").exists()
    assert (pacts.folder(name) / "README.md").read_text().startswith("# ")


@in_one_test("name", pacts.names())
def test_every_decision_that_a_contract_cites_is_explained(name):
    text = (pacts.folder(name) / "contract.yaml").read_text()
    cited = set(re.findall(r"D-\d\d", text))
    assert [each for each in sorted(cited) if f"| {each} |" not in REFERENCE] == []
