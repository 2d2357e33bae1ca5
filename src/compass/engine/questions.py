"""The questions as method calls, with their options, for an engine of any place."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Unpack

from compass.domain.answer import Answer, Proposal
from compass.domain.arguments import maybe, start, takes
from compass.domain.base import Value, valid
from compass.domain.goal import Goal, Observe
from compass.domain.options import (
    AskKeywords,
    AskOptions,
    Dependencies,
    QueryKeywords,
    QueryOptions,
)
from compass.domain.query import EVERY_KNOB, Edit, Kind, Query
from compass.engine import arguments
from compass.engine.arguments import edit, query_of

EVERY = (EVERY_KNOB,)  # what a front asks for where nobody says
Run = Mapping[str, Value] | int | str  # a configuration, or a row: 7, "row:7"


class Questions(ABC):
    """The questions as method calls: of an engine in this process, or of one on a server."""

    @takes(
        **arguments.ASKED,
        weights=arguments.WEIGHTS,
        reference=arguments.REFERENCE,
        loss=arguments.LOSS,
        curve=arguments.NAMES,
    )
    def ask(
        self,
        question: str | Query,
        *,
        run: Run | None = None,
        where: Iterable[str] = (),
        count: int | None = None,
        seed: int | None = None,
        weights: Mapping[str, float] | None = None,
        reference: Mapping[str, float] | None = None,
        diversity: float | None = None,
        loss: Mapping[str, float] | None = None,
        prove: float | None = None,
        level: float | None = None,
        chance: float | None = None,
        beyond: bool | None = None,
        dependencies: Dependencies | None = None,
        generator: str | None = None,
        curve: Iterable[str] = (),
    ) -> Answer:
        """Answer a question given as text or as a Query; keywords add to what it says.

        `weights` are costs of changing parameters (of outcomes: their weights in a sum, which then
        decides), `reference` is where trade-offs between several outcomes begin to count,
        `diversity` is the weight of suggestions being different, `loss` the weights of the terms of
        the C3G loss, `prove` the seconds for a proof (0: none), `level` the share of new runs that
        the intervals hold, e.g. 0.8, `chance` how likely a new run has to meet each goal, `beyond`
        whether to search where no past run of this context has been, `dependencies` whether to
        "keep" or "ignore" rules that hold on all rows without having been stated, `generator` the
        search that finds candidates.
        """
        keywords = AskKeywords(
            count=count,
            seed=seed,
            weights=weights,
            reference=reference,
            diversity=diversity,
            loss=loss,
            prove=prove,
            level=level,
            chance=chance,
            beyond=beyond,
            dependencies=dependencies,
            generator=generator,
            curve=curve,
        )
        return self._ask(question, valid(AskOptions, {"run": run, "where": where, **keywords}))

    @takes(**arguments.ASKED, options=arguments.METHOD["options"])
    def stream(
        self,
        question: str | Query,
        *,
        run: Run | None = None,
        where: Iterable[str] = (),
        **options: Unpack[AskKeywords],
    ) -> Iterator[Answer]:
        """The answer as soon as it is found, then with its proof, then with the runs to make next.

        What is still to come is in `Answer.pending`; the last one is what `ask` returns. Options
        are as in `ask`. Who needs no more than the first stops there: the rest is not worked out.
        """
        return self._stream(question, valid(AskOptions, {"run": run, "where": where, **options}))

    @takes(**arguments.ASKED, options=arguments.OPTIONS)
    def query(
        self,
        question: str | Query,
        *,
        run: Run | None = None,
        where: Iterable[str] = (),
        **options: Unpack[QueryKeywords],
    ) -> Query:
        """A question as it is understood, bound to the columns; options are as in `ask`."""
        return self._query(question, valid(QueryOptions, {"run": run, "where": where, **options}))

    @takes(**arguments.ASKED, options=arguments.OPTIONS)
    def to_learn(
        self,
        question: str | Query,
        *,
        run: Run | None = None,
        where: Iterable[str] = (),
        **options: Unpack[QueryKeywords],
    ) -> tuple[str, ...]:
        """The outcomes that a question needs and that are learnt before it is answered.

        Those of its goals and conditions; a what-if that names none needs all. Options are as in
        `ask`.
        """
        given = valid(QueryOptions, {"run": run, "where": where, **options})
        return self._to_learn(question, given)

    @takes(
        **arguments.ASKED,
        n=arguments.RUNS,
        pending=arguments.pending,
        options=arguments.OPTIONS,
    )
    def run_next(
        self,
        n: int = 8,
        question: str | Query | None = None,
        *,
        run: Run | None = None,
        where: Iterable[str] = (),
        pending: Iterable[Proposal | Mapping[str, Value]] = (),
        **options: Unpack[QueryKeywords],
    ) -> tuple[Proposal, ...]:
        """Up to n configurations to measure: those that would help a question most.

        Without a question, those that would teach the models most. What is `pending` is being run
        already: proposals add to it and never repeat it. Other options are as in `ask`.
        """
        given = valid(QueryOptions, {"run": run, "where": where, **options})
        return self._run_next(n, question, given, arguments.pending(pending))

    @abstractmethod
    def _ask(self, question: str | Query, options: AskOptions) -> Answer:
        """Answer a question with these options."""

    @abstractmethod
    def _stream(self, question: str | Query, options: AskOptions) -> Iterator[Answer]:
        """The answer to a question with these options, and then what belongs to it."""

    @abstractmethod
    def _query(self, question: str | Query, options: QueryOptions) -> Query:
        """Bind a question with these options to the columns."""

    @abstractmethod
    def _to_learn(self, question: str | Query, options: QueryOptions) -> tuple[str, ...]:
        """The outcomes that are learnt before a question is answered."""

    @abstractmethod
    def _run_next(
        self,
        n: int,
        question: str | Query | None,
        options: QueryOptions,
        pending: tuple[dict[str, Value], ...],
    ) -> tuple[Proposal, ...]:
        """Up to n configurations to measure, for a question or for the models."""

    @takes(**arguments.METHOD, goals=arguments.goals, fixed=arguments.changes)
    def recommend(
        self,
        ask: Iterable[str] = (),
        goals: Mapping[str, Goal] | None = None,
        *,
        fixed: Mapping[str, Value] | None = None,
        run: Run | None = None,
        where: Iterable[str] = (),
        **options: Unpack[AskKeywords],
    ) -> Answer:
        """What configuration should I use?"""
        change = {name: edit(value) for name, value in (fixed or {}).items()}
        query = query_of(Kind.RECOMMEND, ask, change, goals or {}, where)
        return self.ask(query, run=run, **options)

    @takes(
        **arguments.METHOD,
        minimize=arguments.NAMES,
        maximize=arguments.NAMES,
        goals=arguments.goals,
        run=maybe(start),
        fixed=arguments.changes,
    )
    def pareto(
        self,
        minimize: Iterable[str] = (),
        maximize: Iterable[str] = (),
        *,
        ask: Iterable[str] = (),
        goals: Mapping[str, Goal] | None = None,
        run: Run | None = None,
        fixed: Mapping[str, Edit | Value] | None = None,
        where: Iterable[str] = (),
        **options: Unpack[AskKeywords],
    ) -> Answer:
        """Which trade-offs are there between several outcomes? `answer.front` tells them.

        From a `run`: what could be traded from there, small changes included. `goals` are limits
        beside the outcomes that are minimised and maximised; `count` is how many points to tell.
        """
        wanted = arguments.several(minimize, maximize, goals or {})
        change = {name: edit(value) for name, value in (fixed or {}).items()}
        kind = Kind.RECOMMEND if run is None else Kind.RECONFIGURE
        return self.ask(
            query_of(kind, tuple(ask) or EVERY, change, wanted, where), run=run, **options
        )

    @takes(**arguments.METHOD, run=start, goals=arguments.goals, change=arguments.changes)
    def reconfigure(
        self,
        run: Run,
        ask: Iterable[str] = (),
        goals: Mapping[str, Goal] | None = None,
        *,
        change: Mapping[str, Edit | Value] | None = None,
        where: Iterable[str] = (),
        **options: Unpack[AskKeywords],
    ) -> Answer:
        """What is the smallest change of this run that gets me there?"""
        edits = {name: edit(value) for name, value in (change or {}).items()}
        query = query_of(Kind.RECONFIGURE, ask, edits, goals or {}, where)
        return self.ask(query, run=run, **options)

    @takes(
        **arguments.METHOD, run=maybe(start), change=arguments.changes, outcomes=arguments.outcomes
    )
    def what_if(
        self,
        run: Run | None,
        change: Mapping[str, Edit | Value],
        outcomes: Iterable[str] | Mapping[str, Goal] = (),
        *,
        ask: Iterable[str] = (),
        where: Iterable[str] = (),
        **options: Unpack[AskKeywords],
    ) -> Answer:
        """What happens if I change this? Without a run: on average over all that match."""
        edits = {name: edit(value) for name, value in change.items()}
        goals = (
            dict(outcomes)
            if isinstance(outcomes, Mapping)
            else {name: Observe() for name in outcomes}
        )
        query = query_of(Kind.WHAT_IF, ask, edits, goals, where)
        return self.ask(query, run=run, **options)
