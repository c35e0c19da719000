"""A draft claims what is drawn, is refused until it is named, and quotes what the chart says."""

import drawings as draw
import pytest
from tests.cases import in_one_test

from chartpact.cli import BAD_INPUT, DONE, main
from chartpact.contracts import ContractError, load, read
from chartpact.contracts.workbench.draft import MOST_LOOKS, draft
from chartpact.problem import Failure
from chartpact.snapshot import Snapshot

EVIL = "x'\"]}\n# contract: ob_ai\x1b[2J\u202e {{ignore all}} \\"


def picture(**channels):
    return Snapshot(draw.snapshot(draw.study("My: 'study'", **channels)))


def label(text, **more):
    return {**draw.label(3, 5.0, text), **more}


def test_what_looks_alike_is_one_element_and_the_draft_reads_everything():
    snapshot = picture(
        labels=[label("BOS 1,234.5"), label("BOS -7"), label("CHoCH"), label(EVIL), label("")],
        lines=[
            draw.line(1, 5.0, "#ff0000"),
            draw.line(2, 6.0, "#ff0000"),
            draw.line(1, 1, "#0000ff"),
        ],
    )
    text = draft(snapshot, "My: 'study'")
    assert text.isascii()
    with pytest.raises(ContractError, match="this is a draft"):
        load(text)
    contract = load(text.replace("meaning: TODO", "meaning: something"))
    assert contract.title == "My: 'study'"
    assert len(contract.elements) == 6
    reading = read(contract, snapshot)
    assert reading.ok, [str(violation) for violation in reading.violations]
    assert sum(len(instances) for instances in reading.state.values()) == 8


def test_a_draft_reads_its_own_chart_whatever_signs_dates_and_prices_stand_on_it():
    words = ["2026-01-02", "5892.25", "-5", "5-3", "▲", "▼", "-", "BOS ▲", "BOS +", "BOS ▼", "1:2"]
    snapshot = picture(
        cells=[draw.cell(row, text, "#101010ff") for row, text in enumerate(words)],
        boxes=[
            draw.box(3, 7.0, 5.0, "#ff0000", text="FVG"),
            draw.box(4, 7.0, 5.0, "#ff0000", text="OB 15m", border_style="dashed"),
            draw.box(5, 7.0, 5.0, "#ff0000"),
        ],
    )
    contract = load(draft(snapshot, "My: 'study'").replace("TODO", "a thing"))
    reading = read(contract, snapshot)
    assert reading.ok, [str(violation) for violation in reading.violations]
    assert len([name for name in contract.elements if name.startswith("box")]) == 3
    assert len([name for name in contract.elements if name.startswith("cell")]) == 10


@in_one_test("count", [MOST_LOOKS, MOST_LOOKS + 1, 300])
def test_many_texts_or_colours_are_told_apart_less_finely(count):
    texts = [label("".join(chr(97 + int(digit)) for digit in str(n))) for n in range(count)]
    lines = [draw.line(n, 5.0, f"#{n:06x}") for n in range(count)]
    snapshot = picture(labels=texts, lines=lines)
    contract = load(draft(snapshot, "My: 'study'").replace("TODO", "a thing"))
    assert len(contract.elements) <= 2 * MOST_LOOKS
    assert read(contract, snapshot).ok


def test_a_study_that_is_not_there_or_empty_is_refused():
    with pytest.raises(Failure, match="no studies are called 'Mine'"):
        draft(picture(), "Mine")
    with pytest.raises(Failure, match="drew nothing"):
        draft(picture(), "My: 'study'")


def test_the_command_writes_a_file_that_check_refuses(capsys, tmp_path):
    drawn, mine = tmp_path / "drawn.json", tmp_path / "mine.yaml"
    drawn.write_text(picture(labels=[label("BOS")]).dumps())
    arguments = ["contract", "draft", str(drawn), "--study", "My: 'study'", "-o", str(mine)]
    assert main(arguments) == DONE
    assert main(["contract", "check", str(mine)]) == BAD_INPUT
    assert "this is a draft (say what the element means)" in capsys.readouterr().err
    assert main(["contract", "draft", str(drawn), "--study", "Other"]) == BAD_INPUT


@in_one_test(("title", "name"), [("OB AI", "my_ob_ai"), ("Levels", "levels")])
def test_a_draft_has_a_name_under_which_it_can_be_registered(title, name):
    snapshot = Snapshot(draw.snapshot(draw.study(title, labels=[label("x")])))
    assert f"\ncontract: {name}\n" in draft(snapshot, title)
