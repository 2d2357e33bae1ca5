"""Compass: what configuration to use, the smallest change, and what happens if.

import compass as cp

data = cp.read("jobs.parquet").roles(outcomes=["runtime"])
engine = cp.Compass(data, rules=["gpus <= 4 * nodes"]).fit()
answer = engine.recommend(ask=["nodes"], goals={"runtime": cp.minimize})
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compass.client import connect
    from compass.domain.answer import Answer, ModelCard, Suggestion, Trust
    from compass.domain.errors import CompassError
    from compass.domain.explanation import Dependence, Explanation, Importance
    from compass.domain.goal import (
        at_least,
        at_most,
        is_class,
        less,
        maximize,
        minimize,
        more,
        no_less,
        no_more,
        observe,
        same,
        within,
    )
    from compass.domain.query import Query, plus, set_to, times
    from compass.domain.study import Study
    from compass.domain.tell import TellReport
    from compass.engine.compass import Compass
    from compass.engine.dataset import Dataset, read
    from compass.engine.store import load
    from compass.engine.synthesis import (
        judge_synthetic,
        load_synthesizer,
        predict_beside,
        synthesizer,
    )
    from compass.experiment.experiment import Experiment
    from compass.exporters.forms import export
    from compass.language import format_query, parse_query
    from compass.model.files import bring
    from compass.reducers.large import reduce
    from compass.schedule.read import read_trace
    from compass.schedule.simulate import simulate
    from compass.settings import Settings

# Names are looked up when first used, so that `import compass` costs nothing.
_WHERE = {
    "Answer": "compass.domain.answer",
    "Compass": "compass.engine.compass",
    "CompassError": "compass.domain.errors",
    "Dataset": "compass.engine.dataset",
    "Dependence": "compass.domain.explanation",
    "Experiment": "compass.experiment.experiment",
    "Explanation": "compass.domain.explanation",
    "Importance": "compass.domain.explanation",
    "ModelCard": "compass.domain.answer",
    "Query": "compass.domain.query",
    "Settings": "compass.settings",
    "Study": "compass.domain.study",
    "Suggestion": "compass.domain.answer",
    "TellReport": "compass.domain.tell",
    "Trust": "compass.domain.answer",
    "at_least": "compass.domain.goal",
    "at_most": "compass.domain.goal",
    "bring": "compass.model.files",
    "connect": "compass.client",
    "export": "compass.exporters.forms",
    "format_query": "compass.language",
    "is_class": "compass.domain.goal",
    "less": "compass.domain.goal",
    "judge_synthetic": "compass.engine.synthesis",
    "load": "compass.engine.store",
    "load_synthesizer": "compass.engine.synthesis",
    "maximize": "compass.domain.goal",
    "minimize": "compass.domain.goal",
    "more": "compass.domain.goal",
    "no_less": "compass.domain.goal",
    "no_more": "compass.domain.goal",
    "observe": "compass.domain.goal",
    "parse_query": "compass.language",
    "plus": "compass.domain.query",
    "read": "compass.engine.dataset",
    "read_trace": "compass.schedule.read",
    "reduce": "compass.reducers.large",
    "same": "compass.domain.goal",
    "set_to": "compass.domain.query",
    "simulate": "compass.schedule.simulate",
    "predict_beside": "compass.engine.synthesis",
    "synthesizer": "compass.engine.synthesis",
    "times": "compass.domain.query",
    "within": "compass.domain.goal",
}

__all__ = [
    "Answer",
    "Compass",
    "CompassError",
    "Dataset",
    "Dependence",
    "Experiment",
    "Explanation",
    "Importance",
    "ModelCard",
    "Query",
    "Settings",
    "Study",
    "Suggestion",
    "TellReport",
    "Trust",
    "at_least",
    "at_most",
    "bring",
    "connect",
    "export",
    "format_query",
    "is_class",
    "judge_synthetic",
    "less",
    "load",
    "load_synthesizer",
    "maximize",
    "minimize",
    "more",
    "no_less",
    "no_more",
    "observe",
    "parse_query",
    "plus",
    "predict_beside",
    "read",
    "read_trace",
    "reduce",
    "same",
    "set_to",
    "simulate",
    "synthesizer",
    "times",
    "within",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'compass' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
