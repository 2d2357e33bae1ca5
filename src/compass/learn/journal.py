"""What tuning has tried, kept in a file (JSON lines), so that a later search goes on from there."""

import json
import os
from pathlib import Path
from typing import Any

from compass.domain.errors import EnvironmentProblem


def open_study(name: str, journal: Path | None, seed: int) -> Any:
    """An Optuna study: empty, or with the attempts of this name that the journal has."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = None
    if journal is not None:
        from optuna.storages.journal import JournalFileBackend

        try:
            _mend(journal)
            storage = optuna.storages.JournalStorage(JournalFileBackend(str(journal)))
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise EnvironmentProblem(
                f"cannot go on from the tuning file {journal}: {error}",
                hint="remove it to begin anew, or name another",
            ) from None
    study = optuna.create_study(storage=storage, study_name=name, load_if_exists=True)
    for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)  # its process was ended
    # Another seed for each continuation, or it would repeat the first draws.
    study.sampler = optuna.samplers.TPESampler(seed=(seed + len(study.trials)) % 2**32)
    return study


def _mend(journal: Path) -> None:
    """Remove a last line that a killed process left half written; refuse any other file."""
    if not journal.exists():
        return
    *whole, rest = journal.read_bytes().split(b"\n")
    records = [json.loads(line) for line in whole]
    if not all(isinstance(record, dict) and "op_code" in record for record in records):
        raise ValueError("it holds something else")
    if rest:
        if not records:
            raise ValueError("it holds something else")
        os.truncate(journal, journal.stat().st_size - len(rest))
