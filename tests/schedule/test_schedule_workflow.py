"""Advice for workflow systems: values as they read them, names that cannot break out.

`make workflows` installs Snakemake, which reads the profile itself, and Groovy, whose reader of
configs that of Nextflow is made from; Nextflow is on no registry that tests can use.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from compass.domain.advice import Advice, JobRequest, RequestEdit
from compass.domain.answer import Label
from compass.schedule.advice.workflow import nextflow, snakemake


def advice(name: str | None, **options: str) -> Advice:
    edits = tuple(
        RequestEdit(option=o.replace("_", "-"), old=None, new=new, why="", label=Label.TRUSTED)
        for o, new in options.items()
    )
    return Advice(
        about="", request=JobRequest(name=name), application=name, edits=edits, kept=(),
        label=Label.TRUSTED, reason="", evidence=(), similar=0, saved_core_hours=0.0,
        saved_gb_hours=0.0,
    )  # fmt: skip


SOME = [
    advice("align", mem="4G", time="0-01:30:30", cpus_per_task="3"),
    advice("align", mem="500M", time="2-00:00:00"),
    advice("sort: it's\n} {", mem="100M"),
    advice("kept"),
    advice(None, mem="9G"),
]


def test_a_profile_of_snakemake() -> None:
    found: dict[str, Any] = yaml.safe_load(snakemake(SOME))
    assert found["set-resources"] == {"align": {"mem_mb": 4096, "runtime": 2880}}
    assert found["set-threads"] == {"align": 3}
    assert yaml.safe_load(snakemake([])) == {}


def program(name: str) -> str:
    found = Path(__file__).parents[2] / ".venv-workflow" / "bin" / name
    path = str(found) if found.exists() else shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed: make workflows")
    return path


RULES = """
rule align:
    output: "a.txt"
    threads: 8
    resources: mem_mb=64000, runtime=9000
    shell: "touch {output}"
"""


def test_snakemake_takes_the_amounts_of_the_profile(tmp_path: Path) -> None:
    snake = program("snakemake")
    (tmp_path / "Snakefile").write_text(RULES)
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile" / "config.yaml").write_text(snakemake([*SOME, advice("new", mem="1G")]))
    words = (snake, "--dry-run", "--profile", "profile", "--cores", "8")
    env = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    shown = done.stdout + done.stderr
    assert done.returncode == 0, shown
    assert "threads: 3" in shown
    assert "mem_mb=4096" in shown
    assert "runtime=2880" in shown


READ = """
def config = new ConfigSlurper().parse(new File(args[0]).text)
config.process.each { name, one ->
    println "${name} ${one.cpus} ${one.maxRetries} ${one.memory instanceof Closure}"
}
"""


def test_groovy_reads_the_config(tmp_path: Path) -> None:
    groovy = program("groovy")
    (tmp_path / "read.groovy").write_text(READ)
    (tmp_path / "advice.config").write_text(nextflow([*SOME, advice("nf-A.b-C_(s1)", mem="2G")]))
    java = Path(shutil.which("java") or "/usr/bin/java").resolve().parents[1]
    done = subprocess.run(
        (groovy, "read.groovy", "advice.config"),
        cwd=tmp_path,
        env=os.environ | {"JAVA_HOME": os.environ.get("JAVA_HOME", str(java))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "align 3 2 true" in done.stdout
    assert "A\\.b\\-C [:] 2 true" in done.stdout


# A config as far as it is written here: blocks of `name = value`, quoted names, closures of one
# product (https://www.nextflow.io/docs/latest/config.html).
_LINE = re.compile(
    r"process \{|    withName: '(?:[^'\\\n]|\\.)*' \{"
    r"|        memory = \{ \d+\.MB \* task\.attempt \}"
    r"|        time = \{ \d+\.min \* task\.attempt \}|        cpus = \d+"
    r"|        errorStrategy = 'retry'|        maxRetries = \d+|    \}|\}"
)


def test_a_config_of_nextflow() -> None:
    text = nextflow([*SOME, advice("nf-ALIGN_(s1)", time="0-00:10:00")])
    for line in text.splitlines():
        assert _LINE.fullmatch(line), line
    assert "memory = { 4096.MB * task.attempt }" in text
    assert "withName: 'ALIGN' {" in text
    assert text.count("{") == text.count("}")
    assert "sort" not in text
