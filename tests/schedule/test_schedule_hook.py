"""The hook inside a real sbatch and slurmctld: it writes down, tells, and is never in the way."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_schedule_advice import cut_off, made

from compass.domain.errors import BadInput
from compass.schedule.advice.advisor import Advisor
from compass.schedule.hook.build import Mode, build_hook
from slurm_lab import NOTHING_AT_SUBMISSION, SlurmLab

ODD = 'ann"\\\n]] .. os.exit(1) --'  # nobody's name, and a text must stay a text


@dataclass
class Site:
    """A Slurm client whose sbatch has the hook."""

    folder: Path

    def submit(self, *options: str, user: str = "u0", name: str = "app1") -> tuple[int, str]:
        """The number of a held job, and what sbatch printed on standard error."""
        done = subprocess.run(
            ("sbatch", "--parsable", "--hold", f"--job-name={name}", *options),
            input="#!/bin/sh\ntrue\n",
            env=os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf"), "USER": user},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return int(done.stdout.strip().partition(";")[0]), done.stderr

    def shown(self, job: int) -> dict[str, str]:
        """What Slurm took the job for."""
        words = subprocess.run(
            ("scontrol", "-o", "show", "job", str(job)),
            env=os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf")},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout.split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def build(self, mode: Mode, **other: Any) -> None:
        jobs = made(300, user=np.array((["u0"] * 299) + [ODD], dtype=object))
        build_hook(Advisor(jobs), self.folder / "hook", mode, log=str(self.log), **other)
        shutil.copy(self.folder / "hook" / "cli_filter.lua", self.folder)

    @property
    def log(self) -> Path:
        return self.folder / "decisions.jsonl"

    def decisions(self) -> list[dict[str, Any]]:
        """What was written down since the last look."""
        if not self.log.exists():
            return []
        found = [json.loads(line) for line in self.log.read_text().splitlines()]
        self.log.unlink()
        return found


@pytest.fixture(scope="module")
def site(slurm: SlurmLab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    conf = slurm.conf.read_text() + "CliFilterPlugins=cli_filter/lua\n"
    (folder / "slurm.conf").write_text(conf)
    yield Site(folder)
    slurm.run("scancel", f"--user={os.getuid()}", "--state=PENDING", "--name=app1")


def test_modes_of_the_hook(site: Site) -> None:
    site.build("observe")
    job, told = site.submit("--time=10:00:00", "--mem=6000M")
    assert "compass" not in told
    assert site.shown(job)["TimeLimit"] == "10:00:00"
    seen = {one["option"]: one for one in site.decisions()}
    assert set(seen) == {"mem", "time"}
    limit = seen["time"]
    assert (limit["asked"], limit["applied"], limit["user"]) == ("10:00:00", False, "u0")
    assert limit["advised"].startswith("0-00:")
    assert limit["table"]
    assert limit["compass"]
    assert limit["why"] == "similar jobs need less"
    assert limit["risk"] == 0.05

    site.build("advise")
    job, told = site.submit("--time=10:00:00")
    assert f"--time={limit['advised']} would do" in told
    assert site.shown(job)["TimeLimit"] == "10:00:00"

    site.build("enforce")
    job, told = site.submit("--time=10:00:00", "--mem=6000M")
    assert f"--time={limit['advised']} is asked for" in told
    assert site.shown(job)["TimeLimit"] == limit["advised"].removeprefix("0-")
    assert site.shown(job)["MinMemoryNode"] == seen["mem"]["advised"]
    job, _ = site.submit("--time=2")  # too little is found as well
    assert site.shown(job)["TimeLimit"] == limit["advised"].removeprefix("0-")
    assert any(one["why"] == "similar jobs need more" for one in site.decisions())
    job, _ = site.submit("--exclusive", "--mem=6000M")
    assert site.shown(job)["MinMemoryNode"] == "6000M"
    memory = next(one for one in site.decisions() if one["option"] == "mem")
    assert (memory["applied"], memory["why"]) == (False, "whole nodes are asked for")


def test_the_hook_stays_out_of_the_way(site: Site) -> None:
    site.build("enforce")
    job, told = site.submit("--time=10:00:00", user="stranger")
    assert (site.shown(job)["TimeLimit"], told) == ("10:00:00", "")
    assert site.decisions()[-1]["why"] == "no similar past job"
    (site.folder / "hook" / "off").touch()
    job, told = site.submit("--time=10:00:00")
    assert (site.shown(job)["TimeLimit"], told, site.decisions()) == ("10:00:00", "", [])
    (site.folder / "hook" / "off").unlink()
    site.build("enforce", days=-1.0)
    job, _ = site.submit("--time=10:00:00")
    assert site.shown(job)["TimeLimit"] == "10:00:00"
    assert site.decisions()[-1]["why"] == "the table is too old"
    for broken in ("return {", "return { jobs = 3 }", "while", ""):
        (site.folder / "hook" / "table.lua").write_text(broken)
        job, _ = site.submit("--time=10:00:00")
        assert site.shown(job)["TimeLimit"] == "10:00:00"
    (site.folder / "hook" / "table.lua").unlink()
    site.submit("--time=10:00:00")


@dataclass
class Controller:
    """A slurmctld that has the hook."""

    lab: SlurmLab
    folder: Path  # that slurmctld can read and write

    def build(self, mode: Mode, **other: Any) -> None:
        names = np.array(["ctl-app"] * 300, dtype=object)
        jobs = made(300, user=np.array(["root"] * 300, dtype=object), name=names)
        build_hook(Advisor(jobs), self.folder, mode, **other)
        self.install((self.folder / "job_submit.lua").read_text())

    def install(self, script: str) -> None:
        place = self.lab.folder / "job_submit.lua"
        newer = max(time.time(), place.stat().st_mtime) + 10.0
        place.write_text(script)
        os.utime(place, (newer, newer))  # slurmctld reads a script again that is newer, in seconds

    def submit(self, *options: str) -> tuple[dict[str, str], str]:
        """What Slurm took a held job for, and what sbatch printed on standard error."""
        done = subprocess.run(
            ("sbatch", "--parsable", "--hold", "--job-name=ctl-app", *options),
            input="#!/bin/sh\ntrue\n",
            env=os.environ | {"SLURM_CONF": str(self.lab.conf)},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        words = self.lab.run("scontrol", "-o", "show", "job", done.stdout.strip()).split()
        return dict(word.split("=", 1) for word in words if "=" in word), done.stderr

    def decisions(self) -> list[dict[str, Any]]:
        """What was written down since the last look."""
        log = self.folder / "decisions.jsonl"
        found = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        log.unlink(missing_ok=True)
        return found


@pytest.fixture
def controller(slurm: SlurmLab) -> Iterator[Controller]:
    folder = slurm.folder / "hook"
    folder.mkdir(exist_ok=True)
    shutil.chown(folder, "slurm")
    found = Controller(slurm, folder)
    yield found
    found.install(NOTHING_AT_SUBMISSION)
    slurm.run("scancel", f"--user={os.getuid()}", "--state=PENDING", "--name=ctl-app")


def test_the_hook_inside_slurmctld(controller: Controller) -> None:
    controller.build("observe")
    job, told = controller.submit("--time=10:00:00", "--mem=6000M")
    assert (job["TimeLimit"], job["MinMemoryNode"], told) == ("10:00:00", "6000M", "")
    seen = {one["option"]: one for one in controller.decisions()}
    assert set(seen) == {"mem", "time"}
    limit = seen["time"]
    assert (limit["user"], limit["asked"], limit["applied"]) == ("root", "0-10:00:00", False)
    assert limit["why"] == "similar jobs need less"

    controller.build("advise")
    job, told = controller.submit("--time=10:00:00")
    assert f"--time={limit['advised']} would do" in told
    assert job["TimeLimit"] == "10:00:00"

    controller.build("enforce")
    job, told = controller.submit("--time=10:00:00", "--mem=6000M")
    assert f"--time={limit['advised']} is asked for" in told
    assert job["TimeLimit"] == limit["advised"].removeprefix("0-")
    assert job["MinMemoryNode"] == seen["mem"]["advised"]
    controller.decisions()
    job, _ = controller.submit("--time=10:00:00", "--mem-per-cpu=3000M")
    assert job["MinMemoryCPU"] == "3000M"
    assert "per CPU" in next(o["why"] for o in controller.decisions() if o["option"] == "mem")
    job, _ = controller.submit("--exclusive", "--mem=6000M")
    assert job["MinMemoryNode"] == "6000M"
    assert "whole nodes" in next(o["why"] for o in controller.decisions() if o["option"] == "mem")


def test_slurmctld_takes_jobs_whatever_goes_wrong(controller: Controller) -> None:
    controller.build("enforce")
    (controller.folder / "off").touch()
    job, told = controller.submit("--time=10:00:00")
    assert (job["TimeLimit"], told, controller.decisions()) == ("10:00:00", "", [])
    (controller.folder / "off").unlink()
    controller.build("enforce", days=-1.0)
    job, _ = controller.submit("--time=10:00:00")
    assert job["TimeLimit"] == "10:00:00"
    assert controller.decisions()[-1]["why"] == "the table is too old"
    for broken in ("return {", "return { jobs = 3 }", ""):
        (controller.folder / "table.lua").write_text(broken)
        job, _ = controller.submit("--time=10:00:00")
        assert job["TimeLimit"] == "10:00:00"
    (controller.folder / "table.lua").unlink()
    job, _ = controller.submit("--time=10:00:00")
    assert job["TimeLimit"] == "10:00:00"


def test_kinds_that_are_often_cut_off_have_no_limit_in_the_table(tmp_path: Path) -> None:
    for every, limited in ((2, False), (20, True)):
        build_hook(Advisor(cut_off(every)), tmp_path / f"hook{every}", "observe")
        table = (tmp_path / f"hook{every}" / "table.lua").read_text()
        assert "mem = " in table
        assert ("time = " in table) == limited


def test_what_cannot_be_built(tmp_path: Path) -> None:
    advisor = Advisor(made(60))
    with pytest.raises(BadInput, match="no mode 'force'"):
        build_hook(advisor, tmp_path, "force")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="cannot be named"):
        build_hook(advisor, tmp_path / 'a"b')
    odd = made(60, user=np.array([ODD] * 60, dtype=object))
    build_hook(Advisor(odd), tmp_path)
    table = (tmp_path / "table.lua").read_text()
    assert "os.exit(1)" not in table
    assert "\\010\\093\\093" in table  # the line break and the brackets, as numbers
