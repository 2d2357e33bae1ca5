"""The page: the files that a browser loads, built from web/ and shipped with the package."""

from html import escape
from mimetypes import guess_type
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.datastructures import Headers
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

BUILT = Path(__file__).parent / "page"
_ASSETS = "/assets"
# Names of these files tell their content, so a browser never has to ask again.
_FOREVER = "public, max-age=31536000, immutable"
_MISSING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Compass</title>
<body><h1>Compass is running, without its page</h1>
<p>This installation was made from source, where <code>make page</code> builds the page; that
needs Node.js 20.19 or later. A wheel of Compass has the page in it.</p>
<p>Everything else works: <code>compass ask --server {address} ...</code>,
<code>compass chat --server {address} ...</code>, and <a href="openapi.json">HTTP</a>.</p>
"""


class _Assets(StaticFiles):
    async def check_config(self) -> None:
        """Nothing: the page may be built, or built anew, while the server runs."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file of the page, to be kept by browsers; compressed where they take it."""
        packed = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        if packed and self.lookup_path(f"{path}.gz")[1] is not None:
            found = await super().get_response(f"{path}.gz", scope)
            found.headers["Content-Encoding"] = "gzip"
            found.headers["Content-Type"] = guess_type(path)[0] or "application/octet-stream"
        else:
            found = await super().get_response(path, scope)
        found.headers["Cache-Control"] = _FOREVER
        found.headers["Vary"] = "Accept-Encoding"
        return found


def built() -> bool:
    """Whether this installation has the page."""
    return (BUILT / "index.html").is_file()


def is_open(path: str) -> bool:
    """Whether a path is a file of the page, which is no secret: the page asks for the token."""
    return path == "/" or path.startswith(f"{_ASSETS}/")


def add_page(app: FastAPI) -> None:
    """Serve the page at the root, or say how to get it."""

    @app.get("/", include_in_schema=False)
    async def index(request: Request) -> Response:
        if not built():
            address = escape(str(request.base_url).rstrip("/"))
            return HTMLResponse(_MISSING.format(address=address), 404)
        # Asked for again at every visit: it names the files of this version.
        return FileResponse(BUILT / "index.html", headers={"Cache-Control": "no-cache"})

    app.mount(_ASSETS, _Assets(directory=BUILT / "assets", check_dir=False))
