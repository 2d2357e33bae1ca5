"""What DATA names: a dataset, a saved engine, or something on a server."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.cli.garbage import look_as_usual
from compass.domain.errors import BadInput, CompassError, DataProblem, shortened
from compass.files import CACHE_VARIABLE

if TYPE_CHECKING:
    from compass.cli.study import GivenStudy
    from compass.client import Server
    from compass.client.engine import RemoteEngine
    from compass.domain.study import Study
    from compass.engine.compass import Compass
    from compass.engine.dataset import Dataset
    from compass.learn.outcomes import OutcomeModel
    from compass.learn.store import Progress
    from compass.readers.files import Located


REUSED = "note: reused models learnt before from the same data (--no-cache: learn again)"


def dataset(source: str, study: "GivenStudy") -> "Dataset":
    """Past runs of a file, a glob, a folder, a saved engine, or the embedded ones."""
    from compass.domain.constraint import Source
    from compass.domain.study import Study
    from compass.engine.dataset import read
    from compass.prepare.study import merge

    if not source:
        raise BadInput("DATA is empty", hint="name a file, a glob or a folder")
    if is_saved(source):
        from compass.engine.store import load  # it brings everything that learns

        engine = load(source)
        rules = tuple(rule.text for rule in engine.rules if rule.source is Source.STUDY)
        return engine.data.with_study(study.over(merge(engine.data.study, Study(rules=rules))))
    data = read(source, study=study.file)
    return data.with_study(merge(data.study, study.flags))


def learning(
    source: str, study: "GivenStudy", progress: "Progress | None", **options: Any
) -> "Compass":
    """An engine on data that is not saved: one with models that were learnt before, or a new one.

    Whatever it learns is kept for the next time.
    """
    from compass.cli.output import print_line
    from compass.engine.cache import LIMIT_VARIABLE, ModelCache
    from compass.engine.compass import Compass

    cache = ModelCache.of_person()
    if not cache.limit:
        look_as_usual()
        return Compass(dataset(source, study), progress=progress, **options)
    read = Reading.of(source, study)
    key = read.key(options)
    try:
        engine = cache.find(key, read.study, read.files)
    except CompassError as problem:
        engine = None
        print_line(f"note: kept models cannot be used and are learnt again: {problem.message}")
    named: str | None = key
    if engine is None:
        look_as_usual()
        engine = Compass(read.data, **options)
        named = read.key_again(options)
    engine.store.progress = progress
    trained = engine.store.trained
    found = tuple(trained)
    # Said when one is used: before, the question may turn out to be wrong.
    trained.on_restored = lambda: print_line(REUSED)

    def keep() -> None:
        told, trained.on_restored = trained.on_restored, None
        try:
            if named != key:
                raise DataProblem("the data changed while it was read", hint="ask again")
            cache.keep(key, engine)
            for name in found:  # saving them is no use of them: that may come yet
                trained.later(name, partial(_itself, trained[name]))
        except (CompassError, OSError) as problem:
            what = problem.message if isinstance(problem, CompassError) else str(problem)
            hint = f"set {CACHE_VARIABLE}=DIR, or {LIMIT_VARIABLE}=0 to keep none"
            print_line(f"note: the models are not kept: {what}")
            print_line(f"hint: {getattr(problem, 'hint', '') or hint}")
        trained.on_restored = told

    engine.store.on_learnt = keep
    return engine


def _itself(model: "OutcomeModel") -> "OutcomeModel":
    return model


@dataclass(frozen=True)
class Reading:
    """Data that a person names, and what is known of it before it is read."""

    source: str
    given: "GivenStudy"
    located: "Located | None"  # None: it is not made of files

    @classmethod
    def of(cls, source: str, given: "GivenStudy") -> "Reading":
        """What a source is made of."""
        from compass.readers.files import located, with_scheme

        if not source:
            raise BadInput("DATA is empty", hint="name a file, a glob or a folder")
        return cls(source, given, None if with_scheme(source) else located(source))

    @cached_property
    def data(self) -> "Dataset":
        """The data, read."""
        return dataset(self.source, self.given)

    @cached_property
    def study(self) -> "Study":
        """What is said of the data."""
        if self.located is None:
            return self.data.study
        from compass.engine.dataset import known_study

        known = known_study(self.source, ())
        return self.given.merged() if known is None else self.given.over(known)

    @property
    def files(self) -> tuple[str | None, ...]:
        """The names of its files, as answers tell them."""
        if self.located is None:
            return tuple(part.file for part in self.data.table.parts)
        return tuple(map(str, self.located.paths))

    def key(self, options: Mapping[str, Any]) -> str:
        """What tells it from other data, without reading it where that is possible."""
        from compass.engine.cache_key import content_of, key_of

        if self.located is not None:
            with suppress(OSError):  # reading it tells what is wrong with it
                content = content_of(self.located.paths, self.located.root)
                return key_of(content, self.study, options)
        return key_of([self.data.table.fingerprint], self.study, options)

    def key_again(self, options: Mapping[str, Any]) -> str | None:
        """The same, of what is there now; None: it is there no longer."""
        if self.located is None:  # the key is that of the data in memory
            return self.key(options)
        try:
            return Reading.of(self.source, self.given).key(options)
        except CompassError:
            return None


def is_saved(source: str) -> bool:
    """Whether a person means a saved engine; one that is broken is still meant as one."""
    from compass.engine.saved import is_engine

    path = Path(source)
    try:
        return is_engine(path) or (path.suffix == ".compass" and path.is_dir())
    except OSError as error:  # a name that no file system takes
        raise BadInput(
            f"cannot open {shortened(source)}: {error.strerror}", hint="name a file or a folder"
        ) from None


def engine(
    source: str,
    study: "GivenStudy",
    progress: "Progress | None",
    server: "Server | None" = None,
    *,
    cached: bool = True,
    surrogate: str | None = None,
    models: Mapping[str, Any] | None = None,
) -> "Compass | RemoteEngine":
    """A saved engine, or one on the data with this `surrogate` and these `models`.

    With a server the engine is there, and has the same methods. `cached`: models that were learnt
    before from the same data are used, and new ones kept.
    """
    chosen: dict[str, Any] = {"surrogate": surrogate, "models": models}
    if server is not None:
        from compass.cli import remote

        return remote.engine(server, source, study, progress, outcomes=[], **chosen)
    if is_saved(source):
        from compass.engine.store import load

        check_fitted(study, *chosen.values())
        loaded = load(source)
        loaded.store.progress = progress
        loaded.store.on_learnt = partial(_add, loaded, Path(source), loaded.learnt)
        return loaded
    if cached and not models:
        return learning(source, study, progress, surrogate=surrogate)
    from compass.engine.compass import Compass

    look_as_usual()
    return Compass(dataset(source, study), progress=progress, **chosen)


def _add(engine: "Compass", place: Path, before: tuple[str, ...]) -> None:
    """Add the outcomes that a question made it learn to a saved engine, and say so."""
    from compass.cli.output import print_line
    from compass.engine.store import add

    new = ", ".join(name for name in engine.learnt if name not in before)
    if not new:
        return  # from other columns than usual: of use for this question only
    try:
        add(engine, place)
        print_line(f"note: learnt {new}, now in {place}")
    except CompassError as problem:
        print_line(f"note: learnt {new}, for this question only: {problem.message}")
        print_line(f"hint: to keep it, fit again: compass fit DATA -o {place}")


def check_fitted(study: "GivenStudy", *models: Any) -> None:
    """Refuse to change what an engine was fitted with."""
    if not study.empty:
        raise BadInput(
            "a saved engine already has its roles, rules and labels",
            hint="use --where for this question, or fit again from the data",
        )
    if any(models):
        raise BadInput("a saved engine already has its models", hint="fit again from the data")


def show_progress(engine: "Compass | RemoteEngine", progress: "Progress") -> None:
    """Let an engine report how far its next work is."""
    from compass.engine.compass import Compass

    if isinstance(engine, Compass):
        engine.store.progress = progress
    else:
        engine.progress = progress
