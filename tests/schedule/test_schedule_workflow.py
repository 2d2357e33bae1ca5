"""Advice for workflow systems: values as they read them, names that cannot break out."""

import re
from typing import Any

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
    assert found["set-resources"] == {
        "align": {"mem_mb": 4096, "runtime": 2880},
        "sort: it's\n} {": {"mem_mb": 100},
    }
    assert found["set-threads"] == {"align": 3}
    assert yaml.safe_load(snakemake([])) == {}


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
    assert text.count("{") - text.count("\\\\{") == text.count("}") - text.count("\\\\}")
