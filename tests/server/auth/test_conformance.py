"""The MCP project's scenarios for authorization servers, with a person who consents."""

import json
import os
import socket
import subprocess
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.server.auth.conftest import Browser, Program
from tests.server.test_conformance import ABSENT, NODE, TOOLS

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not NODE.exists(), reason=ABSENT)]
CHECKS = {"authorization-server-metadata-endpoint": 2, "authorization-code-grant": 1}


def test_both_scenarios_of_an_authorization_server_pass(site, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    program = Program(site, redirect_uri=f"http://127.0.0.1:{port}/callback")
    command = [
        *(str(NODE), str(TOOLS / "@modelcontextprotocol" / "conformance/dist/index.js")),
        *("authorization", "--url", site.url, "--client-id", program.client_id),
        *("--resource", f"{site.url}/mcp", "-p", str(port), "-o", str(tmp_path)),
    ]
    environment = {**os.environ, "PATH": f"{NODE.parent}:{os.environ['PATH']}"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as judge:
        shown, query = [], ""
        for line in judge.stdout:
            shown.append(line)
            if line.startswith(f"{site.url}/authorize?"):
                query = urlsplit(line.strip()).query
            elif line.startswith("Callback server started"):
                with Browser(site.url) as browser:
                    browser.sign_in("ann")
                    back = browser.consent(query)
                httpx2.get(back.headers["location"], timeout=120)
    assert judge.returncode == 0, "".join(shown)
    outcomes = {
        scenario: [check["status"] for check in json.loads(file.read_text())]
        for file in tmp_path.glob("*/checks.json")
        for scenario in CHECKS
        if scenario in file.parent.name
    }
    expected = {scenario: ["SUCCESS"] * count for scenario, count in CHECKS.items()}
    assert outcomes == expected, "".join(shown)
