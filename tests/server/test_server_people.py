"""People whom a proxy names: private workspaces, groups, roles, quotas, and the audit log."""

import json
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_case import API, NOTHING, RECOMMEND, Server, ask, dataset, fit, serving, start, upload
from typer.testing import CliRunner

import compass as cp
from compass.cli.main import app
from compass.cli.serve import quotas
from compass.server.people import is_trusted

WORDS = (
    *("--user-header", "X-Remote-User", "--groups-header", "X-Remote-Groups"),
    *("--proxy", "127.0.0.1", "--operator", "olga", "--limit", "ask_workers=1"),
    *("--quota", "user:small:workspace_bytes=2KiB", "--quota", "user:lazy:waiting_per_user=1"),
)


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(NOTHING, tmp_path_factory.mktemp("centre") / "state", *WORDS) as running:
        yield running


def user(server: Server, name: str, groups: str = "", key: str = "mine") -> httpx.Client:
    """Somebody whom the proxy names; the tests are the proxy."""
    said = {"X-Remote-User": name, "X-Remote-Groups": groups}
    return server.client(key, **{name: value for name, value in said.items() if value})


def audit(server: Server, **wanted: Any) -> list[dict[str, Any]]:
    """The lines of the audit log that have these facts."""
    with user(server, "olga") as operator:
        lines = operator.get(f"{API}/operator/audit", params={"count": 10_000}).json()
    return [one for one in lines if all(one.get(name) == wanted[name] for name in wanted)]


def test_each_person_has_a_workspace_that_nobody_else_sees(centre: Server) -> None:
    with user(centre, "ada") as ada, user(centre, "bob") as bob:
        made = dataset(ada)
        assert ada.get(f"{API}/datasets/{made}").status_code == 200
        assert bob.get(f"{API}/datasets/{made}").status_code == 404
        assert [one["id"] for one in bob.get(f"{API}/datasets").json()] == []
        # A new workspace is the one that they have, by a name and not by a secret.
        again = ada.post(f"{API}/workspaces").json()
        assert again["key"] == "mine"
        assert again["workspace"]["owner"] == "user:ada"
        assert again["workspace"]["id"] == ada.get(f"{API}/workspaces/mine").json()["id"]


def test_a_group_shares_a_workspace_and_others_do_not_get_in(centre: Server) -> None:
    with (
        user(centre, "ada", "climate, ops", "group:climate") as ada,
        user(centre, "bob", "climate", "group:climate") as bob,
        user(centre, "eve", "Climate", "group:climate") as eve,
    ):
        made = dataset(ada)
        assert bob.get(f"{API}/datasets/{made}").status_code == 200
        refused = eve.get(f"{API}/datasets/{made}")
        assert (refused.status_code, refused.json()["code"]) == (403, "not-in-group")
        # Members take single things away, but not all of it from everybody.
        assert bob.delete(f"{API}/workspaces/mine").status_code == 403
        assert bob.delete(f"{API}/datasets/{made}").status_code == 204


def test_whoever_is_not_the_proxy_names_nobody(tmp_path: Path) -> None:
    words = tuple("192.0.2.1" if one == "127.0.0.1" else one for one in WORDS)
    with serving(NOTHING, tmp_path / "state", *words) as running:
        with user(running, "ada") as forger:
            refused = forger.get(f"{API}/datasets")
            assert (refused.status_code, refused.json()["code"]) == (403, "not-the-proxy")
        with running.client("mine") as nobody:
            assert nobody.get(f"{API}/datasets").json()["code"] == "no-user"


@pytest.mark.parametrize(
    "headers",
    [
        [("X-Remote-User", "ada"), ("X-Remote-User", "olga")],
        [("X-Remote-User", "ada,olga")],
        [("X-Remote-User", "")],
        [("X-Remote-User", "a" * 300)],
        [("X-Remote-User", "ada\xe9")],
        [("X-Remote-Groups", "ops")],
        [("X-Remote-User", "ada"), ("X-Remote-Groups", "a"), ("X-Remote-Groups", "b")],
    ],
)
def test_headers_that_name_no_one_person_are_refused(
    centre: Server, headers: list[tuple[str, str]]
) -> None:
    sent = [(name, value.encode("latin-1")) for name, value in headers]
    with httpx.Client(base_url=centre.url, trust_env=False) as client:
        refused = client.get(f"{API}/me", headers=[*sent, ("Compass-Workspace", b"mine")])
    assert (refused.status_code, refused.json()["code"]) == (400, "bad-user")


def test_people_have_to_name_their_workspace_so_that_no_other_site_can(centre: Server) -> None:
    with httpx.Client(base_url=centre.url, trust_env=False) as client:
        refused = client.get(f"{API}/datasets", headers={"X-Remote-User": "ada"})
    assert (refused.status_code, refused.json()["code"]) == (401, "no-workspace")


def test_me_tells_who_one_is_and_how_much_there_may_be(centre: Server) -> None:
    with user(centre, "small", "climate") as client:
        me = client.get(f"{API}/me").json()
    assert (me["user"], me["groups"], me["operator"]) == ("small", ["climate"], False)
    assert [one["name"] for one in me["workspaces"]] == ["mine", "group:climate"]
    assert me["workspaces"][0]["most"] == 2048
    assert me["waiting_most"] == 64


def test_quotas_of_a_user(centre: Server) -> None:
    with user(centre, "small") as small, user(centre, "large") as large:
        content = b"nodes,runtime\n" + b"1,2.0\n" * 500
        assert upload(small, content).status_code == 413
        assert upload(large, content).status_code == 201
    # One piece of work at a time, also where a second workspace would take it.
    with user(centre, "lazy") as lazy, user(centre, "lazy", "g", "group:g") as other:
        mine, theirs = dataset(lazy), dataset(other)
        body = {"surrogate": "forest"}
        first = lazy.post(f"{API}/engines?wait=0", json={"dataset": mine, **body}).json()
        second = other.post(f"{API}/engines?wait=0", json={"dataset": theirs, **body})
        if lazy.get(f"{API}/jobs/{first['id']}").json()["state"] in {"waiting", "running"}:
            assert second.status_code == 429
            assert int(second.headers["retry-after"]) > 0


def test_operators_see_whose_workspaces_there_are_and_others_do_not(centre: Server) -> None:
    with user(centre, "gone") as gone, user(centre, "olga") as olga:
        made = dataset(gone)
        for path in ("operator/workspaces", "operator/audit"):
            assert gone.get(f"{API}/{path}").json()["code"] == "not-operator"
        uses = {one["owner"]: one for one in olga.get(f"{API}/operator/workspaces").json()}
        assert uses["user:gone"]["bytes"] > 1000
        # What is in it stays closed to operators, too.
        assert olga.get(f"{API}/datasets/{made}").status_code == 404
        name = uses["user:gone"]["id"]
        assert gone.delete(f"{API}/operator/workspaces/{name}").status_code == 403
        assert olga.delete(f"{API}/operator/workspaces/{name}").status_code == 204
        assert gone.get(f"{API}/datasets").json() == []
        assert olga.delete(f"{API}/operator/workspaces/{'0' * 16}").status_code == 404


def test_the_audit_log_tells_who_did_what_with_which_data_and_models(centre: Server) -> None:
    with user(centre, "anna") as anna:
        made = dataset(anna)
        engine = fit(anna, made)
        answer = ask(anna, engine).json()["id"]
        assert anna.get(f"{API}/answers/{answer}/exports/csv").status_code == 200
        about = anna.get(f"{API}/engines/{engine}").json()
        workspace = anna.get(f"{API}/workspaces/mine").json()["id"]
    [asked] = audit(centre, user="anna", action="answers_ask")
    assert (asked["status"], asked["engine"], asked["answer"]) == (200, engine, answer)
    assert (asked["workspace"], asked["address"]) == (workspace, "127.0.0.1")
    assert (asked["data"], asked["made_by"]) == (about["fingerprint"], about["version"])
    assert len(asked["models"]) == 16
    # Each job has a line of its own for its end, with the same models as the question.
    [learnt] = audit(centre, user="anna", action="job_learn")
    assert (learnt["state"], learnt["models"]) == ("done", asked["models"])
    assert audit(centre, user="anna", action="job_ask")[0]["answer"] == answer
    assert audit(centre, user="anna", action="exports_show")[0]["answer"] == answer
    [uploaded] = audit(centre, user="anna", action="datasets_upload")
    assert uploaded["dataset"] == made
    # What people ask and have is not in it.
    log = "".join(one.read_text() for one in (centre.state / "audit").iterdir())
    assert "wrf" not in log
    assert RECOMMEND not in log


def test_refusals_are_in_the_audit_log(centre: Server) -> None:
    with user(centre, "mallory", "", "group:secret") as mallory:
        assert mallory.get(f"{API}/datasets").status_code == 403
    assert [one["status"] for one in audit(centre, user="mallory")] == [403]


def test_the_client_needs_no_key_where_people_are_known(
    centre: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    # The client itself sends no such header: here it is put where a proxy would put it.
    with user(centre, "cleo") as cleo:
        made = dataset(cleo)

    def named(self: Any, url: str, token: str | None, **more: Any) -> None:
        created(self, url, token, **more)
        self._http.headers["X-Remote-User"] = "cleo"

    from compass.client.connection import ServerConnection

    created = ServerConnection.__init__
    monkeypatch.setattr(ServerConnection, "__init__", named)
    with cp.connect(centre.url) as server:
        assert [one.about.id for one in server.datasets()] == [made]
        assert server.me().user == "cleo"
        assert server.workspace == "mine"
    with cp.connect(centre.url, workspace="mine") as server:
        assert server.me().operator is False


# A Unix socket: whoever may connect to it is the proxy.


def test_a_proxy_comes_by_a_unix_socket(tmp_path: Path) -> None:
    place = tmp_path / "compass.sock"
    with socket.socket(socket.AF_UNIX) as left:  # of a server that was killed
        left.bind(str(place))
    words = [("socket" if one == "127.0.0.1" else one) for one in WORDS]
    running = start(NOTHING, tmp_path / "state", "--socket", str(place), *words, listens=str(place))
    try:
        over = httpx.HTTPTransport(uds=str(place))
        with httpx.Client(transport=over, base_url="http://localhost") as client:
            said = {"X-Remote-User": "ada", "Compass-Workspace": "mine"}
            assert client.get(f"{API}/me", headers=said).json()["user"] == "ada"
            assert client.get(f"{API}/me").json()["code"] == "no-user"
        assert place.stat().st_mode & 0o777 == 0o660
        # What it says to try works: no browser talks to a socket.
        tried = re.findall(r"^try: (curl .*)$", running.said, flags=re.MULTILINE)
        assert json.loads(subprocess.check_output([*tried[0].split(), "-s"]))["status"] == "ok"
        assert "browser" not in running.said
        assert running.stop() == 0
        assert not place.exists()
    finally:
        running.process.kill()
        running.process.wait()
        assert running.process.stdout is not None
        running.process.stdout.close()


@pytest.mark.parametrize(
    ("size", "found"),
    [("1TB", 10**12), ("2TiB", 2**41), ("20GiB", 20 * 2**30), ("512m", 512 * 10**6)],
)
def test_sizes_of_quotas(size: str, found: int) -> None:
    made = quotas([f"group:climate:workspace_bytes={size}", "user:ada:waiting_per_user=8"])
    assert [(one.owner, one.workspace_bytes) for one in made] == [
        ("group:climate", found),
        ("user:ada", None),
    ]


def test_trust_is_by_address_and_network() -> None:
    assert is_trusted(("10.1.2.3", 5), ("10.0.0.0/8",))
    assert is_trusted(("::ffff:10.1.2.3", 5), ("10.0.0.0/8",))
    assert is_trusted(None, ("socket",))
    assert not is_trusted(None, ("10.0.0.0/8",))
    assert not is_trusted(("11.1.2.3", 5), ("10.0.0.0/8", "socket"))
    assert not is_trusted(("fd00::1", 5), ("10.0.0.0/8",))
    assert not is_trusted(("nonsense", 5), ("10.0.0.0/8",))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--user-header", "X-User"], "belong together"),
        (["--proxy", "127.0.0.1"], "belong together"),
        (["--user-header", "X User", "--proxy", "127.0.0.1"], "no name of a header"),
        (["--user-header", "X-User", "--proxy", "somewhere"], "neither an address"),
        (["--user-header", "X-User", "--proxy", "socket"], "there is no socket"),
        (["--operator", "olga"], "is to know none"),
        (["--quota", "ada:rows=1"], "no user or group"),
        (["--quota", "user:ada:rows=1"], "no quota"),
        (["--quota", "user:ada:workspace_bytes=much"], "no number"),
    ],
)
def test_settings_that_would_let_anybody_in_are_refused(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["serve", *words])
    assert result.exit_code != 0
    assert said in str(result.exception) + result.output
