"""Progress for anything that lasts: a line on the terminal, nothing in a pipe."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from compass.cli.output import visible

_PROVING = "proving"  # the stage whose total are the seconds that it may take


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """A callback (what, done, total) that draws a bar on standard error if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console, RenderableType
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    class Bar(Progress):
        """A bar that moves with the clock while something is proved, which has only a limit."""

        def get_renderables(self) -> Iterable[RenderableType]:
            for shown in self.tasks:
                if shown.description == _PROVING and shown.total is not None:
                    shown.completed = min(shown.elapsed or 0.0, shown.total)
            return super().get_renderables()

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def tell(what: str, done: int, total: int) -> None:
            # A new stage is drawn at once: the next tick may come after its end.
            new = bar.tasks[task].description != what
            if new and what == _PROVING:
                bar.reset(task)  # its time counts from here
            # Names of columns are in it, of tables that may be a stranger's.
            bar.update(
                task, description=visible(what), completed=done, total=total or None, refresh=new
            )

        yield tell
