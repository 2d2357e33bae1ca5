"""What is deployed: units that systemd takes, a dashboard of metrics that exist, a container."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

import systemd_lab
from compass.cli.main import app
from compass.server.metrics import Metrics

DEPLOY = Path(__file__).parents[1] / "deploy"
_WORDS = {"sum", "by", "rate", "increase", "histogram_quantile", "le"}


def exported() -> dict[str, set[str]]:
    """The metrics of a server that has seen something, with their labels."""
    metrics = Metrics()
    metrics.requests.labels("GET", "/", "200").inc()
    metrics.seconds.labels("/").observe(1.0)
    metrics.jobs.labels("fit", "done").inc()
    metrics.uploaded.inc()
    metrics.waiting.labels("ask").set(1)
    metrics.busy.labels("ask").set(1)
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(metrics.text().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def queries() -> list[str]:
    board = json.loads((DEPLOY / "grafana" / "compass.json").read_text())
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


@pytest.mark.parametrize("query", queries())
def test_the_dashboard_asks_for_metrics_that_are_exported(query: str) -> None:
    known = exported()
    named = re.findall(r"compass_\w+", re.sub(r'"[^"]*"', "", query))
    assert named
    assert set(named) <= set(known)
    labels = set().union(*(known[name] for name in named))
    # Whatever is neither a function nor a metric is a label: of a filter, or to sum by.
    words = set(re.findall(r"[a-z_]+", re.sub(r'"[^"]*"|\[[^]]*\]', "", query)))
    assert words - _WORDS - set(named) <= labels
    assert query.count("(") == query.count(")")


def test_the_dashboard_shows_every_metric() -> None:
    shown = " ".join(queries())
    families = {re.sub(r"_(total|created|bucket|count|sum)$", "", name) for name in exported()}
    assert [one for one in families if one not in shown] == []


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    program = tmp_path / "compass"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for unit in (DEPLOY / "systemd").iterdir():
        text = unit.read_text().replace("/opt/compass/bin/compass", str(program))
        (tmp_path / unit.name).write_text(text)
    units = [
        str(tmp_path / name) for name in ("compass.socket", "compass.service", "compass@.service")
    ]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    about = [line for line in done.stderr.splitlines() if "compass" in line]
    assert about == []
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def booted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[systemd_lab.SystemdLab]:
    """A systemd that has the units as they are, and has started them as the guide says."""
    sources = DEPLOY.parent / "src"
    program = re.findall(r"ExecStart=(\S+)", (DEPLOY / "systemd/compass.service").read_text())[0]
    folder = tmp_path_factory.mktemp("booted")
    guide = (DEPLOY.parent / "docs" / "guides" / "operators.md").read_text()
    about = guide.split("## As a service of systemd")[1].split("\n## ")[0]
    steps = re.findall(r"^# ((?:useradd|systemctl) .*)$", about, flags=re.MULTILINE)
    assert len(steps) == 2
    try:
        with systemd_lab.booted(DEPLOY / "systemd", program, sources, folder) as lab:
            for step in steps:
                lab.run(*step.split())
            yield lab
    except systemd_lab.NotHere as reason:
        pytest.skip(str(reason))


_ASK = ("curl", "-s", "-m", "100", "--unix-socket", "/run/compass/compass.sock")
_ME = (*_ASK, "-H", "X-Remote-User: ada", "http://compass.example.org/api/v1/me")


def test_a_real_systemd_runs_the_units(booted: systemd_lab.SystemdLab) -> None:
    # The socket is there before the server is: who connects waits, and is answered.
    assert json.loads(booted.run(*_ME))["user"] == "ada"
    assert booted.run("systemctl", "is-active", "compass.service").strip() == "active"
    assert booted.run("stat", "-c", "%a %U", "/var/lib/compass").split() == ["700", "compass"]
    wrong = booted.run(*_ASK, "-H", "X-Remote-User: ada", "-H", "X-Remote-User: olga", _ME[-1])
    assert json.loads(wrong)["code"] == "bad-user"


def test_nobody_is_refused_while_it_restarts_or_is_killed(booted: systemd_lab.SystemdLab) -> None:
    booted.run(*_ME)
    first = booted.run("systemctl", "show", "-p", "MainPID", "--value", "compass").strip()
    booted.run("systemctl", "restart", "compass.service")
    assert json.loads(booted.run(*_ME))["user"] == "ada"
    second = booted.run("systemctl", "show", "-p", "MainPID", "--value", "compass").strip()
    assert second not in ("0", first)
    booted.run("kill", "-9", second)
    assert json.loads(booted.run(*_ME))["user"] == "ada"
    assert booted.run("systemctl", "show", "-p", "NRestarts", "--value", "compass").strip() == "1"


def test_it_may_write_nowhere_else(booted: systemd_lab.SystemdLab) -> None:
    """What the unit takes from the server, seen from inside it."""
    booted.run(*_ME)  # a question starts it, where this test is the first one
    main = booted.run("systemctl", "show", "-p", "MainPID", "--value", "compass").strip()
    status = booted.run("cat", f"/proc/{main}/status")
    assert re.search(r"^CapEff:\s+0+$", status, flags=re.MULTILINE)
    assert re.search(r"^NoNewPrivs:\s+1$", status, flags=re.MULTILINE)
    mounts = booted.run("cat", f"/proc/{main}/mounts")
    options = {line.split()[1]: line.split()[3].split(",") for line in mounts.splitlines()}
    assert "ro" in options["/"]
    assert "rw" in options["/var/lib/compass"]


@pytest.mark.parametrize(
    "place", ["systemd/compass.service", "systemd/compass@.service", "container/Containerfile"]
)
def test_the_flags_of_the_command_exist(place: str) -> None:
    import typer

    command = typer.main.get_command(app).commands["serve"]  # type: ignore[attr-defined]
    known = {flag for one in command.params for flag in one.opts}
    text = (DEPLOY / place).read_text()
    started = re.findall(r"(?:ExecStart=|ENTRYPOINT )((?:.*\\\n)*.*)", text)
    given = set(re.findall(r"--[a-z-]+", " ".join(started)))
    assert given
    assert given <= known


def test_the_container_copies_only_what_an_earlier_step_made() -> None:
    text = (DEPLOY / "container" / "Containerfile").read_text()
    steps = re.findall(r"^([A-Z]+) ", text, flags=re.MULTILINE)
    known = {"FROM", "RUN", "COPY", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT", "CMD"}
    assert set(steps) <= known
    stages = re.findall(r"FROM \S+ AS (\w+)", text)
    assert set(re.findall(r"--from=(\w+)", text)) <= set(stages)
    # Not as root, and told to stop by the signal that the server knows.
    assert text.index("USER compass") < text.index("ENTRYPOINT")
    assert "STOPSIGNAL SIGTERM" in text
