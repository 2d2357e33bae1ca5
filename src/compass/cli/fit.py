"""`compass fit`: learn once, to ask many times."""

from typing import Any

from compass.cli import flags
from compass.cli import options as opt
from compass.domain.errors import BadInput


def fit(
    data: flags.Source,
    output: flags.Place,
    seed: flags.Seed = None,
    keep: flags.Keep = None,
    reducer: flags.Reducer = None,
    surrogate: flags.Surrogate = None,
    tune: flags.Tune = None,
    represent: flags.Represent = None,
    executor: flags.Executor = None,
    model: flags.Models = None,
    model_columns: flags.ModelColumns = None,
    allow_pickle: flags.AllowPickle = False,
    study: flags.StudyFile = None,
    role: flags.Roles = None,
    unit: flags.Units = None,
    domain: flags.Domains = None,
    missing: flags.Missing = None,
    drop: flags.Drop = None,
    rule: flags.Rules = None,
    group: flags.Group = None,
    comparable: flags.ComparableBy = None,
    server: flags.Server = None,
    token: flags.Token = None,
    as_json: flags.AsJson = False,
) -> None:
    """Learn from past runs once, to ask many times."""
    from compass.cli.progress import progress
    from compass.cli.tables import print_fit

    if server is not None and executor is not None:
        raise BadInput("a server decides itself where it works", hint="leave out --executor")
    if server is None:
        from compass.engine.store import check_place

        check_place(output)
    said = opt.study_from_flags(role, unit, domain, missing, drop, rule, group, comparable)
    at = opt.server(server, token)
    options: dict[str, Any] = {
        "seed": seed,
        "keep": keep,
        "reducer": reducer,
        "surrogate": surrogate,
        "tune": tune,
        "represent": represent,
        "models": opt.models(model, model_columns, allow_pickle, at),
    }
    if at is not None:
        from compass.cli import remote

        with progress(quiet=as_json) as tell:
            there = remote.engine(at, data, study, said, tell, name=str(output), **options)
        known = there.data
        print_fit(there.cards, output, known.sample, known.notes, as_json=as_json)
        return
    from compass.engine.compass import Compass

    with progress(quiet=as_json) as tell:
        journal = opt.journal(output) if tune else None
        runs = opt.dataset(data, study, said)
        engine = Compass(runs, journal=journal, progress=tell, executor=executor, **options).fit()
        engine.save(output)
    prepared = engine.data.prepared
    print_fit(engine.cards, output, prepared.sample, prepared.report.notes, as_json=as_json)
