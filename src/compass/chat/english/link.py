"""Words into columns and labels of a table: exactly, by synonym, or in spite of a typing error."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from compass.chat.draft import How
from compass.chat.english import synonyms
from compass.chat.english.lexicon import KNOWN_WORDS, PHRASES
from compass.chat.english.synonyms import larger_is_better
from compass.chat.english.words import Token, compact, joined_text, stem
from compass.domain.base import Value
from compass.domain.space import Category, Number, Role, Space
from compass.domain.units import UNITS, canonical
from compass.prepare.names import words

_LONGEST = 6  # words of one mention
_IMPLIED = 0.3  # a word that only the unit of the column implies
_LEAST = 0.2
_LITERAL = 1.8  # a word of the name as it is written
_OF = frozenset({"of", "in", "per"})
_CLOSE = 0.9  # of the best score: the words can mean this column too


# Column -> the words of its name that were found, by list and place, with how well each fits.
Hits = dict[str, dict[tuple[int, int], float]]


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
    hits: dict[str, Hits] = field(default_factory=dict)
    totals: dict[str, list[dict[int, float]]] = field(default_factory=dict)
    labels: dict[str, list[tuple[str, Value]]] = field(default_factory=dict)
    stems: dict[str, frozenset[str]] = field(default_factory=dict)
    label_stems: dict[str, str] = field(default_factory=dict)  # storing, for store
    label_words: list[str] = field(default_factory=list)
    signed_labels: list[str] = field(default_factory=list)  # with signs that part words
    pieces: dict[str, str] = field(default_factory=dict)
    vocabulary: list[str] = field(default_factory=list)
    spellings: list[str] = field(default_factory=list)
    letters: dict[str, str] = field(default_factory=dict)  # k, for ec_k
    sole: set[str] = field(default_factory=set)
    unit_nouns: set[str] = field(default_factory=set)  # hours, where something counts hours
    initials: dict[str, str] = field(default_factory=dict)
    short: dict[str, list[str]] = field(default_factory=dict)  # initials of names of several words
    own_units: dict[str, str] = field(default_factory=dict)  # that no other table needs
    longest_name: int = 0
    longest_label: int = 0

    # ------------------------------------------------------------------ columns

    def column_at(self, found: Sequence[Token], start: int) -> Mention | None:
        """The longest words from a place on that mean a column."""
        exact, grown = self.exact_at(found, start), self._by_words(found, start)
        if exact is None or (grown is not None and grown.end > exact.end):
            return grown or self._by_initials(found, start) or self._by_short(found, start)
        return exact

    def also_at(self, found: Sequence[Token], start: int) -> Mention | None:
        """Other columns that the name of one may be short for: the drive, for drive_temp."""
        mention = self._by_words(found, start)
        if mention is None or len(mention.scores) < 2:
            return None
        return replace(mention, how=How.SYNONYM)

    def _by_short(self, found: Sequence[Token], start: int) -> Mention | None:
        """Tp size, for tensor_parallel_size."""
        names = self.short.get(found[start].low, ())
        if not names:
            return None
        end = start + 1
        if end < len(found) and found[end].low in synonyms.TAILS:
            end += 1
        scores = dict.fromkeys(names, 0.9)
        return Mention(start, end, joined_text(found, start, end), scores, How.SYNONYM)

    def _by_initials(self, found: Sequence[Token], start: int) -> Mention | None:
        """Simulated years per day, for a column that is called sypd."""
        if not self.initials:
            return None
        letters = "".join(token.low[0] for token in found[start : start + 6])
        for short, name in self.initials.items():
            end = start + len(short)
            if letters.startswith(short) and all(t.low.isalpha() for t in found[start:end]):
                return Mention(start, end, joined_text(found, start, end), {name: 1.0}, How.SYNONYM)
        return None

    def ends(self, name: str) -> bool:
        """Whether a column tells how a run ended: its labels are words such as `completes`."""
        return self.parameters[name].role is Role.OUTCOME

    def exact_at(self, found: Sequence[Token], start: int) -> Mention | None:
        """The longest words from a place on that are the name of a column."""
        for end, key in _keys(found, start, _LONGEST, self.longest_name):
            names = self.names.get(key)
            letter = found[start].text
            letter = letter.lower() if letter.isupper() else letter
            if not names and end == start + 1 and letter in self.letters:
                name = self.letters[letter]
                return Mention(start, end, found[start].text, {name: 1.0}, How.SYNONYM)
            if not names:
                continue
            if end == start + 1:
                names = [name for name in names if key == _bare_key(name)]
            text = joined_text(found, start, end)
            literal = [name for name in names if name == text]
            capital = len(key) == 1 and text.isupper() and text not in {"A", "I"}
            if len(key) <= 2 and not capital and (not literal or text in {"a", "I", "i"}):
                continue
            ranked = literal or names
            if not ranked:
                continue
            scores = {name: 1.1 - 0.01 * place for place, name in enumerate(ranked)}
            return Mention(start, end, text, scores, How.EXACT)
        return None

    def _by_words(self, found: Sequence[Token], start: int) -> Mention | None:
        first = start
        if self._leads(found, start):
            first += 1
            while first < len(found) and found[first].low in {"of", "the", "my", "all"}:
                first += 1
        short = first < len(found) and len(found[first].low) < 2
        if short and _joined(found, first) is None:
            return None
        hits, fuzzy = self._hits(found, first)
        if not hits or self._faint(found, first):
            return None
        matched = [hits]
        if first > start:
            led = self._hits(found, start)[0]
            common = [name for name in hits if name in led]
            matched = [{name: hits[name] for name in common}, led] if common else [hits]
        end = self._grow(found, first, matched)
        alone = (found[first].low,) in PHRASES and end == first + 1
        if alone and stem(found[first].low) not in self.sole:
            return None
        scores = self._scores(matched)
        if not scores:
            return None
        text = joined_text(found, start, end)
        stems = {stem(token.low) for token in found[start:end]}
        said = {token.low for token in found[start:end]}
        scores = {n: s * (_LITERAL if said & set(words(n)) else 1.0) for n, s in scores.items()}
        best = max(scores, key=lambda name: scores[name])
        exact = not fuzzy and stems == {stem(word) for word in words(best)}
        how = How.EXACT if exact else How.FUZZY if fuzzy else How.SYNONYM
        return Mention(start, end, text, scores, how)

    def _grow(
        self,
        found: Sequence[Token],
        first: int,
        matched: list[Hits],
    ) -> int:
        """Take in the words that follow while some column fits all of them; the end."""
        columns = set(matched[0])
        end = place = first + self._width(found, first)
        while place < min(len(found), first + _LONGEST):
            low = found[place].low
            rated = self._rated(found, place, columns)
            if rated:  # requests per second
                columns, place = rated, place + 2
                matched[:] = [{n: h[n] for n in h if n in columns} for h in matched]
                end = place
                continue
            hits = {} if low in {"of", "the", "in"} else self._hits(found, place)[0]
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
            elif low in _OF or (low == "the" and found[place - 1].low in _OF):
                place += 1
            else:
                break
        return end

    def _rated(self, found: Sequence[Token], place: int, columns: set[str]) -> set[str]:
        """Those of some columns that are counted per second, where that is what is said."""
        low = [token.low for token in found[place : place + 2]]
        if len(low) < 2 or low[0] not in {"per", "a", "each"} or low[1] not in synonyms.PER_TIME:
            return set()
        return {name for name in columns if synonyms.RATE in self.stems[name]}

    def _leads(self, found: Sequence[Token], start: int) -> bool:
        """Whether a word only leads to the one that is meant: number of, allocated, type of."""
        low = found[start].low
        if low in synonyms.HEADS:
            return True
        if stem(low) not in self.hits or not self._faint(found, start):
            return False
        if (low,) not in PHRASES:
            return True
        behind = self._hits(found, start + 1)[0]
        return bool(set(self.hits[stem(low)]) & set(behind))  # max batched tokens

    def _width(self, found: Sequence[Token], place: int) -> int:
        """Two words that are one: run time, wall clock."""
        return 1 if _joined(found, place) is None else 2

    def _faint(self, found: Sequence[Token], place: int) -> bool:
        if self._width(found, place) > 1:
            return False
        stemmed = stem(found[place].low)
        faint = stemmed in synonyms.FAINT | synonyms.HALF_FAINT
        return faint and stemmed not in self.sole | self.unit_nouns

    def _hits(self, found: Sequence[Token], place: int) -> tuple[Hits, bool]:
        if place >= len(found):
            return {}, False
        token = found[place]
        joined = _joined(found, place)
        if joined is not None and stem(joined) in self.hits:
            return self.hits[stem(joined)], False
        direct = self.hits.get(stem(token.low))
        if direct is not None:
            if token.low in KNOWN_WORDS:
                return direct, False
            begun = (
                {} if token.key in self.labels else self._begun(token.low)
            )  # execution, for exec_time
            return ({**begun, **direct} if self._own(direct) else {**direct, **begun}), False
        pieces = _pieces(token.text) if token.text[0].isalpha() else ()
        counted = stem(token.low[1:]) if token.low.startswith("n") and len(token.low) > 3 else ""
        if counted in self.hits and token.low not in KNOWN_WORDS:
            return self.hits[counted], False
        if len(pieces) > 1:
            return self._together(pieces), False
        if token.low in KNOWN_WORDS or token.key in self.labels:
            return {}, False
        begun = self._begun(token.low)
        if begun:
            return begun, False
        if stem(token.low) in synonyms.RELATIVES:
            return {}, False
        near = nearest_word(token.low, self.spellings) or nearest_word(
            stem(token.low), self.vocabulary
        )
        return (self.hits[stem(near)], True) if near is not None else ({}, False)

    def _own(self, hits: Hits) -> bool:
        """Whether a word stands in a name, and is not only like one that does."""
        return any(quality == 1.0 for places in hits.values() for quality in places.values())

    def _begun(self, word: str) -> Hits:
        """Decomposition, for decomp_method; seqs, for max_num_sequences."""
        if len(word) < 3:
            return {}
        short = stem(word)
        found: Hits = {}
        for known in self.hits:
            begins = len(known) >= 3 and word.startswith(known)
            begins = begins or (len(short) >= 4 and known.endswith(short))  # engine, of ioengine
            if begins or (len(short) >= 4 and known.startswith(word.removesuffix("s"))):
                for name, places in self.hits[known].items():
                    own = {place: 0.85 for place in places if known in self.stems[name]}
                    if own:
                        _keep_best(found.setdefault(name, {}), own)
        return found

    def _together(self, pieces: Iterable[str]) -> Hits:
        """The columns that fit every word of `n_threads`."""
        all_hits = [self.hits.get(stem(piece), {}) for piece in pieces]
        solid = [hits for hits in all_hits if hits]
        if not solid or len(solid) * 2 < len(all_hits):
            return {}
        # In the order of the table: of columns that fit alike the first is taken.
        common = [name for name in solid[0] if all(name in hits for hits in solid)]
        merged: Hits = {}
        for name in common:
            merged[name] = {}
            for hits in solid:
                _keep_best(merged[name], hits[name])
        return merged

    def _scores(self, matched: list[Hits]) -> dict[str, float]:
        scores: dict[str, float] = {}
        for name in matched[0]:
            best: dict[tuple[int, int], float] = {}
            for hits in matched:
                _keep_best(best, hits.get(name, {}))
            lists = self.totals[name]
            covered = [
                (
                    sum(q * lists[k][w] for (k, w), q in best.items() if k == number and w >= 0)
                    / sum(lists[number].values())
                )
                ** (1 if number == 0 else 2)  # a part of what a name is short for says little
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
        for end, key in _keys(found, start, 6, self.longest_label + 1):
            cut = end < len(found) and found[end].joined and found[end].text[0].isalnum()
            if key in self.labels and not (cut and len(self.labels[key]) > 1):
                text = joined_text(found, start, end)
                return LabelMention(start, end, text, tuple(self.labels[key]), How.EXACT)
            one = key.removesuffix("s")  # only T4s: a label with a number in it has a plural
            plural = one[-1:].isdigit() or (len(one) >= 3 and stem(one) not in self.hits)
            if one in self.labels and plural and one != key:
                text = joined_text(found, start, end)
                return LabelMention(start, end, text, tuple(self.labels[one]), How.SYNONYM)
        low = found[start].low
        if (
            low not in self.pieces
            and stem(low) not in self.label_stems
            and (len(low) < 4 or stem(low) in self.hits)
        ):
            return None
        if low in KNOWN_WORDS:
            return None
        same = self.label_stems.get(stem(low)) if len(low) > 4 else None
        near = self.pieces.get(low) or same or nearest_word(low, self.label_words)
        if near is None:
            return None
        return LabelMention(
            start, start + 1, found[start].text, tuple(self.labels[near]), How.FUZZY
        )

    # ------------------------------------------------------------------ choices

    def ranked(self, mention: Mention, roles: Iterable[Role] = ()) -> tuple[str, ...]:
        """The columns that the words can mean, best first; those of the wanted roles win ties."""
        wanted = frozenset(roles)

        def rank(name: str) -> float:
            bonus = 1.3 if self.parameters[name].role in wanted else 1.0
            return mention.scores[name] * bonus

        order = sorted(mention.scores, key=lambda name: -rank(name))
        family = self._statistics_of(order[0], mention) or self._named_alike(order[0], mention)
        if family:
            return family
        return tuple(name for name in order if rank(name) >= _CLOSE * rank(order[0]))

    def _statistics_of(self, best: str, mention: Mention) -> tuple[str, ...]:
        """Mean and longest pause, where somebody speaks of pauses."""
        if self.parameters[best].role is not Role.OUTCOME or mention.how is How.EXACT:
            return ()
        said = {token for token in re.split(r"[^a-z0-9]+", mention.words.casefold()) if token}
        counted = synonyms.STATISTICS | {"99th", "95th", "90th", "50th", "longest", "typical"}
        own = tuple(word for word in _pieces(best) if word not in synonyms.STATISTICS)
        if said & counted or own == _pieces(best):
            return ()
        alike = [
            name
            for name in mention.scores
            if tuple(word for word in _pieces(name) if word not in synonyms.STATISTICS) == own
        ]
        return tuple(alike) if len(alike) > 1 else ()

    def _named_alike(self, best: str, mention: Mention) -> tuple[str, ...]:
        """Energy, where one column is the energy used and another its drift."""
        word = mention.words.casefold()
        if self.parameters[best].role is not Role.OUTCOME or mention.how is How.EXACT:
            return ()
        alike = [
            name
            for name in sorted(mention.scores, key=lambda name: -mention.scores[name])
            if self.parameters[name].role is Role.OUTCOME
            and isinstance(self.parameters[name], Number)
            and word in words(name)
        ]
        return tuple(alike) if len(alike) > 1 and best in alike else ()

    def plainest(self, names: Sequence[str]) -> tuple[str, ...]:
        """Of columns that words can mean, those like the first: of its role, no more special."""
        if not names:
            return ()
        first = self.parameters[names[0]].role
        alike = [name for name in names if self.parameters[name].role is first]
        least = min(self._special(name) for name in alike)
        return tuple(name for name in alike if self._special(name) == least)

    def _special(self, name: str) -> int:
        """How many words of a name say more than what it measures."""
        said = synonyms.FAINT | synonyms.PLAIN
        return len({stem(word) for word in words(name)} - said)

    def about(self, concept: frozenset[str]) -> tuple[str, ...]:
        """The outcomes whose names speak of something, those that say it plainest first."""
        found = [
            (len(self.stems[p.name] - synonyms.FAINT), place, p.name)
            for place, p in enumerate(self.space)
            if p.role is Role.OUTCOME
            and isinstance(p, Number)
            and self.stems[p.name] & concept
            and not self.stems[p.name] & synonyms.OTHERWISE
            and (concept is not synonyms.PERFORMANCE or larger_is_better(self.stems[p.name]))
        ]
        names = [name for _, _, name in sorted(found)]
        dimension = next((d for d, c in _CONCEPT_OF.items() if c is concept), None)
        if not names and dimension is not None:
            measured = self.measured_in(dimension)
            other = synonyms.OTHERWISE
            names = [n for n in measured if self.ends(n) and not self.stems[n] & other]
        return self.plainest(names)

    def measured_in(self, dimension: str) -> tuple[str, ...]:
        """The number columns whose unit or name is of a dimension, outcomes first."""
        concept = synonyms.DIMENSIONS.get(dimension, frozenset())
        if dimension == "time":
            concept = synonyms.TIME
        scored = []
        for place, p in enumerate(self.space):
            if not isinstance(p, Number) or p.role is Role.IGNORED:
                continue
            of_unit = dimension_of(p.unit) == dimension
            named = bool(self.stems[p.name] & concept)
            if of_unit or (named and p.unit is None):
                extra = len(self.stems[p.name] - synonyms.FAINT - concept)
                order = {Role.OUTCOME: 0, Role.KNOB: 1, Role.CONTEXT: 2}[p.role]
                scored.append((order, not of_unit, not named, extra, place, p.name))
        return tuple(row[-1] for row in sorted(scored))


_CONCEPT_OF = {
    "time": synonyms.TIME,
    "power": synonyms.POWER,
    "energy": synonyms.ENERGY,
    "money": synonyms.COST,
}


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


def _joined(found: Sequence[Token], place: int) -> str | None:
    """The one word that two words are."""
    if place + 1 >= len(found):
        return None
    first, second = found[place].low, found[place + 1].low
    return synonyms.COMPOUNDS.get((first, second)) or synonyms.COMPOUNDS.get(
        (first, second.removesuffix("s"))
    )


_CODED = re.compile(r"(?<![A-Za-z])[A-Za-z]\d{1,3}(?![A-Za-z0-9])")


def _pieces(text: str) -> tuple[str, ...]:
    """The words of a name; a letter and a number are one word: p99."""
    coded = [code.lower() for code in _CODED.findall(text)]
    return (*(word for word in words(text) if len(word) > 1 or not coded), *coded)


def _bare_key(name: str) -> str:
    """The letters without what stands in brackets: `times` is not `Time[s]`."""
    return compact(re.split(r"[\[(]", name, maxsplit=1)[0])


def _keys(found: Sequence[Token], start: int, most: int, longest: int) -> list[tuple[int, str]]:
    """The ends and the letters of the words from a place on, those of the most words first."""
    keys: list[tuple[int, str]] = []
    key = ""
    for end in range(start, min(len(found), start + most)):
        key += found[end].key
        if len(key) > longest or not found[start].key:
            break
        if found[end].key:
            keys.append((end + 1, key))
    return keys[::-1]


def dimension_of(unit: str | None) -> str | None:
    """What a unit measures: time, power, energy, memory, frequency, money or a rate of these."""
    if unit in {"$", "USD", "EUR"}:
        return "money"
    if unit and "/" in unit:
        above, _, below = unit.partition("/")
        parts = dimension_of(above), dimension_of(below)
        return "/".join(part or "" for part in parts) if all(parts) else None
    known = canonical(unit) if unit else None
    return UNITS[known][0] if known else None
