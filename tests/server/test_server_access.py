"""Who may ask, and how much: tokens, hosts, origins, workspaces."""

import re
from collections.abc import Iterator

import httpx
import pytest
from server_case import (
    API,
    NOTHING,
    RECOMMEND,
    Server,
    ask,
    dataset,
    fit,
    jobs_csv,
    serving,
    upload,
)

pytest_plugins = ("server_fixtures",)
SECURE = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
SITE = "https://dashboard.example"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Reachable by others, so it made a token; pages of one other site may call it."""
    state = tmp_path_factory.mktemp("guarded") / "state"
    words = ("--host", "0.0.0.0", "--origin", SITE, "--limit", "ask_workers=1")
    with serving(NOTHING, state, *words) as running:
        yield running


def bare(server: Server, **headers: str) -> httpx.Client:
    return httpx.Client(base_url=server.url, headers=headers, trust_env=False, timeout=60)


# Tokens


def test_a_token_is_made_where_others_can_reach_the_host(guarded: Server) -> None:
    assert guarded.token is not None
    assert len(guarded.token) >= 32
    with bare(guarded) as nobody:
        assert nobody.get("/healthz").status_code == 200  # monitors have no token
        for path in (f"{API}/about", "/metrics", "/openapi.json", "/nothing"):
            refused = nobody.get(path)
            assert refused.status_code == 401
            assert refused.json()["code"] == "no-token"
            assert refused.headers["www-authenticate"] == "Bearer"
    with guarded.client() as friend:
        assert friend.get(f"{API}/about").status_code == 200
        assert friend.get("/metrics").status_code == 200


@pytest.mark.parametrize("shape", ["{0}x", "{1}", "bearer {0}", "Bearer  {0}", "Basic {0}", "{0}"])
def test_a_wrong_token_opens_nothing(guarded: Server, shape: str) -> None:
    token = str(guarded.token)
    with bare(guarded, Authorization=shape.format(token, "Bearer " + token[:-1])) as client:
        assert client.get(f"{API}/about").status_code == 401
        assert client.post(f"{API}/workspaces").status_code == 401


def test_a_token_is_no_workspace_and_a_workspace_no_token(guarded: Server) -> None:
    with guarded.client() as friend:
        keyless = friend.get(f"{API}/datasets")
        assert keyless.json()["code"] == "no-workspace"
        assert keyless.headers["www-authenticate"] == "Compass-Workspace"
        key = friend.post(f"{API}/workspaces").json()["key"]
    with bare(guarded, **{"Compass-Workspace": key}) as client:
        assert client.get(f"{API}/datasets").status_code == 401
    with guarded.client(key) as friend:
        assert friend.get(f"{API}/datasets").status_code == 200


def test_the_token_is_nowhere_but_on_the_screen(guarded: Server) -> None:
    token = str(guarded.token)
    with guarded.client() as friend:
        assert token not in friend.get(f"{API}/about").text + friend.get("/metrics").text
    assert token not in guarded.log.read_text()
    kept = [one for one in guarded.state.rglob("*") if one.is_file()]
    assert not any(token.encode() in one.read_bytes() for one in kept)


def test_on_this_machine_alone_no_token_is_needed(server: Server) -> None:
    assert server.token is None
    assert server.url.startswith("http://127.0.0.1:")


# Hosts and origins


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:80", "", "[::2]", "0x7f.1"]
)
def test_another_name_is_refused_without_a_token(server: Server, host: str) -> None:
    with bare(server, Host=host) as client:
        refused = client.post(f"{API}/workspaces")
    assert refused.status_code == 403
    assert refused.json()["code"] == "wrong-host"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:4"])
def test_names_of_this_machine_are_taken(server: Server, host: str) -> None:
    with bare(server, Host=host) as client:
        assert client.get(f"{API}/about").status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", SITE])
def test_pages_of_other_sites_are_refused(server: Server, origin: str) -> None:
    with bare(server, Origin=origin) as client:
        for answer in (client.post(f"{API}/workspaces"), client.options(f"{API}/workspaces")):
            assert answer.status_code == 403
            assert "access-control-allow-origin" not in answer.headers


def test_the_own_page_may_call(server: Server) -> None:
    with bare(server, Origin=server.url) as client:
        assert client.get(f"{API}/about").status_code == 200


def test_a_page_that_was_allowed_may_call(guarded: Server) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Origin": SITE}
    with bare(guarded, **asked) as page:
        flight = page.options(f"{API}/workspaces")
        assert flight.status_code == 204
        assert flight.headers["access-control-allow-origin"] == SITE
        assert "Compass-Workspace" in flight.headers["access-control-allow-headers"]
        assert "access-control-allow-credentials" not in flight.headers
        assert page.post(f"{API}/workspaces").status_code == 401
    with guarded.client(Origin=SITE) as page:
        answer = page.get(f"{API}/about")
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == SITE
        assert "Origin" in answer.headers["vary"]
    with guarded.client(Origin="https://evil.example") as page:
        assert page.get(f"{API}/about").status_code == 403


# Headers


def test_every_answer_carries_the_security_headers(person: httpx.Client, server: Server) -> None:
    answers = [
        person.get("/healthz"),
        person.get("/metrics"),
        person.get(f"{API}/datasets"),
        person.get(f"{API}/datasets/{'0' * 16}"),
        person.get(f"{API}/datasets/nonsense"),
        person.get("/nowhere"),
        person.put("/healthz"),
        person.post(f"{API}/chats", content=b"{", headers={"Content-Type": "application/json"}),
        person.post(f"{API}/workspaces", headers={"Compass-Workspace": ""}),
        person.get(f"{API}/about", headers={"Host": "evil.example"}),
        person.get(f"{API}/about", headers={"Origin": "https://evil.example"}),
        person.post(f"{API}/chats", content=b" " * 2_000_000),
        person.get(f"{API}/about", headers={"X-Long": "x" * 40_000}),
    ]
    statuses = [answer.status_code for answer in answers]
    assert statuses == [200, 200, 200, 404, 422, 404, 405, 400, 201, 403, 403, 413, 431]
    for answer in answers:
        for name, value in SECURE.items():
            assert answer.headers[name] == value, answer.request.url
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "server" not in answer.headers
        assert "set-cookie" not in answer.headers
    assert answers[2].headers["cache-control"] == "no-store"


# Workspaces


def test_nobody_sees_what_another_has(server: Server, person: httpx.Client) -> None:
    data = dataset(person, 40)
    engine_id = fit(person, data, surrogate="linear")
    answer = ask(person, engine_id).json()["id"]
    content = b"colour,speed\nred,1\nblue,2\n" * 20
    job = upload(person, content, wait=0).json()["id"]
    chat = person.post(f"{API}/chats", json={"engine": engine_id}).json()["id"]
    paths = {
        "GET": [
            f"datasets/{data}",
            f"datasets/{data}/rows",
            f"datasets/{data}/columns",
            f"datasets/{data}/rules",
            f"engines/{engine_id}",
            f"engines/{engine_id}/tell-report",
            f"engines/{engine_id}/importance?outcome=runtime",
            f"engines/{engine_id}/dependence?outcome=runtime&column=gpus",
            f"answers/{answer}",
            f"answers/{answer}/evidence",
            f"answers/{answer}/curves?parameter=gpus",
            *(
                f"answers/{answer}/exports/{form}"
                for form in ("csv", "json", "sbatch", "python", "array")
            ),
            f"jobs/{job}",
            f"jobs/{job}/events",
            f"chats/{chat}",
        ],
        "POST": [
            f"engines/{engine_id}/answers",
            f"engines/{engine_id}/queries",
            f"engines/{engine_id}/run-next",
            f"engines/{engine_id}/explanations",
            f"engines/{engine_id}/curves",
            f"engines/{engine_id}/findings",
            f"engines/{engine_id}/tell",
            f"engines/{engine_id}/tell/upload?name=x.csv",
            f"datasets/{data}/rules/check",
            f"answers/{answer}/exports/sbatch",
            f"chats/{chat}/messages",
            f"chats/{chat}/answers",
            "engines",
            "chats",
        ],
        "PUT": [f"datasets/{data}/study", f"chats/{chat}/draft"],
        "DELETE": [
            f"datasets/{data}",
            f"engines/{engine_id}",
            f"answers/{answer}",
            f"jobs/{job}",
            f"chats/{chat}",
        ],
    }
    bodies = {
        f"engines/{engine_id}/answers": {"question": RECOMMEND},
        f"engines/{engine_id}/queries": {"question": RECOMMEND},
        f"engines/{engine_id}/run-next": {"runs": 2},
        f"engines/{engine_id}/explanations": {"run": 1},
        f"engines/{engine_id}/curves": {"run": 1, "parameters": ["gpus"]},
        f"engines/{engine_id}/findings": {"topic": "row", "row": 1},
        f"engines/{engine_id}/tell": {"names": ["gpus"], "rows": [[1]]},
        f"datasets/{data}/rules/check": {"rules": ["gpus > 1"]},
        f"answers/{answer}/exports/sbatch": {"template": "x"},
        f"chats/{chat}/messages": {"text": "hello"},
        f"chats/{chat}/answers": {"answer": answer},
        "engines": {"dataset": data},
        "chats": {"engine": engine_id},
        f"datasets/{data}/study": {},
        f"chats/{chat}/draft": {},
    }
    with server.newcomer() as other:
        for method, some in paths.items():
            for path in some:
                refused = other.request(method, f"{API}/{path}", json=bodies.get(path))
                assert refused.status_code == 404, (method, path, refused.text)
        # Things of another cannot be used through one's own either.
        mine = upload(other, jobs_csv()).json()["id"]
        sent = {"dataset": mine, "models": {"runtime": data}}
        assert other.post(f"{API}/engines", json=sent).status_code == 404
        for kind in ("datasets", "engines", "answers", "chats", "jobs", "models"):
            listed = other.get(f"{API}/{kind}").json()
            ids = {one["id"] for one in listed}
            assert not ids & {data, engine_id, answer, job, chat}, kind
    assert person.get(f"{API}/datasets/{data}").status_code == 200


def test_keys_cannot_be_bent(server: Server) -> None:
    with server.client() as client:
        one = client.post(f"{API}/workspaces").json()["key"]
        two = client.post(f"{API}/workspaces").json()["key"]
    name, _, secret = one.partition(".")
    bent = [
        name,
        f"{name}.",
        f".{secret}",
        f"{two.partition('.')[0]}.{secret}",
        one[:-1],
        one + "A",
        one.upper(),
        f"../workspaces/{one}",
        f"shared.{secret}",
        f"{name}/../{one}",
        "." * 20,
        "é.é",
        "0" * 16 + "." + secret,
        "x" * 200,
    ]
    for key in bent:
        with server.client() as client:
            sent = {"Compass-Workspace": key.encode("latin-1")}
            refused = client.get(f"{API}/datasets", headers=sent)  # type: ignore[arg-type]
            assert refused.status_code == 401, key
            assert secret not in refused.text
    with server.client(one) as client:
        assert client.get(f"{API}/workspaces/mine").json()["id"] == name
    stored = (server.state / "workspaces" / name / "key").read_text()
    assert re.fullmatch("[0-9a-f]{64}", stored)


def test_a_workspace_that_is_deleted_is_gone_at_once(server: Server) -> None:
    client = server.newcomer()
    made = dataset(client, 40)
    name = client.get(f"{API}/workspaces/mine").json()["id"]
    assert client.delete(f"{API}/workspaces/mine").status_code == 204
    assert client.get(f"{API}/datasets/{made}").status_code == 401
    assert not (server.state / "workspaces" / name).exists()
    client.close()


def test_names_get_into_no_header(stranger: httpx.Client) -> None:
    for name in ("a\r\nSet-Cookie: x=1.csv", "a\nb.csv", "a\0.csv"):
        refused = upload(stranger, b"a\n1\n", name)
        assert refused.status_code == 422
        assert "set-cookie" not in refused.headers
