"""What the page takes from others: named by version, as committed, with its licences."""

import hashlib
import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
VENDOR = files("chartpact.server") / "static" / "vendor"
LOCK = json.loads((ROOT / "web" / "package-lock.json").read_text("utf-8"))["packages"]
BUNDLES = {
    "lightweight-charts": "node_modules/lightweight-charts",
    "codemirror": "node_modules/@codemirror/view",
}


def checksums() -> dict[str, str]:
    lines = (VENDOR / "SHA256SUMS").read_text("utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def test_every_bundle_is_the_one_that_was_built():
    known = checksums()
    assert {file.name for file in VENDOR.iterdir()} == {*known, "SHA256SUMS"}
    for name, digest in known.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest, name


def test_a_bundle_has_the_version_of_the_lock_file_in_its_name():
    names = {f"{name}-{LOCK[package]['version']}.js" for name, package in BUNDLES.items()}
    assert {*names, "chart-app.js"} == {name for name in checksums() if name.endswith(".js")}


def test_every_bundled_package_has_its_licence_in_the_notices():
    notices = (VENDOR / "THIRD_PARTY_NOTICES.txt").read_text("utf-8")
    for name in (name for name in checksums() if name.endswith(".js") and name != "chart-app.js"):
        banner = (VENDOR / name).read_text("utf-8").partition(";")[0].removeprefix("/* ")
        for package in banner.split(", "):
            assert f"== {package.rpartition(' (')[0]} ==" in notices


def test_the_page_names_the_bundles_that_are_there():
    static = files("chartpact.server") / "static"
    scripts = [file.read_text("utf-8") for file in (static / "js").iterdir()]
    text = "".join([*scripts, (static / "workbench.html").read_text("utf-8")])
    for name in (name for name in checksums() if name.startswith("lightweight")):
        assert f"vendor/{name}" in text


@pytest.mark.slow
def test_the_lock_file_builds_the_same_bytes_again(tmp_path):
    if shutil.which("node") is None or not (ROOT / "web" / "node_modules").exists():
        pytest.skip("the bundles were not built again: make web installs what that needs")
    out = tmp_path / "vendor"
    build = ["node", str(ROOT / "web" / "build.mjs"), str(out)]
    subprocess.run(build, check=True, capture_output=True)
    for file in VENDOR.iterdir():
        assert (out / file.name).read_bytes() == file.read_bytes(), file.name
