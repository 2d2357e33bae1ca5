"""`compass tell`: new runs into an engine."""

from pathlib import Path

from compass.cli import flags
from compass.cli.garbage import look_as_usual
from compass.cli.groups import ServerFlags, grouped


@grouped
def tell(
    engine: flags.Engine,
    runs: flags.NewRuns,
    output: flags.NewPlace = None,
    ask: flags.Questions = None,
    *,
    remote: ServerFlags,
    as_json: flags.AsJson = False,
) -> None:
    """Take new runs into a saved engine; says what they changed and what drifted."""
    from compass.cli.progress import progress
    from compass.cli.tables import print_tell

    place = output or Path(engine)
    server = remote.connect()
    if server is not None:
        with progress(quiet=as_json) as show:
            there = server.engine(engine.removeprefix("engine:"))
            there.progress = show
            report = there.tell(runs, ask or (), name=None if output is None else str(output))
    else:
        from compass.engine.store import check_place, load

        look_as_usual()
        check_place(place)
        with progress(quiet=as_json) as show:
            known = load(engine)
            known.store.progress = show
            report = known.tell(runs, ask or ())
            known.save(place)
    print_tell(report, place, as_json=as_json)
