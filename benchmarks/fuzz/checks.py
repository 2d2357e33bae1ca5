"""What must be true of an answer, by enumeration: rules, legal values, optima, infeasibility."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

import compass as cp
from benchmarks.fuzz.columns import Column
from benchmarks.fuzz.rules import Condition
from compass.domain.answer import Answer, CertificateStatus, Suggestion
from compass.domain.errors import ConflictingRules
from compass.engine.provenance import Clock
from compass.generate.task import SearchTask
from compass.prepare.encode import Encoder

Row = Mapping[str, Any]
TRIED = 3000  # configurations that a claim is held against: all, or so many random ones
CLOSE = 1e-6
TOLERANCE = 0.01  # of the best value, within which the smallest change from a baseline is preferred


@dataclass(frozen=True)
class Question:
    """What was asked: the columns that may move, from where, under which rules."""

    cols: Sequence[Column]
    rules: Sequence[Condition]
    free: tuple[str, ...]
    start: Row | None  # the baseline with its changes; None: a recommendation
    rows: Sequence[Row]  # past runs

    def legal(self, rng: np.random.Generator, start: Row) -> list[dict[str, Any]]:
        """Configurations that surely obey all rules, what is not free as at the start."""
        return [c for c in self._tried(rng, start) if all(rule.surely(c) for rule in self.rules)]

    @property
    def measured(self) -> bool:
        """Whether there are past runs that differ from the start in what is free alone."""
        fixed = [c.name for c in self.cols if c.name not in self.free]
        start = self.start or {}
        return any(all(run[name] == start[name] for name in fixed) for run in self.rows)

    def _tried(self, rng: np.random.Generator, start: Row) -> Iterator[dict[str, Any]]:
        moving = [column for column in self.cols if column.name in self.free]
        lists = [column.legal for column in moving]
        if all(values is not None for values in lists):
            known = [values for values in lists if values is not None]
            if prod(map(len, known)) <= TRIED:
                for values in product(*known):
                    yield {**start, **dict(zip((c.name for c in moving), values, strict=True))}
                return
        drawn = {column.name: column.draw(rng, TRIED) for column in moving}
        for i in range(TRIED):
            moved = {name: values[i] for name, values in drawn.items() if rng.random() < 0.7}
            yield {**start, **moved}


def check(
    question: Question, answer: Answer, engine: cp.Compass, rng: np.random.Generator
) -> Counter[str]:
    """Everything that must be true of an answer; what happened."""
    seen = set()
    for suggestion in answer:
        _check_one(question, suggestion)
        key = tuple(suggestion.config.items())
        assert key not in seen, f"twice the same: {key}"
        seen.add(key)
    assert not any("withheld" in note for note in answer.notes), answer.notes
    for proposal in answer.run_next:
        broken = [rule.text for rule in question.rules if not rule.holds(proposal.config)]
        assert not broken, f"proposes to run what breaks {broken}: {proposal.config}"
    status = "none" if answer.certificate is None else answer.certificate.status.value
    kind = answer.query.kind.value
    happened = Counter({f"answered: {kind}": 1, f"proof: {status}": 1})
    if question.free:
        happened += _refute(question, answer, engine, rng)
    return happened


def _check_one(question: Question, suggestion: Suggestion) -> None:
    config = suggestion.config
    for rule in question.rules:
        assert rule.holds(config), f"breaks {rule.text}: {config}"
    moved = {edit.name for edit in suggestion.edits} | set(question.free)
    for column in question.cols:
        value = config[column.name]
        stays = question.start is not None and value == question.start[column.name]
        if column.name in moved and not stays:
            assert column.allows(value), f"illegal {column.name} in {config}"


def refuted_refusal(question: Question, error: ConflictingRules, rng: np.random.Generator) -> None:
    """Nothing may obey the rules that are said to leave nothing."""
    for start in [question.start] if question.start is not None else list(question.rows[:3]):
        found = question.legal(rng, start)
        assert not found, f"{error}, but {found[0]} obeys all rules"


def _refute(
    question: Question, answer: Answer, engine: cp.Compass, rng: np.random.Generator
) -> Counter[str]:
    """Hold what is claimed against configurations that are tried one by one."""
    start = question.start
    if start is None:
        complete = len(question.free) == len(question.cols)
        if not complete or answer.contexts > 1:
            return Counter()  # predictions are means over several contexts
        start = question.rows[0]
    configs = question.legal(rng, start)
    if not configs:
        return Counter({"nothing legal was drawn": 1})
    said = _predicted(answer, configs, engine)
    met = _met(answer, said, engine)
    if not answer.suggestions:
        return _refute_abstaining(answer, engine, configs, met)
    first = answer[0]
    if not first.meets_goals:
        if answer.exhausted and question.start is not None and answer.chance is None:
            assert not met.any(), (
                f"{answer.no_answer}, but {configs[int(met.argmax())]} meets the goal"
            )
        return Counter({"missed: a goal can be met": int(met.any() and not answer.exhausted)})
    return _compare(question, answer, engine, configs, said, met)


def _refute_abstaining(
    answer: Answer, engine: cp.Compass, configs: list[dict[str, Any]], met: np.ndarray
) -> Counter[str]:
    """Is there anything legal, or likely enough, where nothing is suggested?"""
    proved = (
        answer.certificate is not None and answer.certificate.status is CertificateStatus.INFEASIBLE
    )
    if not answer.ideas:
        nothing = answer.exhausted or (proved and not answer.certificate.goals)
        assert not nothing, f"{answer.no_answer}, but {configs[0]} obeys all rules"
        assert not (proved and met.any()), f"{answer.no_answer}: {configs[int(met.argmax())]}"
        return Counter({"missed: something is legal": 1})
    if not answer.exhausted or any(idea.meets_goals for idea in answer.ideas):
        return Counter({"abstained": 1})
    likely = _likely(answer, engine, configs)
    assert not likely.any(), f"{answer.no_answer}, but {configs[int(likely.argmax())]} does"
    return Counter({"abstained, nothing is likely enough": 1})


def _likely(answer: Answer, engine: cp.Compass, configs: list[dict[str, Any]]) -> np.ndarray:
    """Which configurations [n] meet every goal with the chance that was asked for."""
    task, assessor = engine._bind_task(answer.query, Clock())
    if not isinstance(task, SearchTask) or task.chances is None or answer.chance is None:
        return np.zeros(len(configs), dtype=bool)
    encoder = Encoder(assessor.view.features)
    X = np.array([encoder.encode({n: c[n] for n in assessor.view.names}) for c in configs])
    return task.chances.least(X) >= answer.chance


def _compare(
    question: Question,
    answer: Answer,
    engine: cp.Compass,
    configs: list[dict[str, Any]],
    said: Mapping[str, Any],
    met: np.ndarray,
) -> Counter[str]:
    """Is one of the configurations better than the first suggestion?"""
    proved = (
        answer.certificate is not None and answer.certificate.status is CertificateStatus.OPTIMAL
    )
    claimed = proved or (answer.exhausted and answer.chance is None and not answer.ideas)
    extremes = [n for n, goal in answer.query.goals.items() if goal.kind == "extreme"]
    config = answer[0].config
    if not extremes:
        if question.start is None:
            return Counter()
        far = np.array([_distance(c, question.start, question.cols, engine) for c in configs])
        # Real numbers are told with few digits, which may cost one percent of their scale.
        rounding = 0.01 * sum(column.kind == "real" for column in question.cols)
        nearer = met & (far < answer[0].distance - rounding - CLOSE * max(1.0, answer[0].distance))
        place = int(np.argmin(np.where(met, far, np.inf)))
        assert not (claimed and nearer.any()), (
            f"{answer.certificate}: {configs[place]} is at {far[place]}, the answer {config} at "
            f"{answer[0].distance}"
        )
        return Counter({"beaten, not claimed": int(nearer.any())})
    if any(all(run[c.name] == config[c.name] for c in question.cols) for run in question.rows):
        return Counter({"a past run came first": 1})  # worth what was measured
    if question.start is not None and question.measured:
        # Gains within the model's error count as none, and then the smallest change is preferred.
        return Counter({"beside past runs of the context": 1})
    tried = {tuple(run[c.name] for c in question.cols) for run in question.rows}
    fresh = np.array([tuple(c[col.name] for col in question.cols) not in tried for c in configs])
    sign = 1.0 if answer.query.goals[extremes[0]].direction == "minimize" else -1.0
    values = sign * np.asarray(said[extremes[0]])[:, 0]
    mine = sign * _predicted(answer, [config], engine)[extremes[0]][0, 0]
    slack = CLOSE * max(1.0, abs(mine))
    slack += TOLERANCE * abs(mine) * 1.02 if question.start is not None else 0.0
    better = met & fresh & (values < mine - slack)
    place = int(np.argmin(np.where(met & fresh, values, np.inf)))
    assert not (claimed and better.any()), (
        f"{answer.certificate}: {configs[place]} has {sign * values[place]}, the answer {config} "
        f"has {sign * mine}"
    )
    return Counter({"beaten, not claimed": int(better.any())})


def _predicted(answer: Answer, configs: Sequence[Row], engine: cp.Compass) -> dict[str, np.ndarray]:
    """What the models say of each configuration, per outcome [n, outputs]."""
    found = {}
    for name in answer.query.goals:
        trained = next(t for (_, target), t in engine.store.trained.items() if target == name)
        space = engine.space.select(trained.card.features)
        encoder = Encoder(space)
        found[name] = trained.model.predict(np.array([encoder.encode(c) for c in configs]))
    return found


def _met(answer: Answer, said: Mapping[str, np.ndarray], engine: cp.Compass) -> np.ndarray:
    """Whether the models clearly predict what the goals ask for, [n]."""
    met = np.ones(len(next(iter(said.values()))), dtype=bool)
    if answer.chance is not None and answer.certificate is not None:
        return _met_shifted(answer.certificate.goals, said, met)
    for name, goal in answer.query.goals.items():
        values = said[name]
        if goal.kind == "is":
            wanted = engine.space[name].values.index(goal.value)
            others = np.delete(values, wanted, axis=1).max(axis=1, initial=-np.inf)
            met &= values[:, wanted] > others + CLOSE
        elif goal.kind == "within":
            low = -np.inf if goal.low is None else goal.low
            high = np.inf if goal.high is None else goal.high
            margin = CLOSE * np.maximum(1.0, np.abs(values[:, 0]))
            met &= (values[:, 0] >= low + margin) & (values[:, 0] <= high - margin)
        elif goal.kind != "extreme":
            met &= False  # relative goals are measured against what is predicted at the start
    return met


def _distance(config: Row, start: Row, cols: Sequence[Column], engine: cp.Compass) -> float:
    """The change between two configurations, in standard deviations of the runs learnt from."""
    field = next(iter(engine.store.views.values()))
    total = 0.0
    for column in cols:
        one, other = config[column.name], start[column.name]
        if column.kind == "label" or one is None or other is None:
            total += float(one != other)
        else:
            place = field.features.names.index(column.name)
            total += abs(one - other) / float(field.scale[place])
    return total


def _met_shifted(
    goals: Sequence[str], said: Mapping[str, np.ndarray], met: np.ndarray
) -> np.ndarray:
    """Whether predictions clearly meet the goals that a certificate is about, [n].

    They are told with six digits. A class that has to be likely is not looked at.
    """
    for text in goals:
        parts = re.split(r" (<=|>=|is) ", text)
        if "is" in parts[1::2]:
            return np.zeros_like(met)
        for left, op, right in zip(parts[:-2:2], parts[1::2], parts[2::2], strict=True):
            name, bound = (left, right) if left in said else (right, left)
            upper = (op == "<=") == (name == left)
            sign, limit = (1.0 if upper else -1.0), float(bound)
            values = sign * said[name][:, 0]
            met = met & (values <= sign * limit - CLOSE * max(1.0, abs(limit)) - 1e-5 * abs(limit))
    return met
