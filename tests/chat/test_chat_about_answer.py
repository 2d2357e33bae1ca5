"""What is asked of an answer that is there: how sure it is, how two suggestions differ."""

import math

import pytest
from tests.chat.chat_case import quick_answer, quick_engine

from compass.chat.about_answer import certainty, comparison
from compass.chat.summary import reasons
from compass.domain.answer import Answer


@pytest.fixture(scope="module")
def answer() -> Answer:
    return quick_answer()


def changed(answer: Answer, **outcome: object) -> Answer:
    """The answer with another first outcome of its first suggestion."""
    first = answer.suggestions[0]
    other = first.outcomes[0].model_copy(update=outcome)
    made = first.model_copy(update={"outcomes": (other, *first.outcomes[1:])})
    return answer.model_copy(update={"suggestions": (made, *answer.suggestions[1:])})


def test_certainty_has_interval_reason_and_supporting_runs(answer: Answer) -> None:
    text = certainty(answer, None)
    assert text is not None
    first = answer[0]
    told = first.outcome("runtime")
    assert told.low is not None
    assert f"The first suggestion: gpus = {first.settings['gpus']}." in text
    assert f"; {100 * (told.level or 0):g} % of new runs are between {told.low:.4g} and " in text
    assert first.trust.reason in text
    assert first.trust.reason.lower().startswith(first.trust.label.value)  # so the label is told
    assert f"{first.trust.support} past runs are close to it: rows " in text
    assert str(first.trust.evidence[0].row) in text.split("rows ")[-1]
    assert len(text.splitlines()) <= 15


@pytest.mark.parametrize(("measured", "text"), [(0, "No past run"), (2, "No other past run")])
def test_runs_of_the_configuration_itself_are_close_to_it(
    answer: Answer, measured: int, text: str
) -> None:
    """They need not be among those that were learnt from."""
    first = answer.suggestions[0]
    alone = {"support": 0, "evidence": (), "measured": measured}
    made = first.model_copy(update={"trust": first.trust.model_copy(update=alone)})
    told = answer.model_copy(update={"suggestions": (made,)})
    assert f"{text} is close to it." in (certainty(told, None) or "")
    assert ("No past run is close to it." in reasons(told)) is (measured == 0)


def test_an_outcome_that_is_not_predicted_is_not_told(answer: Answer) -> None:
    assert certainty(answer, "power") is None
    assert certainty(answer, "runtime") == certainty(answer, None)


def test_the_chance_and_a_missing_interval_are_told(answer: Answer) -> None:
    likely = certainty(changed(answer, chance=0.83), None)
    assert likely is not None
    assert "the chance of meeting the goal is 83 %" in likely
    for high in (None, math.inf):
        open_end = certainty(changed(answer, high=high), None)
        assert open_end is not None
        assert "no interval can be promised" in open_end
        assert "inf" not in open_end.split("\n")[1]


def test_without_a_suggestion_the_closest_idea_is_told_or_why_there_is_none(
    answer: Answer,
) -> None:
    why = {"suggestions": (), "no_answer": "nothing is supported"}
    none = answer.model_copy(update={**why, "ideas": ()})
    assert certainty(none, None) == "There is no suggestion: nothing is supported."
    assert certainty(none, "runtime") is None
    idea = answer.model_copy(update={**why, "ideas": answer.suggestions[:1]})
    text = certainty(idea, None)
    assert text is not None
    assert text.startswith("The closest idea, not a suggestion: gpus = ")


def test_a_change_of_all_runs_is_told_by_its_reason() -> None:
    answer = quick_engine().ask(
        "What if we change X = {gpus: old -> 2}, how would that affect Y = {runtime}"
    )
    assert answer.population is not None
    text = certainty(answer, None)
    assert text is not None
    assert text.startswith(f"The change over {answer.population.runs} past runs, on average:\n")
    assert answer.population.reason in text


def test_two_suggestions_stand_side_by_side(answer: Answer) -> None:
    assert len(answer) >= 3
    lines = comparison(answer, (1, 3)).splitlines()
    one, other = answer[0], answer[2]
    differing = [n for n in one.config if one.config[n] != other.config[n]]
    assert lines[0] == f"They differ in {len(differing)} of {len(one.config)} settings:"
    assert lines[1].split() == ["suggestion", "1", "suggestion", "3"]
    for place, name in enumerate(differing, 2):
        assert lines[place].split() == [name, str(one.config[name]), str(other.config[name])]
    runtime = next(line for line in lines if line.startswith("  runtime"))
    for suggestion in (one, other):
        told = suggestion.outcome("runtime")
        assert f"{told.value:.4g} [{told.low:.4g}, {told.high:.4g}]" in runtime
    labels = next(line for line in lines if line.startswith("  label"))
    assert labels.split()[1:] == [one.trust.label.value, other.trust.label.value]
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 80


def test_the_last_one_can_be_named(answer: Answer) -> None:
    last = len(answer)
    assert comparison(answer, (1, -1)) == comparison(answer, (1, last))


@pytest.mark.parametrize("places", [(1, 90), (0, 1), (-2, 1), (1,), (), (1, 2, 3)])
def test_places_that_are_not_there_are_told(answer: Answer, places: tuple[int, ...]) -> None:
    there = len(answer)
    text = comparison(answer, places)
    assert text.endswith(f"The last answer has {there} suggestions: name two of 1 to {there}.")
    outside = [place for place in places if not 1 <= place <= there]
    assert text.startswith(f"There is no suggestion {outside[0]}." if outside else "The last")


def test_one_suggestion_is_nothing_to_compare(answer: Answer) -> None:
    assert comparison(answer, (2, 2)).startswith("That is suggestion 2 twice")
    single = answer.model_copy(update={"suggestions": answer.suggestions[:1]})
    assert "has one suggestion" in comparison(single, (1, 2))
    none = answer.model_copy(update={"suggestions": ()})
    assert "has no suggestion" in comparison(none, (1, 2))


def test_many_settings_that_differ_are_counted(answer: Answer) -> None:
    one, other = answer.suggestions[:2]
    wide = {f"k{i}": i for i in range(30)}
    made = (
        one.model_copy(update={"config": wide}),
        other.model_copy(update={"config": {name: value + 1 for name, value in wide.items()}}),
    )
    text = comparison(answer.model_copy(update={"suggestions": made}), (1, 2))
    assert text.startswith("They differ in 30 of 30 settings; the first 6 of those that differ:")
    assert len(text.splitlines()) <= 15
