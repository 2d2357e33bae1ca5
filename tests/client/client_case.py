"""A small table and the same study for both sides, and a server that says what it is told to."""

import csv
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import compass as cp
from conftest import cluster_columns

ASK = "Recommend X = {gpus: ?} to achieve Y = {runtime: minimize} where C = {app: wrf}"
CHANGE = "Reconfigure X = {gpus: ?, nodes: ?} to achieve Y = {runtime: reduce by 10%} from row 3"
ABOUT = {
    "version": "9.9.9",
    "limits": {"upload_bytes": 1000},
    "uploads": ["csv"],
    "paths": False,
    "language_model": False,
    "caution": 0.5,
    "unsupported": 1.0,
}
# One outcome and few rows: these tests are about what travels, not about how well it is learnt.
STUDY = cp.Study.model_validate(
    {
        "columns": {
            **{name: {"role": "knob"} for name in ("nodes", "cores", "gpus")},
            **{name: {"role": "context"} for name in ("app", "size")},
            "runtime": {"role": "outcome", "unit": "s"},
        },
        "drop": ["power", "state"],
        "rules": ["cores <= 32 * nodes"],
    }
)


def table(path: Path, rows: int = 120, seed: int = 3) -> Path:
    """A small table of jobs as a CSV file."""
    columns = cluster_columns(rows, seed=seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


Reply = tuple[int, dict[str, str], str]


@contextmanager
def pretending(reply: Callable[[str, str], Reply]) -> Iterator[str]:
    """Something that answers (method, path) with (status, headers, text); its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            status, headers, text = reply(self.command, self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST = do_DELETE = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        httpd.daemon_threads = True
        serving = threading.Thread(target=httpd.serve_forever, args=(0.01,))
        serving.start()
        try:
            yield f"http://127.0.0.1:{httpd.server_address[1]}"
        finally:
            httpd.shutdown()
            serving.join()


def as_json(value: Any, status: int = 200, **headers: str) -> Reply:
    """A reply that is JSON."""
    return status, {"Content-Type": "application/json", **headers}, json.dumps(value)


def problem(code: str, status: int, error: str = "no", **more: Any) -> Reply:
    """A reply that tells a problem, as a Compass server tells it."""
    headers = {"Retry-After": str(more.pop("after"))} if "after" in more else {}
    return as_json({"error": error, "hint": "do", "code": code, **more}, status, **headers)
