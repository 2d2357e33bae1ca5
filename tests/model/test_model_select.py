"""Which family wins, why the others do not, and that the same table gives the same result."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from model_select_cases import FEW, PLAIN, by_family, changed, laid, law

from compass import registry
from compass.domain.errors import DataProblem, UnknownName
from compass.learn import attempt as abroad
from compass.learn import elimination as race
from compass.learn.select import known, select
from compass.model.base import Task


@dataclass(frozen=True)
class Pretended:
    """A model that misses the law of these tests by a share that alternates with its rows."""

    share: float
    task: Task
    family: str
    forest: object | None = None

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (law(X) * (1 + self.share))[:, None]

    def spread(self, X: np.ndarray) -> np.ndarray:
        return np.zeros(len(X))

    def arrays(self) -> dict[str, np.ndarray]:
        return {}


@pytest.fixture
def pretend() -> Iterator[Callable[..., None]]:
    """Registers families that err by a known share, or fail."""
    made = []

    def register(
        name: str,
        share: float = 0.0,
        *,
        provable: bool = False,
        fails: Exception | None = None,
        why_not: str | None = None,
        slow_: bool = False,
    ) -> None:
        class Kind:
            slow = slow_

            @staticmethod
            def obstacle(rows: int, columns: int, task: Task) -> str | None:
                return why_not

            @staticmethod
            def fit(X: np.ndarray, y: np.ndarray, *, task: Task, **_: Any) -> Pretended:
                if fails is not None:
                    raise fails
                return Pretended(share, task, name, object() if provable else None)

        registry.add("surrogate", name)(type(name, (Kind,), {"name": name}))
        made.append(name)

    yield register
    for name in made:
        registry.remove("surrogate", name)


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets only these families take part, as if nothing else were installed."""

    def enter(*names: str) -> None:
        monkeypatch.setattr("compass.learn.select.known", lambda: list(names))

    return enter


def test_the_lowest_error_wins() -> None:
    found = select(laid(), families=FEW)
    complete = [score for score in found.scores if score.folds == 3]
    best = min(complete, key=lambda score: score.error)
    assert (best.family, best.log) == (found.recipe.family, found.recipe.log)
    assert [s.family for s in found.scores if s.status == "chosen"] == [found.recipe.family]
    assert found.scores[0].status == "chosen"


@pytest.mark.parametrize(
    ("behind", "winner"), [(0.1000, "proof"), (0.1015, "proof"), (0.1100, "plain")]
)
def test_ties_go_to_what_can_be_proved_over(
    behind: float, winner: str, pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("plain", 0.1)
    pretend("proof", behind, provable=True)
    only("plain", "proof")
    found = select(laid())
    assert found.recipe.family == winner
    told = by_family(found)
    assert told["proof"].provable
    assert not told["plain"].provable
    if winner == "proof" and behind > 0.1:
        assert "as good as plain" in told["proof"].reason


def test_who_fails_or_should_not_try_is_told_with_the_reason(
    pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("sound", 0.1)
    pretend("broken", fails=ValueError("the matrix is singular"))
    pretend("refusing", fails=DataProblem("too few rows", hint="more"))
    pretend("silent", fails=ZeroDivisionError())
    pretend("hours", why_not="it would take hours")
    only("broken", "hours", "sound", "refusing", "silent")
    found = select(laid())
    told = by_family(found)
    assert found.recipe.family == "sound"
    assert told["broken"].reason == "failed: the matrix is singular"
    assert told["refusing"].reason == "failed: too few rows"
    assert told["silent"].reason == "failed: ZeroDivisionError"
    assert told["hours"].reason == "it would take hours"
    assert {told[n].status for n in ("broken", "refusing", "silent", "hours")} == {"skipped"}
    assert told["hours"].error is None


def test_nobody_left_is_an_error_that_names_everybody(
    pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("broken", fails=ValueError("the matrix is singular"))
    only("broken")
    with pytest.raises(DataProblem, match="broken failed: the matrix is singular") as problem:
        select(laid())
    assert problem.value.hint
    pretend("hours", why_not="it would take hours")
    only("hours")
    with pytest.raises(DataProblem, match="it would take hours"):
        select(laid())


def test_a_family_that_somebody_named_tells_its_problem(pretend: Callable[..., None]) -> None:
    pretend("broken", fails=DataProblem("too few rows", hint="more"))
    with pytest.raises(DataProblem, match="too few rows"):
        select(laid(), families=["broken"])
    pretend("hours", 0.1, why_not="it would take hours")
    assert select(laid(), families=["hours"]).recipe.family == "hours"
    with pytest.raises(UnknownName, match="forrest") as problem:
        select(laid(), families=["forrest"])
    assert "forest" in problem.value.hint


@pytest.fixture
def over_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[str]]:
    """Ends the time after that many attempts, however long they take; gives who made them."""

    def arrange(attempts: int) -> list[str]:
        real, calls = abroad.attempt, []

        def attempt(*given: Any) -> Any:
            calls.append(given[1].family)
            return real(*given)

        monkeypatch.setattr(abroad, "attempt", attempt)
        clock = lambda: 1e9 if len(calls) >= attempts else 0.0  # noqa: E731
        watch = SimpleNamespace(time=clock, thread_time=time.thread_time)
        monkeypatch.setattr(abroad, "time", watch)
        monkeypatch.setattr(race, "time", SimpleNamespace(monotonic=clock, time=lambda: 0.0))
        return calls

    return arrange


def test_the_clock_ends_the_race_and_says_so(
    pretend: Callable[..., None],
    only: Callable[..., None],
    over_after: Callable[[int], list[str]],
) -> None:
    pretend("good", 0.1)
    pretend("fair", 0.11)
    only("fair", "good")
    calls = over_after(2)
    found = select(laid(settings=PLAIN))
    told = by_family(found)
    # Both ran the first fold; nobody had time for the second.
    assert sorted(calls) == ["fair", "good"]
    assert found.recipe.family == "good"
    assert (told["fair"].folds, told["good"].folds) == (1, 1)
    assert told["fair"].status == "skipped"
    assert told["fair"].reason == "the time for comparing models was over"
    assert (told["good"].status, told["good"].reason) == ("chosen", "")
    assert any("time for comparing models was over" in note for note in found.notes)


def test_no_time_at_all_is_an_error_with_a_hint() -> None:
    with pytest.raises(DataProblem, match="could learn this outcome") as problem:
        select(laid(settings=changed(seconds=1e-9)), families=["linear"])
    assert "more time" in problem.value.hint


def test_who_was_left_behind_on_few_rows_is_never_taken_when_time_ends(
    pretend: Callable[..., None],
    only: Callable[..., None],
    over_after: Callable[[int], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(race, "_FEW", 30)
    pretend("good", 0.01)
    pretend("bad", 0.9)
    only("bad", "good")
    calls = over_after(2)
    found = select(laid(settings=PLAIN))
    assert sorted(calls) == ["bad", "good"]
    assert found.recipe.family == "good"
    assert found.notes


def test_a_large_table_has_a_first_heat(
    pretend: Callable[..., None], only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(race, "_FEW", 30)
    pretend("bad", 9.0)
    only("bad", "linear")
    found = select(laid(300))
    told = by_family(found)
    assert (found.recipe.family, told["linear"].folds) == ("linear", 3)
    assert "when 30 rows are learnt" in told["bad"].reason
    # The interval is of the 30 rows that it was asked for, not of the whole fold.
    assert told["bad"].low == pytest.approx(9.0)
    assert told["bad"].high == pytest.approx(9.0)


@pytest.mark.parametrize("seed", range(4))
def test_stopping_early_never_stops_who_would_have_won(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noise = rng.normal(1, 0.1, 120)
    early = select(laid(120, outcome=lambda X: law(X) * noise, seed=seed), families=FEW)
    patient = select(
        laid(120, changed(hopeless=1e6), outcome=lambda X: law(X) * noise, seed=seed),
        families=FEW,
    )
    assert early.recipe == patient.recipe
    assert sum(s.folds for s in early.scores) <= sum(s.folds for s in patient.scores)


def facts(found: Any) -> Any:
    return found.recipe, [s.model_dump(exclude={"seconds"}) for s in found.scores], found.notes


def test_the_same_seed_gives_the_same_result_on_any_number_of_threads() -> None:
    rng = np.random.default_rng(5)
    noise = rng.normal(1, 0.15, 150)
    settings = changed(folds=5)
    results = [
        facts(
            select(
                laid(
                    settings=settings.model_copy(update={"threads": threads}),
                    outcome=lambda X: law(X) * noise,
                ),
                families=(*FEW, "lightgbm"),
            )
        )
        for threads in (1, 2, 5, 2)
    ]
    assert results[0] == results[1] == results[2] == results[3]
    folds = {score["folds"] for score in results[0][1]}
    assert 5 in folds
    assert min(folds) < 5  # somebody was left behind, at the same fold every time


def test_too_few_configurations_are_told() -> None:
    found = select(laid(6, groups=np.zeros(6)), families=FEW)
    assert found.recipe.family == "forest"
    assert found.scores == ()
    assert "too few configurations" in found.notes[0]


def test_slow_families_learn_the_scale_of_the_leader_only(
    pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("careful", 0.001, slow_=True)
    only("linear", "careful")
    found = select(laid(outcome=lambda X: np.exp(X[:, 0])))
    told = by_family(found)
    assert told["linear"].log
    assert told["careful"].log


def test_only_families_that_can_be_chosen_take_part() -> None:
    assert "forest" in known()
    assert "brought" not in known()
