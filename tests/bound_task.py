"""A question bound to an engine: the task that a search gets, and what judges candidates."""

import compass as cp
from compass.domain.query import Query
from compass.engine.plan import plan
from compass.engine.scope import Scope
from compass.evidence.assessor import Assessor
from compass.generate.task import SearchTask


def bound(
    engine: cp.Compass, question: str | Query, **options: object
) -> tuple[SearchTask, Assessor]:
    """The task of a question, and the assessor of its candidates."""
    query = engine.query(question, **options)  # type: ignore[arg-type]

    def assess(scope: Scope) -> Assessor:
        trained = engine.store.train(scope.view.names, scope.outcomes)
        return Assessor(engine.store, scope.view, trained)

    return plan(query, engine.store, engine.rules, assess)
