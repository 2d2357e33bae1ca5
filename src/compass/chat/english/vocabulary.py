"""The words of a table, gathered once: names, synonyms, labels and what units imply."""

import re
from functools import lru_cache

from compass.chat.english import synonyms
from compass.chat.english.lexicon import KNOWN_WORDS
from compass.chat.english.link import Index, dimension_of
from compass.chat.english.marked_labels import has_signs
from compass.chat.english.words import compact, stem
from compass.domain.space import Category, Number, Role, Space
from compass.domain.units import canonical
from compass.prepare.names import words

_MOST_LABELS = 20_000
_SYNONYM = 0.75
_JOINING = frozenset({"per", "of", "the", "to", "in"})
_LETTERS = frozenset("xyz")
_TIMED = frozenset({"hours", "hour", "minutes", "seconds", "sec", "secs", "days"})
_CODED = re.compile(r"(?<![^\W_])[A-Za-z]\d{1,3}(?![^\W_])")


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
    index.label_words = [
        key for key in index.labels if len(key) >= 4 and key.isalnum() and not key.isdecimal()
    ]
    index.spellings = [
        word for word in synonyms.SPELLINGS if len(word) >= 4 and stem(word) in index.hits
    ]
    index.spellings += [
        word for p in space for word in words(p.name) if len(word) >= 4 and stem(word) in index.hits
    ]
    index.longest_name = max(map(len, index.names), default=0)
    index.longest_label = max(map(len, index.labels), default=0)
    _index_pieces(index)
    _index_short(index)
    return index


def _index_short(index: Index) -> None:
    """The initials of names of several words, and units that only this table has."""
    for parameter in index.space:
        pieces = [piece for piece in words(parameter.name) if piece not in _JOINING]
        solid = [p for p in pieces if stem(p) not in synonyms.FAINT | synonyms.HALF_FAINT]
        for some in (pieces, solid):
            letters = "".join(piece[0] for piece in some)
            if len(letters) >= 2 and letters not in KNOWN_WORDS and letters not in index.hits:
                known = index.short.setdefault(letters, [])
                if parameter.name not in known and canonical(letters) is None:
                    known.append(parameter.name)
        unit = parameter.unit if isinstance(parameter, Number) else None
        if unit and canonical(unit) is None:
            index.own_units[unit.casefold()] = unit


def _index_pieces(index: Index) -> None:
    """A long word that is in one label only stands for it: ofast, for Ofast-native."""
    owners: dict[str, set[str]] = {}
    for key, labels in index.labels.items():
        for _, value in labels if key.isalnum() else ():
            for piece in re.split(r"[^0-9A-Za-z]+", str(value)):
                coded = len(piece) >= 2 and piece[0].isalpha() and piece[-1].isdigit()
                if (len(piece) >= 3 or coded) and piece.casefold() != key:
                    owners.setdefault(piece.casefold(), set()).add(key)
    for piece, keys in owners.items():
        pairs = [pair for key in sorted(keys) for pair in index.labels[key]]
        common = len({name for name, _ in pairs}) == 1 and len(keys) > 1
        if common and len(piece) >= 3 and piece not in KNOWN_WORDS and piece not in index.labels:
            index.labels[piece] = pairs  # gcc, for gcc-11 and gcc-13
    index.pieces = {
        piece: min(keys)
        for piece, keys in owners.items()
        if len(keys) == 1 and piece not in index.labels and not _is_short(piece)
    }


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
    for coded in _CODED.findall(name):
        # A letter and a number are one word (p99, f1), which the words of a name leave out.
        place = pieces.index(coded[0].lower()) if coded[0].lower() in pieces else len(pieces)
        pieces[place : place + 1] = [coded.lower()]
    joined: list[str] = []
    for piece in pieces:
        pair = (joined[-1], piece) if joined else ("", "")
        if pair in synonyms.COMPOUNDS:
            joined[-1] = synonyms.COMPOUNDS[pair]
        elif len(piece) > 3 and piece[0] == "n" and stem(piece[1:]) in synonyms.RELATIVES:
            joined.append(piece[1:])
        else:
            joined.append(piece)
    return joined


def _compounded(pieces: list[str]) -> list[str]:
    """Words that are one word, joined: wall time."""
    joined: list[str] = []
    for piece in pieces:
        pair = (joined[-1], piece) if joined else ("", "")
        if pair in synonyms.COMPOUNDS:
            joined[-1] = synonyms.COMPOUNDS[pair]
        else:
            joined.append(piece)
    return joined


def _spelled_lists(words: list[str], parameter: Number | Category) -> list[list[str]]:
    """The words of a name, and the other words that they stand for."""
    lists = [words]
    for place, word in enumerate(words):
        if word in synonyms.EXPANSIONS:
            lists.append([*words[:place], *synonyms.EXPANSIONS[word], *words[place + 1 :]])
    unit = parameter.unit if isinstance(parameter, Number) else None
    if unit and unit.endswith("/s"):
        lists.append([*_cut(unit.partition("/")[0]), "per", "second"])
    timed = ["time" if word in _TIMED else word for word in words]
    if timed != words:
        lists.append(_compounded(timed))  # wall_hours is a wall time
    return lists


def _index_words(index: Index, parameter: Number | Category) -> None:
    name = parameter.name
    plain_list = _cut(name)
    lists = _spelled_lists(plain_list, parameter)
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
        solid = [stem(pieces[place]) for place, weight in weights.items() if weight > 0.1]
        if len(solid) == 1:
            index.sole.add(solid[0])
    initials = plain_list[0] if len(plain_list) == 1 else ""
    if 3 < len(initials) < 7 and initials.isalpha():
        index.initials[initials] = name
    index.stems[name] = frozenset(stem(piece) for pieces in lists for piece in pieces)
    if parameter.role is Role.OUTCOME and _is_rate(plain_list, parameter):
        index.stems[name] |= {synonyms.RATE}
        for word in synonyms.RATES:
            _hit(index, word, name, (0, -1), 1.0)
    dimension = dimension_of(parameter.unit) if isinstance(parameter, Number) else None
    for word in synonyms.DIMENSIONS.get(dimension or "", ()):
        if word not in index.stems[name]:
            _hit(index, word, name, (0, -1), 1.0)


def _is_rate(pieces: list[str], parameter: Number | Category) -> bool:
    """Tokens per second, or a unit such as GB/s."""
    unit = (parameter.unit or "") if isinstance(parameter, Number) else ""
    named = "per" in pieces and pieces[-1] in synonyms.PER_TIME
    return named or unit.partition("/")[2] in synonyms.PER_TIME


def _hit(index: Index, word: str, name: str, place: tuple[int, int], quality: float) -> None:
    if (
        len(word) < 2 and word not in _LETTERS
    ):  # a letter is a name only where it is written as the name is
        return
    found = index.hits.setdefault(word, {}).setdefault(name, {})
    found[place] = max(quality, found.get(place, 0.0))


def _index_truth(index: Index, name: str, value: bool) -> None:
    """It must launch: true, of a column that tells whether a run was valid."""
    if not index.stems[name] & synonyms.SUCCESS:
        return
    for word in synonyms.ENDINGS[0] if value else synonyms.ENDINGS[1]:
        index.labels.setdefault(word, []).append((name, value))


def _index_labels(index: Index, category: Category) -> None:
    for value in category.values:
        if len(index.labels) >= _MOST_LABELS:
            return
        if isinstance(value, bool) and category.role is Role.OUTCOME:
            _index_truth(index, category.name, value)
        if not isinstance(value, str):
            continue
        keys = [compact(value)]
        if category.role is Role.OUTCOME:
            keys += sorted(
                word for ending in synonyms.ENDINGS if compact(value) in ending for word in ending
            )
        if category.role is Role.OUTCOME and keys[0].isalpha() and len(keys[0]) > 4:
            base = keys[0].removesuffix("d").removesuffix("e")
            keys += [base, f"{base}e", f"{base}s", f"{base}es"]
        for key in dict.fromkeys(keys):
            if key and not key.isdecimal():
                index.labels.setdefault(key, []).append((category.name, value))
        if has_signs(value):
            index.signed_labels.append(value)
            index.labels.setdefault(value.casefold(), []).append((category.name, value))


def _is_short(piece: str) -> bool:
    """Three letters alone stand for no label."""
    return len(piece) < 4 and piece.isalpha()
