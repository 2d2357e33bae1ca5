"""What is said of a proposed run: about that run, and as the answer says it."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

import compass as cp
from compass.domain.space import Role
from compass.prepare.encode import Encoder
from compass.settings import ForestSettings
from conftest import ROLES, cluster_columns

SETTINGS = cp.Settings(surrogate="forest", forest=ForestSettings(trees=20))
RECONFIGURE = "Reconfigure X = {nodes: ?, cores: ?} to achieve Y = {runtime: reduce by 30%}"


@pytest.fixture(scope="module")
def jobs() -> cp.Compass:
    """Two applications and three sizes: a question about one application has several contexts."""
    data = cp.read(cluster_columns(300)).roles(**ROLES)
    return cp.Compass(data, rules=["cores <= 32 * nodes"], settings=SETTINGS).fit()


def predicted(engine: cp.Compass, config: Mapping[str, Any], outcome: str) -> float:
    features = engine.space.having(Role.KNOB, Role.CONTEXT)
    row = Encoder(engine.space.select(features)).encode(config)[None, :]
    trained = engine.store.train(features, [outcome])[outcome]
    return float(trained.model.predict(row)[0, 0])


def test_what_is_said_of_a_run_is_about_its_own_context(jobs: cp.Compass) -> None:
    question = (
        "Recommend X = {nodes: ?, cores: ?} to achieve Y = {runtime: minimize} where C = {app: wrf}"
    )
    answer = jobs.ask(question)
    proposals = jobs.run_next(5, question)
    names = (*ROLES["knobs"], *ROLES["context"])
    past = [{name: jobs.data.row(n)[name] for name in names} for n in range(len(jobs.data))]
    # In a context where the settings were not run yet.
    assert not any(dict(proposal.config) in past for proposal in proposals)
    assert len({p.config["size"] for p in proposals}) > 1
    for proposal in proposals:
        told = re.search(r"runtime ([\d.]+) expected", proposal.why)
        assert told is not None
        assert float(told[1]) == pytest.approx(
            predicted(jobs, proposal.config, "runtime"), rel=1e-3
        )
        assert "in this context" in proposal.why
    means = [s.outcomes[0].value for s in answer]
    assert not any(f"runtime {mean:.4g} expected" in p.why for mean in means for p in proposals)


def test_goals_over_several_contexts_are_told_as_the_answer_tells_them(jobs: cp.Compass) -> None:
    question = (
        "Recommend X = {nodes: ?, cores: ?} to achieve Y = {runtime: <= 30, power: minimize}"
        " where C = {app: wrf} chance 30%"
    )
    proposals = jobs.run_next(5, question)
    assert proposals
    for proposal in proposals:
        assert re.search(r"the goals over all contexts \(\d+% likely\)", proposal.why)
        runtime = predicted(jobs, proposal.config, "runtime")
        assert f"in this context runtime {runtime:.4g} expected" in proposal.why


def test_the_chance_of_a_run_is_the_one_that_its_answer_tells(jobs: cp.Compass) -> None:
    found = 0
    for row in range(12):
        options = {"run": row}
        answer = jobs.ask(RECONFIGURE, **options)
        chances = {
            tuple(s.config.items()): s.outcomes[0].chance
            for s in (*answer.suggestions, *answer.ideas)
            if s.outcomes[0].chance
        }
        for proposal in jobs.run_next(6, RECONFIGURE, **options):
            told = re.search(r"meets the goals \((\d+)% likely\)", proposal.why)
            chance = chances.get(tuple(proposal.config.items()))
            if told is not None and chance is not None:
                assert told[1] == f"{100 * chance:.0f}"
                found += 1
    assert found


def test_no_run_is_said_to_beat_itself(jobs: cp.Compass) -> None:
    wanted = "Recommend X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {runtime: minimize}"
    themselves = 0
    for where in ("app: wrf", "app: lammps", "app: wrf, size: 400", "app: lammps, size: 100"):
        question = f"{wanted} where C = {{{where}}}"
        best = jobs.ask(question)[0].config
        for proposal in jobs.run_next(6, question):
            again = re.match(r"row (\d+) again", proposal.why)
            assert again is None or f"beats row {again[1]} " not in proposal.why
            if proposal.config == best:
                assert "beats suggestion 1" not in proposal.why
            if "one run tells whether it holds" in proposal.why:
                themselves += 1
                assert "beats" not in proposal.why
    assert themselves
