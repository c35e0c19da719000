"""What the README tells to type can be typed, and what it tells to copy can be read."""

import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
SERVER = (ROOT / "docs" / "server.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_every_configuration_of_a_host_can_be_read_and_names_the_server():
    documents = [json.loads(each) for each in blocks(README + SERVER, "json")]
    documents += [tomllib.loads(each) for each in blocks(README + SERVER, "toml")]
    assert len(documents) >= 8
    for each in documents:
        [servers] = each.values()
        [(name, server)] = servers.items()
        assert name == "chartpact"
        address = server.get("url") or server.get("httpUrl")
        if address is None:
            assert server["command"].endswith("chartpact")
            assert server["args"] == ["mcp"]
        else:
            assert address == "http://127.0.0.1:8321/mcp"


def test_every_host_has_its_own_title_before_its_configuration():
    for host in ("Claude Code", "Claude Desktop", "Cursor", "VS Code"):
        assert re.search(rf"^\*\*{host}\*\*", README, re.M), host
        assert re.search(rf"^\*\*{host}\*\*", SERVER, re.M), host


def test_the_first_screen_has_the_tagline_a_picture_and_the_two_commands():
    first_screen = README.partition("\n## ")[0]
    assert len(first_screen.splitlines()) < 25
    tagline, picture, commands = (
        first_screen.index(part)
        for part in (
            "**Indicators you can write, and charts a program can trust.**",
            "<img",
            "make s",
        )
    )
    assert tagline < picture < commands
    assert "make test" in first_screen
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', first_screen)
    assert len(pictures) == 2
    assert all((ROOT / path).exists() for path in pictures)
    assert README.partition("\n## ")[2].startswith("Why\n")


def test_the_first_commands_are_targets_of_the_makefile():
    first = blocks(README, "sh")[0].split()
    assert first[:2] == ["make", "serve"]
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", blocks(README, "sh")[0], re.M):
        assert re.search(rf"^{target}:", makefile, re.M)
