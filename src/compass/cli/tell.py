"""`compass tell`: new runs into an engine."""

from pathlib import Path
from typing import Any

from compass.cli import flags
from compass.cli.garbage import look_as_usual
from compass.cli.groups import ServerFlags, grouped
from compass.domain.errors import BadInput


@grouped
def tell(
    engine: flags.Engine,
    runs: flags.NewRuns = None,
    run: flags.TypedRuns = None,
    output: flags.NewPlace = None,
    ask: flags.Questions = None,
    name: flags.Experiment = None,
    *,
    remote: ServerFlags,
    as_json: flags.AsJson = False,
) -> None:
    """Take new runs into a saved engine or an experiment; says what they changed.

    Of a run that failed the reason stands in the place of its result: `failed: out of memory`;
    of one that an experiment suggested and that cannot be made: `infeasible: too few nodes`.
    """
    from compass.cli.by_hand import named_engine, tell_runs
    from compass.cli.progress import progress
    from compass.cli.tables import print_tell
    from compass.experiment.place import is_experiment

    given = _given(runs, run or [])
    if is_experiment(engine):
        if output is not None or ask or remote.server is not None:
            raise BadInput(
                f"{engine} is an experiment: it takes the runs and nothing else",
                hint="compass tell X.experiment RUNS",
            )
        tell_runs(engine, name, given, as_json=as_json)
        return
    if name is not None:
        raise named_engine(engine)
    place = output or Path(engine)
    server = remote.connect()
    if server is not None:
        with progress(quiet=as_json) as show:
            there = server.engine(engine.removeprefix("engine:"))
            there.progress = show
            report = there.tell(given, ask or (), name=None if output is None else str(output))
    else:
        from compass.engine.store import check_place, load

        look_as_usual()
        check_place(place)
        with progress(quiet=as_json) as show:
            known = load(engine)
            known.store.progress = show
            report = known.tell(given, ask or ())
            known.save(place)
    print_tell(report, place, as_json=as_json)


def _given(runs: str | None, by_hand: list[str]) -> str | dict[str, list[Any]]:
    """Where the runs are, or those that were typed as columns."""
    if (runs is None) == (not by_hand):
        raise BadInput(
            "the runs are a file, or typed with --run" if by_hand else "there are no runs to tell",
            hint="compass tell X.compass RUNS, or --run 'nodes=4, runtime=12.5'",
        )
    if runs is not None:
        return runs
    rows = [_values(text) for text in by_hand]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _column([row.get(name) for row in rows]) for name in names}


def _values(text: str) -> dict[str, str]:
    """`nodes=4, runtime=failed: out of memory` as texts by name."""
    found = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise BadInput(
                f"--run {text!r}: '{part.strip()}' is no name=value",
                hint="write 'nodes=4, threads=8, runtime=12.5'",
            )
        found[name.strip()] = value.strip()
    return found


def _column(cells: list[str | None]) -> list[Any]:
    """Numbers where all cells are; else the texts."""
    try:
        return [None if cell is None else float(cell) for cell in cells]
    except ValueError:
        return cells
