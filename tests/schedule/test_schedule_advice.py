"""Advice on jobs: similar ones, stated chances, what is advised and what is not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.schedule.advice.dump import lines
from compass.domain.advice import JobRequest
from compass.domain.answer import Label
from compass.domain.errors import BadInput, DataProblem
from compass.readers import read
from compass.schedule.advice.advisor import Advisor, job_of_request
from compass.schedule.advice.choose import choose, next_attempt, rounded, spent
from compass.schedule.advice.history import Similarity, features
from compass.schedule.advice.jobs import Jobs, application_of, jobs_of_table
from compass.schedule.advice.need import Amounts, Needs, needs
from compass.schedule.advice.source import past_jobs
from compass.slurm import units


def made(count: int, seed: int = 3, **other: object) -> Jobs:
    """Jobs of three users with two applications, which need what the application needs."""
    rng = np.random.default_rng(seed)
    user, app = rng.integers(3, size=count), rng.integers(2, size=count)
    scale = rng.lognormal(0.0, 0.2, count)
    submit = np.cumsum(rng.exponential(60.0, count))
    elapsed = (100.0 + 400.0 * user + 900.0 * app) * scale
    nothing = np.full(count, np.nan)
    columns: dict[str, object] = {
        "id": np.array([str(n) for n in range(count)], dtype=object),
        "user": np.array([f"u{n}" for n in user], dtype=object),
        "name": np.array([f"app{n}" for n in app], dtype=object),
        "partition": np.array(["p"] * count, dtype=object),
        "state": np.array(["COMPLETED"] * count, dtype=object),
        "submit": submit,
        "start": submit + 5.0,
        "end": submit + 5.0 + elapsed,
        "elapsed": elapsed,
        "limit": np.full(count, 36_000.0),
        "cores": np.full(count, 4.0),
        "cores_asked": np.full(count, 4.0),
        "nodes": np.ones(count),
        "gpus": nothing,
        "tasks": nothing,
        "memory_asked": np.full(count, 16.0 * 2**30),
        "memory_used": elapsed * 2**20,
        "cores_used": np.full(count, 3.9),
        "gpus_used": nothing,
        "eligible": submit,
        "wait": np.full(count, 5.0),
    }
    return Jobs(**{**columns, **other})  # type: ignore[arg-type]


def test_history_is_what_had_ended_by_then() -> None:
    jobs = made(120)
    groups = Similarity().groups(jobs)
    asked = jobs.cores[:, None]
    found = features(groups, jobs.end, jobs.elapsed, groups, jobs.submit, asked)
    for row in range(0, 120, 7):
        expected = [np.log(4.0)]
        for level in range(len(groups)):
            same = (groups[level] == groups[level, row]) & (jobs.end <= jobs.submit[row])
            order = np.argsort(jobs.end[same], kind="stable")
            logs = np.log(jobs.elapsed[same][order])
            few = logs[-30:]
            expected += (
                [logs[-1], logs[-5:].max(), few.mean(), few.max()] if len(logs) else [np.nan] * 4
            )
            expected.append(np.log1p(len(logs)))
        np.testing.assert_allclose(found[row], expected, rtol=1e-9)


@pytest.mark.parametrize("count", [200, 1500])
def test_stated_chances_hold_for_later_jobs(count: int) -> None:
    jobs = made(count + 400)
    past, later = jobs.take(np.arange(count)), jobs.take(np.arange(count, count + 400))
    similarity = Similarity()
    known = Needs(past, similarity.groups(past), "time", similarity)
    assert known.learnt == (count > 400)
    amounts = known.amounts(later, later.submit + 1e9)
    for level in (0.5, 0.8, 0.95):
        seen = (later.elapsed > amounts.amount(1.0 - level)).mean()
        assert abs(seen - (1.0 - level)) < 0.07, level
    told = amounts.risk(amounts.amount(0.1))
    np.testing.assert_allclose(told, 0.1, atol=1e-6)


def test_the_need_of_a_job_that_was_ended_for_it_is_unknown() -> None:
    states = np.array(["TIMEOUT", "COMPLETED", "FAILED", "OUT_OF_MEMORY"], dtype=object)
    jobs = made(4, state=states)
    assert needs(jobs, "time")[1] == jobs.elapsed[1]
    assert np.isnan(needs(jobs, "time")[[0, 2, 3]]).all()
    memory = needs(jobs, "memory")
    assert memory[0] == jobs.memory_used[0]  # it ran out of time, and its memory sufficed
    assert np.isnan(memory[3])


def cut_off(every: int) -> Jobs:
    """Jobs of which one in so many ran into its limit, by the order of submission."""
    jobs = made(900)
    ended_for = np.arange(900) % every == 0
    elapsed = np.where(ended_for, jobs.limit, jobs.elapsed)
    state = np.where(ended_for, "TIMEOUT", "COMPLETED").astype(object)
    return replace(jobs, elapsed=elapsed, end=jobs.start + elapsed, state=state)


def test_few_jobs_that_are_cut_off_change_the_chance_and_not_the_amount() -> None:
    jobs = cut_off(20)
    similarity = Similarity()
    known = Needs(jobs, similarity.groups(jobs), "time", similarity)
    at = np.full(6, jobs.end.max() + 1.0)
    last = jobs.take(np.arange(894, 900))
    amounts = known.amounts(last, at)
    assert (amounts.amount(0.05) < 5000.0).all()  # and not the limit of 36,000 s
    for row, (user, name) in enumerate(zip(last.user, last.name, strict=True)):
        own = np.flatnonzero((jobs.user == user) & (jobs.name == name))
        latest = own[np.argsort(jobs.end[own], kind="stable")][-30:]
        assert amounts.cut_off[row] == (jobs.state[latest] == "TIMEOUT").mean()
    # Only what had ended counts.
    assert (known.amounts(last, np.zeros(6)).cut_off == 0.0).all()


def test_less_is_not_advised_where_many_jobs_are_cut_off() -> None:
    values = np.array([[3000.0, 3100, 3200, 3300, 3400, 3500, 3600]])
    some = choose("time", Amounts(values, np.array([0.99]), np.array([0.1])), 36_000.0, 0.05)
    assert some.amount == 3420.0
    assert some.risk is not None
    assert some.risk_before is not None
    assert 0.1 < some.risk_before < some.risk <= 0.1 + 0.9 * 0.05
    many = choose("time", Amounts(values, np.array([0.99]), np.array([0.5])), 36_000.0, 0.05)
    assert many.amount is None
    assert "50% of the latest jobs" in many.why
    assert Advisor(cut_off(2)).of_last(1)[0].edits[-1].option != "time"


def test_a_job_that_was_cut_off_and_has_no_other_like_it_asks_for_twice() -> None:
    jobs = made(6, state=np.array(["TIMEOUT"] * 6, dtype=object))
    again = Advisor(jobs).of_job("5")
    edit = next(one for one in again.edits if one.option == "time")
    assert edit.new == "0-20:00:00"
    assert again.after_failure


def test_what_is_spent_is_every_try() -> None:
    assert spent(4.0, np.array([3.0, 5.0, 17.0])).tolist() == [
        1.0,
        4.0 + 3.0,
        4.0 + 8.0 + 16.0 + (32.0 - 17.0),
    ]


def amounts_of(*values: float) -> Amounts:
    return Amounts(np.array([values]), np.array([0.99]), np.zeros(1))


def test_what_is_asked_stays_where_nothing_is_won() -> None:
    known = amounts_of(3000, 3100, 3200, 3300, 3400, 3500, 3600)
    assert choose("time", known, 3600.0, 0.05).amount is None
    less = choose("time", known, 36_000.0, 0.05)
    assert less.amount == rounded("time", 3400.0) == 3420.0
    assert less.risk is not None
    assert less.risk <= 0.05
    assert less.saved == pytest.approx(36_000.0 - 3420.0, rel=0.1)
    more = choose("time", known, 3050.0, 0.05)
    assert more.amount == 3420.0
    assert more.risk_before == pytest.approx(0.4, abs=0.01)
    # Four in ten need far more: to fail first costs more than to ask for it.
    wild = amounts_of(10, *[3_000_000] * 6)
    assert choose("time", wild, 3_100_000.0, 0.4).amount is None


def test_the_next_attempt_asks_for_more() -> None:
    known = amounts_of(1000, 1500, 2000, 3000, 5000, 7000, 9000)
    again = next_attempt("time", known, 1000.0, 0.1)
    assert again.amount == rounded("time", 5000.0)
    beyond = next_attempt("time", known, 9000.0, 0.1)
    assert beyond.amount == 18_000.0


def test_a_request_is_answered_from_similar_jobs() -> None:
    jobs = made(600)
    advisor = Advisor(jobs)
    asked = JobRequest(
        user="u0", name="app1", partition="p", limit=36_000, memory=16 * 2**30, cores=4, nodes=1
    )
    found = advisor.of_request(asked)
    assert found.label is Label.TRUSTED
    assert [edit.option for edit in found.edits] == ["mem", "time"]
    own = (jobs.user == "u0") & (jobs.name == "app1")
    limit = found.edits[1]
    assert limit.risk is not None
    assert 0.0 < limit.risk <= 0.05
    assert limit.new.startswith("0-00:")
    assert {past.id for past in found.evidence} <= set(jobs.id[own])
    assert found.similar == own.sum()
    assert found.saved_core_hours > 0
    assert found.saved_gb_hours > 0
    assert found.directives[0].startswith("#SBATCH --mem=")


def test_no_advice_without_evidence() -> None:
    advisor = Advisor(made(60))
    found = advisor.of_request(JobRequest(user="new", name="x", limit=3600, memory=2**30))
    assert found.label is Label.UNSUPPORTED
    assert not found.edits
    assert not found.evidence
    assert "no past job of new" in found.reason
    few = made(8, user=np.array(["one"] * 8, dtype=object), name=np.array(["a"] * 8, dtype=object))
    some = Advisor(few).of_last(1)[0]
    assert some.edits
    assert some.label is Label.CAUTION
    # Eight jobs cannot tell what happens once in twenty times.
    assert all(edit.risk is None or edit.risk > 0.1 for edit in some.edits)
    with pytest.raises(BadInput, match="no job 99999"):
        advisor.of_job("99999")


def test_whole_nodes_and_busy_cores_and_unused_memory() -> None:
    given = made(300, cores=np.full(300, 48.0), cores_asked=np.ones(300))
    kept = {one.option: one.why for one in Advisor(given).of_last(1)[0].kept}
    assert "whole nodes" in kept["mem"]
    idle = made(300, cores_used=np.full(300, 1.2))
    edits = {one.option: one for one in Advisor(idle).of_last(1)[0].edits}
    assert (edits["cpus-per-task"].new, edits["cpus-per-task"].label) == ("2", Label.CAUTION)
    nothing = made(300, memory_used=np.full(300, np.nan))
    kept = {one.option: one.why for one in Advisor(nothing).of_last(1)[0].kept}
    assert "gathers none" in kept["mem"]


def test_memory_is_asked_for_in_one_way() -> None:
    advisor = Advisor(made(600))
    asked = {"user": "u0", "name": "app1", "partition": "p", "limit": 36_000, "nodes": 1}
    plain = advisor.of_request(JobRequest(**asked, memory=16 * 2**30, cores=4))  # type: ignore[arg-type]
    of_node = next(one for one in plain.edits if one.option == "mem")
    given = JobRequest(**asked, memory=16 * 2**30, cores=4, memory_per_cpu=True)  # type: ignore[arg-type]
    found = advisor.of_request(given)
    assert [one.option for one in found.edits] == ["mem-per-cpu", "time"]
    per_cpu = found.edits[0]
    assert per_cpu.old == "4G"
    assert 4 * size(per_cpu.new) >= size(of_node.new) > 4 * (size(per_cpu.new) - 2**20)
    assert per_cpu.risk == of_node.risk
    # Fewer CPUs: each of them needs more.
    idle = Advisor(made(600, cores_used=np.full(600, 1.2))).of_request(given)
    by = {one.option: one for one in idle.edits}
    assert by["cpus-per-task"].new == "2"
    assert size(by["mem-per-cpu"].new) == pytest.approx(2 * size(per_cpu.new), abs=2**20)


def size(text: str) -> float:
    return units.size(text) or 0.0


def test_who_asks_for_whole_nodes_keeps_their_memory() -> None:
    asked = JobRequest(user="u0", name="app1", limit=36_000, cores=4, memory=2**40, exclusive=True)
    found = Advisor(made(600)).of_request(asked)
    assert [one.option for one in found.edits] == ["time"]
    assert "whole nodes are asked for" in found.kept[0].why


def test_nodes_and_gpus_that_nothing_used() -> None:
    wide = made(
        300, nodes=np.full(300, 4.0), cores=np.full(300, 64.0), cores_used=np.full(300, 30.0)
    )
    edits = {one.option: one for one in Advisor(wide).of_last(1)[0].edits}
    assert (edits["nodes"].old, edits["nodes"].new) == ("4", "2")
    assert edits["nodes"].label is Label.CAUTION
    assert "32 tasks" in edits["nodes"].why
    full = replace(wide, memory_used=np.full(300, 15.0 * 2**30))
    kept = {one.option: one.why for one in Advisor(full).of_last(1)[0].kept}
    assert "their memory needs 4 nodes" in kept["nodes"]
    busy = np.where(np.arange(300) < 150, 80.0, 0.0)
    users = np.where(np.arange(300) < 150, "other", "mine").astype(object)
    gpus = made(300, user=users, gpus=np.full(300, 2.0), gpus_used=busy)
    unused = {one.option: one for one in Advisor(gpus).of_last(1)[0].edits}
    assert (unused["gpus"].old, unused["gpus"].new) == ("2", "0")
    # Zeros everywhere: the site gathers nothing.
    zeros = replace(gpus, gpus_used=np.zeros(300))
    assert all(one.option != "gpus" for one in Advisor(zeros).of_last(1)[0].edits)


def test_an_array_is_known_by_its_number() -> None:
    ids = np.array([f"77_{n}" if n >= 40 else str(n) for n in range(60)], dtype=object)
    advisor = Advisor(made(60, id=ids))
    assert advisor.of_job("77").about == "job 77_59"
    assert advisor.of_job("77_45").about == "job 77_45"
    with pytest.raises(BadInput, match="no job 7_ "):
        advisor.of_job("7_")


def test_accounting_becomes_jobs(tmp_path: Path) -> None:
    dump = tmp_path / "jobs.psv"
    dump.write_text("\n".join(lines(400, 2)) + "\n")
    jobs, whole = past_jobs(str(dump)), jobs_of_table(read(dump).arrow)
    for name in ("id", "user", "elapsed", "limit", "memory_used", "memory_asked", "cores_used"):
        one, other = getattr(jobs, name), getattr(whole, name)
        assert (one == other).all() or np.allclose(one, other, equal_nan=True)
    assert len(jobs) == 400
    assert (np.diff(jobs.submit) >= 0).all()
    # What a partition does not gather is unknown, not zero.
    assert np.isnan(jobs.memory_used[jobs.partition == "quiet"]).all()
    assert (jobs.memory_used[~np.isnan(jobs.memory_used)] > 0).all()
    failed = np.flatnonzero(jobs.state == "TIMEOUT")
    again = Advisor(jobs).of_job(str(jobs.id[failed[-1]]))
    assert again.after_failure
    assert next(one for one in again.edits if one.option == "time").risk_before == 1.0
    with pytest.raises(DataProblem, match="what jobs used"):
        jobs_of_table(read({"a": [1, 2], "b": [3, 4]}).arrow)


def test_applications_are_names_without_what_changes() -> None:
    assert application_of("run_33412") == application_of("run_99120") == "run_#"
    assert application_of("app1") != application_of("app2")
    assert (
        application_of("290d9b6f43193179d47f2f1cb082f821919af94f4e32d1795427a020c5839ba6") is None
    )
    assert application_of(None) is None


def test_a_request_that_is_empty_is_a_job() -> None:
    job = job_of_request(JobRequest(), 5.0)
    assert len(job) == 1
    assert np.isnan(job.limit[0])
    assert replace(job, limit=np.array([3.0])).limit[0] == 3.0
