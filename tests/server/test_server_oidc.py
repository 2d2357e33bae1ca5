"""Tokens of an issuer: a local one with real keys, whose signatures and claims are checked."""

import base64
import hmac
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey
from server_case import API, NOTHING, Server, serving

from compass.domain.errors import BadInput
from compass.server.oidc import check_address

AUDIENCE = "compass"


@dataclass
class LocalIssuer:
    """Publishes keys, and signs with them or with others."""

    keys: list[Any] = field(default_factory=list)
    url: str = ""
    asked: int = 0

    def token(self, key: Any = None, algorithm: str = "RS256", **claims: Any) -> str:
        now = int(time.time())
        said = {"iss": self.url, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 600}
        said = {name: value for name, value in (said | claims).items() if value is not None}
        used = key or self.keys[0]
        header = {"alg": algorithm, "kid": used.kid}
        return jwt.encode(header, said, used, algorithms=[algorithm])


@pytest.fixture(scope="module")
def issuer() -> Iterator[LocalIssuer]:
    made = LocalIssuer([RSAKey.generate_key(2048, {"kid": "first"})])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked += 1
            about = {"issuer": made.url, "jwks_uri": f"{made.url}/keys"}
            keys = {"keys": [one.as_dict(private=False) for one in made.keys]}
            body = json.dumps(keys if self.path == "/keys" else about).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.url = f"http://127.0.0.1:{server.server_port}"
        serving_keys = threading.Thread(target=server.serve_forever)
        serving_keys.start()
        yield made
        server.shutdown()
        serving_keys.join()


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory, issuer: LocalIssuer) -> Iterator[Server]:
    words = ("--oidc", issuer.url, "--oidc-audience", AUDIENCE, "--operator", "olga")
    state = tmp_path_factory.mktemp("oidc") / "state"
    with serving(NOTHING, state, *words, "--limit", "ask_workers=1") as running:
        yield running


def me(server: Server, token: str) -> httpx.Response:
    return httpx.get(
        f"{server.url}{API}/me", headers={"Authorization": f"Bearer {token}"}, trust_env=False
    )


def test_a_token_says_who_somebody_is(centre: Server, issuer: LocalIssuer) -> None:
    found = me(centre, issuer.token(groups=["climate"])).json()
    assert (found["user"], found["groups"], found["operator"]) == ("ada", ["climate"], False)
    assert me(centre, issuer.token(sub="olga", aud=["other", AUDIENCE])).json()["operator"]
    with centre.client("mine", Authorization=f"Bearer {issuer.token()}") as ada:
        assert ada.get(f"{API}/workspaces/mine").json()["owner"] == "user:ada"
    assert me(centre, "nonsense").json()["code"] == "no-user"


def unsigned(token: str, **header: Any) -> str:
    """The same claims under another header, without a signature."""
    said = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    return f"{said}.{token.split('.')[1]}."


def shared_secret(token: str, key: Any) -> str:
    """The same claims, signed with the public key as if it were a secret that both know."""
    bare = unsigned(token, alg="HS256", kid=key.kid)[:-1]
    made = hmac.digest(key.as_pem(private=False), bare.encode(), "sha256")
    return f"{bare}.{base64.urlsafe_b64encode(made).decode().rstrip('=')}"


def forgeries(issuer: LocalIssuer) -> dict[str, str]:
    """Tokens that must not be taken, by what is wrong with them."""
    now, good = int(time.time()), issuer.token()
    first = issuer.keys[0]
    stranger = RSAKey.generate_key(2048, {"kid": first.kid})
    head, claims, signature = good.split(".")
    olga = base64.urlsafe_b64encode(
        json.dumps({"iss": issuer.url, "aud": AUDIENCE, "sub": "olga", "exp": now + 60}).encode()
    )
    return {
        "no signature": unsigned(good, alg="none"),
        "no algorithm": unsigned(good),
        "signed with the public key as a secret": shared_secret(good, first),
        "signed by a stranger under the same name": issuer.token(stranger),
        "signed by a key of another kind": issuer.token(
            ECKey.generate_key("P-256", {"kid": "other"}), "ES256"
        ),
        "other claims under the same signature": f"{head}.{olga.decode().rstrip('=')}.{signature}",
        "cut short": good[:-10],
        "over": issuer.token(exp=now - 120),
        "never over": issuer.token(exp=None),
        "not yet": issuer.token(nbf=now + 600),
        "of another issuer": issuer.token(iss="https://login.example.org"),
        "for another server": issuer.token(aud="other"),
        "for nobody": issuer.token(aud=None),
        "nobody's": issuer.token(sub=None),
        "a number's": issuer.token(sub=7),
        "groups that are no list": issuer.token(groups="climate"),
        "long": f"{head}.{claims}.{'A' * 20_000}",
        "nonsense": "a.b.c",
        "empty": "..",
    }


def test_forged_tokens_are_not_taken(centre: Server, issuer: LocalIssuer) -> None:
    found = {name: me(centre, token) for name, token in forgeries(issuer).items()}
    assert {name: one.status_code for name, one in found.items()} == dict.fromkeys(found, 401)
    assert {one.json()["code"] for one in found.values()} == {"bad-login"}
    assert {one.headers["www-authenticate"] for one in found.values()} == {"Bearer"}
    # However many forgeries come, the issuer is not asked for each of them.
    assert issuer.asked <= 6


@pytest.mark.parametrize(
    "url", ["http://login.example.org", "ftp://127.0.0.1", "login", "https://"]
)
def test_keys_come_by_a_way_that_nobody_can_change(url: str) -> None:
    with pytest.raises(BadInput, match="no address of an issuer"):
        check_address(url)


def test_an_issuer_that_does_not_answer_is_told(tmp_path: Path) -> None:
    nowhere = LocalIssuer([RSAKey.generate_key(2048, {"kid": "a"})], "http://127.0.0.1:9")
    words = ("--oidc", nowhere.url, "--oidc-audience", AUDIENCE, "--limit", "ask_workers=1")
    with serving(NOTHING, tmp_path / "state", *words) as running:
        refused = me(running, nowhere.token())
        assert (refused.status_code, refused.json()["code"]) == (503, "no-issuer")
        assert int(refused.headers["retry-after"]) > 0
