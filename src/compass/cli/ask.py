"""`compass ask`: answer a question from past runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from compass.cli import flags, parse, sources
from compass.cli.groups import ModelFlags, ServerFlags, grouped
from compass.cli.output import check_output, print_line, print_utf8
from compass.cli.study import StudyFlags
from compass.domain.errors import BadInput, QueryProblem

if TYPE_CHECKING:
    from compass.client.engine import RemoteEngine
    from compass.domain.answer import Answer
    from compass.engine.compass import Compass

NOT_ANSWERED = 1
_DEPENDENCIES = {None: None, True: "keep", False: "ignore"}


@dataclass(frozen=True)
class AskFlags:
    """The options of a question."""

    start: flags.Start = None
    where: flags.Conditions = None
    count: flags.Count = None
    seed: flags.Seed = None
    weight: flags.Weights = None
    diversity: flags.Diversity = None
    loss: flags.Loss = None
    prove: flags.Prove = None
    no_prove: flags.NoProof = False
    level: flags.Level = None
    chance: flags.Chance = None
    beyond: flags.Beyond = False
    dependencies: flags.Dependencies = None
    generator: flags.Generator = None
    curve: flags.Curves = None
    reference: flags.Reference = None

    def options(self) -> dict[str, Any]:
        """The same as keywords of `ask`."""
        if self.no_prove and self.prove is not None:
            raise BadInput("--prove and --no-prove contradict each other", hint="give one of them")
        return {
            "weights": parse.weights(self.weight),
            "run": parse.run(self.start),
            "where": self.where or (),
            "count": self.count,
            "seed": self.seed,
            "diversity": self.diversity,
            "loss": parse.loss(self.loss),
            "prove": 0.0 if self.no_prove else self.prove,
            "level": self.level,
            "chance": self.chance,
            "beyond": self.beyond or None,
            "dependencies": _DEPENDENCIES[self.dependencies],
            "generator": self.generator,
            "curve": self.curve or (),
            "reference": parse.reference(self.reference),
        }


@dataclass(frozen=True)
class AnswerFiles:
    """Files to write an answer to."""

    sbatch: flags.Script = None
    template: flags.Template = None
    csv: flags.CsvFile = None

    def check(self) -> None:
        """Refuse before the work what cannot be written."""
        if self.template is not None and self.sbatch is None:
            raise BadInput("--template needs a file to write", hint="add --sbatch job.sh")
        check_output(self.sbatch, self.csv)

    def _refused(self, answer: "Answer") -> tuple[Path, ...]:
        """Files that are not written: a table has a column for doubts, a script has none."""
        if answer.answered:
            return ()
        named = (self.sbatch, None if answer.suggestions else self.csv)
        return tuple(path for path in named if path is not None)

    def write(self, answer: "Answer") -> None:
        """Write the files that were named, as far as the answer can be relied on."""
        if answer.answered and not answer.suggestions and (self.sbatch or self.csv):
            raise QueryProblem(
                "there is no configuration to write",
                hint="name a past run to start from (--from row:N)",
            )
        refused = self._refused(answer)
        if self.sbatch not in refused:
            _write("sbatch", answer, self.sbatch, self.template)
        if self.csv not in refused:
            _write("csv", answer, self.csv)

    def refuse(self, answer: "Answer") -> None:
        """Say of the files that are not written why, and what to do."""
        from compass.exporters.forms import nothing_to_write

        refused = self._refused(answer)
        for path in refused:
            old = "; the file that is there is older" if path.exists() else ""
            print_line(f"error: {path} is not written: there is no supported answer{old}")
        if refused:
            print_line(f"hint: {nothing_to_write(answer).hint}")


@grouped
def ask(
    data: flags.Source,
    query: flags.Question,
    *,
    asked: AskFlags,
    files: AnswerFiles,
    models: ModelFlags,
    study: StudyFlags,
    remote: ServerFlags,
    no_cache: flags.NoCache = False,
    as_json: flags.AsJson = False,
) -> None:
    """Answer a question from past runs.

    \b
    Recommend X = {nodes: ?, cores: ?} to achieve Y = {runtime: minimize}
      where C = {app: wrf, nodes < 16}
    Reconfigure X = {cores: ?} to achieve Y = {power: reduce by 10%}
    What if we change X = {gpus: old -> 2*old},
      how would that affect Y = {runtime}
    """
    from compass.cli.progress import progress

    files.check()
    options = asked.options()
    given = study.parsed()
    server = remote.connect(query)
    brought = models.files.models(server)
    with progress(quiet=as_json) as tell:
        engine = sources.engine(
            data,
            given,
            tell,
            server,
            cached=not no_cache,
            surrogate=models.surrogate,
            models=brought,
        )
        _note_all(engine, query, options)
        answer = engine.ask(query, **options)
    files.write(answer)
    print_answer(answer, as_json)
    files.refuse(answer)
    if not answer.answered:
        raise typer.Exit(NOT_ANSWERED)


def _note_all(engine: "Compass | RemoteEngine", query: str, options: dict[str, Any]) -> None:
    """Say of a what-if that names no outcome how many have to be learnt for it."""
    from compass.language import parse_query

    if parse_query(query).goals:
        return
    given = {name: value for name, value in options.items() if name != "curve"}
    learning = engine.to_learn(query, **given)
    if len(learning) > 1:
        print_line(f"note: no outcome is named, so {len(learning)} are learnt first")
        print_line("hint: name what matters, e.g. how would that affect Y = {" + learning[0] + "}")


def print_answer(answer: "Answer", as_json: bool) -> None:
    """Print an answer for a person, or as JSON."""
    from rich.console import Console

    from compass.cli import render

    if as_json:
        print_utf8(render.to_json(answer))
    else:
        render.answer(Console(), answer)


def _write(form: str, answer: "Answer", path: Path | None, template: Path | None = None) -> None:
    from compass.exporters.forms import export

    if path is None:
        return
    export(answer, form, path, template)
    print_line(f"wrote {path}")
