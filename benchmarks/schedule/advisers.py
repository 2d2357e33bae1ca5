"""Who changes the nodes of jobs: nobody, an oracle, a model of runtimes, Compass.

Everybody but the oracle learns from the same jobs and sees of a job what is known at submission.
Asked is what the paper asks: at least 10 % less runtime by another number of nodes alone.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import compass as cp
from benchmarks.schedule.traces import Case
from compass.schedule.job import Job, job_of
from compass.schedule.trace import JobTrace
from compass.schedule.truth import Truth

GAIN = 0.10
TRUSTED = "trusted"
FRUGAL = ", trusted and frugal"
SURE = ", trusted and surely frugal"
GATES = ("", ", trusted", FRUGAL, SURE)
_SUGGESTIONS = 8

Key = tuple[int, float, tuple[str, ...]]


@dataclass(frozen=True)
class Advice:
    """What is advised for jobs of one kind: nodes, and the runtime expected over that of now.

    `most` is the upper end of the interval of that ratio; infinite where there is none.
    """

    nodes: int
    ratio: float
    most: float = math.inf


def key_of(case: Case, job: Job) -> Key:
    """What is known of a job at submission."""
    return job.nodes, job.limit, tuple(str(getattr(job, name)) for name in case.context)


@dataclass(frozen=True)
class Adviser:
    """Decides by what is known of a job; the same decision for all jobs of one kind."""

    name: str
    told: Mapping[Key, Advice]
    case: Case

    def __call__(self, job: Job) -> Job:
        """The job as advised."""
        advice = self.told.get(key_of(self.case, job))
        return job if advice is None or advice.nodes == job.nodes else job.on(advice.nodes)

    def predict(self, job: Job) -> float:
        """The runtime that the adviser itself expects, relative to that of the job as asked for.

        Only for jobs whose nodes it has just changed, and for those before the change.
        """
        return self.ratios.get((job.job, job.nodes), 1.0)

    @cached_property
    def ratios(self) -> dict[tuple[str, int], float]:
        """Expected ratios by job and nodes."""
        return {
            (str(name), advice.nodes): advice.ratio
            for name, key in _keys(self.case, self.case.trace)
            if (advice := self.told.get(key)) is not None
        }


def _keys(case: Case, trace: JobTrace) -> list[tuple[str, Key]]:
    jobs = (job_of(trace, place) for place in range(len(trace)))
    return [(job.job, key_of(case, job)) for job in jobs]


def choices(case: Case, learnt: JobTrace) -> list[int]:
    """The numbers of nodes that jobs were run on, and that the machine has."""
    most = case.trace.capacity["nodes"]
    return [n for n in np.unique(learnt.need[:, 0]).tolist() if n <= most]


def oracle(truth: Truth, nodes: Sequence[int]) -> Callable[[Job], Job]:
    """Knows the truth, one job at a time: the closest number of nodes that gains enough."""

    def change(job: Job) -> Job:
        for other in sorted(nodes, key=lambda n: (abs(n - job.nodes), n)):
            if other != job.nodes and truth.ratio(job, job.on(other)) <= 1 - GAIN:
                return job.on(other)
        return job

    return change


def predictive(case: Case, learnt: JobTrace, test: JobTrace, seed: int) -> Adviser:
    """A forest that predicts runtimes, and the nodes that it finds fastest (the idea of ModelX)."""
    from sklearn.ensemble import RandomForestRegressor

    codes = {name: getattr(case.trace, name).known for name in case.context}
    place = {name: {text: i for i, text in enumerate(known)} for name, known in codes.items()}

    def row(key: Key, nodes: int) -> list[float]:
        named = zip(case.context, key[2], strict=True)
        return [nodes, key[1], *(place[name][text] for name, text in named)]

    jobs = [key for _, key in _keys(case, learnt)]
    forest = RandomForestRegressor(100, min_samples_leaf=2, random_state=seed, n_jobs=1)
    forest.fit([row(key, key[0]) for key in jobs], np.log(np.maximum(learnt.run, 1.0)))
    nodes = choices(case, learnt)
    asked = sorted({key for _, key in _keys(case, test)})
    rows = [row(key, n) for key in asked for n in (key[0], *nodes)]
    times = np.exp(forest.predict(rows)).reshape(len(asked), len(nodes) + 1)
    told = {}
    for key, expected in zip(asked, times, strict=True):
        best = int(np.argmin(expected))
        chosen = key[0] if best == 0 else nodes[best - 1]
        told[key] = Advice(chosen, float(expected[best] / expected[0]))
    return Adviser("predictive", told, case)


def compass(case: Case, learnt: JobTrace, test: JobTrace, seed: int) -> list[Adviser]:
    """Compass: the closest suggestion or the one with the fewest nodes; all, or gated ones only.

    `trusted` takes what is labelled so; `frugal` of it what is expected to use no more node-hours;
    `surely frugal` what uses no more of them by the upper end of the interval.
    """
    engine = _engine(case, learnt, seed)
    told: dict[str, dict[Key, Advice]] = {
        f"compass {which}{gate}": {} for gate in GATES for which in ("closest", "fewest")
    }
    for key in sorted({key for _, key in _keys(case, test)}):
        found = _suggested(engine, case, key)
        for gate in GATES:
            some = [advice for advice, label in found if _passes(gate, key, advice, label)]
            if some:
                told[f"compass closest{gate}"][key] = some[0]
                told[f"compass fewest{gate}"][key] = min(some, key=lambda one: one.nodes)
    return [Adviser(name, advice, case) for name, advice in told.items()]


def _passes(gate: str, key: Key, advice: Advice, label: str) -> bool:
    longest = {FRUGAL: advice.ratio, SURE: advice.most}.get(gate, 0.0)
    return not gate or (label == TRUSTED and advice.nodes * longest <= key[0])


def _engine(case: Case, learnt: JobTrace, seed: int) -> cp.Compass:
    named = {name: getattr(learnt, name) for name in case.context}
    columns = {
        "nodes": learnt.need[:, 0],
        "limit": learnt.limit,
        **{
            name: [f"{name} {texts.known[code]}" for code in texts.code.tolist()]
            for name, texts in named.items()
        },
        "run": np.maximum(learnt.run, 1.0),
    }
    data = cp.read(columns).roles(
        knobs=["nodes", "limit"], context=list(case.context), outcomes=["run"]
    )
    return cp.Compass(data, surrogate="forest", seed=seed).fit()


def _suggested(engine: cp.Compass, case: Case, key: Key) -> list[tuple[Advice, str]]:
    """The suggestions for a job in their order, and the ideas that are not suggested, last."""
    named = zip(case.context, key[2], strict=True)
    config = {"nodes": key[0], "limit": key[1], **{n: f"{n} {text}" for n, text in named}}
    try:
        answer = engine.reconfigure(
            config, ["nodes"], {"run": cp.less(GAIN)}, count=_SUGGESTIONS, prove=0
        )
    except cp.CompassError:
        return []  # a user or a limit that was never seen: nothing is advised
    found = []
    for one in (*answer.suggestions, *answer.ideas):
        run = one.outcome("run")
        before = float(str(run.before))
        ratio = float(str(run.value)) / before
        # Of two new runs, one on each number of nodes: what the baseline itself may vary is in it.
        most = math.inf if run.change_high is None else 1 + run.change_high / before
        nodes = int(str(one.config["nodes"]))
        found.append((Advice(nodes, ratio, most), one.trust.label.value))
    return found
