"""The three questions as method calls, for everything that can be asked."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from compass.domain.answer import Answer
from compass.domain.arguments import maybe, start, takes
from compass.domain.base import Value
from compass.domain.goal import Goal, Observe
from compass.domain.query import Edit, Kind, Query
from compass.engine import arguments as spoken
from compass.engine.arguments import edit, query_of

Run = Mapping[str, Value] | int | str  # a configuration, or a row: 7, "row:7"


class Questions(ABC):
    """What can be asked: an engine here, or one on a server."""

    @abstractmethod
    def ask(
        self,
        question: str | Query,
        *,
        run: Run | None = None,
        where: Iterable[str] = (),
        count: int | None = None,
        seed: int | None = None,
        weights: Mapping[str, float] | None = None,
        diversity: float | None = None,
        prove: float | None = None,
        level: float | None = None,
        curve: Iterable[str] = (),
    ) -> Answer:
        """Answer a question given as text or as a Query; keywords add to what it says."""

    @takes(**spoken.METHOD, goals=spoken.goals, fixed=spoken.changes)
    def recommend(
        self,
        ask: Iterable[str] = (),
        goals: Mapping[str, Goal] | None = None,
        *,
        fixed: Mapping[str, Value] | None = None,
        where: Iterable[str] = (),
        **options: Any,
    ) -> Answer:
        """What configuration should I use?"""
        change = {name: edit(value) for name, value in (fixed or {}).items()}
        query = query_of(Kind.RECOMMEND, ask, change, goals or {}, where)
        return self.ask(query, **options)

    @takes(**spoken.METHOD, run=start, goals=spoken.goals, change=spoken.changes)
    def reconfigure(
        self,
        run: Run,
        ask: Iterable[str] = (),
        goals: Mapping[str, Goal] | None = None,
        *,
        change: Mapping[str, Edit | Value] | None = None,
        where: Iterable[str] = (),
        **options: Any,
    ) -> Answer:
        """What is the smallest change of this run that gets me there?"""
        edits = {name: edit(value) for name, value in (change or {}).items()}
        query = query_of(Kind.RECONFIGURE, ask, edits, goals or {}, where)
        return self.ask(query, run=run, **options)

    @takes(**spoken.METHOD, run=maybe(start), change=spoken.changes, outcomes=spoken.outcomes)
    def what_if(
        self,
        run: Run | None,
        change: Mapping[str, Edit | Value],
        outcomes: Iterable[str] | Mapping[str, Goal] = (),
        *,
        ask: Iterable[str] = (),
        where: Iterable[str] = (),
        **options: Any,
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
