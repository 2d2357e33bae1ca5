"""Rows as sentences of tokens, and what may follow in one: the language of a table.

As in GReaT (Borisov et al. 2023, section 3): "nodes is 8, app is amg, runtime is 12.5," in any
order of columns. Texts are told by byte pairs. What may be written for a column is a small
automaton over tokens: a number that can be read, or one of the labels; so every sentence means a
row.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import EnvironmentProblem
from compass.domain.space import Category, Number, Space
from compass.execute.arrays import damaged
from compass.prepare.legal import snap
from compass.synth.base import Floats

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Tokens = NDArray[np.int64]
END = ","  # of a value
_DIGITS = 6  # of a number that are written
_NONE = "none"
_LONGEST = 24  # tokens of a number, at most
_TEXT = np.dtype(np.uint8)


def tokenizers_library() -> Any:
    """The library tokenizers, or what to do without it."""
    try:
        import tokenizers
    except ImportError:
        raise EnvironmentProblem(
            "great needs transformers, which is not installed",
            hint="pip install 'compass-hpc[great]', or use cart",
        ) from None
    return tokenizers


@dataclass(frozen=True, eq=False)
class BytePairs:
    """A vocabulary of byte pairs."""

    vocabulary: Mapping[str, int]
    merges: tuple[tuple[str, str], ...]
    digits: bool  # every digit is a token of its own

    @cached_property
    def tokenizer(self) -> "Tokenizer":
        """What turns texts into tokens."""
        library = tokenizers_library()
        made: Tokenizer = library.Tokenizer(
            library.models.BPE(vocab=dict(self.vocabulary), merges=list(self.merges))
        )
        made.pre_tokenizer = _pieces(library, self.digits)
        made.decoder = library.decoders.ByteLevel()
        return made

    def tokens(self, text: str) -> list[int]:
        """A text as tokens."""
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    @cached_property
    def texts(self) -> list[str]:
        """What each token says, by its number."""
        size = max(self.vocabulary.values()) + 1
        known = set(self.vocabulary.values())
        return [self.tokenizer.decode([n]) if n in known else "" for n in range(size)]

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        said = {"vocabulary": dict(self.vocabulary), "merges": self.merges, "digits": self.digits}
        return {"tokens": np.frombuffer(json.dumps(said).encode("utf-8"), dtype=_TEXT).copy()}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[np.generic]], size: int) -> "BytePairs":
        """The vocabulary whose `arrays()` these are; each of `size` tokens has a number."""
        what = "the saved synthesizer"
        try:
            said = json.loads(arrays["tokens"].tobytes())
            vocabulary = {str(token): int(n) for token, n in said["vocabulary"].items()}
            merges = tuple((str(a), str(b)) for a, b in said["merges"])
            digits = bool(said["digits"])
        except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
            raise damaged(what, "its vocabulary cannot be read") from None
        numbers = sorted(vocabulary.values())
        parts = {part for a, b in merges for part in (a, b, a + b)}
        if not numbers or numbers[0] < 0 or numbers[-1] >= size or not parts <= set(vocabulary):
            raise damaged(what, "its vocabulary does not fit its network")
        if len(set(numbers)) < len(numbers) or END not in vocabulary:
            raise damaged(what, "its vocabulary is not whole")
        return cls(vocabulary, merges, digits)


def learnt_pairs(texts: Iterable[str], size: int) -> BytePairs:
    """A vocabulary of at most about `size` tokens, learnt from texts."""
    library = tokenizers_library()
    made = library.Tokenizer(library.models.BPE())
    made.pre_tokenizer = _pieces(library, True)
    alphabet = library.pre_tokenizers.ByteLevel.alphabet()
    trainer = library.trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=alphabet, special_tokens=[], show_progress=False
    )
    made.train_from_iterator(texts, trainer)
    return pairs_of(json.loads(made.to_str())["model"], digits=True)


def pairs_of(model: Mapping[str, Any], *, digits: bool) -> BytePairs:
    """The vocabulary of a tokenizer file's model."""
    merges = [one.split(" ") if isinstance(one, str) else one for one in model["merges"]]
    return BytePairs(dict(model["vocab"]), tuple((a, b) for a, b in merges), digits)


def _pieces(library: Any, digits: bool) -> Any:
    pre = library.pre_tokenizers
    whole = pre.ByteLevel(add_prefix_space=False)
    return pre.Sequence([pre.Digits(individual_digits=True), whole]) if digits else whole


@dataclass(frozen=True, eq=False)
class Grammar:
    """What may be written for a value: which tokens may follow, and where they lead."""

    follow: tuple[Tokens, ...]  # of each state the tokens
    lead: tuple[Tokens, ...]  # of each state and token the next state
    whole: NDArray[np.bool_]  # [states] whether the value may end here
    longest: int  # tokens without the end


@dataclass(frozen=True, eq=False)
class Language:
    """How the rows of a space are written."""

    space: Space
    pairs: BytePairs
    end: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "end", self.pairs.tokens(END)[0])

    @cached_property
    def names(self) -> tuple[list[int], ...]:
        """What stands before a value of each column."""
        return tuple(self.pairs.tokens(f" {_plain(p.name)} is") for p in self.space)

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The texts of the labels of each column; none of a number."""
        return tuple(labels_of(p) if isinstance(p, Category) else () for p in self.space)

    def text(self, place: int, value: float) -> str:
        """A value of a column as it is written."""
        parameter = self.space.parameters[place]
        if isinstance(parameter, Category):
            return f" {self.labels[place][int(value)]}"
        return number_text(parameter, value)

    def tokens(self, place: int, values: Floats) -> list[list[int]]:
        """The values of a column as tokens with their end."""
        known, inverse = np.unique(values, return_inverse=True)
        written = [[*self.pairs.tokens(self.text(place, one)), self.end] for one in known.tolist()]
        return [written[at] for at in inverse.ravel()]

    def values(self, place: int, written: list[list[int]]) -> Floats:
        """The legal values that tokens without their end mean, [m]."""
        parameter = self.space.parameters[place]
        texts = [self.pairs.tokenizer.decode(one).strip() for one in written]
        if isinstance(parameter, Category):
            order = {label: float(n) for n, label in enumerate(self.labels[place])}
            return np.array([order[text] for text in texts])
        none = [text == _NONE for text in texts]
        numbers = [0.0 if gap else float(text) for text, gap in zip(texts, none, strict=True)]
        finite = np.nan_to_num(np.array(numbers), posinf=parameter.high, neginf=parameter.low)
        clipped = np.clip(finite, parameter.low, parameter.high)
        return np.where(none, parameter.none_code, snap(parameter, clipped))

    @cached_property
    def grammars(self) -> tuple[Grammar, ...]:
        """What may be written for a value of each column."""
        found = []
        for place, parameter in enumerate(self.space):
            if isinstance(parameter, Category):
                words = [self.pairs.tokens(f" {label}") for label in self.labels[place]]
                found.append(_one_of(words))
            else:
                found.append(self._numbers[parameter.optional])
        return tuple(found)

    @cached_property
    def _numbers(self) -> dict[bool, Grammar]:
        return {optional: _number(self.pairs.texts, optional) for optional in (False, True)}

    @property
    def longest(self) -> int:
        """Tokens of the longest sentence."""
        return sum(
            len(name) + grammar.longest + 1
            for name, grammar in zip(self.names, self.grammars, strict=True)
        )


def labels_of(parameter: Category) -> tuple[str, ...]:
    """Labels as they are written: without the end of a value, and no two alike."""
    found: list[str] = []
    for number, label in enumerate(parameter.values):
        text = _plain(_NONE if label is None else str(label)).strip() or "empty"
        while text in found:
            text = f"{text} {number}"
        found.append(text)
    return tuple(found)


def number_text(parameter: Number, value: float) -> str:
    """A number as it is written."""
    if parameter.optional and value == parameter.none_code:
        return f" {_NONE}"
    return f" {value:.{_DIGITS}g}"


def _plain(text: str) -> str:
    """A text in letters that every vocabulary has whole, without the end of a value."""
    return text.encode("ascii", "backslashreplace").decode("ascii").replace(END, ";")


def _one_of(words: list[list[int]]) -> Grammar:
    """One of a few words, each a list of tokens."""
    follow: list[dict[int, int]] = [{}]
    ends = set()
    for word in words:
        state = 0
        for token in word:
            if token not in follow[state]:
                follow.append({})
                follow[state][token] = len(follow) - 1
            state = follow[state][token]
        ends.add(state)
    return _grammar(follow, ends, max(map(len, words)))


# A number by its signs: state -> sign -> state; "9" stands for any digit.
_SIGNS: dict[str, dict[str, str]] = {
    "start": {" ": "space"},
    "space": {"-": "minus", "9": "whole"},
    "minus": {"9": "whole"},
    "whole": {"9": "whole", ".": "point", "e": "power"},
    "point": {"9": "part"},
    "part": {"9": "part", "e": "power"},
    "power": {"-": "sign", "+": "sign", "9": "exponent"},
    "sign": {"9": "exponent"},
    "exponent": {"9": "exponent"},
}
_WHOLE = ("whole", "part", "exponent")


def _number(texts: list[str], optional: bool) -> Grammar:
    """A number that can be read, or `none`."""
    signs = {state: dict(after) for state, after in _SIGNS.items()}
    ends = set(_WHOLE)
    if optional:
        for at, sign in enumerate(_NONE):
            before = "space" if at == 0 else _NONE[:at]
            signs.setdefault(before, {})[sign] = _NONE[: at + 1]
        signs[_NONE] = {}
        ends.add(_NONE)
    states = list(signs)
    allowed = set(" 0123456789.-+e" + (_NONE if optional else ""))
    few = [(n, text) for n, text in enumerate(texts) if text and set(text) <= allowed]
    follow: list[dict[int, int]] = []
    for state in states:
        after = {}
        for number, text in few:
            to: str | None = state
            for sign in text:
                to = signs[to].get("9" if sign.isdigit() else sign) if to else None
            if to:
                after[number] = states.index(to)
        follow.append(after)
    return _grammar(follow, {states.index(one) for one in ends}, _LONGEST)


def _grammar(follow: list[dict[int, int]], ends: set[int], longest: int) -> Grammar:
    return Grammar(
        tuple(np.array(list(after), dtype=np.int64) for after in follow),
        tuple(np.array(list(after.values()), dtype=np.int64) for after in follow),
        np.array([state in ends for state in range(len(follow))]),
        longest,
    )
