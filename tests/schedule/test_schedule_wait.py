"""Predicted waits: what is known of a queue, what is learnt of it, and what speaks against it."""

from dataclasses import replace

import numpy as np
import pytest
from test_schedule_advice import made

from compass.domain.advice import JobRequest
from compass.domain.answer import Label
from compass.schedule.advice.advisor import Advisor
from compass.schedule.simulate import simulate
from compass.schedule.trace import job_trace
from compass.schedule.wait import model as waits
from compass.schedule.wait.load import inputs, log_wait, wait_of
from compass.schedule.wait.model import WaitModel
from compass.schedule.wait.queued import QueuedJobs, queued_jobs, queued_of_trace


def drawn(count: int, seed: int) -> QueuedJobs:
    """Jobs with ties in time; some wait still, some run still, some left without having started."""
    rng = np.random.default_rng(seed)
    queued = np.sort(rng.integers(0, 40, count)).astype(float) * 100
    wait = rng.integers(0, 6, count) * 100.0
    never, waits_still = rng.random(count) < 0.15, rng.random(count) < 0.1
    left = np.where(waits_still, np.inf, queued + wait)
    end = np.where(rng.random(count) < 0.1, np.inf, left + rng.integers(0, 9, count) * 100)
    return QueuedJobs(
        queued=queued,
        wait=np.where(never | waits_still, np.nan, wait),
        left=left,
        end=end,
        limit=rng.choice([300.0, 900.0, np.nan], count),
        cores=rng.choice([1.0, 4.0, 16.0], count),
        nodes=np.ones(count),
        gpus=np.full(count, np.nan),
        memory=np.full(count, np.nan),
        user=rng.choice(np.array(["a", "b", "c"], dtype=object), count),
        partition=rng.choice(np.array(["p", "q"], dtype=object), count),
    )


def plain_state(jobs: QueuedJobs, row: int, same: np.ndarray) -> list[float]:
    """The state of a queue when a job came, from the definition."""
    now = jobs.queued[row]
    usual = np.nanmedian(jobs.limit)
    limit = np.where(np.isnan(jobs.limit), usual, jobs.limit)
    order = np.arange(len(jobs))

    def by_then(moments: np.ndarray) -> np.ndarray:
        return (moments < now) | ((moments == now) & (order < row))

    ran = ~np.isnan(jobs.wait)
    waiting = same & by_then(jobs.queued) & ~by_then(jobs.left)
    began = np.where(ran, jobs.began, np.inf)
    gone = np.where(ran, jobs.end, np.inf)
    running = same & by_then(began) & ~by_then(gone)
    asks = jobs.cores * limit
    left = max(float((jobs.cores * (began + limit - now))[running].sum()), 0.0)
    found = [
        *(float(waiting.sum()), float(jobs.cores[waiting].sum()), float(asks[waiting].sum())),
        float(now - jobs.queued[waiting].mean()) if waiting.any() else 0.0,
        *(float(running.sum()), float(jobs.cores[running].sum()), left),
        left + float(asks[waiting].sum()),
    ]
    for back in (3600.0, 86400.0):
        found.append(float(asks[same & by_then(jobs.queued) & (jobs.queued >= now - back)].sum()))
        found.append(float(jobs.cores[same & by_then(gone) & (gone >= now - back)].sum()))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_state_of_a_queue_is_what_was_known_then(seed: int) -> None:
    jobs = drawn(120, seed)
    found = inputs(jobs, jobs, np.arange(120))
    for row in range(0, 120, 5):
        expected: list[float] = []
        for column in (None, jobs.partition, jobs.user):
            same = np.ones(120, bool) if column is None else column == column[row]
            expected += plain_state(jobs, row, same)
        np.testing.assert_allclose(found[row, :36], np.log1p(expected), atol=1e-6)


def test_nothing_later_is_looked_at() -> None:
    jobs = drawn(120, 7)
    now = jobs.queued[60]
    later = (np.arange(120) >= 60) | (jobs.began > now) | np.isnan(jobs.wait)
    other = replace(
        jobs,
        wait=np.where(later & ~np.isnan(jobs.wait), jobs.wait + 5000, jobs.wait),
        left=np.where(later & (jobs.left > now), jobs.left + 5000, jobs.left),
        end=np.where(jobs.end > now, jobs.end + 5000, jobs.end),
    )
    asked = jobs.take(slice(60, 61))
    place = np.array([60])
    one, two = (inputs(each, asked, place) for each in (jobs, other))
    np.testing.assert_allclose(one, two, rtol=1e-12)


def simulated(count: int = 1600, seed: int = 5) -> QueuedJobs:
    """A queue that is full now and then: who asks for much waits for long."""
    rng = np.random.default_rng(seed)
    gaps = rng.exponential(190.0, count) * (1.0 + 0.6 * np.sin(np.arange(count) / 40.0))
    run = rng.lognormal(6.5, 1.0, count).round() + 1.0
    trace = job_trace(
        np.cumsum(gaps).round(),
        run,
        np.ceil(run * rng.choice([1.2, 3.0, 8.0], count) / 60) * 60,
        {"nodes": rng.choice([1, 2, 4, 16], count, p=[0.5, 0.2, 0.2, 0.1])},
        user=[f"u{n}" for n in rng.integers(8, size=count)],
    )
    found = simulate(trace, {"nodes": 24}, "fcfs+easy")
    return queued_of_trace(replace(found.trace, wait=found.wait, run=found.ran))


@pytest.fixture(scope="module")
def queue() -> QueuedJobs:
    return simulated()


@pytest.fixture(scope="module")
def learnt(queue: QueuedJobs) -> WaitModel:
    return WaitModel(queue, upto=float(queue.queued[1100]))


def test_intervals_hold_for_later_jobs_and_say_more_than_the_latest_waits(
    queue: QueuedJobs, learnt: WaitModel
) -> None:
    rows = np.arange(1100, len(queue))
    found = learnt.predict(queue.take(rows), rows)
    assert learnt.how == "trees"
    truth = queue.wait[rows]
    inside = (truth >= found.low - 1e-6) & (truth <= found.high + 1e-6)
    assert inside[found.trusted].mean() > 0.84
    assert found.trusted.mean() > 0.5
    assert (found.low <= found.middle).all()
    assert (found.middle <= found.high).all()
    off = np.abs(log_wait(truth) - log_wait(found.middle)).mean()
    plain = [np.median(queue.wait[queue.began < queue.queued[row]][-100:]) for row in rows]
    assert off < 0.8 * np.abs(log_wait(truth) - log_wait(np.array(plain))).mean()


def test_what_happens_later_changes_no_prediction(queue: QueuedJobs, learnt: WaitModel) -> None:
    row = 1250
    now = queue.queued[row]
    unknown = queue.began > now
    other = replace(
        queue,
        wait=np.where(unknown, queue.wait + 9e5, queue.wait),
        left=np.where(unknown, queue.left + 9e5, queue.left),
        end=np.where(queue.end > now, queue.end + 9e5, queue.end),
    )
    again = WaitModel(other, upto=float(queue.queued[1100]))
    asked, place = queue.take(slice(row, row + 1)), np.array([row])
    one, two = learnt.predict(asked, place), again.predict(asked, place)
    for name in ("low", "middle", "high", "held"):
        assert getattr(one, name) == getattr(two, name), name


def asked_of(queue: QueuedJobs, **other: object) -> QueuedJobs:
    """One more job, at the end of a queue."""
    last = queue.take(slice(len(queue) - 1, None))
    return replace(last, queued=last.queued + 1.0, **other)  # type: ignore[arg-type]


def test_what_speaks_against_a_prediction(queue: QueuedJobs) -> None:
    model = WaitModel(queue)

    def doubts(**other: object) -> tuple[str, ...]:
        return model.predict(asked_of(queue, **other)).doubts[0]

    assert waits.LARGER in doubts(nodes=np.array([99.0]), cores=np.array([99.0]))
    assert waits.LARGER in doubts(limit=np.array([1e9]))
    assert waits.UNSEEN in doubts(partition=np.array(["new"], dtype=object))
    ours = replace(queue, user=np.array(["me"] * len(queue), dtype=object))
    alone = WaitModel(ours)
    assert waits.SOME in alone.predict(asked_of(ours)).doubts[0]
    assert not WaitModel(ours, everybody=True).predict(asked_of(queue)).doubts[0]
    # A burst of jobs as there never was one.
    burst = queue.take(np.append(np.arange(len(queue)), np.full(900, len(queue) - 1)))
    since = np.arange(len(burst)) >= len(queue)
    moment = float(queue.queued[-1]) + 5.0
    burst = replace(
        burst,
        queued=np.where(since, moment, burst.queued),
        wait=np.where(since, np.nan, burst.wait),
        left=np.where(since, np.inf, burst.left),
        end=np.where(since, np.inf, burst.end),
    )
    assert waits.LONGER in WaitModel(burst).predict(asked_of(burst)).doubts[0]


def test_a_queue_that_slows_down_is_seen_before_its_jobs_start(queue: QueuedJobs) -> None:
    """Jobs that wait for longer than was said count while they wait."""
    stuck = np.arange(len(queue)) >= len(queue) - 200
    never = replace(
        queue,
        wait=np.where(stuck, np.nan, queue.wait),
        left=np.where(stuck, np.inf, queue.left),
        end=np.where(stuck, np.inf, queue.end),
    )
    late = replace(asked_of(queue), queued=queue.queued[-1:] + 30 * 86400.0)
    found = WaitModel(never).predict(late)
    assert found.held[0] < 0.85
    assert any("of the latest waits" in one for one in found.doubts[0])
    assert found.high[0] > 10 * 86400.0


def test_jobs_that_were_cancelled_in_the_queue_wait_no_longer(queue: QueuedJobs) -> None:
    gone = np.arange(len(queue)) % 10 == 0
    cancelled = replace(
        queue,
        wait=np.where(gone, np.nan, queue.wait),
        left=np.where(gone, queue.queued + 60.0, queue.left),
        end=np.where(gone, queue.queued + 60.0, queue.end),
    )
    late = replace(asked_of(queue), queued=queue.queued[-1:] + 30 * 86400.0)
    found = WaitModel(cancelled).predict(late)
    assert found.held[0] > 0.85
    assert found.high[0] < 5 * 86400.0


def test_too_few_waits_say_nothing(queue: QueuedJobs) -> None:
    assert not WaitModel(queue.take(slice(0, 40))).learnt
    few = WaitModel(queue.take(slice(0, 200)))
    assert few.learnt
    assert few.how == "latest"
    found = few.predict(asked_of(queue.take(slice(0, 200))))
    assert 0 <= found.low[0] <= found.high[0] < 1e6
    empty = WaitModel(queue.take(slice(0, 0)))
    assert not empty.learnt
    assert wait_of(log_wait(np.array([0.0, 3600.0]))) == pytest.approx([0.0, 3600.0])


def test_accounting_becomes_a_queue() -> None:
    jobs = made(6)
    state = np.array(
        ["COMPLETED", "PENDING", "RUNNING", "CANCELLED", "COMPLETED", "TIMEOUT"], object
    )
    wait = np.array([5.0, np.nan, 7.0, np.nan, 9.0, 5.0])
    found = queued_jobs(replace(jobs, state=state, wait=wait))
    assert np.isinf(found.left).tolist() == [False, True, False, False, False, False]
    assert np.isinf(found.end).tolist() == [False, True, True, False, False, False]
    assert found.left[3] == jobs.end[3]  # cancelled before it started
    assert np.isnan(found.wait).tolist() == [False, True, False, True, False, False]
    assert found.began[4] == jobs.eligible[4] + 9.0


def test_advice_says_when_a_job_would_start() -> None:
    queue = simulated(900)
    jobs = made(900)
    jobs = replace(
        jobs,
        submit=queue.queued,
        eligible=queue.queued,
        wait=queue.wait,
        start=queue.began,
        end=queue.end,
        cores=queue.cores,
        cores_asked=queue.cores,
        limit=queue.limit,
        elapsed=queue.end - queue.began,
    )
    advisor = Advisor(jobs)
    request = JobRequest(user="u0", name="app1", partition="p", limit=36_000, cores=8, nodes=1)
    start = advisor.of_request(request).start
    assert start is not None
    assert start.missing is None
    by = {one.of: one for one in start.waits}
    assert next(iter(by)) == "as asked"
    assert {"half the cores", "twice the cores"} <= set(by)
    asked, half = by["as asked"], by["half the cores"]
    assert (asked.cores, half.cores, asked.may_run_longer) == (8.0, 4.0, None)
    assert half.may_run_longer == pytest.approx(asked.wait - half.wait)
    assert half.label is Label.CAUTION  # what a change does was never tried
    assert asked.low <= asked.wait <= asked.high
    unknown = Advisor(replace(jobs, wait=np.full(900, np.nan))).of_last(1)[0].start
    assert unknown is not None
    assert unknown.waits == ()
    assert "no past job tells" in (unknown.missing or "")
