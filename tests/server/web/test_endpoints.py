"""What the server offers to the page, asked for without a browser."""

import httpx2
import numpy as np
import pytest
from tests.service import PLAIN

from chartpact.sandbox import wire
from chartpact.server import workbench_page


@pytest.fixture(scope="module")
def http(site):
    with httpx2.Client(base_url=site, timeout=600, verify=PLAIN) as client:
        yield client


def unpack(body: bytes):
    head, columns = wire.decode(body)
    return head, lambda place: columns[place["$"]]


def test_a_series_has_prices_placing_legends_and_each_column_once(http):
    ask = {"symbol": "sample:es-5m", "indicators": ["bbands", "rsi:period=7"]}
    reply = http.post("/api/v1/charts/series", json=ask)
    head, column = unpack(reply.content)
    assert head["symbol"] == "ES"
    assert head["count"] == len(column(head["bars"]["time"])) == 2760
    bands, rsi = head["indicators"]
    assert bands["overlay"] and not rsi["overlay"]
    assert rsi["legend"] == "RSI 7"
    lines = {plot["title"]: plot for plot in bands["scene"]["plots"] if plot["kind"] == "line"}
    [fill] = [plot for plot in bands["scene"]["plots"] if plot["kind"] == "fill"]
    assert fill["a"] in [line["values"] for line in lines.values()]  # stored once
    assert np.isfinite(column(head["bars"]["close"])).all()


def test_a_part_of_a_series_is_what_the_whole_has_there(http):
    ask = {"symbol": "sample:es-5m", "indicators": ["cipher_b"]}
    whole, column = unpack(http.post("/api/v1/charts/series", json=ask).content)
    first, last = 100, 400
    reply = http.post("/api/v1/charts/series", json=ask | {"first": first, "last": last})
    part, piece = unpack(reply.content)
    assert part["first"] == first
    plots = zip(
        whole["indicators"][0]["scene"]["plots"], part["indicators"][0]["plots"], strict=True
    )
    seen = 0
    for plot, cut in plots:
        for name, place in cut.items():
            if "$" in place:
                start = first - whole["first"]
                np.testing.assert_array_equal(column(plot[name])[start:][:300], piece(place))
                seen += 1
    assert seen > 5


def test_a_draft_is_drawn_and_kept_nowhere(http):
    source = (
        "PARAMS = []\nMETA = {'title': 'Draft', 'overlay': True}\n"
        "def compute(ohlcv, params, chart):\n    chart.line(ohlcv.close * 2, title='Twice')\n"
    )
    ask = {"symbol": "sample:es-5m", "indicators": ["mine"]}
    drafts = [{"name": "mine", "source": source}]
    head, column = unpack(http.post("/api/v1/charts/series", json=ask | {"drafts": drafts}).content)
    [plot] = head["indicators"][0]["scene"]["plots"]
    assert column(plot["values"])[-1] == 2 * column(head["bars"]["close"])[-1]
    assert head["indicators"][0]["steps"] > 0
    assert head["indicators"][0]["cpu_ms"] > 0
    assert http.get("/api/v1/my/indicators").json() == {"indicators": []}
    head, _ = unpack(http.post("/api/v1/charts/series", json=ask).content)
    assert head["indicators"][0]["error"]["kind"] == "name"
    broken = [{"name": "mine", "source": "x = ("}]
    head, _ = unpack(http.post("/api/v1/charts/series", json=ask | {"drafts": broken}).content)
    assert head["indicators"][0]["error"]["kind"] == "syntax"


def test_the_reference_and_the_thumbnails_know_every_namespace_and_indicator(http):
    entries = http.get("/api/v1/reference").json()["entries"]
    spaces = {entry["name"].partition(".")[0] for entry in entries}
    assert spaces == {"ta", "chart", "ohlcv", "math", "color", "text", "payload"}
    assert all(entry["signature"] and entry["doc"] for entry in entries)
    small = http.get("/api/v1/thumbnails").json()["thumbnails"]
    assert {"rsi", "cipher_b", "volume_profile", "ob_ai"} <= set(small)
    assert all(stroke["path"].startswith("M") for strokes in small.values() for stroke in strokes)


def test_a_layout_is_kept_and_has_a_limit(http):
    assert http.get("/api/v1/my/layout").json() == {"layout": None}
    layout = {"chart": {"symbol": "sample:es-5m"}}
    assert http.put("/api/v1/my/layout", json={"layout": layout}).json() == {"ok": True}
    assert http.get("/api/v1/my/layout").json() == {"layout": layout}
    refused = http.put("/api/v1/my/layout", json={"layout": {"x": "y" * 70_000}})
    assert refused.status_code == 413
    half = {"content": rb'{"layout": {"x": ["\ud800"]}}'}
    refused = http.put("/api/v1/my/layout", headers={"Content-Type": "application/json"}, **half)
    assert refused.status_code == 422
    assert "half of a surrogate pair" in refused.json()["message"]
    assert http.get("/api/v1/my/layout").json() == {"layout": layout}


def test_a_picture_has_an_address_that_only_the_page_itself_may_show(http):
    query = {"symbol": "sample:es-5m", "i": ["rsi:period=7", "vwap"], "width": 400, "height": 300}
    for kind, mime in (("png", "image/png"), ("svg", "image/svg+xml")):
        reply = http.get(f"/chart.{kind}", params=query)
        assert reply.headers["content-type"] == mime
        assert reply.headers["cross-origin-resource-policy"] == "same-origin"
        assert reply.headers["cache-control"] == "private, no-store"
    for site, status in (("same-origin", 200), ("none", 200), ("cross-site", 403)):
        reply = http.get("/chart.png", params=query, headers={"Sec-Fetch-Site": site})
        assert reply.status_code == status
    assert http.get("/chart.png", params={"symbol": "/etc/passwd"}).status_code == 422


def test_a_picture_has_the_time_zone_of_its_address(http):
    query = {"symbol": "sample:es-5m", "width": 400, "height": 300}
    for zone, said in (({}, "UTC"), ({"tz": "America/New_York"}, "New York")):
        assert f">{said}</text>" in http.get("/chart.svg", params={**query, **zone}).text
    for unknown in ("/etc/passwd", "Europe/Berlim", ""):
        refused = http.get("/chart.png", params={**query, "tz": unknown})
        assert refused.status_code == 422
        assert "is no time zone: use an IANA name" in refused.json()["message"]


def test_files_of_the_page_last_by_their_names_and_nothing_else_is_served(http):
    policy = "content-security-policy"
    assert "trusted-types 'none'" in http.get("/").headers[policy] == workbench_page.POLICY
    bundle = http.get("/static/vendor/lightweight-charts-5.2.1.js")
    assert bundle.headers["cache-control"] == workbench_page.FOREVER
    script = http.get("/static/js/main.js")
    assert script.headers["cache-control"] == workbench_page.CHECKED
    tag = {"If-None-Match": script.headers["etag"]}
    assert http.get("/static/js/main.js", headers=tag).status_code == 304
    edition = workbench_page.edition()
    assert f'"/static/{edition}/js/main.js"' in http.get("/").text
    lasting = http.get(f"/static/{edition}/js/main.js")
    assert lasting.headers["cache-control"] == workbench_page.FOREVER
    assert lasting.content == script.content
    earlier = http.get(
        "/static/0123456789ab/js/main.js"
    )  # a page that is open while this is renewed
    assert earlier.headers["cache-control"] == workbench_page.CHECKED
    for path in ("js/../home.html/x", "../app.py", "js/", "vendor/SHA256SUMS", "%2e%2e/app.py"):
        assert http.get(f"/static/{path}").status_code == 404


def test_a_file_of_bars_is_read_without_being_kept(http):
    csv = "time,open,high,low,close\n1700000000,1,2,0.5,1.5\n1700003600,1.5,2,1,1.8\n"
    read = http.post("/api/v1/my/bars/some/check", content=csv).json()
    assert (read["bars"], read["timeframe"]) == (2, "1h")
    assert http.get("/api/v1/my/bars").json() == {"bars": []}


def test_the_page_and_its_answers_are_compressed_and_what_has_secrets_is_not(http):
    wants = {"Accept-Encoding": "gzip"}
    ask = {"symbol": "sample:es-5m", "indicators": ["rsi"]}
    for reply in (
        http.get("/", headers=wants),
        http.get("/static/js/chartview.js", headers=wants),
        http.get("/api/v1/indicators", headers=wants),
        http.post("/api/v1/charts/series", json=ask, headers=wants),
    ):
        assert reply.headers["content-encoding"] == "gzip"
        assert "Accept-Encoding" in reply.headers["vary"]
    assert "content-encoding" not in http.get("/connect", headers=wants).headers
    plain = http.get("/", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers


def test_watchlists_are_kept_by_name_and_a_wrong_one_is_explained(http):
    address = "/api/v1/my/watchlists"
    put = http.put(f"{address}/mine", json={"symbols": ["sample:es-5m", "sample:nq-5m"]})
    assert put.json()["symbols"] == ["sample:es-5m", "sample:nq-5m"]
    assert [one["name"] for one in http.get(address).json()["watchlists"]] == ["mine"]
    refused = http.put(f"{address}/My List", json={"symbols": []})
    assert refused.status_code in (404, 422)
    assert "no name of a watchlist" in refused.json()["message"]
    assert http.put(f"{address}/mine", json={"symbols": ["a"] * 201}).status_code == 422
    assert http.delete(f"{address}/mine").json() == {"ok": True}
    assert http.get(address).json() == {"watchlists": []}
