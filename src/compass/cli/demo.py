"""One question of each kind on the data that ships with Compass."""

import shlex

from rich.console import Console
from rich.text import Text

from compass.cli import render, sources
from compass.cli.progress import progress
from compass.cli.study import StudyFlags

ROW = 53  # a run that has not been tuned yet

QUESTIONS: tuple[tuple[str, int | None], ...] = (
    (
        "Recommend a configuration X = {threads: ?, schedule: ?, chunk: ?, flags: ?} "
        "to achieve Y = {runtime_ms: minimize} "
        "where C = {kernel: spmv, precision: double, size_kib: 24 MiB}",
        None,
    ),
    (
        "Reconfigure X = {threads: ?, tile: ?, unroll: ?, flags: ?} "
        "to achieve Y = {runtime_ms: reduce by 30%}",
        ROW,
    ),
    (
        "What if we change X = {threads: 1 -> 2}, how would that affect Y = {runtime_ms, gflops} "
        "where C = {kernel: matmul}",
        None,
    ),
)


def run_demo() -> None:
    """Print the three answers, each below the command that gives it."""
    console = Console()
    with progress() as tell:
        # The commands that are shown find its models when somebody types them.
        engine = sources.engine("embedded", StudyFlags().parsed(), tell)
        answers = [engine.ask(text, run=row) for text, row in QUESTIONS]
    for (text, row), answer in zip(QUESTIONS, answers, strict=True):
        start = "" if row is None else f" --from row:{row}"
        command = f"compass ask embedded {shlex.quote(text)}{start}"
        console.print(Text(f"$ {command}", style="bold cyan"))
        render.answer(console, answer)
        console.rule()
