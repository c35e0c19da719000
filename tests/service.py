"""A local HTTP server that answers as a test tells it to, and TLS for those who need none."""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

# A client of plain HTTP: with the certificates of the system it would take 20 ms longer to make.
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class Service:
    """A local HTTP server: `answers` maps a path to what it says, a function of the query."""

    def __init__(self) -> None:
        self.answers: dict[str, object] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = {key: values[0] for key, values in parse_qs(parts.query).items()}
                service.asked.append((parts.path, query))
                answer = service.answers.get(parts.path, (404, {"msg": "no such path"}))
                if callable(answer):
                    answer = answer(query)
                status, body = answer if isinstance(answer, tuple) else (200, answer)
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # clients may hang up
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
