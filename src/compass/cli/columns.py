"""`compass columns`: what each column is taken for, and the study that says so."""

from compass.cli import flags, sources
from compass.cli.groups import ServerFlags, grouped
from compass.cli.output import check_output, print_line
from compass.cli.study import StudyFlags
from compass.domain.errors import BadInput


@grouped
def columns(
    data: flags.Source,
    rules: flags.Mine = False,
    confirm: flags.Confirm = None,
    write_study: flags.WriteStudy = None,
    *,
    study: StudyFlags,
    remote: ServerFlags,
    as_json: flags.AsJson = False,
) -> None:
    """Show what each column is taken for, what was dropped, and which rules hold."""
    from compass.cli.tables import confirmed, print_columns
    from compass.prepare import save_study

    if confirm is not None and write_study is None:
        raise BadInput(
            "--confirm needs a study file to write to", hint="add --write-study study.yaml"
        )
    check_output(write_study)
    given = study.parsed()
    server = remote.connect()
    mined = rules or confirm is not None
    if server is None:
        view = sources.dataset(data, given).columns(mined=mined)
    else:
        from compass.cli import remote as there

        view = there.columns(server, data, given, mined=mined)
    taken = confirmed(confirm, view.dependencies or ())
    shown = view if rules else view.model_copy(update={"dependencies": None})
    print_columns(shown, as_json=as_json)
    if write_study is not None:
        chosen = tuple(dict.fromkeys((*view.study.dependencies, *taken)))
        save_study(view.in_full.model_copy(update={"dependencies": chosen}), write_study)
        print_line(f"wrote {write_study}")
