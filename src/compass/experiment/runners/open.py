"""Opens the runner that a text such as `local:slots=2` names."""

from compass import registry
from compass.experiment.runners.base import Runner


def open_runner(text: str) -> Runner:
    """The place where runs are made: `local`, `local:slots=2`, `slurm:time=10`, ... Close it."""
    name, _, rest = text.strip().partition(":")
    made: Runner = registry.get("runner", name.strip())(rest.strip())
    return made
