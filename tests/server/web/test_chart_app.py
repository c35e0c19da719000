"""The chart as an MCP App: linked from its tool, one file, alive in a host of its protocol.

The host is a page that shows the app in a sandboxed frame under the policy that the specification
prescribes, and passes its calls to the real server.
"""

import base64
import re

import httpx2
import pytest
from tests.server.web.conftest import PHONE, keep_screen

from chartpact.server import chart_app

pytestmark = pytest.mark.slow

POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; connect-src 'none'"
)
AT_REST_MS = 150  # bars are asked for when the chart has not moved for 100 ms
ASKED = {"symbol": "sample:es-5m", "indicators": ["cipher_b", "rsi:period=7"], "bars": 120}
HOST = """async ({ html, context, asked, result }) => {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.style.cssText = "width:min(900px,100%);height:300px;border:0";
  window.heard = [];
  const send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  window.send = send;
  addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    heard.push(data);
    const { id, method, params } = data;
    if (method === "ui/initialize")
      send({ id, result: { protocolVersion: "2026-01-26", hostInfo: { name: "host", version: "1" },
        hostCapabilities: { serverTools: {} }, hostContext: context } });
    else if (method === "ui/notifications/initialized") {
      send({ method: "ui/notifications/tool-input", params: { arguments: asked } });
      send({ method: "ui/notifications/tool-result", params: result });
    } else if (method === "ui/notifications/size-changed")
      frame.style.height = `${params.height}px`;
    else if (method === "tools/call") {
      const answer = await callServer(params);
      send(answer.error ? { id, error: answer.error } : { id, result: answer.result });
    }
  });
  frame.srcdoc = html;
  document.body.append(frame);
}"""


def rpc(site, method, **params):
    """A request to the server, as a client of 2025-11-25 makes it."""
    answer = httpx2.post(
        f"{site}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
        headers={
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-11-25",
        },
        timeout=120,
    )
    body = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        body = re.findall(r"^data: (.*)$", body, re.MULTILINE)[-1]
    return httpx2.Response(200, content=body).json()


@pytest.fixture(scope="module")
def app(site):
    """What a host reads from the server: the tool, the app's file, and the tool's answer."""
    tools = {tool["name"]: tool for tool in rpc(site, "tools/list")["result"]["tools"]}
    uri = tools["generate_chart"]["_meta"]["ui"]["resourceUri"]
    [file] = rpc(site, "resources/read", uri=uri)["result"]["contents"]
    result = rpc(site, "tools/call", name="generate_chart", arguments=ASKED)["result"]
    return tools, file, result


def test_the_tool_names_its_app_under_both_keys_and_the_series_are_for_apps_alone(app):
    tools, file, _ = app
    meta = tools["generate_chart"]["_meta"]
    assert meta["ui"]["resourceUri"] == meta["ui/resourceUri"] == file["uri"] == chart_app.URI
    assert tools["get_chart_series"]["_meta"]["ui"]["visibility"] == ["app"]
    assert "visibility" not in meta["ui"]


def test_the_app_is_one_file_that_loads_nothing(app):
    _, file, _ = app
    assert file["mimeType"] == "text/html;profile=mcp-app"
    html = file["text"]
    assert re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=", html) == []
    assert re.search(r"^(?:import|export) ", html, re.MULTILINE) is None
    assert len(re.findall("</script", html)) == 1
    assert len(html) < 400_000


def test_the_models_answer_stays_short_and_has_a_picture_and_words(app):
    _, _, result = app
    assert [piece["type"] for piece in result["content"]] == ["text", "image"]
    assert base64.b64decode(result["content"][1]["data"]).startswith(b"\x89PNG")
    assert len(str(result["structuredContent"])) < 6000
    assert "columns" not in result["structuredContent"]


def open_host(tab, site, app, *, context=None, result=None, answer=None, **options):
    """The app in a host; `answer` takes the server's place."""
    _, file, drawn = app
    page = tab(**options).page
    page.expose_function("callServer", answer or (lambda params: rpc(site, "tools/call", **params)))
    page.set_content("<!doctype html><title>host</title>")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    html = file["text"].replace("<head>", f"<head>{policy}", 1)
    page.evaluate(
        HOST,
        {"html": html, "context": context or {}, "asked": ASKED, "result": result or drawn},
    )
    return page, page.frame_locator("iframe")


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_host_shows_the_chart_itself_in_its_own_theme(site, app, tab, theme):
    page, frame = open_host(tab, site, app, context={"theme": theme, "timeZone": "Europe/London"})
    frame.locator("html[data-ready]").wait_for()
    assert frame.locator("html").get_attribute("data-theme") == theme
    assert "ES · 5m" in frame.locator(".legend").first.inner_text()
    assert frame.locator(".legend", has_text="RSI").count() == 1
    assert frame.locator("#plain").is_hidden()
    page.wait_for_function("() => document.querySelector('iframe').offsetHeight > 500")
    methods = [message.get("method") for message in page.evaluate("() => heard")]
    assert methods[0] == "ui/initialize"
    assert methods.count("tools/call") == 1
    keep_screen(page, f"mcp-app-{theme}")
    page.set_viewport_size(PHONE["viewport"])
    frame.locator("#chart canvas").first.wait_for()
    page.wait_for_function("() => document.querySelector('iframe').offsetWidth < 400")
    keep_screen(page, f"mcp-app-{theme}-phone")


def test_a_drag_to_the_left_edge_loads_earlier_bars_through_the_app_only_tool(site, app, tab):
    page, frame = open_host(tab, site, app)
    frame.locator("html[data-ready]").wait_for()
    frame.locator("#chart").focus()
    calls = "heard.filter((m) => m.method === 'tools/call').length"
    for _ in range(200):  # a key that comes while the chart is laid out moves nothing
        if page.evaluate(calls) >= 2:
            break
        for _ in range(5):
            page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(AT_REST_MS)
    called = [m["params"] for m in page.evaluate("() => heard") if m.get("method") == "tools/call"]
    assert {call["name"] for call in called} == {"get_chart_series"}
    assert called[1]["arguments"]["last"] > called[1]["arguments"]["first"]


def test_a_theme_that_changes_is_followed_and_a_teardown_is_answered(site, app, tab):
    page, frame = open_host(tab, site, app)
    frame.locator("html[data-ready]").wait_for()
    page.evaluate(
        "() => send({ method: 'ui/notifications/host-context-changed',"
        " params: { theme: 'light' } })"
    )
    frame.locator("html[data-theme=light]").wait_for()
    page.evaluate("() => send({ id: 77, method: 'ui/resource-teardown', params: {} })")
    page.wait_for_function("() => heard.some((m) => m.id === 77 && m.result)")


def test_where_the_host_lets_no_tool_be_called_the_picture_and_the_words_are_shown(site, app, tab):
    refuse = {"error": {"code": -32601, "message": "no tools here"}}
    page, frame = open_host(tab, site, app, answer=lambda _: refuse)
    frame.locator("#plain img").wait_for()
    assert "ES" in frame.locator("#plain p").inner_text()
    page.wait_for_function("() => heard.some((m) => m.method === 'tools/call')")
    assert frame.locator("#stage").is_hidden()
    assert frame.locator("#plain img").evaluate("(image) => image.decode().then(() => 1)") == 1


def test_words_of_an_answer_are_text_in_the_app(site, app, tab):
    hostile = "<img src=x onerror=\"document.title='hacked'\">"
    result = {"content": [{"type": "text", "text": hostile}], "isError": True}
    _, frame = open_host(tab, site, app, result=result)
    frame.locator("#plain p", has_text="onerror").wait_for()
    assert frame.locator("#plain img").count() == 0
