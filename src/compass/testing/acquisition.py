"""What an acquisition promises: legal runs, no more than asked for, the same again, none twice."""

from functools import cache
from typing import Any

import numpy as np

from compass.acquire.base import AcquisitionRequest
from compass.domain.answer import Proposal
from compass.evidence.assessor import Assessor
from compass.generate.legality import broken_rule
from compass.generate.task import SearchTask
from compass.prepare.encode import Encoder
from compass.rules.definition import is_legal
from compass.testing.base import Witness, witness

_COUNT = 2
_LOOK = "compass.testing.acquisition.request()"


def check_acquisition(plugin: Any, *, name: str | None = None) -> None:
    """Raise ConformanceError unless the acquisition keeps its promises."""
    found = witness("acquisition", plugin, name).at(_LOOK)
    asked = request()
    proposals = _propose(found, plugin, asked)
    _legal(found, asked.task, proposals)
    again = _propose(found, plugin, asked)
    found.expect(
        [one.config for one in again] == [one.config for one in proposals],
        "the same request gets the same runs",
        f"{[one.config for one in again]}",
    )
    if not proposals:
        return
    encoder = Encoder(asked.task.space)
    pending = np.array([encoder.encode(one.config) for one in proposals[:2]])
    busy = request(tuple(map(tuple, pending.tolist())))
    later = _propose(found, plugin, busy)
    _legal(found, busy.task, later)
    known = [one.config for one in proposals[:2]]
    found.at(f"{_LOOK} with these pending").expect(
        all(one.config not in known for one in later),
        "what is pending is not proposed again",
        f"{[one.config for one in later if one.config in known]}",
    )


def _propose(found: Witness, plugin: Any, asked: AcquisitionRequest) -> tuple[Proposal, ...]:
    with found.calling("it answers a request"):
        proposals = plugin().propose(asked)
    found.expect(
        isinstance(proposals, tuple) and all(isinstance(one, Proposal) for one in proposals),
        "it returns a tuple of Proposal",
        f"{proposals!r:.200}",
    )
    found.expect(
        len(proposals) <= asked.count,
        "it proposes no more runs than asked for",
        f"{len(proposals)} of {asked.count}",
    )
    ids = [one.id for one in proposals]
    found.expect(all(ids) and len({*ids}) == len(ids), "every run has an id of its own", f"{ids}")
    made: tuple[Proposal, ...] = proposals
    return made


def _legal(found: Witness, task: SearchTask, proposals: tuple[Proposal, ...]) -> None:
    for one in proposals:
        wrong = broken_rule(task.rules, one.config)
        found.expect(wrong is None, "its runs obey the rules", f"{one.config}: {wrong}")
        illegal = [
            name
            for column, name in enumerate(task.space.names)
            if column in task.movable and not is_legal(task.space[name], one.config[name])
        ]
        found.expect(not illegal, "its runs have legal values", f"{illegal} of {one.config}")


@cache
def request(pending: tuple[tuple[float, ...], ...] = ()) -> AcquisitionRequest:
    """A question about a small table that a law made, with one rule and a few runs missing."""
    task, assessor, answer = _question()
    rows = np.array(pending).reshape(-1, len(task.space))
    return AcquisitionRequest(task, assessor, answer, _COUNT, rows, requested=True)


@cache
def _question() -> tuple[SearchTask, Assessor, Any]:
    from compass.engine.compass import Compass
    from compass.engine.dataset import read
    from compass.engine.provenance import Clock
    from compass.settings import ForestSettings, Settings

    rng = np.random.default_rng(3)
    nodes, threads = rng.integers(1, 9, 60), 2 ** rng.integers(0, 5, 60)
    runtime = 90.0 / (nodes * threads**0.7) + nodes + rng.normal(0, 0.3, 60)
    data = read({"nodes": nodes, "threads": threads, "runtime": runtime})
    roles = data.roles(knobs=["nodes", "threads"], outcomes=["runtime"])
    settings = Settings(surrogate="forest", forest=ForestSettings(trees=20))
    engine = Compass(roles, rules=["nodes * threads <= 64"], settings=settings)
    text = "Recommend a configuration X = {nodes: ?, threads: ?} to achieve Y = {runtime: minimize}"
    query = engine.query(text)
    task, assessor = engine._bind_task(query, Clock())
    assert isinstance(task, SearchTask)
    return task, assessor, engine.ask(query, prove=0.0).suggestions
