"""Candidates as suggestions: predictions with chances, moves, trust and its doubts."""

from compass.domain.answer import Moved, Prediction, Suggestion, Trust
from compass.domain.base import Config
from compass.domain.doubt import Doubt
from compass.domain.space import Number
from compass.engine.bounds import bound_doubts
from compass.engine.dependencies import broken_dependencies, dependency_doubts
from compass.engine.notes import goals_in_words
from compass.engine.plan import given_in_full
from compass.evidence.assessor import Assessor, goal_doubts, measured_doubts, skill_doubts
from compass.evidence.classes import with_scores_before
from compass.evidence.conditions import Predicted, conditions_at, scores_at_baseline
from compass.evidence.contexts import across
from compass.evidence.effects import with_effects
from compass.evidence.past_runs import measured_at
from compass.evidence.runnable import runnable_doubts
from compass.generate.base import Candidates, Floats
from compass.generate.loss import proximity
from compass.generate.predict import Averaged
from compass.generate.repair import forcing_rule
from compass.generate.task import SearchTask
from compass.prepare.encode import Encoder
from compass.rules import Rule
from compass.trust.conclude import concluded


def suggested(task: SearchTask, assessor: Assessor, found: Candidates) -> tuple[Suggestion, ...]:
    """Candidates with predicted outcomes, what they move, and how far they can be trusted."""
    if not len(found.X):
        return ()
    assert isinstance(task.predict, Averaged)
    scores, spreads = task.predict(found.X), task.predict.spread(found.X)
    before: Config = {}
    if task.baseline is None:
        observed, moved = measured_at(task, assessor, found.X), None
    else:
        # Beside a baseline `observed` is what was measured there.
        before, observed = task.baseline.predicted, [task.baseline.measured] * len(found.X)
        moved = task.origin, found.X
    chances = {} if task.chances is None else task.chances.each(found.X)
    least = None if task.chances is None else task.chances.chance
    goals = task.targets if task.chances is None else task.chances.targets
    predictions = across(
        task,
        assessor,
        found.X,
        assessor.predict(scores, spreads, goals, before, observed, moved, chances, least),
    )
    predictions = with_scores_before(predictions, scores_at_baseline(task, assessor))
    conditions = conditions_at(task, assessor, Predicted(found.X, scores, spreads))
    trusts = with_effects(task, assessor.matched, found.X, assessor.trust(found.X))
    comparable = assessor.matched.known
    likely = {target.name for target in goals if target.by_chance}

    def doubts(
        x: Floats,
        outcomes: tuple[Prediction, ...],
        broken: tuple[Rule, ...],
        on_running: tuple[Doubt, ...],
    ) -> tuple[Doubt, ...]:
        about = skill_doubts(assessor) + measured_doubts(assessor, x, outcomes)
        about += bound_doubts(task, x) + dependency_doubts(task, broken)
        about += on_running
        return (*about, *goal_doubts(outcomes, least or 0.0, likely))

    return tuple(
        _suggestion(
            task,
            x,
            outcomes,
            concluded(trust, doubts(x, outcomes, broken, on_running), comparable),
            near,
            ok,
        ).model_copy(update={"breaks": tuple(rule.text for rule in broken), "conditions": held})
        for x, outcomes, trust, near, ok, held, broken, on_running in zip(
            found.X,
            predictions,
            trusts,
            found.proximity.tolist(),
            found.meets.tolist(),
            conditions,
            broken_dependencies(task, assessor.view, found.X),
            runnable_doubts(task, assessor, found.X),
            strict=True,
        )
    )


def _suggestion(
    task: SearchTask,
    x: Floats,
    outcomes: tuple[Prediction, ...],
    trust: Trust,
    near: float,
    meets_goals: bool,
) -> Suggestion:
    config = Encoder(task.space).decode(x)
    edits = _edits(task, x, config)
    named = () if given_in_full(task.query) else task.free_names
    shown = {*named, *task.query.change, *(edit.name for edit in edits)}
    if task.baseline is not None:
        near = float(proximity(x[None, :], task.origin, task.geometry)[0])
    return Suggestion(
        config=config,
        settings={name: config[name] for name in task.space.names if name in shown},
        edits=edits,
        outcomes=outcomes,
        distance=near,
        meets_goals=meets_goals,
        trust=trust,
    )


def _edits(task: SearchTask, x: Floats, config: Config) -> tuple[Moved, ...]:
    """What differs from the baseline, and which rule forced a move that nobody asked for."""
    if task.baseline is None:
        moved = [j for j in task.forced if x[j] != task.start[j]]
        old = Encoder(task.space).decode(task.start)
    else:
        moved = [j for j in range(len(x)) if x[j] != task.origin[j]]
        old = task.baseline.config
    asked = {*task.query.ask, *task.query.change} or {*task.free_names}
    edits = []
    for j in moved:
        parameter = task.space.parameters[j]
        unasked = parameter.name not in asked
        rule = forcing_rule(task, x, int(j)) if unasked else None
        goal = goals_in_words(task) if unasked and rule is None else None
        edits.append(
            Moved(
                name=parameter.name,
                old=old[parameter.name],
                new=config[parameter.name],
                unit=parameter.unit if isinstance(parameter, Number) else None,
                forced_by=rule or goal,
                for_goal=goal is not None,
            )
        )
    return tuple(edits)
