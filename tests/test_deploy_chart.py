"""The Helm chart: linted and rendered by Helm; Kubernetes and Compass take what is rendered."""

import base64
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from compass.cli.main import app
from compass.cli.serve import limits
from compass.domain.limits import GIB

CHART = Path(__file__).parents[1] / "deploy" / "helm" / "compass"
HELM = shutil.which("helm", path=str(Path(sys.executable).parent)) or shutil.which("helm")
KUBERNETES = ("1.25", "1.31", "1.35")
PEOPLE: dict[str, Any] = {
    "users": {
        "header": "X-Remote-User",
        "groupsHeader": "X-Remote-Groups",
        "proxies": ["10.0.0.0/8"],
        "operators": ["olga"],
        "quotas": ["user:ada:workspace_bytes=20GiB"],
    },
    "networkPolicy": {"enabled": True, "from": [{"namespaceSelector": {}}]},
}
# All that can be switched on at once.
WHOLE: dict[str, Any] = PEOPLE | {
    "oidc": {"issuer": "https://login.example.org", "audience": "compass", "userClaim": "name"},
    "study": {"rules": ["cores <= 32 * nodes"], "columns": {"app: name": {"role": "context"}}},
    "token": {"existingSecret": "mine", "key": "t"},
    "limits": {"rows": 5_000_000, "body_rate": 0.5, "drain_seconds": 12.5, "memory_bytes": "2GiB"},
    "store": {"existingSecret": "database", "key": "url"},
    "replicas": 3,
    "persistence": {"storageClass": "fast", "accessModes": ["ReadWriteMany"], "size": "1Ti"},
    "ingress": {
        "enabled": True,
        "className": "nginx",
        "host": "compass.example.org",
        "tlsSecret": "tls",
        "annotations": {"nginx.ingress.kubernetes.io/proxy-body-size": "512m"},
    },
    "imagePullSecrets": [{"name": "registry"}],
    "podAnnotations": {"a": "b"},
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "a", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "extraVolumes": [{"name": "runs", "emptyDir": {}}],
    "extraVolumeMounts": [{"name": "runs", "mountPath": "/runs"}],
    "extraArgs": ["--allow=/runs"],
    "networkPolicy": {
        "enabled": True,
        "from": [{"podSelector": {"matchLabels": {"app": "proxy"}}}],
        "egress": [{"ports": [{"port": 443}]}],
    },
}
VALUES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "people": PEOPLE,
    "whole": WHOLE,
    "nothing kept": {"persistence": {"enabled": False}},
    "a claim of theirs": {"persistence": {"existingClaim": "data"}},
}

pytestmark = pytest.mark.skipif(HELM is None, reason="Helm is not installed")


def helm(tmp_path: Path, *words: str, values: dict[str, Any]) -> "subprocess.CompletedProcess[str]":
    assert HELM is not None
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(values))
    place = [str(CHART), "--values", str(file)]
    home = {f"HELM_{what}_HOME": str(tmp_path) for what in ("CACHE", "CONFIG", "DATA")}
    return subprocess.run(
        [HELM, *words, *place], capture_output=True, text=True, check=False, timeout=120, env=home
    )


def rendered(tmp_path: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Everything that is installed, by kind."""
    done = helm(tmp_path, "template", "demo", "--namespace", "centre", values=values)
    assert done.returncode == 0, done.stderr
    found = [one for one in yaml.safe_load_all(done.stdout) if one is not None]
    kinds = {one["kind"]: one for one in found}
    assert len(kinds) == len(found)
    return kinds


def pod_of(kinds: dict[str, Any]) -> Any:
    return kinds["Deployment"]["spec"]["template"]["spec"]


@pytest.mark.parametrize("name", VALUES)
def test_helm_and_kubernetes_take_it(name: str, tmp_path: Path) -> None:
    validate = pytest.importorskip("kubernetes_validate").validate
    linted = helm(tmp_path, "lint", "--strict", values=VALUES[name])
    assert linted.returncode == 0, linted.stdout
    kinds = rendered(tmp_path, VALUES[name])
    assert {"Deployment", "Service"} <= set(kinds)
    for version in KUBERNETES:
        for one in kinds.values():
            validate(one, version, strict=True)


@pytest.mark.parametrize("name", VALUES)
def test_the_server_takes_its_arguments(name: str, tmp_path: Path) -> None:
    container = pod_of(rendered(tmp_path, VALUES[name]))["containers"][0]
    assert container["command"] == ["compass", "serve"]
    command = typer.main.get_command(app).commands["serve"]  # type: ignore[attr-defined]
    given = command.make_context("serve", list(container["args"]), resilient_parsing=False).params
    assert given["data"] == "embedded"
    assert given["state"] == Path("/state/compass")
    how = limits(list(given["limit"]))
    assert how.address_share == 1 or name == "whole"
    if name == "whole":
        assert how.rows == 5_000_000
        assert how.body_rate == 0.5
        assert how.memory_bytes == 2 * GIB
        assert given["oidc_user"] == "name"
        assert list(given["name"]) == ["demo-compass", "compass.example.org"]
        assert [str(one) for one in given["allow"]] == ["/runs"]
    if name in ("people", "whole"):
        assert (given["user_header"], list(given["proxy"])) == ("X-Remote-User", ["10.0.0.0/8"])
        assert list(given["quota"]) == ["user:ada:workspace_bytes=20GiB"]


def test_a_pod_has_no_more_than_it_needs(tmp_path: Path) -> None:
    kinds = rendered(tmp_path, {})
    pod = pod_of(kinds)
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    container = pod["containers"][0]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    # Whatever it writes to is a volume.
    assert {one["mountPath"] for one in container["volumeMounts"]} == {"/state", "/tmp"}
    assert container["resources"]["limits"]["memory"]
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    # One state, one server.
    assert kinds["Deployment"]["spec"]["replicas"] == 1
    assert kinds["Deployment"]["spec"]["strategy"] == {"type": "Recreate"}
    # The token is nowhere but in the secret.
    secret = base64.b64decode(kinds["Secret"]["data"]["token"]).decode()
    assert re.fullmatch(r"[A-Za-z0-9]{40}", secret)
    assert secret not in json.dumps({**kinds, "Secret": None})


def test_servers_with_a_database_follow_each_other(tmp_path: Path) -> None:
    kinds = rendered(tmp_path, WHOLE)
    assert kinds["Deployment"]["spec"]["replicas"] == 3
    assert kinds["Deployment"]["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    container = pod_of(kinds)["containers"][0]
    given = {one["name"]: one for one in container["env"]}
    secret = given["COMPASS_STORE"]["valueFrom"]["secretKeyRef"]
    assert secret == {"name": "database", "key": "url"}
    command = typer.main.get_command(app).commands["serve"]  # type: ignore[attr-defined]
    assert "COMPASS_STORE" in {one.envvar for one in command.params}


def test_it_leaves_before_it_is_killed(tmp_path: Path) -> None:
    for drain in (0, 10, 12.5):
        pod = pod_of(rendered(tmp_path, {"limits": {"drain_seconds": drain}}))
        assert pod["terminationGracePeriodSeconds"] >= drain + 20 + 10


def test_a_study_reaches_the_server_and_a_change_restarts_it(tmp_path: Path) -> None:
    first = rendered(tmp_path, WHOLE)
    assert yaml.safe_load(first["ConfigMap"]["data"]["study.yaml"]) == WHOLE["study"]
    other = rendered(tmp_path, WHOLE | {"study": {"rules": ["nodes <= 4"]}})
    sums = [
        one["Deployment"]["spec"]["template"]["metadata"]["annotations"]["checksum/study"]
        for one in (first, other)
    ]
    assert sums[0] != sums[1]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"users": {"header": "X-Remote-User"}}, "needs users.proxies"),
        ({"users": PEOPLE["users"]}, "needs networkPolicy.enabled"),
        ({"users": {"operators": ["olga"]}}, "operators are users"),
        ({"users": {"groupsHeader": "X-Groups"}}, "set users.header"),
        ({"oidc": {"issuer": "https://a.example.org"}}, "belong together"),
        ({"networkPolicy": {"enabled": True}}, "needs networkPolicy.from"),
        ({"ingress": {"enabled": True}}, "needs ingress.host"),
        ({"replicas": 2}, "need store.existingSecret"),
        ({"replicas": 0}, "replicas"),
        ({"replicas": 2, "store": {"existingSecret": "a"}}, "ReadWriteMany"),
        (
            {"store": {"existingSecret": "a"}, "persistence": {"enabled": False}},
            "needs persistence",
        ),
        ({"users": {"header": 'a"\n- --host'}}, "users.header"),
        ({"users": {"proxies": ["socket"]}}, "users.proxies"),
        ({"source": "--help"}, "source"),
        ({"oidc": {"issuer": "http://plain", "audience": "x"}}, "oidc.issuer"),
        ({"persistence": {"size": "20 GB"}}, "persistence.size"),
        ({"limits": {"rows": [1]}}, "limits.rows"),
    ],
)
def test_values_that_cannot_be_are_refused_before_anything_is_installed(
    values: dict[str, Any], said: str, tmp_path: Path
) -> None:
    done = helm(tmp_path, "template", "demo", values=values)
    assert done.returncode != 0
    assert said in done.stderr


def test_odd_texts_stay_texts(tmp_path: Path) -> None:
    odd = 'it\'s "quoted": {{ .Values }} # $(id) \\'
    given = {"oidc": {"issuer": "https://login.example.org", "audience": odd}}
    container = pod_of(rendered(tmp_path, given))["containers"][0]
    assert f"--oidc-audience={odd}" in container["args"]
