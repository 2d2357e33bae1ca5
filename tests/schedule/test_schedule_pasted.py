"""What people paste: the number of a job, lines of sacct in both of its forms, a job script."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.schedule.advice.dump import lines
from compass.domain.errors import BadInput
from compass.schedule.advice.advisor import Advisor
from compass.schedule.advice.pasted import advice_on
from compass.schedule.advice.source import past_jobs

DUMP = lines(240, 5)
HEADER = DUMP[0].split("|")


@pytest.fixture(scope="module")
def advisor(tmp_path_factory: pytest.TempPathFactory) -> Advisor:
    path = tmp_path_factory.mktemp("pasted") / "jobs.psv"
    path.write_text("\n".join(DUMP) + "\n")
    return Advisor(past_jobs(str(path)))


def of_job(number: str, **other: str) -> str:
    """The lines of a job with its steps, with other values in the row of the job."""
    own = [one for one in DUMP if one.split("|")[0].split(".")[0] == number]
    cells = dict(zip(HEADER, own[0].split("|"), strict=True)) | other
    own = ["|".join(cells.values()), *own[1:]]
    return "\n".join([DUMP[0], *own])


@pytest.fixture(scope="module")
def number(advisor: Advisor) -> str:
    """A job that is no part of an array and came to its end."""
    done = np.flatnonzero(advisor.past.state == "COMPLETED")
    return next(str(n) for n in advisor.past.id[done][::-1] if str(n).isdecimal())


def test_a_number_or_a_step_of_it_is_that_job(advisor: Advisor, number: str) -> None:
    for text in (number, f" {number}\n", f"{number}.batch"):
        assert advice_on(advisor, text) == [advisor.of_job(number)]
    with pytest.raises(BadInput, match="no job 77 is known"):
        advice_on(advisor, "77")


def test_lines_of_a_known_job_are_that_job(advisor: Advisor, number: str) -> None:
    assert advice_on(advisor, of_job(number)) == [advisor.of_job(number)]


def test_lines_of_another_job_are_judged_by_what_they_ask_for(
    advisor: Advisor, number: str
) -> None:
    asked = of_job(number, JobID="999999", JobIDRaw="999999", Timelimit="9-00:00:00")
    (found,) = advice_on(advisor, "\n".join(asked.splitlines()[:2]))
    assert found.about == "job 999999"
    assert found.request.limit == 9 * 86400.0
    known = advisor.of_job(number)
    assert found.evidence == known.evidence
    limit = {edit.option: edit.new for edit in known.edits}.get("time")
    assert limit is not None
    assert [edit.new for edit in found.edits if edit.option == "time"] == [limit]


def test_a_job_that_waits_has_used_nothing_yet(advisor: Advisor, number: str) -> None:
    cells = of_job(number).splitlines()[1].split("|")
    name, user = cells[HEADER.index("JobName")], cells[HEADER.index("User")]
    text = f"JobID|JobName|User|State|Timelimit|ReqMem\n999|{name}|{user}|PENDING|09:00:00|4G"
    (found,) = advice_on(advisor, text)
    assert (found.request.limit, found.request.memory) == (9 * 3600.0, 4.0 * 2**30)
    assert found.evidence == advisor.of_job(number).evidence


def test_columns_of_a_fixed_width_are_cut_where_sacct_rules_them(
    advisor: Advisor, number: str
) -> None:
    cells = of_job(number).splitlines()[1].split("|")
    names = ("JobID", "JobName", "User", "State", "Timelimit", "Elapsed", "ReqMem", "AllocCPUS")
    row = [cells[HEADER.index(name)] for name in names]
    text = "\n".join(
        " ".join(one.rjust(14) for one in line) for line in (names, ["-" * 14] * len(names), row)
    )
    assert advice_on(advisor, text) == [advisor.of_job(number)]


def test_a_script_is_a_request_of_whoever_submits_it(advisor: Advisor, number: str) -> None:
    user, name = (
        advisor.past.user[advisor.past.id == number][0],
        advisor.past.name[advisor.past.id == number][0],
    )
    script = f"#!/bin/bash\n#SBATCH -J {name}\n#SBATCH --time=4-00:00:00 --mem=200G\nsrun ./a\n"
    (found,) = advice_on(advisor, script, user)
    assert (found.request.user, found.request.limit) == (user, 4 * 86400.0)
    assert found.evidence == advisor.of_job(number).evidence
    (nobody,) = advice_on(advisor, script)
    assert nobody.label.value == "unsupported"


def test_one_advice_for_each_kind_of_pasted_jobs(advisor: Advisor) -> None:
    found = advice_on(advisor, "\n".join(DUMP))
    kinds = [(one.request.user, one.application) for one in found]
    assert len(kinds) == len(set(kinds)) > 3


@pytest.mark.parametrize(
    "text", ["tell me about my job", "4711 4712", "a|b\n1|2", "\ud800|", "JobID|User\n", "{}"]
)
def test_what_is_none_of_these_is_refused_with_what_would_be(advisor: Advisor, text: str) -> None:
    with pytest.raises(BadInput) as told:
        advice_on(advisor, text)
    assert "#SBATCH" in told.value.hint


@pytest.mark.parametrize("wrong", ["--mem=much", "--time=soon", f"-n {'9' * 400}"])
def test_a_script_that_cannot_be_meant_is_refused(advisor: Advisor, wrong: str) -> None:
    with pytest.raises(BadInput):
        advice_on(advisor, f"#SBATCH {wrong}\n", "user1")


def test_nothing_is_left_behind(advisor: Advisor, number: str, tmp_path: Path) -> None:
    import tempfile

    before = tempfile.tempdir
    tempfile.tempdir = str(tmp_path)
    try:
        advice_on(advisor, of_job(number))
    finally:
        tempfile.tempdir = before
    assert list(tmp_path.iterdir()) == []
