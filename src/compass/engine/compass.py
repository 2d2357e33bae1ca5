"""The engine: fit it once on past runs, then ask."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass import registry
from compass.acquire.propose import anywhere, for_population
from compass.domain.answer import Answer, Curve, ModelCard, Proposal, Provenance, Suggestion
from compass.domain.arguments import (
    anything_of,
    either,
    function,
    maybe,
    path_name,
    start,
    takes,
    text,
)
from compass.domain.base import Config, Value, valid
from compass.domain.constraint import Constraint
from compass.domain.errors import ConflictingRules, DataProblem, QueryProblem, UnknownName, unknown
from compass.domain.explanation import Dependence, Explanation, Importance
from compass.domain.expression import names_in
from compass.domain.goal import Goal, Observe
from compass.domain.options import AskOptions, FitOptions, QueryOptions
from compass.domain.overview import Overview
from compass.domain.query import Given, Kind, Query, Row
from compass.domain.space import Category, Role, Space
from compass.domain.tell import TellReport
from compass.engine import arguments
from compass.engine.answer import WantedRuns, answers_by_search
from compass.engine.arguments import edit, query_of
from compass.engine.batch import Asking, BatchReply, ask_all
from compass.engine.constants import (
    bound_query,
    counters_in,
    notes_on_constants,
    without_constants,
)
from compass.engine.dataset import Dataset, read
from compass.engine.dependencies import given_up
from compass.engine.forward import answer_population, changed_runs, curves
from compass.engine.front import answers_by_front
from compass.engine.plan import is_population, plan
from compass.engine.provenance import Clock, provenance_of
from compass.engine.questions import Questions, Run
from compass.engine.rules import broken_by, compiled, ignored_column, standing
from compass.engine.scope import Scope, features_of, outcomes_of, scope_of
from compass.engine.typical import typical_run
from compass.evidence.assessor import Assessor
from compass.evidence.unseen import unseen_values
from compass.execute import Executor, executor_name
from compass.generate.legality import lawful
from compass.generate.objectives import trades_off
from compass.generate.task import SearchTask
from compass.language import parse_query, parse_rule
from compass.language.bind import column, outcomes_named
from compass.learn.select import check_names
from compass.learn.store import ModelStore, Progress
from compass.model.files import ModelFile
from compass.model.function import PredictFunction
from compass.settings import Settings, with_study_trust

if TYPE_CHECKING:
    from compass.engine.augment import Augmentation
    from compass.engine.machines import MachineQuestion
    from compass.platforms.predictor import PlatformModel

_NO_RUNS = WantedRuns()
_FRONTS = "legal-search"  # the generator whose way of searching fronts are found in
_REMEMBERED = 5  # questions whose answers `tell` compares when nobody says which


class Compass(Questions):
    """Answers the three questions from past runs.

    `surrogate` names a family of models; "auto" takes the one that cross-validates best. `tune` are
    seconds for better settings of the model of each outcome (`journal`: a file that keeps what was
    tried, so that a later call goes on), `represent` is an embedding to try in front of it.
    `models` gives models for outcomes that are not to be learnt: `bring(file)`, or a function that
    predicts [n] values from a mapping of column names to arrays [n] and may have a method
    `gradient`. `rules` hold for every answer. `executor` says where models are compared, such as
    "processes:4" or "dask://host:8786"; what is learnt does not depend on it. An outcome that
    is not learnt when a question needs it is learnt then: `fit` only does it before.
    """

    @takes(
        rules=arguments.RULES,
        surrogate=text,
        generator=text,
        reducer=text,
        represent=text,
        journal=path_name,
        settings=anything_of(Settings),
        models=arguments.models,
        progress=function,
        executor=executor_name,
    )
    def __init__(
        self,
        data: Any,
        *,
        rules: Iterable[str] = (),
        surrogate: str | None = None,
        generator: str | None = None,
        seed: int | None = None,
        keep: float | None = None,
        reducer: str | None = None,
        tune: float | None = None,
        represent: str | None = None,
        journal: str | Path | None = None,
        settings: Settings | None = None,
        models: Mapping[str, PredictFunction | ModelFile] | None = None,
        progress: Progress | None = None,
        executor: str | Executor | None = None,
    ) -> None:
        self.data = data if isinstance(data, Dataset) else read(data)
        options = valid(
            FitOptions,
            {
                "rules": rules,
                "surrogate": surrogate,
                "generator": generator,
                "seed": seed,
                "keep": keep,
                "reducer": reducer,
                "tune": tune,
                "represent": represent,
            },
        )
        chosen = {name: value for name, value in options.given().items() if name != "rules"}
        known = valid(Settings, dict(settings or Settings()) | chosen)
        self.settings = with_study_trust(known, self.data.study.trust)
        for name in models or ():
            if name not in self.data.prepared.space:
                raise unknown("column", name, self.data.prepared.space.names)
        place = None if journal is None else Path(journal)
        self.store = self._store(progress, models or {}, place, executor)
        self.augmentation: Augmentation | None = None  # what came of synthetic rows
        self.rules = standing(self.data, options.rules)
        self.asked: list[tuple[Query, Answer]] = []  # the last questions, for `tell`

    def _store(
        self,
        progress: Progress | None,
        models: Mapping[str, PredictFunction | ModelFile],
        journal: Path | None,
        executor: str | Executor | None,
    ) -> ModelStore:
        """A store of models that learns from the present data."""
        kept = self.data.reduced(self.settings.keep, self.settings.reducer, self.settings.seed)
        whole = self.data.prepared
        return ModelStore(whole, kept, self.settings, progress, models, journal, executor)

    @property
    def space(self) -> Space:
        """The columns that can be used; ignored ones are not here."""
        return self.data.prepared.space

    def overview(self) -> Overview:
        """What the past runs tell by themselves; nothing is learnt or predicted for it."""
        return self.data.overview()

    @property
    def cards(self) -> tuple[ModelCard, ...]:
        """What has been learnt so far, and how well."""
        return tuple(trained.card for trained in self.store.trained.values())

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that outcomes are learnt from unless a question says otherwise."""
        return self.space.having(Role.KNOB, Role.CONTEXT)

    @property
    def learnt(self) -> tuple[str, ...]:
        """The outcomes that have been learnt from the knobs and the context."""
        outcomes = self.space.having(Role.OUTCOME)
        return tuple(name for name in outcomes if (self.features, name) in self.store.trained)

    @takes(outcomes=maybe(arguments.NAMES), augment=maybe(text))
    def fit(
        self, outcomes: Iterable[str] | None = None, *, augment: str | None = None
    ) -> "Compass":
        """Learn these outcomes from the knobs and the context; without names all of them.

        `fit([])` learns none yet, it only lays out the runs. An outcome that is not learnt is
        learnt when a question first needs it, and answers are the same.

        `augment` names a synthesizer: an outcome that is predicted clearly better with its rows,
        on measured runs held out by cross-validation, learns from them too. They are never cited;
        `augmentation` says what came of it.
        """
        check_names(self.settings)  # what is learnt later needs them as well
        wanted = outcomes_named(outcomes, self.space)
        features = self.features
        if not features:
            raise QueryProblem(
                "no column is known to be a knob or context",
                hint="give one the role knob (--role COLUMN=knob)",
            )
        if augment is not None:
            self._augment(augment, wanted)
        # A model that somebody gave is not in a saved engine: it is put to use while it is here.
        given = [name for name in self.space.having(Role.OUTCOME) if name in self.store.given]
        trained = self.store.train(features, dict.fromkeys((*wanted, *given)))
        assessor = Assessor(self.store, self.store.view_of(features), trained)
        assessor.matched.prepare()
        _ = assessor.view.dependencies  # looked for now rather than in the first question
        return self

    def _augment(self, name: str, outcomes: Sequence[str]) -> None:
        """Add synthetic rows for the outcomes that are predicted better with them."""
        from compass.engine.augment import augmented

        if self.settings.keep < 1:
            raise QueryProblem(
                "a sample of the runs is not augmented", hint="leave out keep, or augment"
            )
        store, features = self.store, self.features
        learnt = [outcome for outcome in outcomes if outcome not in store.given]
        recipes = {
            outcome: store.chosen(store.data_of(features, outcome), outcome)[1].recipe
            for outcome in learnt
        }
        rules = [rule.text for rule in self.rules]
        data, self.augmentation = augmented(
            self.data, store.view_of(features), recipes, rules, name, self.settings, store.progress
        )
        if data is not self.data:
            self.data = data
            self.store = self._store(store.progress, store.given, store.journal, store.executor)

    def _to_learn(self, question: str | Query, options: QueryOptions) -> tuple[str, ...]:
        query = self._query(question, options)
        features = features_of(query, self.space)
        needed = outcomes_of(query, self.data.prepared, self.rules)
        about, _ = self._about_machines(query)
        if about is not None:  # its runtime is told by what is known across machines
            needed = tuple(n for n in needed if n != about.known.columns.runtime)
        return tuple(name for name in needed if (features, name) not in self.store.trained)

    def _ask(self, question: str | Query, options: AskOptions) -> Answer:
        query = self._query(question, options)
        answer = self._answer(query, options.curve)
        self.remember(query, answer)
        return answer

    def _stream(self, question: str | Query, options: AskOptions) -> Iterator[Answer]:
        query = self._query(question, options)

        def steps() -> Iterator[Answer]:
            for answer in self._steps(query, options.curve):
                self.remember(query, answer)
                yield answer

        return steps()

    def remember(self, query: Query, answer: Answer) -> None:
        """Keep a question for `tell`, as the newest of the last few."""
        others = [one for one in self.asked if one[0] != query]
        self.asked = [*others, (query, answer)][-_REMEMBERED:]

    @takes(questions=arguments.BATCH, executor=executor_name, progress=function)
    def ask_all(
        self,
        questions: Iterable[Asking],
        *,
        executor: str | Executor | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> tuple[BatchReply, ...]:
        """Answer many questions, each as if it were asked alone; one that fails stops no other.

        A question is a text, a Query, or a mapping: {"question": text, "run": 7, "count": 1} with
        options as in `ask`; those given in the call are for all. Without an executor they are
        answered one after the other, in this process.
        """
        where = executor or self.store.executor
        return ask_all(self, questions, executor=where, progress=progress, options=options)

    def _query(self, question: str | Query, options: QueryOptions) -> Query:
        query = parse_query(question) if isinstance(question, str) else question
        added = options.given()
        run, where = added.pop("run", None), added.pop("where", ())
        added.pop("curve", None)
        if run is not None:
            if query.baseline is not None:
                raise QueryProblem(
                    "the question already says where to start", hint="give the baseline once"
                )
            added["baseline"] = self._baseline(run)
        for name in {"weights", "reference", "loss"} & set(added):
            added[name] = {**getattr(query, name), **added[name]}
        if where:
            added["where"] = (*query.where, *(Constraint(text=text) for text in where))
        checked = valid(Query, {**dict(query), **added}) if added else query
        if checked.generator is not None:
            registry.get("generator", checked.generator)  # a wrong name is told before the work
        try:
            return bound_query(self._with_new_application(checked), self.data.prepared)
        except UnknownName as error:
            known = ignored_column(error, self.data.prepared)
            raise known.within(question if isinstance(question, str) else "") from None

    def _run_next(
        self,
        n: int,
        question: str | Query | None,
        options: QueryOptions,
        pending: tuple[dict[str, Value], ...],
    ) -> tuple[Proposal, ...]:
        wanted = WantedRuns(n, pending)
        if question is not None:
            query = self._query(question, options.model_copy(update={"prove": 0.0}))
            return self._answer(query, (), wanted).run_next
        given = options.given()
        run, where = given.pop("run", None), given.pop("where", ())
        if given:
            raise QueryProblem(
                f"{next(iter(given))} needs a question", hint="say what the runs should help"
            )
        if run is not None:
            raise QueryProblem("a baseline needs a question", hint="say what is asked of it")
        return self._run_anywhere([Constraint(text=text) for text in where], wanted)

    def _run_anywhere(
        self, conditions: Sequence[Constraint], runs: WantedRuns
    ) -> tuple[Proposal, ...]:
        """Configurations whose measurement would teach the models most, under all rules."""
        features = self.fit().features
        for condition in conditions:
            strange = [n for n in names_in(parse_rule(condition.text)) if n not in features]
            if strange:
                raise QueryProblem(
                    f"{strange[0]} in {condition.text} is neither knob nor context",
                    hint="without a question, conditions can only be on these",
                )
        trained = self.store.train(features, self.space.having(Role.OUTCOME))
        view = self.store.view_of(features)
        rules = compiled([*self.rules, *conditions], self.space, features)
        assessor = Assessor(self.store, view, trained)
        found = anywhere(
            assessor,
            rules,
            view.geometry({}),
            runs.count,
            self.settings.seed,
            pending=runs.encoded(view.features),
        )
        return lawful(rules, found)

    @takes(run=start, parameters=arguments.NAMES, outcomes=arguments.NAMES)
    def curves(
        self, run: Run, parameters: Iterable[str], outcomes: Iterable[str] = ()
    ) -> tuple[Curve, ...]:
        """How outcomes answer to single parameters, everything else as in this run."""
        names = tuple(column(name, self.space) for name in parameters)
        known = start(run) if isinstance(run, Mapping) else self.data.row(run)
        # A what-if needs a change: the one that changes nothing.
        still = {name: edit(known.get(name)) for name in names[:1]}
        goals: dict[str, Goal] = {name: Observe() for name in outcomes}
        query = query_of(Kind.WHAT_IF, (), still, goals, ())
        return self._answer(self.query(query, run=run, prove=0.0), names).curves

    @takes(run=either(anything_of(Suggestion), start), outcomes=arguments.NAMES, against=start)
    def explain(
        self,
        run: Run | Suggestion,
        outcomes: Iterable[str] = (),
        *,
        against: Run | None = None,
    ) -> tuple[Explanation, ...]:
        """Why does the model predict this of a past run, a configuration or a suggestion?

        It is compared with past runs, or with the one run `against`: `answer.baseline`, a row.
        """
        from compass.explain.contributions import explain

        subject = run if isinstance(run, Suggestion) else self._baseline(run)
        other = None if against is None else self._baseline(against)
        return explain(self.store, subject, tuple(outcomes), other)

    @takes(outcome=text, repeats=arguments.REPEATS)
    def importance(self, outcome: str, *, repeats: int = 10) -> Importance:
        """Which columns does the model of an outcome rely on?"""
        from compass.explain.importance import importance

        return importance(self.store, outcome, repeats=repeats)

    @takes(
        outcome=text,
        column=text,
        points=arguments.POINTS,
        label=arguments.label,
        lines=arguments.LINES,
    )
    def dependence(
        self, outcome: str, column: str, *, points: int = 20, label: Value = None, lines: int = 0
    ) -> Dependence:
        """How does the prediction of an outcome answer to a column, over the past runs?"""
        from compass.explain.importance import dependence

        return dependence(self.store, outcome, column, points=points, label=label, lines=lines)

    @takes(questions=arguments.questions)
    def tell(self, rows: Any, questions: Iterable[str | Query] = ()) -> TellReport:
        """Take in new runs: a path, data frame, table or dict of columns, as `read` takes it.

        The models learn them, going on from where they were where that is sound. The report says
        what drifted, how the runs compare with what was predicted, and what changed in the answers
        to these questions, or else to the last ones that were asked. It takes in all or nothing.
        """
        from compass.engine.tell import tell

        return tell(self, rows, tuple(questions))

    @takes(path=path_name)
    def save(self, path: str | Path) -> Path:
        """Write the fitted engine to a directory; it is replaced whole or not at all."""
        from compass.engine.store import save

        return save(self, Path(path))

    def broken_by(self) -> dict[str, int]:
        """How many past runs break each rule."""
        return broken_by(self.data.prepared, self.rules)

    def _baseline(self, run: Run) -> Row | Given:
        if isinstance(run, int):
            self.data.table.check_row(run)
            return Row(row=run)
        known: Config = {}
        constants = self.data.prepared.constants
        for name, value in without_constants(start(run), constants).items():
            if name in self.data.table.names and name not in self.space:
                continue  # an ignored column of the table itself, as data.row() gives it
            known[column(name, self.space)] = value
        features = {*self.space.having(Role.KNOB, Role.CONTEXT)}
        usable = {
            name: value for name, value in known.items() if value is not None or name in features
        }
        counters = counters_in(start(run), self.data.prepared)
        return valid(Given, {"config": usable, "counters": counters})

    def _answer(
        self, query: Query, curve: tuple[str, ...] = (), runs: WantedRuns = _NO_RUNS
    ) -> Answer:
        """The whole answer."""
        return deque(self._steps(query, curve, runs), maxlen=1).pop()

    def _steps(
        self, query: Query, curve: tuple[str, ...] = (), runs: WantedRuns = _NO_RUNS
    ) -> Iterator[Answer]:
        """The answer, the same with its proof, and with the runs to make next.

        What was found and not stated never stands in the way of an answer.
        """
        clock = Clock()
        across, why_not = self._across_machines(query, curve, runs, clock)
        if across is not None:
            yield from across
            return
        task, assessor = self._bind_task(query, clock)
        kept = () if isinstance(task, Scope) else task.assumed.kept
        answer: Answer | None = None
        try:
            for answer in self._answered(query, task, assessor, curve, runs, clock):
                if answer.suggestions or not kept:
                    yield answer.model_copy(update={"notes": (*answer.notes, *why_not)})
        except ConflictingRules:
            if not kept:
                raise
        if answer is not None and (answer.suggestions or not kept):
            return
        without = query.model_copy(update={"dependencies": "ignore"})
        for other in self._steps(without, curve, runs):
            if other.suggestions or answer is None:
                yield other.model_copy(update={"notes": (given_up(kept), *other.notes)})
        if answer is not None and not other.suggestions:
            yield answer

    def _with_new_application(self, query: Query) -> Query:
        """Of a question about machines the baseline may be of an application never run before."""
        if not isinstance(query.baseline, Given) or query.kind is not Kind.WHAT_IF:
            return query
        from compass.engine.machines import new_application
        from compass.platforms.columns import machine_column

        machine = machine_column(self.space, self.data.study.machines)
        known = self.data.machines if machine in query.change else None
        return query if known is None else new_application(query, query.baseline, known, self.space)

    def _about_machines(self, query: Query) -> "tuple[MachineQuestion | None, tuple[str, ...]]":
        """A question as one that other machines answer, or why they do not, where one might ask."""
        named = {*query.ask, *query.change}
        if query.kind is Kind.RECONFIGURE or not any(
            isinstance(self.space[name], Category) for name in named if name in self.space
        ):
            return None, ()
        from compass.engine.machines import NotAcrossMachines, machine_question
        from compass.platforms.columns import machine_column

        known = None
        if machine_column(self.space, self.data.study.machines) in named:
            known = self.data.machines
        if known is None:
            return None, ()
        try:
            scope = scope_of(query, self.store, self.rules)
            return machine_question(query, scope, known), ()
        except NotAcrossMachines as reason:
            return None, (f"What is known across machines is not used: {reason}.",)

    def _across_machines(
        self, query: Query, curve: tuple[str, ...], runs: WantedRuns, clock: Clock
    ) -> tuple[Iterator[Answer] | None, tuple[str, ...]]:
        """The answers by what is known across machines; None, and maybe why: they do not tell."""
        about, why_not = self._about_machines(query)
        if about is None or curve:
            return None, why_not
        clock.mark("plan")
        known, level = about.known, query.level or self.settings.interval
        seed = query.seed if query.seed is not None else self.settings.seed
        try:
            model = known.model(about.source, about.application, level, seed, self.store.tell)
        except DataProblem as problem:
            if known.stated:
                raise
            return None, (f"What is known across machines is not used: {problem.message}.",)
        clock.mark("fit")
        return self._by_machines(about, model, runs, clock), ()

    def _by_machines(
        self, about: "MachineQuestion", model: "PlatformModel", runs: WantedRuns, clock: Clock
    ) -> Iterator[Answer]:
        from compass.engine.machine_answers import machine_answers

        query, runtime = about.query, about.known.columns.runtime
        seed = query.seed if query.seed is not None else self.settings.seed
        others = {name: goal for name, goal in query.goals.items() if name != runtime}
        rest = self._steps(query.model_copy(update={"goals": others})) if others else None
        scope, provenance = scope_of(query, self.store, self.rules), provenance_of(self.data, seed)
        settings = self.settings.model_copy(update={"seed": seed})
        for answer in machine_answers(about, scope, model, settings, provenance, runs, rest):
            clock.mark("search")
            update = {
                "units": self.space.units,
                "notes": (*notes_on_constants(query, self.data.prepared), *answer.notes),
                "seconds": dict(clock.seconds),
            }
            yield answer.model_copy(update=update)

    def _answered(
        self,
        query: Query,
        task: SearchTask | Scope,
        assessor: Assessor,
        curve: tuple[str, ...],
        runs: WantedRuns,
        clock: Clock,
    ) -> Iterator[Answer]:
        seed = query.seed if query.seed is not None else self.settings.seed
        provenance = provenance_of(self.data, seed)
        drawn: dict[str, tuple[Curve, ...]] = {}
        if isinstance(task, Scope):
            if curve:
                raise QueryProblem(
                    "a curve needs a configuration to start from",
                    hint="name a past run to start from (--from row:N)",
                )
            steps = iter([self._over_past_runs(query, task, assessor, provenance, runs)])
            clock.mark("search")
        else:
            if curve:
                names = tuple(column(name, self.space) for name in curve)
                drawn["curves"] = curves(task, assessor, names)
                clock.mark("curves")
            answers = answers_by_front if _wants_front(task) else answers_by_search
            steps = answers(task, assessor, provenance, clock, runs, self.store.tell)
        for answer in steps:
            update = {
                "units": self.space.units,
                "unseen": unseen_values(answer.query, self.space, answer.baseline),
                "notes": (*notes_on_constants(query, self.data.prepared), *answer.notes),
                "seconds": dict(clock.seconds),
            }
            yield answer.model_copy(update=drawn | update)

    def _bind_task(self, query: Query, clock: Clock) -> tuple[SearchTask | Scope, Assessor]:
        """The question with its models; a scope alone where it is about all runs that match."""

        def assess(scope: Scope) -> Assessor:
            clock.mark("plan")
            trained = self.store.train(scope.view.names, scope.outcomes)
            clock.mark("fit")
            return Assessor(self.store, scope.view, trained, query.level)

        if is_population(query):
            scope = scope_of(query, self.store, self.rules)
            return scope, assess(scope)
        if query.kind is Kind.WHAT_IF and query.baseline is None:
            start = typical_run(query, scope_of(query, self.store, self.rules))
            task, assessor = plan(start.query, self.store, self.rules, assess)
            assumed = replace(task.assumed, notes=(start.note, *task.assumed.notes))
            return replace(task, assumed=assumed), assessor
        return plan(query, self.store, self.rules, assess)

    @staticmethod
    def _over_past_runs(
        query: Query, scope: Scope, assessor: Assessor, provenance: Provenance, wanted: WantedRuns
    ) -> Answer:
        """A what-if without a baseline: the change is applied to every past run that matches."""
        runs = changed_runs(query, scope, assessor)
        answer = answer_population(query, runs, assessor, provenance)
        if not wanted.count:
            return answer
        busy = wanted.encoded(scope.view.features)
        proposals = for_population(
            assessor, scope.rules, runs.before, runs.after, wanted.count, busy
        )
        return answer.model_copy(update={"run_next": proposals})


def _wants_front(task: SearchTask) -> bool:
    """Whether a question is answered with the front of its outcomes.

    Another generator has an order of its own, and a what-if only tells what happens.
    """
    plain = task.settings.generator == _FRONTS and not task.forward
    return plain and trades_off(task.targets, task.query.weights)
