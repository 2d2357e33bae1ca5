"""The tasks of a working process for experiments: what people plan, ask and tell is read here.

A server makes no runs: plans with a command are refused.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.domain.errors import BadInput, StudyProblem

if TYPE_CHECKING:
    from compass.domain.experiment import ExperimentStatus
    from compass.experiment.experiment import Experiment

Report = Callable[[str, int, int], None]
Given = dict[str, Any]

STORE = "runs.experiment"  # in the folder of an experiment
MOST_RUNS = 10_000  # in the budget of an experiment
MOST_KEPT = 100_000  # runs that are kept of an experiment: told, added and attached ones too
MOST_CELLS = 10_000_000  # of past runs that are attached: rows times columns
_OF_RUNNING = ("command", "read", "runner", "time_limit", "history")


def start(given: Given, _: Report) -> bytes:
    """Begin an experiment; its plan as it is understood."""
    from compass.experiment.experiment import Experiment
    from compass.experiment.plan_file import plain, plan_of

    raw = given["plan"]
    for key in _OF_RUNNING:
        if key in raw:
            raise StudyProblem(
                f"a server makes no runs, so the plan cannot have '{key}'",
                hint="make the runs where you are, and tell what came out",
            )
    plan = plan_of(raw)
    if plan.budget > MOST_RUNS:
        raise StudyProblem(
            f"an experiment of a server has at most {MOST_RUNS} runs", hint="ask for less"
        )
    with Experiment.start(plan, given["store"], given.get("id", given["name"])) as experiment:
        return json.dumps({"plan": plain(experiment.plan)}).encode()


def status(given: Given, _: Report) -> bytes:
    """How far an experiment is."""
    with _opened(given) as experiment:
        return _called(experiment.status(), given).model_dump_json().encode()


def report(given: Given, _: Report) -> bytes:
    """What an experiment found."""
    with _opened(given) as experiment:
        found = experiment.report()
        called = {"status": _called(found.status, given)}
        return found.model_copy(update=called).model_dump_json().encode()


def runs(given: Given, _: Report) -> bytes:
    """Runs by number, behind one, of which something was told after an event."""
    with _opened(given) as experiment:
        asked = (given["after"], given["event"], given["count"])
        return _listed(experiment.store.own_runs(experiment.name, *asked))


def events(given: Given, _: Report) -> bytes:
    """What happened after an event."""
    with _opened(given) as experiment:
        return _listed(experiment.store.events(experiment.name, given["after"], given["count"]))


def next_runs(given: Given, _: Report) -> bytes:
    """The runs to make now."""
    with _opened(given) as experiment:
        # Cancelled and infeasible runs cost no budget: also these are counted, but what was told
        # and attached leaves room for a whole budget.
        _check_room(experiment, given["count"], beyond=MOST_RUNS)
        found = experiment.next(given["count"], worker=given["worker"])
        stop = None
        if not found:
            stop = experiment.status().stop or "all runs of the budget are awaited"
        made = [run.model_dump(mode="json") for run in found]
        return json.dumps({"runs": made, "stop": stop}).encode()


def tell(given: Given, _: Report) -> bytes:
    """What came of runs: by number, or by configuration."""
    from compass.experiment.results import NUMBER, tell_all

    with _opened(given) as experiment:
        _check_room(experiment, sum(one.get(NUMBER) is None for one in given["results"]))
        told = tell_all(experiment, given["results"])._asdict()
        now = _called(experiment.status(outlook=False), given).model_dump(mode="json")
        return json.dumps(told | {"status": now}).encode()


def add(given: Given, _: Report) -> bytes:
    """Configurations of a person's own."""
    with _opened(given) as experiment:
        repeats = given["repeats"] or experiment.plan.repeats
        _check_room(experiment, len(given["configs"]) * repeats)
        for config in given["configs"]:
            experiment.enqueue(config, repeats=repeats)
        return _called(experiment.status(outlook=False), given).model_dump_json().encode()


def cancel(given: Given, _: Report) -> bytes:
    """Runs that nobody waits for any more."""
    with _opened(given) as experiment:
        experiment.cancel(*given["runs"])
        return _called(experiment.status(outlook=False), given).model_dump_json().encode()


def attach(given: Given, _: Report) -> bytes:
    """Past runs of a dataset."""
    from compass.engine.dataset import read
    from compass.prepare.study_file import study_of

    data = read(given["data"]["path"], study=study_of(given["data"]["study"]))
    if data.table.rows * len(data.table.names) > MOST_CELLS:
        raise BadInput("these are more past runs than an experiment takes", hint="reduce them")
    with _opened(given) as experiment:
        _check_room(experiment, data.table.rows)
        return json.dumps(experiment.attach(data, where=given["where"])._asdict()).encode()


def _opened(given: Given) -> "Experiment":
    from compass.experiment.experiment import Experiment

    if "id" in given:  # of many in a database
        return Experiment.open(given["store"], given["id"])
    if not Path(given["store"]).is_file():
        raise BadInput("the runs of this experiment are gone", hint="delete it and begin anew")
    return Experiment.open(given["store"])  # the only one in it


def _called(status: "ExperimentStatus", given: Given) -> "ExperimentStatus":
    """A status under the name that a person gave; in a database it is kept by its id."""
    return status.model_copy(update={"name": given.get("name", status.name)})


def _check_room(experiment: "Experiment", more: int, beyond: int = 0) -> None:
    """Raises BadInput where so many runs more would be too many to keep."""
    kept = experiment.store.size(experiment.name)
    most = MOST_KEPT + beyond
    if more and kept + more > most:  # results of runs that are there always fit
        raise BadInput(
            f"an experiment of a server keeps at most {most:,} runs; this one has {kept:,}, and "
            f"{more:,} more do not fit",
            hint="tell or attach fewer runs, or begin another experiment",
        )


def _listed(nouns: Any) -> bytes:
    return b"[" + b",".join(one.model_dump_json().encode() for one in nouns) + b"]"


TASKS: dict[str, Callable[[Given, Report], bytes]] = {
    "start": start,
    "status": status,
    "report": report,
    "runs": runs,
    "events": events,
    "next": next_runs,
    "tell": tell,
    "add": add,
    "cancel": cancel,
    "attach": attach,
}
