"""Words into columns and labels of a table: exactly, by synonym, or in spite of a typing error."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from compass.chat import synonyms
from compass.chat.draft import How
from compass.chat.lexicon import KNOWN_WORDS, PHRASES
from compass.chat.words import Token, compact, stem
from compass.domain.base import Value
from compass.domain.space import Category, Number, Role, Space
from compass.domain.units import UNITS, canonical
from compass.prepare.names import words

_LONGEST = 6  # words of one mention
_MOST_LABELS = 20_000
_SYNONYM = 0.9
_IMPLIED = 0.3  # a word that only the unit of the column implies
_LEAST = 0.2
_CLOSE = 0.85  # of the best score: the words can mean this column too


@dataclass(frozen=True, slots=True)
class Mention:
    """Words that can mean columns, with how well each fits."""

    start: int
    end: int
    words: str
    scores: dict[str, float]
    how: How


@dataclass(frozen=True, slots=True)
class LabelMention:
    """Words that are a label of one or more columns."""

    start: int
    end: int
    words: str
    labels: tuple[tuple[str, Value], ...]
    how: How


@dataclass(slots=True)
class Index:
    """The words of one table."""

    space: Space
    parameters: dict[str, Number | Category] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    hits: dict[str, dict[str, dict[tuple[int, int], float]]] = field(default_factory=dict)
    totals: dict[str, list[dict[int, float]]] = field(default_factory=dict)
    labels: dict[str, list[tuple[str, Value]]] = field(default_factory=dict)
    stems: dict[str, frozenset[str]] = field(default_factory=dict)
    label_words: list[str] = field(default_factory=list)
    vocabulary: list[str] = field(default_factory=list)

    # ------------------------------------------------------------------ columns

    def column_at(self, found: Sequence[Token], start: int) -> Mention | None:
        """The longest words from a place on that mean a column."""
        exact, grown = self.exact_at(found, start), self._by_words(found, start)
        if exact is None or (grown is not None and grown.end > exact.end):
            return grown
        return exact

    def ends(self, name: str) -> bool:
        """Whether a column tells how a run ended: its labels are words such as `completes`."""
        return self.parameters[name].role is Role.OUTCOME

    def exact_at(self, found: Sequence[Token], start: int) -> Mention | None:
        """The longest words from a place on that are the name of a column."""
        for end in range(min(len(found), start + _LONGEST), start, -1):
            text = _text(found, start, end)
            names = self.names.get(compact(text))
            if (
                not names
                or not found[start].text[0].isalnum()
                or not found[end - 1].text[-1].isalnum()
            ):
                continue
            literal = [name for name in names if name == text]
            if len(compact(text)) <= 2 and (not literal or text in {"a", "I", "i"}):
                continue
            ranked = literal or names
            scores = {name: 1.1 - 0.01 * place for place, name in enumerate(ranked)}
            return Mention(start, end, text, scores, How.EXACT)
        return None

    def _by_words(self, found: Sequence[Token], start: int) -> Mention | None:
        first = start
        if found[start].low in synonyms.HEADS:
            first += 1
            while first < len(found) and found[first].low in {"of", "the", "my", "all"}:
                first += 1
        hits, fuzzy = self._hits(found, first)
        if not hits or self._faint(found, first):
            return None
        matched = [hits]
        if first > start:
            matched.append(self._hits(found, start)[0])
        end = self._grow(found, first, matched)
        if (found[first].low,) in PHRASES and len(matched) == 1:
            return None
        scores = self._scores(matched)
        if not scores:
            return None
        text = _text(found, start, end)
        said = {stem(token.low) for token in found[start:end]}
        best = max(scores, key=lambda name: scores[name])
        exact = not fuzzy and said == {stem(word) for word in words(best)}
        how = How.EXACT if exact else How.FUZZY if fuzzy else How.SYNONYM
        return Mention(start, end, text, scores, how)

    def _grow(
        self,
        found: Sequence[Token],
        first: int,
        matched: list[dict[str, dict[tuple[int, int], float]]],
    ) -> int:
        """Take in the words that follow while some column fits all of them; the end."""
        columns = set(matched[0])
        end = place = first + self._width(found, first)
        while place < min(len(found), first + _LONGEST):
            low = found[place].low
            hits = {} if low in {"of", "the"} else self._hits(found, place)[0]
            common = columns & set(hits)
            proper = common and not (self._faint(found, place) and low not in synonyms.TAILS)
            if common:
                columns = common
                matched[:] = [{n: h[n] for n in h if n in common} for h in matched]
                matched.append({name: hits[name] for name in common})
                place += self._width(found, place)
                end = place if proper or low != "per" else end
            elif low in synonyms.TAILS:
                place += 1
                end = place
            elif low == "of" or (low == "the" and found[place - 1].low == "of"):
                place += 1
            else:
                break
        return end

    def _width(self, found: Sequence[Token], place: int) -> int:
        """Two words that are one: run time, wall clock."""
        if place + 1 < len(found):
            return 1 + ((found[place].low, found[place + 1].low) in synonyms.COMPOUNDS)
        return 1

    def _faint(self, found: Sequence[Token], place: int) -> bool:
        stemmed = stem(found[place].low)
        return stemmed in synonyms.FAINT or (
            stemmed in synonyms.HALF_FAINT and found[place].low not in self.names
        )

    def _hits(
        self, found: Sequence[Token], place: int
    ) -> tuple[dict[str, dict[tuple[int, int], float]], bool]:
        if place >= len(found):
            return {}, False
        token = found[place]
        if self._width(found, place) == 2:
            joined = synonyms.COMPOUNDS[token.low, found[place + 1].low]
            if stem(joined) in self.hits:
                return self.hits[stem(joined)], False
        direct = self.hits.get(stem(token.low))
        if direct is not None:
            return direct, False
        pieces = words(token.text) if token.text[0].isalpha() else ()
        if len(pieces) > 1:
            return self._together(pieces), False
        if token.low in KNOWN_WORDS or stem(token.low) in synonyms.RELATIVES:
            return {}, False
        near = self.nearest(token.low, self.vocabulary)
        return (self.hits[near], True) if near is not None else ({}, False)

    def _together(self, pieces: Iterable[str]) -> dict[str, dict[tuple[int, int], float]]:
        """The columns that fit every word of `n_threads`."""
        all_hits = [self.hits.get(stem(piece), {}) for piece in pieces]
        solid = [hits for hits in all_hits if hits]
        if not solid or len(solid) * 2 < len(all_hits):
            return {}
        common = set(solid[0]).intersection(*solid[1:])
        merged: dict[str, dict[tuple[int, int], float]] = {}
        for name in common:
            merged[name] = {}
            for hits in solid:
                _keep_best(merged[name], hits[name])
        return merged

    def _scores(self, matched: list[dict[str, dict[tuple[int, int], float]]]) -> dict[str, float]:
        scores: dict[str, float] = {}
        for name in matched[0]:
            best: dict[tuple[int, int], float] = {}
            for hits in matched:
                _keep_best(best, hits.get(name, {}))
            lists = self.totals[name]
            covered = [
                sum(q * lists[k][w] for (k, w), q in best.items() if k == number and w >= 0)
                / sum(lists[number].values())
                for number in range(len(lists))
            ]
            implied = _IMPLIED if any(w < 0 for _, w in best) else 0.0
            score = max(covered) * (1 - 0.1 * bool(implied)) + 0.1 * bool(implied)
            score = max(score, implied)
            if self.parameters[name].role is Role.IGNORED:
                score *= 0.3
            if score >= _LEAST:
                scores[name] = score
        return scores

    # ------------------------------------------------------------------- labels

    def label_at(self, found: Sequence[Token], start: int) -> LabelMention | None:
        """The longest words from a place on that are a label."""
        for end in range(min(len(found), start + 4), start, -1):
            text = _text(found, start, end)
            if not (text[0].isalnum() and text[-1].isalnum()):
                continue
            labels = self.labels.get(compact(text))
            if labels:
                return LabelMention(start, end, text, tuple(labels), How.EXACT)
        low = found[start].low
        if len(low) < 4 or low in KNOWN_WORDS or stem(low) in self.hits:
            return None
        near = self.nearest(low, self.label_words)
        if near is None:
            return None
        return LabelMention(
            start, start + 1, found[start].text, tuple(self.labels[near]), How.FUZZY
        )

    def nearest(self, word: str, known: Sequence[str]) -> str | None:
        """The known word that differs by a typing error only."""
        return nearest_word(word, known)

    # ------------------------------------------------------------------ choices

    def ranked(self, mention: Mention, roles: Iterable[Role] = ()) -> tuple[str, ...]:
        """The columns that the words can mean, best first; those of the wanted roles win ties."""
        wanted = frozenset(roles)

        def rank(name: str) -> float:
            bonus = 1.3 if self.parameters[name].role in wanted else 1.0
            return mention.scores[name] * bonus

        order = sorted(mention.scores, key=lambda name: -rank(name))
        return tuple(name for name in order if rank(name) >= _CLOSE * rank(order[0]))

    def about(self, concept: frozenset[str]) -> tuple[str, ...]:
        """The outcomes whose names speak of something, those that say it plainest first."""
        found = [
            (len(self.stems[p.name] - synonyms.FAINT), place, p.name)
            for place, p in enumerate(self.space)
            if p.role is Role.OUTCOME and isinstance(p, Number) and self.stems[p.name] & concept
        ]
        return tuple(name for _, _, name in sorted(found))

    def measured_in(self, dimension: str) -> tuple[str, ...]:
        """The number columns whose unit or name is of a dimension, outcomes first."""
        concept = synonyms.DIMENSIONS.get(dimension, frozenset())
        if dimension == "time":
            concept = synonyms.TIME
        scored = []
        for place, p in enumerate(self.space):
            if not isinstance(p, Number) or p.role is Role.IGNORED:
                continue
            of_unit = _dimension(p.unit) == dimension
            named = bool(self.stems[p.name] & concept)
            if of_unit or (named and p.unit is None):
                extra = len(self.stems[p.name] - synonyms.FAINT - concept)
                order = {Role.OUTCOME: 0, Role.KNOB: 1, Role.CONTEXT: 2}[p.role]
                scored.append((order, not of_unit, not named, extra, place, p.name))
        return tuple(row[-1] for row in sorted(scored))


def nearest_word(word: str, known: Sequence[str]) -> str | None:
    """The known word that differs by one typing error (two in a long word)."""
    if len(word) < 4 or not known:
        return None
    most = 1 if len(word) < 8 else 2
    close = extract(word, known, scorer=OSA.distance, score_cutoff=most, limit=3)
    sure = [
        (distance, other[:1] != word[:1], other)
        for other, distance, _ in close
        if len(other) >= 4 and (other[:1] == word[:1] or len(word) > 5)
    ]
    return min(sure)[2] if sure else None


def _keep_best(best: dict[tuple[int, int], float], more: dict[tuple[int, int], float]) -> None:
    for key, quality in more.items():
        best[key] = max(quality, best.get(key, 0.0))


def _text(found: Sequence[Token], start: int, end: int) -> str:
    pieces = [found[start].text]
    for token in found[start + 1 : end]:
        pieces.append(token.text if token.joined else f" {token.text}")
    return "".join(pieces)


def _dimension(unit: str | None) -> str | None:
    known = canonical(unit) if unit else None
    return UNITS[known][0] if known else None


def dimension_of(unit: str) -> str | None:
    """What a unit measures: time, power, energy, memory or frequency."""
    return _dimension(unit)


@lru_cache(maxsize=16)
def index_of(space: Space) -> Index:
    """The words of a table; kept, because one conversation asks about one table."""
    index = Index(space)
    for parameter in space:
        index.parameters[parameter.name] = parameter
        _index_names(index, parameter)
        _index_words(index, parameter)
        if isinstance(parameter, Category):
            _index_labels(index, parameter)
    index.vocabulary = [
        word for word in index.hits if len(word) >= 4 and word not in synonyms.FAINT
    ]
    index.label_words = [key for key in index.labels if len(key) >= 4 and not key.isdecimal()]
    return index


def _index_names(index: Index, parameter: Number | Category) -> None:
    bare = parameter.name.split("[")[0].split("(")[0]
    for key in dict.fromkeys((compact(parameter.name), compact(bare))):
        if key and parameter.role is not Role.IGNORED:
            index.names.setdefault(key, []).append(parameter.name)
    if parameter.role is Role.IGNORED and compact(parameter.name):
        index.names.setdefault(compact(parameter.name), []).append(parameter.name)


def _cut(name: str) -> list[str]:
    """The words of a name, with those that are one word joined and `nthreads` cut."""
    pieces = [piece for word in words(name) for piece in synonyms.APART.get(word, (word,))]
    joined: list[str] = []
    for piece in pieces:
        pair = (joined[-1], piece) if joined else ("", "")
        if pair in synonyms.COMPOUNDS and synonyms.COMPOUNDS[pair] != "timelimit":
            joined[-1] = synonyms.COMPOUNDS[pair]
        elif len(piece) > 3 and piece[0] == "n" and stem(piece[1:]) in synonyms.RELATIVES:
            joined.append(piece[1:])
        else:
            joined.append(piece)
    return joined


def _index_words(index: Index, parameter: Number | Category) -> None:
    name = parameter.name
    plain_list = _cut(name)
    lists = [plain_list]
    for place, word in enumerate(plain_list):
        if word in synonyms.EXPANSIONS:
            full = synonyms.EXPANSIONS[word]
            lists.append([*plain_list[:place], *full, *plain_list[place + 1 :]])
    index.totals[name] = []
    for number, pieces in enumerate(lists):
        weights = {}
        for place, piece in enumerate(pieces):
            stemmed = stem(piece)
            faint = 0.1 if stemmed in synonyms.FAINT else 1.0
            weights[place] = 0.5 if stemmed in synonyms.HALF_FAINT else faint
            _hit(index, stemmed, name, (number, place), 1.0)
            for other in synonyms.RELATIVES.get(stemmed, ()):
                _hit(index, other, name, (number, place), _SYNONYM)
        index.totals[name].append(weights or {0: 1.0})
    index.stems[name] = frozenset(stem(piece) for pieces in lists for piece in pieces)
    dimension = _dimension(parameter.unit) if isinstance(parameter, Number) else None
    for word in synonyms.DIMENSIONS.get(dimension or "", ()):
        if word not in index.stems[name]:
            _hit(index, word, name, (0, -1), 1.0)


def _hit(index: Index, word: str, name: str, place: tuple[int, int], quality: float) -> None:
    found = index.hits.setdefault(word, {}).setdefault(name, {})
    found[place] = max(quality, found.get(place, 0.0))


def _index_labels(index: Index, category: Category) -> None:
    for value in category.values:
        if len(index.labels) >= _MOST_LABELS:
            return
        if not isinstance(value, str):
            continue
        keys = [compact(value)]
        if category.role is Role.OUTCOME:
            keys += sorted(
                word for ending in synonyms.ENDINGS if compact(value) in ending for word in ending
            )
        for key in dict.fromkeys(keys):
            if key and not key.isdecimal():
                index.labels.setdefault(key, []).append((category.name, value))
