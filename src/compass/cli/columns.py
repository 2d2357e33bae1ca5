"""`compass columns`: what each column is taken for, and the study that says so."""

import sys

from compass.cli import flags
from compass.cli import options as opt
from compass.domain.errors import BadInput


def columns(
    data: flags.Source,
    rules: flags.Mine = False,
    confirm: flags.Confirm = None,
    write_study: flags.WriteStudy = None,
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
    """Show what each column is taken for, what was dropped, and which rules hold."""
    from compass.cli.tables import confirmed, print_columns
    from compass.prepare import save_study

    if confirm is not None and write_study is None:
        raise BadInput(
            "--confirm needs a study file to write to", hint="add --write-study study.yaml"
        )
    opt.check_output(write_study)
    said = opt.study_from_flags(role, unit, domain, missing, drop, rule, group, comparable)
    at = opt.server(server, token)
    mined = rules or confirm is not None
    if at is None:
        view = opt.dataset(data, study, said).columns(mined=mined)
    else:
        from compass.cli import remote

        view = remote.columns(at, data, study, said, mined=mined)
    taken = confirmed(confirm, view.dependencies or ())
    shown = view if rules else view.model_copy(update={"dependencies": None})
    print_columns(shown, as_json=as_json)
    if write_study is not None:
        chosen = tuple(dict.fromkeys((*view.study.dependencies, *taken)))
        save_study(view.in_full.model_copy(update={"dependencies": chosen}), write_study)
        sys.stderr.write(f"wrote {write_study}\n")
