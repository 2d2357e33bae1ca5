"""The language model of rows: sentences, what may be written in them, and what it learns."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from synth_tables import legal, nothing, plain

from compass.domain.errors import BadInput, EngineProblem, EnvironmentProblem
from compass.domain.space import Category, Number, Space
from compass.settings import SynthesisSettings
from compass.synth.base import Floats, silent, synthesizer
from compass.testing.synthesizer import SETTINGS, runs, space


def test_without_its_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(EnvironmentProblem) as caught:
        synthesizer("great").fit(runs(), space(), seed=1, settings=SETTINGS, tell=silent)
    assert "compass-hpc[great]" in caught.value.hint


pytest.importorskip("transformers")

from compass.synth.great import TableLanguage, TableWriter  # noqa: E402
from compass.synth.sentences import Grammar, Language, learnt_pairs  # noqa: E402


def small(**chosen: object) -> SynthesisSettings:
    sizes = {"width": 32, "layers": 1, "heads": 2, "vocabulary": 300, "batch": 32}
    return SynthesisSettings.model_validate({"great": {**sizes, **chosen}, "pool": 200})


def language_of(columns: Space) -> Language:
    return Language(columns, learnt_pairs(["runtime is 1.5,", "app is amg,"] * 5, 300))


def test_rows_are_written_and_read_again() -> None:
    language = language_of(space())
    for place, column in enumerate(runs()[:40].T):
        written = language.tokens(place, column)
        assert all(one[-1] == language.end for one in written)
        assert language.values(place, [one[:-1] for one in written]) == pytest.approx(column, 1e-5)


def test_labels_that_would_end_a_value_or_look_alike_stay_apart() -> None:
    labels = ("a, b", "a; b", "é", "", None, "none", True)
    odd = Space(parameters=(Category(name="what, is", values=labels),))
    language = language_of(odd)
    codes = np.arange(len(labels), dtype=np.float64)
    written = language.tokens(0, codes)
    assert (language.values(0, [one[:-1] for one in written]) == codes).all()
    assert all(language.end not in one[:-1] for one in written)


def walk(grammar: Grammar, language: Language, rng: np.random.Generator) -> list[int]:
    """Tokens as chance has them, of at most the longest number."""
    state, found = 0, []
    while True:
        follow, lead = grammar.follow[state], grammar.lead[state]
        if len(found) >= grammar.longest - 1:
            follow, lead = follow[grammar.whole[lead]], lead[grammar.whole[lead]]
        done = grammar.whole[state] and (rng.random() < 0.3 or len(found) >= grammar.longest)
        if done:
            return found
        at = rng.integers(len(follow))
        found.append(int(follow[at]))
        state = int(lead[at])


def test_whatever_may_be_written_of_a_number_is_a_legal_one() -> None:
    rng = np.random.default_rng(0)
    language = language_of(space())
    for place in (1, 2, 3, 4, 6):
        texts = [walk(language.grammars[place], language, rng) for _ in range(50)]
        values = language.values(place, texts)
        parameter = space().parameters[place]
        assert isinstance(parameter, Number)
        inside = (values >= parameter.low) & (values <= parameter.high)
        assert (inside | (parameter.optional & (values == parameter.none_code))).all()


def two_kinds(n: int = 300) -> Floats:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, n)
    return np.column_stack([kind, np.where(kind, 20.0, -20.0) + rng.integers(0, 4, n)])


@pytest.fixture(scope="module")
def taught() -> TableWriter:
    two = plain({"kind": 2, "y": 0})
    return TableLanguage.fit(
        two_kinds(), two, seed=1, settings=small(epochs=20, rate=5e-3), tell=silent
    )


def test_it_learns_what_two_columns_have_to_do_with_each_other(taught: TableWriter) -> None:
    drawn = taught.rows(300, np.random.default_rng(2))
    assert 0.3 < drawn[:, 0].mean() < 0.7
    assert ((drawn[:, 1] > 0) == (drawn[:, 0] == 1)).mean() > 0.9


def test_cells_that_are_given_stand_first_and_tell_the_others(taught: TableWriter) -> None:
    given = nothing(200, taught.space)
    given[:, 1] = np.repeat([21.0, -19.0], 100)
    drawn = taught.sample(given, legal(taught.space), np.random.default_rng(3))
    assert (drawn[:, 1] == given[:, 1]).all()
    assert (drawn[:, 0] == np.repeat([1.0, 0.0], 100)).mean() > 0.9


def test_a_model_of_a_directory_is_taught_further(taught: TableWriter, tmp_path: Path) -> None:
    taught.network.save_pretrained(tmp_path)
    pairs = taught.language.pairs
    model = {"type": "BPE", "vocab": dict(pairs.vocabulary), "merges": list(pairs.merges)}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": model}))
    chosen = small(epochs=1, model=str(tmp_path), further_rate=1e-9)
    again = TableLanguage.fit(two_kinds(), taught.space, seed=1, settings=chosen, tell=silent)
    drawn = again.rows(200, np.random.default_rng(2))
    assert ((drawn[:, 1] > 0) == (drawn[:, 0] == 1)).mean() > 0.9  # as it knew before
    with pytest.raises(BadInput, match="tokens"):
        TableLanguage.fit(runs(), space(), seed=1, settings=chosen, tell=silent)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(BadInput, match="llama"):
        TableLanguage.fit(two_kinds(), taught.space, seed=1, settings=chosen, tell=silent)


def test_what_is_no_directory_of_a_model_is_refused(tmp_path: Path) -> None:
    chosen = small(model=str(tmp_path))
    with pytest.raises(BadInput, match="not the directory"):
        TableLanguage.fit(two_kinds(), plain({"a": 2, "b": 0}), seed=1, settings=chosen,
                          tell=silent)  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"tokens": np.frombuffer(b"{}", np.uint8)},
        {"weight.transformer.wte.weight": np.zeros((300, 4096), np.float32)},
        {"weight.transformer.wpe.weight": np.zeros((2, 32), np.float32)},
        {"sizes": np.array([0, 200])},
        {"sizes": np.array([3, 200])},
    ],
)
def test_damaged_arrays_are_refused(taught: TableWriter, change: dict[str, np.ndarray]) -> None:
    with pytest.raises(EngineProblem):
        TableLanguage.restore({**taught.arrays(), **change}, taught.space)
