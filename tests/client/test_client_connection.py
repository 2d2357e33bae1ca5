"""What can happen on the way to a server, and that each is told in words."""

import re
import signal
import socket
import threading
import time
from typing import Any

import pytest
from client_case import ABOUT, Reply, as_json, pretending, problem
from hypothesis import given
from hypothesis import strategies as st

import compass as cp
from compass.client.connection import ServerConnection, address
from compass.client.jobs import events
from compass.client.problems import error_of
from compass.domain.api import Problem
from compass.domain.errors import CODES, BadInput, ConflictingRules, EnvironmentProblem, QuerySyntax
from property_examples import examples

KEY = "0" * 16 + ".secret"


@pytest.fixture(autouse=True)
def home(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("COMPASS_TOKEN", raising=False)


def compass_says(reply: Any) -> Any:
    """A server that lets everybody in and answers everything else in its own way."""

    def answer(method: str, path: str) -> Reply:
        if path == "/api/v1/about":
            return as_json(ABOUT)
        if path == "/api/v1/workspaces/mine":
            return as_json({"id": "0" * 16, "created": "2026-01-01T00:00:00Z", "bytes": 0})
        if path == "/api/v1/workspaces":
            return as_json({"key": KEY}, 201)
        found: Reply = reply(method, path)
        return found

    return answer


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(EnvironmentProblem, match=r"cannot reach .*: connection refused") as error:
        cp.connect(f"http://127.0.0.1:{port}")
    assert "compass serve" in error.value.hint


def test_nobody_of_that_name() -> None:
    with pytest.raises(EnvironmentProblem, match=r"cannot reach http://nowhere\.invalid"):
        cp.connect("http://nowhere.invalid")


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ((200, {}, "<html>Hello</html>"), "is not a Compass server"),
        (as_json(["another", "service"]), "is not a Compass server"),
        (as_json({"detail": "Not Found"}, 404), "is not a Compass server: it answers 404"),
        ((302, {"Location": "http://127.0.0.1:1/"}, ""), "it sends elsewhere"),
        ((502, {}, "<html>Bad Gateway</html>"), "nothing answers behind"),
    ],
)
def test_something_else_answers(reply: Reply, why: str) -> None:
    with pretending(lambda *_: reply) as url:
        with pytest.raises(EnvironmentProblem, match=re.escape(why)) as error:
            cp.connect(url)
        assert error.value.hint


def test_what_does_not_speak_http_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            for _ in range(2):  # it is tried twice
                caller, _address = listening.accept()
                with caller:
                    caller.recv(1000)
                    caller.sendall(b"SSH-2.0-OpenSSH\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(EnvironmentProblem, match="is not a Compass server"):
            cp.connect(f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread.join()


@pytest.mark.parametrize("given", [None, "not-the-token"])
def test_a_missing_and_a_wrong_token_are_told_apart(given: str | None) -> None:
    words = "needs a token" if given is None else "does not accept this token"
    with (
        pretending(lambda *_: problem("no-token", 401)) as url,
        pytest.raises(BadInput, match=words) as error,
    ):
        cp.connect(url, given)
    assert "not-the-token" not in str(error.value)


def test_a_token_with_signs_that_no_header_takes() -> None:
    with pytest.raises(BadInput, match="does not accept this token"):
        cp.connect("http://127.0.0.1:1", "two\r\nlines")


def test_a_busy_server_is_tried_again_when_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("compass.client.connection.time.sleep", pauses.append)
    replies = iter([problem("busy", 503, after=7), problem("too-many-requests", 429, after=2)])

    def reply(_: str, __: str) -> Reply:
        return next(replies, as_json([]))

    with pretending(compass_says(reply)) as url:
        assert cp.connect(url).datasets() == []
    assert pauses == [7, 2]


def test_a_server_that_stays_busy_is_given_up() -> None:
    asked = []

    def reply(_: str, path: str) -> Reply:
        asked.append(path)
        return problem("busy", 503, "the server has more work than it may keep waiting", after=60)

    with (
        pretending(compass_says(reply)) as url,
        pytest.raises(EnvironmentProblem, match="more work than it may keep waiting"),
    ):
        cp.connect(url, patience=1).datasets()
    assert len(asked) == 1  # a minute is more than there is patience for


def test_a_server_that_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with pytest.raises(EnvironmentProblem, match="took too long to answer"):
            cp.connect(url, timeout=0.2)


def test_another_version_that_says_other_things() -> None:
    with (
        pretending(compass_says(lambda *_: as_json([{"id": 7}]))) as url,
        pytest.raises(EnvironmentProblem, match="does not understand") as error,
    ):
        cp.connect(url).datasets()
    assert "install the version of the server" in error.value.hint


def test_fields_of_a_later_version_are_left_alone() -> None:
    one = "1" * 16
    known = {"id": one, "name": "a", "created": "2026-01-01T00:00:00Z", "ready": True, "new": 1}

    def reply(_: str, path: str) -> Reply:
        if path == f"/api/v1/datasets/{one}":
            return as_json(known | {"study": {"drop": ["b"], "also": 2}})
        return as_json([known])

    with pretending(compass_says(reply)) as url:
        (found,) = cp.connect(url).datasets()
        assert (found.name, found.study.drop) == ("a", ("b",))


def test_a_number_that_json_does_not_have() -> None:
    with (
        pretending(compass_says(lambda *_: as_json({}))) as url,
        pytest.raises(BadInput, match="not finite"),
    ):
        cp.connect(url).connection.call("POST", "/x", body={"run": {"nodes": float("nan")}})


def test_a_proxy_of_the_site_is_not_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with pretending(compass_says(lambda *_: as_json([]))) as url:
        assert cp.connect(url).version == "9.9.9"


@pytest.mark.parametrize("code", [*CODES])
def test_every_cause_comes_back_as_its_class(code: str) -> None:
    told = Problem(error="what", hint="do", code=code, text="X = {a ?}", column=7, rules=("a < b",))
    error = error_of(told)
    assert type(error) is CODES[code]
    assert (error.message, error.hint) == ("what", "do")
    if isinstance(error, QuerySyntax):
        assert str(error).splitlines()[2].index("^") == 2 + 7
    if isinstance(error, ConflictingRules):
        assert error.rules == ("a < b",)


@pytest.mark.parametrize(
    "bad",
    ["", "localhost:8765", "ftp://host", "http://", "http://h:x", "http://u:p@h", "http://h/?q=1"],
)
def test_what_is_no_address(bad: str) -> None:
    with pytest.raises(BadInput, match="address of a server") as error:
        address(bad)
    assert error.value.hint.startswith("write ")


@given(st.text(max_size=40))
@examples(100)
def test_any_text_is_an_address_or_is_refused(text: str) -> None:
    try:
        found = address(text)
    except BadInput:
        return
    assert address(found) == found


def test_one_server_has_one_spelling() -> None:
    assert address(" HTTP://LocalHost:8765/ ") == "http://localhost:8765"
    assert address("https://hpc.example/compass/") == "https://hpc.example/compass"
    assert address("http://[::1]:80") == "http://[::1]:80"


def test_closing_is_not_forgotten() -> None:
    connection = ServerConnection("http://127.0.0.1:1", None, patience=1, timeout=1)
    http = connection._http
    del connection
    assert http.is_closed


def test_ctrl_c_before_the_job_has_a_name_ends_it_all_the_same() -> None:
    asked: list[tuple[str, str]] = []

    def reply(method: str, path: str) -> Reply:
        asked.append((method, path))
        if method == "POST":
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            time.sleep(0.2)  # the answer comes after the signal
        return as_json({"id": "7", "state": "running"}, 202)

    # A command that ran in this process before may have left the signal to the system.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pretending(compass_says(reply)) as url:
            connection = cp.connect(url).connection
            with pytest.raises(KeyboardInterrupt):
                connection.call("POST", "/engines", body={}, begins=True)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert asked == [("POST", "/api/v1/engines"), ("DELETE", "/api/v1/jobs/7")]


def test_text_that_others_take_for_the_end_of_a_line_is_no_end_of_an_event() -> None:
    said = "one\u2028two\u0085three"
    content = f'event: answer\ndata: {{"text": "{said}"}}\n\n: still there\n\n'

    def reply(_: str, __: str) -> Reply:
        return 200, {"Content-Type": "text/event-stream; charset=utf-8"}, content

    with pretending(reply) as url:
        connection = ServerConnection(url, None, patience=0, timeout=10)
        assert list(events(connection, "/answers/a/events")) == [("answer", {"text": said})]
        connection.close()
