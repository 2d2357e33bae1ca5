"""Which family wins, why the others do not, and that the same table gives the same result."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from learn_select_cases import FEW, PLAIN, by_family, changed, laid, law

from compass import registry
from compass.domain.errors import DataProblem, UnknownName
from compass.learn import elimination, folds
from compass.learn.compare import compare_families, selectable_families
from compass.model.base import FamilyDefaults, FittedDefaults, Task


@dataclass(frozen=True)
class Pretended(FittedDefaults):
    """A model that misses the law of these tests by a share that alternates with its rows."""

    share: float
    task: Task
    family: str
    forest: Any = None

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (law(X) * (1 + self.share))[:, None]

    def spread(self, X: np.ndarray) -> np.ndarray:
        return np.zeros(len(X))

    def arrays(self) -> dict[str, np.ndarray]:
        return {}

    def trees(self) -> Any:
        return self.forest


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
        class Kind(FamilyDefaults):
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
        monkeypatch.setattr("compass.learn.compare.selectable_families", lambda: list(names))

    return enter


def test_the_lowest_error_wins() -> None:
    found = compare_families(laid(), families=FEW)
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
    found = compare_families(laid())
    assert found.recipe.family == winner
    scores = by_family(found)
    assert scores["proof"].provable
    assert not scores["plain"].provable
    if winner == "proof" and behind > 0.1:
        assert "as good as plain" in scores["proof"].reason


def test_who_fails_or_should_not_try_is_told_with_the_reason(
    pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("good", 0.1)
    pretend("broken", fails=ValueError("the matrix is singular"))
    pretend("refusing", fails=DataProblem("too few rows", hint="more"))
    pretend("silent", fails=ZeroDivisionError())
    pretend("hours", why_not="it would take hours")
    only("broken", "hours", "good", "refusing", "silent")
    found = compare_families(laid())
    scores = by_family(found)
    assert found.recipe.family == "good"
    assert scores["broken"].reason == "failed: the matrix is singular"
    assert scores["refusing"].reason == "failed: too few rows"
    assert scores["silent"].reason == "failed: ZeroDivisionError"
    assert scores["hours"].reason == "it would take hours"
    assert {scores[n].status for n in ("broken", "refusing", "silent", "hours")} == {"skipped"}
    assert scores["hours"].error is None


def test_nobody_left_is_an_error_that_names_everybody(
    pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("broken", fails=ValueError("the matrix is singular"))
    only("broken")
    with pytest.raises(DataProblem, match="broken failed: the matrix is singular") as problem:
        compare_families(laid())
    assert problem.value.hint
    pretend("hours", why_not="it would take hours")
    only("hours")
    with pytest.raises(DataProblem, match="it would take hours"):
        compare_families(laid())


def test_a_family_that_somebody_named_tells_its_problem(pretend: Callable[..., None]) -> None:
    pretend("broken", fails=DataProblem("too few rows", hint="more"))
    with pytest.raises(DataProblem, match="too few rows"):
        compare_families(laid(), families=["broken"])
    pretend("hours", 0.1, why_not="it would take hours")
    assert compare_families(laid(), families=["hours"]).recipe.family == "hours"
    with pytest.raises(UnknownName, match="forrest") as problem:
        compare_families(laid(), families=["forrest"])
    assert "forest" in problem.value.hint


@pytest.fixture
def over_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[str]]:
    """Ends the time after that many attempts, however long they take; gives who made them."""

    def arrange(attempts: int) -> list[str]:
        real, calls = folds.evaluate, []

        def evaluate(*given: Any) -> Any:
            calls.append(given[1].family)
            return real(*given)

        monkeypatch.setattr(folds, "evaluate", evaluate)
        clock = lambda: 1e9 if len(calls) >= attempts else 0.0  # noqa: E731
        watch = SimpleNamespace(time=clock, thread_time=time.thread_time)
        monkeypatch.setattr(folds, "time", watch)
        monkeypatch.setattr(elimination, "time", SimpleNamespace(monotonic=clock, time=lambda: 0.0))
        return calls

    return arrange


def test_the_clock_ends_the_comparison_and_says_so(
    pretend: Callable[..., None],
    only: Callable[..., None],
    over_after: Callable[[int], list[str]],
) -> None:
    pretend("good", 0.1)
    pretend("fair", 0.11)
    only("fair", "good")
    calls = over_after(2)
    found = compare_families(laid(settings=PLAIN))
    scores = by_family(found)
    # Both ran the first fold; nobody had time for the second.
    assert sorted(calls) == ["fair", "good"]
    assert found.recipe.family == "good"
    assert (scores["fair"].folds, scores["good"].folds) == (1, 1)
    assert scores["fair"].status == "skipped"
    assert scores["fair"].reason == "the time for comparing models was over"
    assert (scores["good"].status, scores["good"].reason) == ("chosen", "")
    assert any("time for comparing models was over" in note for note in found.notes)


def test_no_time_at_all_is_an_error_with_a_hint() -> None:
    with pytest.raises(DataProblem, match="could learn this outcome") as problem:
        compare_families(laid(settings=changed(seconds=1e-9)), families=["linear"])
    assert "more time" in problem.value.hint


def test_what_was_stopped_on_few_rows_is_never_taken_when_time_ends(
    pretend: Callable[..., None],
    only: Callable[..., None],
    over_after: Callable[[int], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(elimination, "_FEW", 30)
    pretend("good", 0.01)
    pretend("bad", 0.9)
    only("bad", "good")
    calls = over_after(2)
    found = compare_families(laid(settings=PLAIN))
    assert sorted(calls) == ["bad", "good"]
    assert found.recipe.family == "good"
    assert found.notes


def test_a_large_table_has_a_first_rung_of_few_rows(
    pretend: Callable[..., None], only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elimination, "_FEW", 30)
    pretend("bad", 9.0)
    only("bad", "linear")
    found = compare_families(laid(300))
    scores = by_family(found)
    assert (found.recipe.family, scores["linear"].folds) == ("linear", 3)
    assert "when 30 rows are learnt" in scores["bad"].reason
    # The interval is of the 30 rows that it was asked for, not of the whole fold.
    assert scores["bad"].low == pytest.approx(9.0)
    assert scores["bad"].high == pytest.approx(9.0)


@pytest.mark.parametrize("seed", range(4))
def test_stopping_early_never_stops_who_would_have_won(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noise = rng.normal(1, 0.1, 120)
    early = compare_families(laid(120, outcome=lambda X: law(X) * noise, seed=seed), families=FEW)
    patient = compare_families(
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
            compare_families(
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
    done = {score["folds"] for score in results[0][1]}
    assert 5 in done
    assert min(done) < 5  # one was stopped, at the same fold every time


def test_too_few_configurations_are_told() -> None:
    found = compare_families(laid(6, groups=np.zeros(6)), families=FEW)
    assert found.recipe.family == "forest"
    assert found.scores == ()
    assert "too few configurations" in found.notes[0]


def test_slow_families_learn_only_the_scale_of_the_best(
    pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("careful", 0.001, slow_=True)
    only("linear", "careful")
    found = compare_families(laid(outcome=lambda X: np.exp(X[:, 0])))
    scores = by_family(found)
    assert scores["linear"].log
    assert scores["careful"].log


def test_only_families_that_can_be_chosen_take_part() -> None:
    assert "forest" in selectable_families()
    assert "brought" not in selectable_families()
