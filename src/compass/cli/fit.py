"""`compass fit`: learn once, to ask many times."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from compass.cli import flags, sources
from compass.cli.garbage import look_as_usual
from compass.cli.groups import ModelFileFlags, ServerFlags, grouped
from compass.cli.study import StudyFlags
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.client.engine import RemoteEngine
    from compass.engine.compass import Compass


Augment = Annotated[
    flags.MaybeText,
    flags.option("--augment", "NAME", "Synthetic rows (cart, ...) for outcomes that gain by them."),
]


@dataclass(frozen=True)
class FitFlags:
    """How models are learnt, and where."""

    seed: flags.Seed = None
    keep: flags.Keep = None
    reducer: flags.Reducer = None
    surrogate: flags.Surrogate = None
    tune: flags.Tune = None
    represent: flags.Represent = None
    executor: flags.Executor = None
    outcome: flags.Outcomes = None
    augment: Augment = None

    def options(self) -> dict[str, Any]:
        """The same as keywords of `Compass`; where it runs, and what it learns, are not."""
        others = ("executor", "outcome", "augment")
        names = [one.name for one in fields(self) if one.name not in others]
        return {name: getattr(self, name) for name in names}


@grouped
def fit(
    data: flags.Source,
    output: flags.Place,
    *,
    how: FitFlags,
    files: ModelFileFlags,
    study: StudyFlags,
    remote: ServerFlags,
    as_json: flags.AsJson = False,
) -> None:
    """Learn from past runs once, to ask many times."""
    from compass.cli.progress import progress
    from compass.cli.tables import cleaning_notes, print_fit

    if remote.server is not None and how.executor is not None:
        raise BadInput("a server decides itself where it works", hint="leave out --executor")
    if remote.server is not None and how.augment is not None:
        raise BadInput(
            "a server does not augment by itself",
            hint="compass synth augment writes a table that it can learn from",
        )
    if remote.server is None:
        from compass.engine.store import check_place

        check_place(output)
    given = study.parsed()
    server = remote.connect()
    options = how.options() | {"models": files.models(server)}
    if server is not None:
        from compass.cli import remote as there

        with progress(quiet=as_json) as tell:
            fitted = there.engine(
                server, data, given, tell, name=str(output), outcomes=how.outcome, **options
            )
        known = fitted.data
        print_fit(fitted.cards, output, known.sample, known.notes, _later(fitted), as_json=as_json)
        return
    from compass.engine.compass import Compass

    look_as_usual()
    with progress(quiet=as_json) as tell:
        journal = _journal(output) if how.tune else None
        runs = sources.dataset(data, given)
        engine = Compass(
            runs, journal=journal, progress=tell, executor=how.executor, **options
        ).fit(how.outcome, augment=how.augment)
        engine.save(output)
    prepared = engine.data.prepared
    notes = [*cleaning_notes(prepared.report), *_augmented(engine)]
    print_fit(engine.cards, output, prepared.sample, notes, _later(engine), as_json=as_json)


def _augmented(engine: "Compass") -> list[str]:
    """What came of synthetic rows, if they were asked for."""
    found = engine.augmentation
    if found is None:
        return []
    used = [one.outcome for one in found.outcomes if one.used]
    if not used:
        return ["no outcome is predicted better with synthetic rows: there are none"]
    return [f"{', '.join(used)}: learnt from {found.rows} synthetic rows as well"]


def _later(engine: "Compass | RemoteEngine") -> list[str]:
    """The outcomes that were not named."""
    from compass.domain.space import Role

    return [name for name in engine.space.having(Role.OUTCOME) if name not in engine.learnt]


def _journal(output: Path) -> Path:
    """The file beside an engine in which tuning keeps what it has tried."""
    whole = output.resolve()  # "." has no name
    return whole.with_name(f"{whole.name}.tuning")
