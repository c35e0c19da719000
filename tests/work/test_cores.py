"""How many processors there are for this process: what is there, and what a container was given."""

import os
from pathlib import Path

import pytest

from chartpact.work import cores


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """One of 64 processors, whose control groups are folders that a test can fill."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    monkeypatch.setattr(cores, "GROUPS", tmp_path)
    monkeypatch.setattr(cores, "OWN_GROUPS", tmp_path / "own")
    return tmp_path


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize(
    ("own", "limits", "found"),
    [
        ("0::/\n", {}, 64),
        ("0::/\n", {"cpu.max": "max 100000\n"}, 64),
        ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "1000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "9900000 100000\n"}, 64),
        ("0::/\n", {"cpu.max": "nonsense\n"}, 64),
        ("0::/a/b:c\n", {"a/b:c/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n"}, 3),
        ("0::/a/b\n", {"a/b/cpu.max": "400000 100000\n", "a/cpu.max": "800000 100000\n"}, 4),
        ("0::/gone\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/a\n", {"b/cpu.max": "100000 100000\n"}, 64),
    ],
)
def test_a_containers_share_counts_whichever_group_it_was_given_to(
    host: Path, own: str, limits: dict[str, str], found: int
) -> None:
    write(host / "own", own)
    for name, text in limits.items():
        write(host / name, text)
    assert cores.count_cores() == found


@pytest.mark.parametrize(("quota", "found"), [("-1\n", 64), ("250000\n", 3)])
def test_the_first_version_of_control_groups_is_understood_too(
    host: Path, quota: str, found: int
) -> None:
    write(host / "own", "5:memory:/x\n4:cpu,cpuacct:/docker/1f\n0::/\n")
    write(host / "cpu,cpuacct" / "cpu.cfs_quota_us", quota)
    write(host / "cpu,cpuacct" / "cpu.cfs_period_us", "100000\n")
    assert cores.count_cores() == found


def test_where_nobody_tells_of_groups_what_is_there_counts(host: Path) -> None:
    assert not (host / "own").exists()
    assert cores.count_cores() == 64


def test_where_nobody_tells_anything_there_is_one(
    host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert host.exists()
    monkeypatch.delattr(os, "sched_getaffinity")
    assert cores.count_cores() == 1
