"""What `compass fit` prints of models: their error, and their skill."""

from pathlib import Path

import pytest

from compass.cli.tables import print_fit
from compass.domain.answer import ModelCard


def card(target: str, skill: float | None, *, skilled: bool = True) -> ModelCard:
    return ModelCard(
        target=target,
        family="forest",
        log=True,
        rows=2398,
        features=("nodes",),
        error=0.12,
        error_name="MAPE",
        low=0.11,
        high=0.13,
        skill=skill,
        skilled=skilled,
        seconds=1.0,
    )


def fitted(capsys: pytest.CaptureFixture[str], *cards: ModelCard) -> list[str]:
    print_fit(cards, Path("x.compass"), None, (), as_json=False)
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    return [" ".join(line.split()) for line in text.splitlines()]


def test_a_fit_shows_the_skill_of_every_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = fitted(capsys, card("runtime", 0.834), card("power", 0.01, skilled=False))
    assert lines[1] == "outcome model runs features on unseen runs skill seconds"
    assert "runtime forest (log) 2398 1 MAPE 12.0% (11.0%..13.0%) 0.83 1.0" in lines
    words = (
        "skill 0.01, does not clearly beat the simplest prediction: nothing it predicts is trusted"
    )
    assert f"note: power: {words}" in " ".join(lines)
    assert "note: runtime" not in " ".join(lines)


def test_a_skill_that_is_not_known_has_no_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert "skill" not in " ".join(fitted(capsys, card("runtime", None)))
