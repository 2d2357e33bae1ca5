"""One server over HTTP: requests, waiting when it is busy, and its problems as errors."""

import ipaddress
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError

from compass.client.problems import error_of, no_server, token_problem, unreachable
from compass.domain.api import Problem
from compass.domain.errors import BadInput, CompassError, EnvironmentProblem

API = "/api/v1"
_CONNECT = 10.0  # seconds
_HEARTBEATS = 60.0  # seconds; a server that streams says something every 15
_BUSY = (429, 503)
_GATEWAY = (502, 504)  # of a proxy in front of a server
_GRACE = 5.0  # seconds in which a server tells which job was begun, after Ctrl-C
_ASIDE = 1.0  # seconds to wait where a busy server does not say how long
_PART = 500  # entries of a list that are asked for at once
_HOST, _LABEL = 253, 63  # characters of a name, and of a part of it, that the network knows
_SAFE = ("GET", "PUT", "DELETE")  # sent twice, they do what they do once

Params = Mapping[str, Any]


def address(url: str) -> str:
    """The address of a server in one spelling, under which its keys are kept."""
    parts = urlsplit(url.strip())
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme.lower() not in {"http", "https"} or not parts.hostname or port == -1:
        raise BadInput(f"'{url[:80]}' is not the address of a server", hint=_example(url))
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadInput(
            "the address of a server has no name, password or question in it", hint=_example("")
        )
    if len(parts.hostname) > _HOST or max(map(len, parts.hostname.split("."))) > _LABEL:
        raise BadInput(f"'{url[:80]}' is too long for the address of a server", hint=_example(""))
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    shown = "" if port is None else f":{port}"
    return f"{parts.scheme.lower()}://{host}{shown}{parts.path.rstrip('/')}"


def _example(url: str) -> str:
    bare = re.fullmatch(r"[\w.-]+(:[0-9]+)?", url.strip())
    return (
        f"write http://{url.strip()}"
        if bare and len(url) <= _HOST
        else "write it as http://127.0.0.1:8765"
    )


class ServerConnection:
    """Sends requests to one server.

    A server that is busy is tried again when it says, for `patience` seconds in all; a connection
    that breaks is tried once more where doing so twice does no harm.
    """

    def __init__(self, url: str, token: str | None, *, patience: float, timeout: float) -> None:
        self.url = address(url)
        self.token = token
        self.patience = patience
        if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token):
            raise token_problem(given=True)
        headers = {"User-Agent": "compass", "Accept": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(timeout, connect=_CONNECT),
            trust_env=not _is_here(self.url),  # no proxy of the site on the way to oneself
        )
        weakref.finalize(self, self._http.close)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def enter(self, key: str | None) -> None:
        """Send the key of this workspace with every request from now on."""
        self._http.headers.pop("Compass-Workspace", None)
        if key is not None:
            self._http.headers["Compass-Workspace"] = key

    def call(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: Any = None,
        content: Any = None,
        again: bool | None = None,
        begins: bool = False,
    ) -> Any:
        """Send a request and return the JSON of the reply; problems are raised.

        `again`: whether it may be sent twice when a connection breaks. `begins`: whether it may
        begin a job, which is ended when the request is interrupted.
        """
        twice = method in _SAFE if again is None else again
        given = {"params": params, "json": body, "content": content}
        response = self._checked(self._sent(method, path, given, twice, begins))
        return self._json(response) if response.content else None

    def entries(self, path: str) -> Iterator[Any]:
        """The entries of a list, part by part; problems are raised."""
        params: dict[str, Any] = {"count": _PART}
        while True:
            response = self._checked(self._sent("GET", path, {"params": params}, True, False))
            found = self._json(response)
            if not isinstance(found, list):
                raise no_server(self.url)
            yield from found
            after = response.headers.get("compass-next")
            if not found or after in {None, params.get("after")}:
                return  # also of a server that would go round in circles
            params = {"count": _PART, "after": after}

    def try_call(self, method: str, path: str) -> tuple[str, Any]:
        """Send a request; the code of its problem (empty: none), and the JSON of the reply."""
        response = self._sent(method, path, {}, True, False)
        if response.is_success:
            return "", self._json(response)
        return self._problem(response).code, None

    def _sent(
        self, method: str, path: str, given: dict[str, Any], twice: bool, begins: bool
    ) -> httpx.Response:
        ends = time.monotonic() + self.patience
        send = partial(self._http.request, method, self.url + API + path, **given)
        while True:
            if given.get("content") is not None:
                given["content"].seek(0)
            try:
                response = self._whole(send) if begins else send()
            except ValueError:
                raise BadInput(
                    "a number in the question is not finite", hint="leave out what is not known"
                ) from None
            except httpx.TransportError as error:
                broken = not isinstance(error, httpx.ConnectError | httpx.TimeoutException)
                if broken and twice:
                    twice = False
                    continue
                raise unreachable(self.url, error) from None
            if response.status_code not in _BUSY:
                return response
            pause = _pause(response)
            if time.monotonic() + pause > ends:
                return response
            time.sleep(pause)

    def _whole(self, send: Callable[[], httpx.Response]) -> httpx.Response:
        """Send a request that may begin a job; if Ctrl-C comes in between, the job is ended."""
        box: SimpleQueue[httpx.Response | Exception] = SimpleQueue()

        def sending() -> None:
            try:
                box.put(send())
            except Exception as error:
                box.put(error)

        # In a thread: an interrupted request would not tell which job it began.
        thread = threading.Thread(target=sending, daemon=True)
        try:
            thread.start()  # Ctrl-C may come here already, when the request is on its way
            found = box.get()
        except BaseException:
            self._call_off(box)
            raise
        if isinstance(found, Exception):
            raise found
        return found

    def _call_off(self, box: "SimpleQueue[httpx.Response | Exception]") -> None:
        with suppress(Empty, CompassError):
            found = box.get(timeout=_GRACE)
            reply = None if isinstance(found, Exception) else self._json(found)
            if isinstance(reply, dict) and "state" in reply:
                self.call("DELETE", f"/jobs/{reply['id']}")

    @contextmanager
    def lines(self, path: str) -> Iterator[Iterator[str]]:
        """The lines of a stream, as they come."""
        limits = httpx.Timeout(_HEARTBEATS, connect=_CONNECT)
        headers = {"Accept": "text/event-stream"}
        url = self.url + API + path
        with self._http.stream("GET", url, headers=headers, timeout=limits) as response:
            if not response.is_success:
                response.read()
            yield _lines(self._checked(response).iter_text())

    def _checked(self, response: httpx.Response) -> httpx.Response:
        """A response; the error that a failed one describes is raised."""
        if response.is_success:
            return response
        problem = self._problem(response)
        if problem.code == "no-token":
            raise token_problem(given=self.token is not None)
        raise error_of(problem)

    def _problem(self, response: httpx.Response) -> Problem:
        if response.status_code in _GATEWAY:
            raise EnvironmentProblem(
                f"nothing answers behind {self.url} ({response.status_code})",
                hint="the server may be starting: try again soon, or tell its operator",
            )
        if response.is_redirect:
            raise no_server(self.url, "it sends elsewhere")
        try:
            return Problem.model_validate(self._json(response), extra="ignore")
        except ValidationError:
            raise no_server(self.url, f"it answers {response.status_code}") from None

    def _json(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except (ValueError, RecursionError):
            raise no_server(self.url) from None


def _lines(parts: Iterator[str]) -> Iterator[str]:
    """Lines as streams of events have them: text in JSON may hold what else ends a line."""
    begun = ""
    for part in parts:
        *whole, begun = (begun + part).split("\n")
        yield from whole


def _pause(response: httpx.Response) -> float:
    seconds = response.headers.get("retry-after", "")
    return float(seconds) if re.fullmatch("[0-9]{1,9}", seconds) else _ASIDE


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
