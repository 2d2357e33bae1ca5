"""Advice on a request, learnt from past jobs: `Advisor(jobs).advise(request)`."""

from functools import cached_property

import numpy as np

from compass.domain.advice import Advice, JobRequest, KeptOption, PastJob, RequestEdit
from compass.domain.answer import Label
from compass.domain.errors import BadInput
from compass.schedule.advice.choose import Choice, choose, next_attempt, written
from compass.schedule.advice.history import Codes, Similarity
from compass.schedule.advice.jobs import Floats, Jobs, Texts, application_of
from compass.schedule.advice.need import ENDED_FOR, Amounts, Needs
from compass.schedule.advice.sizes import Told, sizes
from compass.schedule.advice.waits import WaitAdviser

RISK = 0.05  # of running out: what one job in twenty may do
_SHOWN = 10
_ENOUGH = 20  # similar jobs of the same application for an advice to be relied on
_FEWEST = 3
_OPTION = {"memory": "mem", "time": "time"}
_CORES = ("ntasks", "cpus-per-task")
_LOST = {"memory": "out of memory", "time": "timeout"}


class Advisor:
    """What the next jobs should ask for."""

    def __init__(self, past: Jobs, risk: float = RISK) -> None:
        if not 0.0 < risk < 0.5:
            raise BadInput(f"a risk of {risk} is not between 0 and 0.5", hint="for example 0.05")
        if not len(past):
            raise BadInput("there are no past jobs", hint="more days: sacct:-S 2026-01-01")
        self.past = past
        self.risk = risk
        self.similarity = Similarity()
        self.groups = self.similarity.groups(past)
        self.needs = {of: Needs(past, self.groups, of, self.similarity) for of in _OPTION}
        self.now = float(np.nanmax(np.fmax(past.end, past.submit))) + 1.0

    @cached_property
    def waits(self) -> WaitAdviser:
        """When the next jobs would start; learnt when it is asked for first."""
        return WaitAdviser(self.past)

    def of_job(self, job: str) -> Advice:
        """What the next job like this past one should ask for."""
        rows = np.flatnonzero(self.past.id == job)
        if not len(rows):  # an array or a heterogeneous job: the latest of its parts
            parts = (f"{job}_", f"{job}+")
            rows = np.flatnonzero([str(one).startswith(parts) for one in self.past.id])
        if not len(rows):
            raise BadInput(f"no job {job} is known", hint="look further back: -S 2026-01-01")
        latest = self.past.take(rows[-1:])
        return self._with_waits(latest, [f"job {latest.id[0]}"])[0]

    def of_last(self, count: int, user: str | None = None) -> list[Advice]:
        """One advice for each kind of job among the last ones; the latest kind first."""
        rows = np.arange(len(self.past))
        if user is not None:
            rows = np.flatnonzero(self.past.user == user)
            if not len(rows):
                raise BadInput(f"no job of {user} is known", hint="see who: sacct -a -X -o User")
        last = rows[-count:]
        kinds = dict(zip(self.groups[0, last].tolist(), last.tolist(), strict=True))
        chosen = self.past.take(np.array(sorted(kinds.values(), reverse=True)))
        return self._with_waits(chosen, [f"job {number}" for number in chosen.id])

    def of_rows(self, rows: Codes) -> list[Advice]:
        """What the next jobs like these past ones should ask for, and not when they would start."""
        chosen = self.past.take(rows)
        return self._advices(chosen, [f"job {number}" for number in chosen.id])

    def of_jobs(self, jobs: Jobs) -> list[Advice]:
        """What the next jobs like these should ask for; they need not be among the past ones."""
        return self._with_waits(jobs, [f"job {number}" for number in jobs.id])

    def of_request(self, request: JobRequest, about: str = "the request") -> Advice:
        """What this request should ask for instead."""
        return self._with_waits(job_of_request(request, self.now), [about], request)[0]

    def _with_waits(
        self, jobs: Jobs, abouts: list[str], request: JobRequest | None = None
    ) -> list[Advice]:
        """The same with predicted waits."""
        return [
            one.model_copy(update={"start": self.waits.of(jobs.take(np.array([row])), one.edits)})
            for row, one in enumerate(self._advices(jobs, abouts, request))
        ]

    def _advices(
        self, jobs: Jobs, abouts: list[str], request: JobRequest | None = None
    ) -> list[Advice]:
        """One advice for each of these jobs, asked now; `request`: as it was put, of one job."""
        at = np.full(len(jobs), self.now)
        amounts = {of: one.amounts(jobs, at) for of, one in self.needs.items() if len(one.need)}
        return [
            self._advice(
                jobs.take(np.array([row])),
                {of: one.row(row) for of, one in amounts.items()},
                about,
                request,
            )
            for row, about in enumerate(abouts)
        ]

    def _advice(
        self, job: Jobs, amounts: dict[str, Amounts], about: str, given: JobRequest | None
    ) -> Advice:
        groups = self.similarity.groups(job)[:, 0]
        near, own = self._similar(groups)
        user, state = job.user[0], job.state[0]
        request = given or _request_of(job)
        edits: list[RequestEdit] = []
        kept: list[KeptOption] = []
        saved = {"memory": 0.0, "time": 0.0}
        label, reason = self._label(len(near), own, user)
        failed = any(state in ENDED_FOR[of] for of in _OPTION)
        whole = request.exclusive or self._whole_nodes(near)
        sized = sizes(self.past, self.groups[Similarity.OWN], job, near, whole=whole)
        for of, option in _OPTION.items():
            asked = float((job.memory_asked if of == "memory" else job.limit)[0])
            if of == "memory" and whole:
                asks = "asked for" if request.exclusive else "given"
                why = f"whole nodes are {asks}: less memory frees nothing"
                kept.append(KeptOption(option=option, why=why))
                continue
            choice = self._choice(of, job, amounts.get(of), asked, label)
            per_cpu = of == "memory" and request.memory_per_cpu
            if per_cpu and not np.isnan(asked):
                told = _per_cpu(choice, asked, job, sized, label)
                (edits if isinstance(told, RequestEdit) else kept).append(told)  # type: ignore[arg-type]
                saved[of] = choice.saved
                continue
            if choice.amount is None:
                kept.append(KeptOption(option=option, why=choice.why))
                continue
            saved[of] = choice.saved
            edits.append(
                RequestEdit(
                    option=option,
                    old=None if np.isnan(asked) else written(of, asked),
                    new=written(of, choice.amount),
                    risk=choice.risk,
                    risk_before=choice.risk_before,
                    why=choice.why,
                    label=label,
                )
            )
        for told in sized:
            (edits if isinstance(told, RequestEdit) else kept).append(told)  # type: ignore[arg-type]
        hours = self._usual_hours(near)
        return Advice(
            about=about,
            request=request,
            application=application_of(job.name[0]),
            edits=tuple(edits),
            kept=tuple(kept),
            label=label,
            reason=reason,
            evidence=self._evidence(near),
            similar=len(near),
            saved_core_hours=float(np.nan_to_num(job.cores[0]) * saved["time"] / 3600),
            saved_gb_hours=float(job.nodes[0] * saved["memory"] / 2**30 * hours),
            after_failure=failed,
            remarks=self._remarks(near),
        )

    def _choice(
        self, of: str, job: Jobs, amounts: Amounts | None, asked: float, label: Label
    ) -> Choice:
        if label is Label.UNSUPPORTED:
            return Choice(None, None, None, "no past job of this user tells", 0.0)
        groups = self.similarity.groups(job)[:, 0]
        similar = amounts is not None and len(self.needs[of].similar(groups, self.now)) > 0
        if job.state[0] in ENDED_FOR[of] and not np.isnan(asked):
            return next_attempt(of, amounts if similar else None, asked, self.risk)
        if amounts is None:
            why = "no past job tells the memory it used: the site gathers none, or reads 0"
            return Choice(None, None, None, why, 0.0)
        if not similar:
            return Choice(None, None, None, f"no similar job tells the {of} it needed", 0.0)
        return choose(of, amounts, asked, self.risk)

    def _similar(self, groups: Codes) -> tuple[Codes, bool]:
        """Past jobs of this user's application, else of this user; whether it is the former."""
        for level in (1, Similarity.OWN, Similarity.USER):
            near = np.flatnonzero(self.groups[level] == groups[level])
            if len(near) >= _FEWEST:
                break
        return near, level <= Similarity.OWN

    def _label(self, count: int, own: bool, user: str | None) -> tuple[Label, str]:
        who = user or "this user"
        if not count:
            return Label.UNSUPPORTED, f"no past job of {who} is known"
        if not own:
            many = "jobs" if count > 1 else "job"
            text = f"hardly a past job of this application; {count} other {many} of {who}"
            return Label.CAUTION, text
        if count < _ENOUGH:
            return Label.CAUTION, f"{count} similar jobs of {who}; {_ENOUGH} and more are relied on"
        return Label.TRUSTED, f"{count} similar jobs of {who}"

    def _evidence(self, near: Codes) -> tuple[PastJob, ...]:
        some = self.past.take(near[::-1][:_SHOWN])
        return tuple(
            PastJob(id=str(i), state=state, elapsed=_known(e), memory=_known(m))
            for i, state, e, m in zip(
                some.id, some.state, some.elapsed, some.memory_used, strict=True
            )
        )

    def _usual_hours(self, near: Codes) -> float:
        elapsed = self.past.elapsed[near]
        known = elapsed[~np.isnan(elapsed)]
        return float(np.median(known)) / 3600 if len(known) else 0.0

    def _whole_nodes(self, near: Codes) -> bool:
        """Whether such jobs are given more cores than they ask for: nodes are not shared."""
        given = self.past.cores[near] / self.past.cores_asked[near]
        given = given[~np.isnan(given)]
        return bool(len(given) >= _FEWEST and np.median(given) >= 2.5)

    def _remarks(self, near: Codes) -> tuple[str, ...]:
        remarks = []
        lost = {of: int(np.isin(self.past.state[near], ENDED_FOR[of]).sum()) for of in _OPTION}
        for of, count in lost.items():
            if count:
                remarks.append(f"{count} of {len(near)} similar jobs ended for {_LOST[of]}")
        return tuple(remarks)


_REQUESTED = {
    "limit": "limit",
    "memory": "memory_asked",
    "cores": "cores",
    "nodes": "nodes",
    "gpus": "gpus",
}


def _request_of(job: Jobs) -> JobRequest:
    """What a past job asked for."""
    told = {name: _known(getattr(job, field)[0]) for name, field in _REQUESTED.items()}
    amounts = {name: v for name, v in told.items() if v is not None and (v > 0 or name == "gpus")}
    names = {"user": job.user[0], "name": job.name[0], "partition": job.partition[0]}
    return JobRequest.model_validate(names | amounts)


def _per_cpu(
    choice: Choice, asked: float, job: Jobs, sized: list[Told], label: Label
) -> RequestEdit | KeptOption:
    """Memory of a node as memory per CPU, of the CPUs that are advised: fewer need more each."""
    fewer = [one for one in sized if isinstance(one, RequestEdit) and one.option in _CORES]
    cpus = float(job.cores[0]) / float(job.nodes[0])
    after = float(fewer[0].new) if fewer else cpus
    amount = asked if choice.amount is None else choice.amount
    old, new = (np.ceil(one / 2**20 - 1e-9) * 2**20 for one in (asked / cpus, amount / after))
    if old == new:
        return KeptOption(option="mem-per-cpu", why=choice.why)
    why = choice.why if choice.amount is not None else "as much as before on fewer CPUs"
    return RequestEdit(
        option="mem-per-cpu",
        old=written("memory", old),
        new=written("memory", new),
        risk=choice.risk if choice.amount is not None else choice.risk_before,
        risk_before=choice.risk_before,
        why=why,
        label=label,
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def job_of_request(request: JobRequest, at: float) -> Jobs:
    """A request as a job that is submitted at this moment."""

    def number(value: float | None) -> Floats:
        return np.array([np.nan if value is None else value])

    def text(value: str | None) -> Texts:
        return np.array([value], dtype=object)

    nothing, moment = number(None), np.array([at])
    return Jobs(
        id=text(None),
        user=text(request.user),
        name=text(request.name),
        partition=text(request.partition),
        state=text(None),
        submit=moment,
        start=moment,
        end=moment,
        elapsed=nothing,
        limit=number(request.limit),
        cores=number(request.cores),
        cores_asked=number(request.cores),
        nodes=number(request.nodes or 1.0),
        gpus=number(request.gpus),
        tasks=nothing,
        memory_asked=number(request.memory),
        memory_used=nothing,
        cores_used=nothing,
        gpus_used=nothing,
        eligible=moment,
        wait=nothing,
    )
