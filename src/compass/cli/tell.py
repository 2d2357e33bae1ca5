"""`compass tell`: new runs into an engine."""

from pathlib import Path

from compass.cli import flags
from compass.cli import options as opt


def tell(
    engine: flags.Engine,
    runs: flags.NewRuns,
    output: flags.NewPlace = None,
    ask: flags.Asked = None,
    server: flags.Server = None,
    token: flags.Token = None,
    as_json: flags.AsJson = False,
) -> None:
    """Take new runs into a saved engine; says what they changed and what drifted."""
    from compass.cli.progress import progress
    from compass.cli.tables import print_told

    place = output or Path(engine)
    at = opt.server(server, token)
    if at is not None:
        with progress(quiet=as_json) as show:
            there = at.engine(engine.removeprefix("engine:"))
            there.progress = show
            told = there.tell(runs, ask or (), name=None if output is None else str(output))
        print_told(told, place, as_json=as_json)
        return
    from compass.engine.store import check_place, load

    check_place(place)
    with progress(quiet=as_json) as show:
        known = load(engine)
        known.store.progress = show
        told = known.tell(runs, ask or ())
        known.save(place)
    print_told(told, place, as_json=as_json)
