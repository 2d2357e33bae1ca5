"""`compass overview`: what past runs tell by themselves, before anything is asked."""

from typing import TYPE_CHECKING

from compass.cli import flags, sources
from compass.cli.groups import ServerFlags, grouped
from compass.cli.study import StudyFlags

if TYPE_CHECKING:
    from compass.domain.base import Config
    from compass.domain.overview import OutcomeOverview, Overview


@grouped
def overview(
    data: flags.Source,
    *,
    study: StudyFlags,
    remote: ServerFlags,
    as_json: flags.AsJson = False,
) -> None:
    """Show the best runs so far, what failed, and what the table cannot tell."""
    _print(
        sources.engine(data, study.parsed(), None, remote.connect(), cached=False).overview(),
        as_json=as_json,
    )


def _print(found: "Overview", *, as_json: bool) -> None:
    from compass.cli.tables import print_json, print_notes, print_table

    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    print_notes([f"{found.used} of {found.rows} rows are used", found.comparable])
    for outcome in found.outcomes:
        _print_outcome(outcome)
    lost = [(one.runs, "failed" if one.failed else "left out", one.reason) for one in found.lost]
    print_table("Runs that are not learnt from" if lost else "", ("runs", "", "why"), lost)
    gaps = [(one.code.value, one.text) for one in found.gaps]
    print_table("What this table cannot tell" if gaps else "", ("", "why"), gaps)


def _print_outcome(outcome: "OutcomeOverview") -> None:
    from compass.chat.listing import cell
    from compass.cli.tables import print_table

    if outcome.labels:
        rows = [(one.label, one.runs) for one in outcome.labels]
        print_table(outcome.name, ("label", "runs"), rows)
        return
    best = [
        (
            _words(one.context) or "all runs",
            cell(run.value, outcome.unit),
            f"row {run.rows[0]}",
            _words(run.settings),
        )
        for one in outcome.contexts
        for run in one.best[:1]
    ]
    more = f"; {outcome.more_contexts} more contexts" if outcome.more_contexts else ""
    names = ("runs of", "best", "run", "about")
    print_table(f"{outcome.name}: {outcome.direction}{more}", names, best)


def _words(config: "Config") -> str:
    from compass.language import format_value

    return ", ".join(f"{name} = {format_value(value)}" for name, value in config.items())
