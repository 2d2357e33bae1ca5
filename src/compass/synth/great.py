"""A language model of rows, after GReaT (Borisov et al. 2023).

Rows are sentences with their columns in random order, and a causal language model goes on with
whatever is given.

The network is a GPT-2: one from a local directory, taught further, or a small one that begins with
nothing and learns its own vocabulary, as weights cannot be assumed where machines are offline.
Beside the paper: the names of columns are given and not guessed, and a value can only be one that
can be read (`sentences`), so no sentence is thrown away. Cells that are given stand first in the
sentence; ranges and lists are answered from a pool of rows (`pooled`).
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.domain.space import Category, Space
from compass.execute.arrays import checked, damaged, floats, whole
from compass.execute.one_thread import one_thread
from compass.rules import Domain
from compass.settings import LanguageSynthesisSettings, SynthesisSettings
from compass.synth.base import Arrays, Floats, Tell, narrowed
from compass.synth.network import WEIGHT, load_weights, torch_library, weights_of
from compass.synth.pooled import Pooled
from compass.synth.sentences import (
    BytePairs,
    Grammar,
    Language,
    Tokens,
    labels_of,
    learnt_pairs,
    number_text,
    pairs_of,
)

_SAVED = "the saved synthesizer"
_ARRAYS = {"sizes": whole(2, least=1), "temperature": floats(1, above=0)}  # heads, pool
_CHUNK = 500  # sentences that are written at once
_TAUGHT = 2000  # rows whose texts a vocabulary is learnt from
_LAYER = f"{WEIGHT}transformer.h."
_TOKENS, _PLACES = f"{WEIGHT}transformer.wte.weight", f"{WEIGHT}transformer.wpe.weight"


def transformers_library() -> Any:
    """The library transformers, or what to do without it."""
    torch_library()
    try:
        import transformers
    except ImportError:
        raise EnvironmentProblem(
            "great needs transformers, which is not installed",
            hint="pip install 'compass-hpc[great]', or use cart",
        ) from None
    return transformers


@dataclass(eq=False)
class TableWriter(Pooled):
    """A language model that has been taught a table."""

    space: Space
    language: Language
    network: Any
    heads: int
    temperature: float
    pool: int
    name: str = field(default="great", init=False)

    def rows(self, count: int, rng: np.random.Generator) -> Floats:
        """`count` whole legal rows."""
        return self._written(np.full((count, len(self.space)), np.nan), rng)

    def sample(self, given: Floats, domains: Sequence[Domain], rng: np.random.Generator) -> Floats:
        """Rows float64[m, d]: those of `given`, with values written where it is NaN."""
        if any(map(narrowed, domains, self._legal)):
            return super().sample(given, domains, rng)
        return self._written(given, rng)

    def _written(self, given: Floats, rng: np.random.Generator) -> Floats:
        found = np.array(given)
        patterns, inverse = np.unique(np.isnan(given), axis=0, return_inverse=True)
        with one_thread("torch"), torch_library().no_grad():
            for place, pattern in enumerate(patterns):
                where = np.flatnonzero(inverse.ravel() == place)
                for start in range(0, len(where), _CHUNK):
                    some = where[start : start + _CHUNK]
                    found[some] = self._sentences(found[some], pattern, rng)
        return found

    def _sentences(
        self, rows: Floats, pattern: NDArray[np.bool_], rng: np.random.Generator
    ) -> Floats:
        """Rows that lack the same columns, with these written in random order."""
        known, lacking = (rng.permutation(np.flatnonzero(one)) for one in (~pattern, pattern))
        pen = _Pen(self.network, self.language, len(rows), self.temperature, rng)
        for place in known.tolist():
            pen.name(place)
            pen.value(place, rows[:, place])
        for place in lacking.tolist():
            pen.name(place)
            rows[:, place] = pen.drawn(place)
        return rows

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        weights = weights_of(self.network)
        weights.pop(f"{WEIGHT}lm_head.weight", None)  # the same as that of the tokens
        return {
            **weights,
            **self.language.pairs.arrays(),
            "sizes": np.array([self.heads, self.pool]),
            "temperature": np.array([self.temperature]),
        }


class _Pen:
    """Writes sentences side by side: each is at its own place, with what was written in memory."""

    def __init__(
        self, network: Any, language: Language, count: int, temperature: float,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self.torch = torch_library()
        self.network, self.language, self.rng = network, language, rng
        self.count, self.temperature = count, temperature
        self.memory: Any = None
        self.live = np.zeros((count, 0), dtype=np.int64)  # which tokens were written, not padded
        self.place = np.zeros(count, dtype=np.int64)
        self.scores = np.empty((count, 0))

    def name(self, place: int) -> None:
        """Begin with a column."""
        tokens = self.language.names[place]
        self._write(np.tile(tokens, (self.count, 1)), np.ones((self.count, len(tokens)), np.int64))

    def value(self, place: int, values: Floats) -> None:
        """Write values that are given, with their end."""
        written = self.language.tokens(place, values)
        tokens = np.zeros((self.count, max(map(len, written))), dtype=np.int64)
        live = np.zeros_like(tokens)
        for row, one in enumerate(written):
            tokens[row, : len(one)] = one
            live[row, : len(one)] = 1
        self._write(tokens, live)

    def drawn(self, place: int) -> Floats:
        """Draw values token by token until each has ended."""
        grammar = self.language.grammars[place]
        state = np.zeros(self.count, dtype=np.int64)
        going = np.ones(self.count, dtype=np.bool_)
        written: list[list[int]] = [[] for _ in range(self.count)]
        for step in range(grammar.longest + 2):
            token = np.zeros(self.count, dtype=np.int64)
            rows = np.flatnonzero(going)
            token[rows], state[rows] = self._chosen(rows, state[rows], grammar, step)
            ended = going & (state < 0)
            for row in np.flatnonzero(going & ~ended).tolist():
                written[row].append(int(token[row]))
            self._write(token[:, None], going.astype(np.int64)[:, None])
            going &= ~ended
            if not going.any():
                break
        return self.language.values(place, written)

    def _chosen(
        self, rows: Tokens, state: Tokens, grammar: Grammar, step: int
    ) -> tuple[Tokens, Tokens]:
        """The next token of some sentences and where it leads; -1: the value has ended."""
        token, after = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.int64)
        chance = self.rng.random(len(rows))
        for one in np.unique(state).tolist():
            here = np.flatnonzero(state == one)
            follow, lead = grammar.follow[one], grammar.lead[one]
            if step >= grammar.longest - 1:  # a number has to come to its end
                good = grammar.whole[lead]
                follow, lead = follow[good], lead[good]
            if grammar.whole[one]:
                if step >= grammar.longest:
                    follow, lead = follow[:0], lead[:0]
                follow = np.append(follow, self.language.end)
                lead = np.append(lead, -1)
            scores = self.scores[rows[here]][:, follow] / self.temperature
            weight = np.exp(scores - scores.max(axis=1, keepdims=True))
            steps = np.cumsum(weight, axis=1)
            at = (steps < chance[here, None] * steps[:, -1:]).sum(axis=1)
            at = np.minimum(at, len(follow) - 1)
            token[here], after[here] = follow[at], lead[at]
        return token, after

    def _write(self, tokens: Tokens, live: Tokens) -> None:
        """Go on with tokens [m, k]; where `live` is 0 nothing was written."""
        torch = self.torch
        self.live = np.concatenate([self.live, live], axis=1)
        place = self.place[:, None] + np.cumsum(live, axis=1) - 1
        told = self.network(
            input_ids=torch.from_numpy(np.ascontiguousarray(tokens)),
            attention_mask=torch.from_numpy(self.live),
            position_ids=torch.from_numpy(np.maximum(place, 0)),
            past_key_values=self.memory,
            use_cache=True,
        )
        self.memory = told.past_key_values
        count = live.sum(axis=1)
        self.place = self.place + count
        if not self.scores.shape[1]:
            self.scores = np.zeros((self.count, told.logits.shape[2]))
        rows = np.flatnonzero(count)
        last = torch.from_numpy(count[rows] - 1)
        self.scores[rows] = told.logits[torch.from_numpy(rows), last].double().numpy()


def _network(size: int, places: int, width: int, layers: int, heads: int) -> Any:
    """A GPT-2 of these sizes, with weights by chance."""
    library = transformers_library()
    config = library.GPT2Config(
        vocab_size=size,
        n_positions=places,
        n_embd=width,
        n_layer=layers,
        n_head=heads,
        bos_token_id=0,
        eos_token_id=0,
        use_cache=False,
    )
    return library.GPT2LMHeadModel(config)


def _fresh(
    X: Floats, space: Space, chosen: LanguageSynthesisSettings, seed: int
) -> tuple[Any, Language]:
    """A small network with weights by chance, and a vocabulary of its own."""
    if chosen.width % chosen.heads:
        raise BadInput(
            f"a width of {chosen.width} cannot be shared by {chosen.heads} heads",
            hint="give a width that is a multiple of heads",
        )
    pairs = learnt_pairs(_texts(X, space), chosen.vocabulary)
    language = Language(space, pairs)
    torch = torch_library()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        size = len(pairs.texts)
        network = _network(size, language.longest, chosen.width, chosen.layers, chosen.heads)
    return network, language


def _texts(X: Floats, space: Space) -> Iterator[str]:
    """The names and values of a table as they are written."""
    labels = [labels_of(p) if isinstance(p, Category) else () for p in space]
    for row in X[:_TAUGHT]:
        for place, parameter in enumerate(space):
            if labels[place]:
                text = f" {labels[place][int(row[place])]}"
            else:
                text = number_text(parameter, row[place])  # type: ignore[arg-type]
            yield f" {parameter.name} is{text},"


def _opened(folder: str, space: Space) -> tuple[Any, Language]:
    """A network and its vocabulary from a local directory."""
    library = transformers_library()
    path = Path(folder)
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        pairs = _vocabulary(path)
        if config.get("model_type") != "gpt2":
            raise BadInput(
                f"{folder} holds a model of the kind '{config.get('model_type')}'",
                hint="give one of the kind gpt2, such as distilgpt2",
            )
        # Only safetensors: other files of weights may run code when they are opened.
        network = library.GPT2LMHeadModel.from_pretrained(
            path, local_files_only=True, use_safetensors=True
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise BadInput(
            f"{folder} is not the directory of a language model: {problem}"[:300],
            hint="it needs config.json, model.safetensors and tokenizer.json",
        ) from None
    language = Language(space, pairs)
    if language.longest > network.config.n_positions:
        raise BadInput(
            f"a row takes up to {language.longest} tokens, and the model of {folder} reads "
            f"{network.config.n_positions}",
            hint="leave columns out (--drop), or use a model of one's own: no model setting",
        )
    return network, language


def _vocabulary(path: Path) -> BytePairs:
    """The byte pairs of a directory: of tokenizer.json, or of the two files of GPT-2."""
    whole_file = path / "tokenizer.json"
    if whole_file.is_file():
        return pairs_of(json.loads(whole_file.read_text(encoding="utf-8"))["model"], digits=False)
    lines = (path / "merges.txt").read_text(encoding="utf-8").splitlines()
    merges = [one for one in lines if one and not one.startswith("#version")]
    vocabulary = json.loads((path / "vocab.json").read_text(encoding="utf-8"))
    return pairs_of({"vocab": vocabulary, "merges": merges}, digits=False)


class _Lessons:
    """The sentences of a table, in another order of columns each time."""

    def __init__(self, X: Floats, language: Language, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.language = language
        self.values = [language.tokens(j, X[:, j]) for j in range(X.shape[1])]
        self.rows = len(X)

    def batches(self, size: int) -> Iterator[tuple[Tokens, Tokens]]:
        """Tokens and what is to be learnt of them (-100: nothing), all rows once."""
        order = self.rng.permutation(self.rows)
        for start in range(0, self.rows, size):
            sentences = [self._sentence(row) for row in order[start : start + size].tolist()]
            longest = max(len(tokens) for tokens, _ in sentences)
            tokens = np.zeros((len(sentences), longest), dtype=np.int64)
            wanted = np.full((len(sentences), longest), -100, dtype=np.int64)
            for at, (one, learnt) in enumerate(sentences):
                tokens[at, : len(one)] = one
                wanted[at, : len(one)] = np.where(learnt, one, -100)
            yield tokens, wanted

    def _sentence(self, row: int) -> tuple[list[int], list[bool]]:
        tokens: list[int] = []
        learnt: list[bool] = []  # the names of columns are given, never guessed
        for place in self.rng.permutation(len(self.values)).tolist():
            name, value = self.language.names[place], self.values[place][row]
            tokens += [*name, *value]
            learnt += [False] * len(name) + [True] * len(value)
        return tokens, learnt


def _teach(
    network: Any, language: Language, X: Floats, chosen: LanguageSynthesisSettings, seed: int,
    tell: Tell,
) -> None:  # fmt: skip
    """Train a network on the sentences of a table."""
    torch = torch_library()
    rate = chosen.rate if chosen.model is None else chosen.further_rate
    learns = torch.optim.AdamW(network.parameters(), lr=rate)
    lessons = _Lessons(X, language, seed)
    network.train()
    with one_thread("torch"), torch.random.fork_rng():
        torch.manual_seed(seed)
        for epoch in range(chosen.epochs):
            tell("training", epoch, chosen.epochs)
            for tokens, wanted in lessons.batches(chosen.batch):
                # Padding stands behind a sentence, where a causal network never looks.
                told = network(input_ids=torch.from_numpy(tokens))
                missed = torch.nn.functional.cross_entropy(
                    told.logits[:, :-1].transpose(1, 2), torch.from_numpy(wanted[:, 1:])
                )
                learns.zero_grad()
                missed.backward()
                learns.step()
    network.eval()


@registry.add("synthesizer", "great")
class TableLanguage:
    """A language model of rows as sentences (GReaT); minutes to hours to learn."""

    name = "great"

    @staticmethod
    def fit(
        X: Floats, space: Space, *, seed: int, settings: SynthesisSettings, tell: Tell
    ) -> TableWriter:
        """Train on X float64[n, d]."""
        chosen = settings.great
        transformers_library()
        tell("learning a vocabulary" if chosen.model is None else "opening the model", 0, 0)
        if chosen.model is None:
            network, language = _fresh(X, space, chosen, seed)
        else:
            network, language = _opened(chosen.model, space)
        _teach(network, language, np.array(X), chosen, seed, tell)
        return TableWriter(
            space, language, network, network.config.n_head, chosen.temperature, settings.pool
        )

    @staticmethod
    def restore(arrays: Arrays, space: Space) -> TableWriter:
        """What was learnt and gave these arrays."""
        torch = torch_library()
        found, _ = checked(arrays, _ARRAYS, _SAVED)
        heads, pool = found["sizes"].tolist()
        # The sizes of the network are those of its weights: no file can ask for larger ones.
        places, tokens = (arrays.get(name) for name in (_PLACES, _TOKENS))
        if tokens is None or places is None or tokens.ndim != 2 or places.ndim != 2:
            raise damaged(_SAVED, "its network has other layers")
        layers = len({one.removeprefix(_LAYER).split(".")[0] for one in arrays if _LAYER in one})
        size, width = tokens.shape
        inner = [arrays.get(f"{_LAYER}{n}.mlp.c_fc.weight") for n in range(layers)]
        fits = all(one is not None and one.shape == (width, 4 * width) for one in inner)
        if not layers or not width or not size or width % heads or not fits:
            raise damaged(_SAVED, "its network has other sizes")
        language = Language(space, BytePairs.restore(arrays, size))
        if language.longest > len(places):
            raise damaged(_SAVED, "its network cannot read rows of these columns")
        network = _network(size, len(places), width, layers, heads)
        load_weights(torch, network, {**arrays, f"{WEIGHT}lm_head.weight": tokens}, _SAVED)
        temperature = float(found["temperature"][0])
        return TableWriter(space, language, network, heads, temperature, pool)
