"""Runs as processes of this machine: real ones, killed at any moment."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from compass.domain.errors import BadInput, EnvironmentProblem
from compass.domain.experiment import RunState
from compass.experiment.printed import Text
from compass.experiment.runners import supervise
from compass.experiment.runners.base import Job, JobStatus, Launch
from compass.experiment.runners.folder import output_files, result_of
from compass.experiment.runners.local import Local
from compass.testing import check


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Runs of other tests are not waited for; nothing is left when a test ends."""
    places = tmp_path / "places"
    places.mkdir()
    monkeypatch.setenv("TMPDIR", str(places))
    yield
    for lock in tmp_path.rglob("lock"):
        supervise.end_marked(str(lock.parent))


def launch(base: Path, script: str, number: int = 1, **fields: Any) -> Launch:
    words = fields.pop("words", ("/bin/sh", "-c", script))
    return Launch(
        number=number, folder=base / f"run-{number}", words=words, directory=base, **fields
    )


def ended(runner: Local, jobs: Sequence[Job], seconds: float = 180) -> list[JobStatus]:
    until = time.monotonic() + seconds
    while True:
        found = runner.poll(jobs)
        if all(status.state.ended for status in found):
            return found
        assert time.monotonic() < until, found
        time.sleep(runner.pause)


def until(holds: Callable[[], Any], seconds: float = 120) -> None:
    limit = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.01)


def one(base: Path, script: str, **fields: Any) -> JobStatus:
    runner = Local()
    return ended(runner, runner.submit([launch(base, script, **fields)]))[0]


def supervisor(job: Job) -> int:
    return int(job.id.partition(":")[2])


def alive(folder: Path) -> list[int]:
    """The processes that belong to a run."""
    mark = f"{supervise.FOLDER}={folder}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def test_promises_are_kept(tmp_path: Path) -> None:
    check("runner", "local", folder=tmp_path)


@pytest.mark.parametrize("text", ["slots=0", "slots=many", "slot=2", "slots", "slots=-1"])
def test_a_text_that_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="runner local"):
        Local(text)


def test_what_cannot_run_is_said_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="no program named 'no-such-program'"):
        Local().check(launch(tmp_path, "", words=("no-such-program", "-n")))
    with pytest.raises(EnvironmentProblem, match="there is no folder"):
        Local().check(launch(tmp_path, "").model_copy(update={"directory": tmp_path / "gone"}))
    Local().check(launch(tmp_path, ""))
    assert not list(tmp_path.glob("run-*"))


def test_a_program_that_vanishes_is_a_failed_run(tmp_path: Path) -> None:
    found = one(tmp_path, "", words=("./gone", "x"))
    assert (found.state, found.lost) == (RunState.FAILED, False)
    assert found.reason == "it cannot be started: ./gone: No such file or directory"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo working; echo 'bad input' >&2; exit 3", "exit code 3: bad input"),
        ("kill -9 $$", "signal 9, SIGKILL (out of memory?)"),
        ("echo a; kill -SEGV $$", "signal 11, SIGSEGV: a"),
        (r"printf '\033[2Jx\n'; exit 1", "exit code 1: ?[2Jx"),
    ],
)
def test_a_reason_says_how_a_command_failed(script: str, reason: str, tmp_path: Path) -> None:
    found = one(tmp_path, script)
    assert (found.state, found.reason, found.lost) == (RunState.FAILED, reason, False)


def test_nothing_outlives_the_time_limit(tmp_path: Path) -> None:
    runner = Local()
    script = "trap '' TERM; (trap '' TERM; setsid sleep 900) & sleep 900 & echo > $BEGUN; sleep 900"
    for number, limit in enumerate((0.3, 2.0, 10.0, 60.0)):
        begun = tmp_path / f"begun-{number}"
        environment = {"BEGUN": str(begun)}
        made = launch(tmp_path, script, number, time_limit=limit, environment=environment)
        found = ended(runner, runner.submit([made]))[0]
        assert found.state is RunState.FAILED
        assert found.reason.startswith("ended at its time limit, after ")
        until(lambda: not alive(made.folder))  # noqa: B023
        if begun.exists():
            return
    raise AssertionError("in a minute nothing was begun")


def test_what_a_command_leaves_behind_is_ended(tmp_path: Path) -> None:
    found = one(tmp_path, "setsid sleep 300 & sleep 300 & echo done")
    assert found.state is RunState.DONE
    assert found.seconds is not None
    assert found.seconds < 100
    # The result is written when nothing of the run is left, so nothing is waited for here.
    folder = tmp_path / "run-1"
    left = {number: Path(f"/proc/{number}/stat").read_text() for number in alive(folder)}
    assert not left, (folder / supervise.LOG).read_text()


def test_a_machine_that_stands_still_does_not_let_processes_get_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the time of grace were over before the first look."""
    changed = tmp_path / "supervise.py"
    text = Path(supervise.__file__).read_text()
    assert "_GRACE = 3.0" in text
    changed.write_text(text.replace("_GRACE = 3.0", "_GRACE = -1.0"))
    monkeypatch.setattr(supervise, "__file__", str(changed))
    assert one(tmp_path, "setsid sleep 300 & sleep 300 & echo done").state is RunState.DONE
    assert not alive(tmp_path / "run-1")


def test_a_process_without_an_environment_is_ended_too(tmp_path: Path) -> None:
    """So looks every process at the moment when it begins to execute another program."""
    left = tmp_path / "left"
    script = (
        f"env -i setsid sh -c 'echo $$ > {left}.new; mv {left}.new {left}; exec sleep 300' & "
        f"while [ ! -e {left} ]; do sleep 0.01; done"
    )
    assert one(tmp_path, script).state is RunState.DONE
    number = int(left.read_text())
    until(lambda: not Path(f"/proc/{number}").exists())


def test_the_beginning_and_the_end_of_a_flood_are_kept(tmp_path: Path) -> None:
    size = 3 * supervise.LATER + supervise.FIRST
    script = f"echo first; yes | head -c {size}; echo last: 7"
    assert one(tmp_path, script).state is RunState.DONE
    files = output_files(tmp_path / "run-1")
    kept = sum(path.stat().st_size for path in files)
    assert supervise.FIRST + supervise.LATER <= kept <= supervise.FIRST + 1.1 * supervise.LATER
    assert files[0].read_bytes()[:6] == b"first\n"
    assert Text(files, "the output").last_line() == "last: 7"
    assert json.loads((tmp_path / "run-1" / "result.json").read_text())["output"] == size + 14


def test_exclusive_runs_do_not_overlap_and_others_do(tmp_path: Path) -> None:
    def made(runner: Local, script: str, first: int) -> list[Launch]:
        found = [
            launch(tmp_path, script, n, environment={"COMPASS_N": str(n)}, time_limit=120)
            for n in range(first, first + 3)
        ]
        assert {one.state for one in ended(runner, runner.submit(found))} == {RunState.DONE}
        return found

    here = f"{tmp_path}/at-$COMPASS_N"
    script = f"mkdir {here}; ls -d {tmp_path}/at-* | wc -l; sleep 0.2; rmdir {here}"
    alone = made(Local(), script, 1)
    assert [(one.folder / "output").read_text() for one in alone] == ["1\n"] * 3
    # Each of these ends when all three have begun.
    made(
        Local("slots=3"),
        f"mkdir {here}; until [ $(ls -d {tmp_path}/at-* | wc -l) = 3 ]; do sleep 0.02; done",
        4,
    )


def test_places_have_cores_of_their_own(tmp_path: Path) -> None:
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        pytest.skip("one core cannot be divided")
    runner = Local("slots=2")
    script = f"{sys.executable} -c 'import os; print(*os.sched_getaffinity(0))'; sleep 0.5"
    made = [launch(tmp_path, script, n) for n in (1, 2)]
    ended(runner, runner.submit(made))
    shares = [set((one.folder / "output").read_text().split()) for one in made]
    assert all(len(share) <= (cores + 1) // 2 for share in shares)


def test_a_run_that_waits_can_be_cancelled(tmp_path: Path) -> None:
    runner = Local()
    first, second = runner.submit([launch(tmp_path, "sleep 900", n) for n in (1, 2)])
    until(lambda: RunState.RUNNING in [status.state for status in runner.poll([first, second])])
    states = {status.state for status in runner.poll([first, second])}
    assert states == {RunState.RUNNING, RunState.SUBMITTED}
    runner.cancel([first, second])
    assert {s.state for s in ended(runner, [first, second])} == {RunState.CANCELLED}


def test_a_damaged_result_is_a_lost_run(tmp_path: Path) -> None:
    one(tmp_path, "true")
    for text in ("", "{", "[]", '{"code": "x"}', '{"seconds": -1}', '{"started": 1e300}'):
        (tmp_path / "run-1" / "result.json").write_text(text)
        found = result_of(tmp_path / "run-1")
        assert found is not None
        assert (found.state, found.lost) == (RunState.FAILED, True)


def test_a_folder_that_is_gone_is_a_lost_run(tmp_path: Path) -> None:
    runner = Local()
    jobs = runner.submit([launch(tmp_path, "true")])
    ended(runner, jobs)
    shutil.rmtree(jobs[0].folder)
    found = runner.poll(jobs)[0]
    assert (found.state, found.lost) == (RunState.FAILED, True)
    assert runner.attach({1: jobs[0].folder}) == {}


def test_a_killed_supervisor_loses_its_run_and_nothing_else(tmp_path: Path) -> None:
    runner = Local()
    made = launch(tmp_path, "sleep 300")
    jobs = runner.submit([made])
    until(lambda: runner.poll(jobs)[0].state is RunState.RUNNING and alive(made.folder))
    os.kill(supervisor(jobs[0]), signal.SIGKILL)
    found = ended(runner, jobs)[0]
    assert (found.state, found.lost) == (RunState.FAILED, True)
    assert "watched" in found.reason
    assert not alive(made.folder)
    assert Local().poll(jobs) == [found]
    assert runner.submit([made])[0].number == 1
    assert runner.poll(jobs) == [found]


def _record(base: Path) -> str:
    begin, end = (f"echo $COMPASS_N >> {base / name}" for name in ("begun", "done"))
    return f"{begin}; sleep 0.03; echo T: $COMPASS_N; {end}"


def test_supervisors_that_are_killed_at_any_moment_repeat_nothing(tmp_path: Path) -> None:
    """What says that it is done was done once; what does not was begun once at most."""
    rng = random.Random(3)
    runner = Local("slots=4")
    made = [
        launch(tmp_path, _record(tmp_path), n, environment={"COMPASS_N": str(n)}) for n in range(40)
    ]
    jobs = []
    for start in range(0, len(made), 4):
        part = runner.submit(made[start : start + 4])
        time.sleep(rng.uniform(0, 0.2))
        for job in rng.sample(part, 2):
            try:
                os.kill(supervisor(job), signal.SIGKILL)
            except ProcessLookupError:
                continue
        jobs += part
    found = ended(runner, jobs)
    begun = (tmp_path / "begun").read_text().split()
    finished = (tmp_path / "done").read_text().split()
    assert len(set(begun)) == len(begun)
    for job, status in zip(jobs, found, strict=True):
        assert status.state is RunState.DONE or status.lost
        if status.state is RunState.DONE:
            assert finished.count(str(job.number)) == 1
            assert (job.folder / "output").read_text() == f"T: {job.number}\n"
        assert not alive(job.folder)


def _drive(made: Sequence[Launch]) -> None:
    """What a driver does: it submits what none before it did."""
    runner = Local("slots=4")
    known = runner.attach({one.number: one.folder for one in made})
    for one in made:
        if one.number not in known:
            runner.submit([one])


def test_drivers_that_are_killed_at_any_moment_lose_and_repeat_nothing(tmp_path: Path) -> None:
    """kill -9 comes at random, 25 times; the last driver is left alone."""
    rng, count = random.Random(4), 60
    script = _record(tmp_path)
    made = [launch(tmp_path, script, n, environment={"COMPASS_N": str(n)}) for n in range(count)]
    for _ in range(25):
        driver = os.fork()
        if not driver:
            _drive(made)
            os._exit(0)
        time.sleep(rng.uniform(0, 0.02))
        os.kill(driver, signal.SIGKILL)
        os.waitpid(driver, 0)
    _drive(made)
    runner = Local()
    jobs = runner.attach({n: tmp_path / f"run-{n}" for n in range(count)})
    assert set(jobs) == set(range(count))
    assert {status.state for status in ended(runner, list(jobs.values()))} == {RunState.DONE}
    numbers = sorted((tmp_path / "begun").read_text().split(), key=int)
    assert numbers == [str(n) for n in range(count)]


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(small)], check=False
    )
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        made = launch(small, "yes | head -c 1000000; echo done").model_copy(
            update={"directory": tmp_path}
        )
        runner = Local()
        found = ended(runner, runner.submit([made]))[0]
        assert (found.state, found.lost) == (RunState.FAILED, True)
        assert found.reason == "its output cannot be kept: No space left on device"
        with pytest.raises(EnvironmentProblem, match="cannot be written: No space left") as error:
            runner.submit([launch(small, "true", 2).model_copy(update={"directory": tmp_path})])
        assert "make room" in error.value.hint
        assert runner.attach({2: small / "run-2"}) == {}
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def test_a_folder_without_permission_is_said(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.write_text("no folder")
    with pytest.raises(EnvironmentProblem, match="cannot be written") as error:
        Local().submit([launch(closed, "true")])
    assert "another folder" in error.value.hint


def test_places_of_somebody_else_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / f"compass-{os.getuid()}").symlink_to(tmp_path)
    monkeypatch.setenv("TMPDIR", str(elsewhere))
    with pytest.raises(EnvironmentProblem, match="belongs to somebody else"):
        Local().submit([launch(tmp_path, "true")])
