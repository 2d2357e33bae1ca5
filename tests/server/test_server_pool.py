"""The queue in front of working processes: turns, limits, cancelling, processes that die."""

import asyncio
import json
import os
import re
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from compass.domain.limits import ServerLimits
from compass.server import worker as process
from compass.server.pool import Pool, Worker
from compass.server.problems import Refused


class Slow:
    """Stands in for a working process: it does a piece of work when it is told to."""

    def __init__(self) -> None:
        self.warm: str | None = None
        self.begun: list[str] = []
        self.gate: asyncio.Queue[bytes] = asyncio.Queue()
        self.killed = 0
        self.process: object = self

    async def do(self, task: str, given: dict[str, Any], report: Any) -> bytes:
        self.begun.append(task)
        try:
            return await self.gate.get()
        except asyncio.CancelledError:
            await self.kill()
            raise

    async def kill(self) -> None:
        self.killed += 1
        self.process = None


def pool_of(count: int, **limits: Any) -> tuple[Pool, list[Any]]:
    pool = Pool(count, ServerLimits(**limits))
    workers: list[Any] = [Slow() for _ in range(count)]
    pool.workers = workers
    pool.idle = list(workers)
    return pool, workers


def ask(pool: Pool, task: str, owner: str, **more: Any) -> "asyncio.Task[bytes]":
    return asyncio.create_task(pool.do(task, {}, owner=owner, seconds=60, **more))


async def machine_limits() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def played(scene: Callable[[], Awaitable[None]]) -> None:
    async def play() -> None:
        await scene()

    asyncio.run(play())


def test_workspaces_take_turns() -> None:
    async def scene() -> None:
        pool, (worker,) = pool_of(1)
        work = [ask(pool, f"a{n}", "a") for n in range(4)]
        await machine_limits()
        work += [ask(pool, f"b{n}", "b") for n in range(2)] + [ask(pool, "c0", "c")]
        await machine_limits()
        assert (pool.queued, pool.busy) == (6, 1)
        for _ in work:
            worker.gate.put_nowait(b"{}")
            await machine_limits()
        await asyncio.gather(*work)
        assert worker.begun == ["a0", "a1", "b0", "c0", "a2", "b1", "a3"]
        assert (pool.queued, pool.busy, pool.held) == (0, 0, {})

    played(scene)


def test_work_goes_to_the_process_that_knows_the_engine() -> None:
    async def scene() -> None:
        pool, workers = pool_of(2)
        for worker in workers:
            worker.gate.put_nowait(b"{}")
            worker.gate.put_nowait(b"{}")
            worker.gate.put_nowait(b"{}")
        first = ask(pool, "1", "a", warm="one")
        second = ask(pool, "2", "a", warm="two")
        await asyncio.gather(first, second)
        await ask(pool, "3", "a", warm="two")
        await ask(pool, "4", "a", warm="one")
        assert workers[0].begun == ["1", "4"]
        assert workers[1].begun == ["2", "3"]

    played(scene)


def test_what_can_wait_comes_after_all_answers() -> None:
    async def scene() -> None:
        pool, (worker,) = pool_of(1)
        tasks = [ask(pool, "first", "a")]
        await machine_limits()
        tasks.append(ask(pool, "proof", "a", later=True))
        tasks += [ask(pool, name, "b") for name in ("second", "third")]
        for _ in tasks:
            await machine_limits()
            worker.gate.put_nowait(b"{}")
        await asyncio.gather(*tasks)
        assert worker.begun == ["first", "second", "third", "proof"]

    played(scene)


def test_what_takes_long_leaves_a_process_for_the_next_answer() -> None:
    async def scene() -> None:
        pool, workers = pool_of(2)
        proofs = [ask(pool, name, "a", later=True, long=True) for name in ("one", "two")]
        await machine_limits()
        assert (pool.busy, pool.queued) == (1, 1)
        answer = ask(pool, "answer", "b")
        await machine_limits()
        assert (pool.busy, pool.queued) == (2, 1)
        for worker in workers:
            worker.gate.put_nowait(b"{}")
            worker.gate.put_nowait(b"{}")
        await asyncio.gather(answer, *proofs)
        assert pool.busy == 0

    played(scene)


def test_what_can_wait_does_not_wait_for_ever() -> None:
    async def scene() -> None:
        pool, (worker,) = pool_of(1, waiting=200, waiting_per_workspace=200)
        tasks = [ask(pool, "answer", "a")]
        await machine_limits()
        tasks.append(ask(pool, "proof", "b", later=True))
        tasks += [ask(pool, "answer", "a") for _ in range(100)]
        for _ in tasks:
            worker.gate.put_nowait(b"{}")
        await asyncio.gather(*tasks)
        assert 1 < worker.begun.index("proof") < 50

    played(scene)


def test_an_answer_is_gone_on_with_where_it_was_begun() -> None:
    async def scene() -> None:
        pool, workers = pool_of(3)
        begun = [ask(pool, name, "a", answer=name, warm="/e") for name in ("one", "two")]
        await machine_limits()
        first, second = (next(w for w in workers if name in w.begun) for name in ("one", "two"))
        for worker in (first, second):
            worker.gate.put_nowait(b"{}")
        await asyncio.gather(*begun)
        later = [
            ask(pool, f"{name} again", "a", answer=name, warm="/e", later=True)
            for name in ("two", "one")
        ]
        await machine_limits()
        assert "two again" in second.begun
        assert "one again" in first.begun
        for worker in (first, second):
            worker.gate.put_nowait(b"{}")
        await asyncio.gather(*later)

    played(scene)


def test_an_answer_waits_a_moment_for_the_process_that_began_it() -> None:
    async def scene() -> None:
        pool, workers = pool_of(2)
        begun = [ask(pool, "begin", "a", answer="one")]
        await machine_limits()
        home = next(worker for worker in workers if worker.begun)
        home.gate.put_nowait(b"{}")
        await asyncio.gather(*begun)
        proof = ask(pool, "proof", "a", answer="one", later=True, long=True)
        runs = ask(pool, "runs", "a", answer="one", later=True)
        await machine_limits()
        assert (home.begun, pool.queued) == (["begin", "proof"], 1)
        home.gate.put_nowait(b"{}")
        home.gate.put_nowait(b"{}")
        await asyncio.gather(proof, runs)
        assert home.begun == ["begin", "proof", "runs"]

    played(scene)


def test_an_answer_does_not_wait_longer_than_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compass.server.pool._MOMENT", 0.01)

    async def scene() -> None:
        pool, workers = pool_of(2)
        for worker in workers:
            worker.gate.put_nowait(b"{}")
        await ask(pool, "begin", "a", answer="one")
        home = next(worker for worker in workers if worker.begun)
        (other,) = (worker for worker in workers if worker is not home)
        rows = ask(pool, "rows", "a", answer="one")  # not long by kind, but it does not end
        await machine_limits()
        assert home.begun == ["begin", "rows"]
        await asyncio.wait_for(ask(pool, "proof", "a", answer="one", later=True, long=True), 20)
        assert other.begun == ["proof"]
        home.gate.put_nowait(b"{}")
        await rows

    played(scene)


def test_nothing_is_gone_on_with_in_a_process_that_was_ended() -> None:
    async def scene() -> None:
        pool, workers = pool_of(2)
        for worker in workers:
            worker.gate.put_nowait(b"{}")
        await ask(pool, "begin", "a", answer="one")
        home = next(worker for worker in workers if worker.begun)
        proof = ask(pool, "proof", "a", answer="one", later=True)
        await machine_limits()
        assert home.begun == ["begin", "proof"]
        proof.cancel()
        await asyncio.wait([proof])
        assert not pool._began

    played(scene)


def test_limits_are_told_with_a_time_to_wait() -> None:
    async def scene() -> None:
        pool, _ = pool_of(1, waiting=3, waiting_per_workspace=2)
        work = [ask(pool, "x", "a"), ask(pool, "x", "a")]
        await machine_limits()
        with pytest.raises(Refused) as here:
            pool.admit("a")
        assert (here.value.status, here.value.retry_after) == (429, 1)
        work += [ask(pool, "x", "b"), ask(pool, "x", "b")]
        await machine_limits()
        with pytest.raises(Refused) as everywhere:
            await pool.do("x", {}, owner="c", seconds=1)
        assert everywhere.value.status == 503
        assert everywhere.value.retry_after
        for one in work:
            one.cancel()
        await asyncio.wait(work)
        pool.admit("a")
        assert pool.held == {}

    played(scene)


def test_what_is_cancelled_while_it_waits_never_begins() -> None:
    async def scene() -> None:
        pool, (worker,) = pool_of(1)
        first, second, third = (ask(pool, name, "a") for name in "123")
        await machine_limits()
        second.cancel()
        await machine_limits()
        assert pool.queued == 1
        worker.gate.put_nowait(b"{}")
        worker.gate.put_nowait(b"{}")
        await asyncio.gather(first, third)
        assert worker.begun == ["1", "3"]
        assert worker.killed == 0
        assert pool.busy == 0

    played(scene)


def test_a_turn_that_comes_in_the_moment_of_cancelling_is_passed_on() -> None:
    async def scene() -> None:
        pool, (worker,) = pool_of(1)
        first, second, third = (ask(pool, name, "a") for name in "123")
        await machine_limits()
        ticket = next(iter(pool.waiting))
        pool.waiting.remove(ticket)
        ticket.turn.set_result(pool.workers[0])  # its turn, and in the same moment:
        second.cancel()
        await machine_limits()
        assert second.cancelled()
        worker.gate.put_nowait(b"{}")
        worker.gate.put_nowait(b"{}")
        await asyncio.wait_for(asyncio.gather(first, third), 60)

    played(scene)


def test_what_runs_too_long_is_ended_and_its_place_is_free() -> None:
    async def scene() -> None:
        pool, (worker,) = pool_of(1)
        with pytest.raises(Refused) as slow:
            await pool.do("x", {}, owner="a", seconds=0.01)
        assert (slow.value.status, slow.value.problem.code) == (422, "too-slow")
        assert worker.killed == 1
        assert (pool.busy, pool.held) == (0, {})

    played(scene)


def test_closing_refuses_what_waits_and_what_comes() -> None:
    async def scene() -> None:
        pool, (worker,) = pool_of(1)
        first, second = ask(pool, "1", "a"), ask(pool, "2", "b")
        await machine_limits()
        await pool.close()
        with pytest.raises(Refused) as waiting:
            await second
        with pytest.raises(Refused) as late:
            await pool.do("3", {}, owner="c", seconds=1)
        assert waiting.value.status == late.value.status == 503
        assert worker.killed == 1
        first.cancel()
        await asyncio.wait([first])

    played(scene)


def test_a_real_process_is_started_killed_and_replaced() -> None:
    async def scene() -> None:
        worker = Worker(2**30)
        with pytest.raises(Refused) as wrong:
            await worker.do("describe", {"engine": "/nowhere/at/all"}, None)
        assert wrong.value.status == 422
        assert "/nowhere" not in wrong.value.problem.error
        assert worker.process is not None
        first = worker.process.pid
        os.kill(first, signal.SIGSTOP)
        work = asyncio.create_task(worker.do("describe", {"engine": "/nowhere"}, None))
        await asyncio.sleep(0.05)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(Refused) as lost:
            await work
        assert (lost.value.status, lost.value.retry_after) == (503, 5)
        assert re.search(
            r"signal 9 \(SIGKILL\); it held [0-9.]+ MiB of the 1.0 GiB", lost.value.message
        )
        # A task that does not exist is a fault of ours: that process ends too.
        with pytest.raises(Refused) as fault:
            await worker.do("no such task", {}, None)
        assert fault.value.problem.code == "fault"
        assert worker.process is None or worker.process.pid != first
        await worker.kill()

    played(scene)


def test_a_process_that_sends_something_else_is_ended_and_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program"
    too_long = "R" + r"\377" * 8
    program.write_text(f"#!/bin/sh\nprintf '{too_long}'; exec sleep 60")
    program.chmod(0o755)

    async def scene() -> None:
        worker = Worker(2**32)
        with monkeypatch.context() as patch:
            patch.setattr("sys.executable", str(program))
            with pytest.raises(Refused) as refused:
                await worker.do("x", {}, None)
        assert refused.value.status == 500
        assert worker.process is None

    played(scene)


def test_a_result_that_the_server_could_not_hold_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class TaskHandlers:
        def do(self, *_: object) -> bytes:
            return b"x" * 100

    monkeypatch.setattr(process, "LONGEST", 99)
    with (tmp_path / "out").open("wb") as out:
        kind, content = process._done(TaskHandlers(), {"task": "rows", "given": {}}, out)
    assert (kind, json.loads(content)["status"]) == (process.PROBLEM, 413)


def test_working_processes_do_not_get_the_secrets_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COMPASS_TOKEN", "a-token-of-this-test")
    monkeypatch.setenv("COMPASS_LLM_KEY", "a-key-of-this-test")

    async def scene() -> bytes:
        one = Worker(2**32)
        process = await one._started()
        environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        await one.kill()
        return environment

    assert b"of-this-test" not in asyncio.run(scene())
