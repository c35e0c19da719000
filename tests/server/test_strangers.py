"""What is open to all costs little, whoever asks for it and however often."""

import threading
from concurrent.futures import ThreadPoolExecutor

from tests.server.conftest import Running

from chartpact.server import app, docs_pages


def test_a_search_looks_for_each_word_once_and_for_six_at_most(monkeypatch):
    patterns: list[str] = []
    make = docs_pages._pattern
    monkeypatch.setattr(docs_pages, "_pattern", lambda word: patterns.append(word) or make(word))
    docs_pages.search("once " + "e " * 40)
    assert patterns == ["once", "e"]
    docs_pages.search("the words of a search are counted")
    assert patterns[2:] == ["the", "words", "of", "a", "search", "are"]


def test_a_search_that_was_made_before_is_remembered(monkeypatch):
    first = docs_pages.search("a remembered  search").body
    monkeypatch.setattr(docs_pages, "_index", lambda: 1 / 0)
    assert docs_pages.search(" a remembered search").body == first


def test_strangers_search_one_at_a_time_and_so_often_a_minute(here: Running, monkeypatch):
    searching, most_at_once, search = threading.Semaphore(1), [], docs_pages.search

    def watched(query):
        most_at_once.append(searching.acquire(blocking=False))
        try:
            return search(query)
        finally:
            searching.release()

    monkeypatch.setattr(docs_pages, "search", watched)

    def ask(number: int):
        return here.ask("/docs", params={"q": f"word {number} of the"})

    with ThreadPoolExecutor(10) as strangers:
        answers = list(strangers.map(ask, range(app.SEARCHES_PER_MINUTE + 20)))
    assert all(most_at_once)
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert all(1 <= int(answer.headers["retry-after"]) <= 60 for answer in refused)
    assert here.ask("/docs/web").status_code == 200


def test_the_openapi_document_is_written_once(here: Running, monkeypatch):
    first = here.ask("/openapi.json")
    assert first.headers["content-type"] == "application/json"
    monkeypatch.setattr("json.dumps", lambda *_, **__: 1 / 0)
    monkeypatch.setattr("json.JSONEncoder.encode", lambda *_, **__: 1 / 0)
    again = here.ask("/openapi.json")
    monkeypatch.undo()
    assert again.status_code == 200
    assert again.json() == first.json()
