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
_RATE = re.compile(r"(?:[kmgt]i?b(?:it)?_?p?s|\w+_[kmgt]i?b(?:it)?ps|[kmgt]i?b_s)")
_LETTERS = frozenset("xyz")
_UNITS = frozenset({"s", "ms", "us", "ns", "h", "gb", "mb", "kb", "w", "kw", "j", "kj", "pct"})
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
    for key in index.label_words:
        pairs = set(index.labels[key])
        if key.isalpha() and len(pairs) == 1 and stem(key) not in index.hits:
            index.label_stems.setdefault(stem(key), key)
    index.spellings = [
        word for word in synonyms.SPELLINGS if len(word) >= 4 and stem(word) in index.hits
    ]
    index.spellings += [
        word for p in space for word in words(p.name) if len(word) >= 4 and stem(word) in index.hits
    ]
    ends = [words(p.name)[-1] for p in space if len(words(p.name)) > 1]
    for parameter in space:
        last = words(parameter.name)[-1:]
        letter = last[0] if last and len(last[0]) == 1 else ""
        unit = parameter.unit if isinstance(parameter, Number) else None
        free = unit is None and ends.count(letter) == 1 and letter not in {"a", "i", "s", "h", "b"}
        if letter.isalpha() and free and parameter.role is not Role.OUTCOME:
            index.letters[letter] = parameter.name
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
        if isinstance(parameter, Number) and unit is None and pieces[-1:] == ["b"]:
            index.own_units.setdefault(pieces[-1].casefold(), pieces[-1])  # 7B, of params_b


def _index_pieces(index: Index) -> None:
    """A long word that is in one label only stands for it: ofast, for Ofast-native."""
    owners: dict[str, set[str]] = {}
    for key, labels in index.labels.items():
        for _, value in labels if key.isalnum() else ():
            for piece in re.split(r"[^0-9A-Za-z]+", str(value)):
                coded = len(piece) >= 2 and piece[0].isalpha() and piece[-1].isdigit()
                named = re.fullmatch(r"([a-z]{4,})\d+", piece.casefold())
                if named and named[1] not in KNOWN_WORDS:
                    owners.setdefault(named[1], set()).add(key)  # iphone, for iphone15
                if (len(piece) >= 3 or coded) and piece.casefold() != key:
                    owners.setdefault(piece.casefold(), set()).add(key)
    for piece, keys in owners.items():
        pairs = [pair for key in sorted(keys) for pair in index.labels[key]]
        common = len({name for name, _ in pairs}) == 1 and len({*pairs}) > 1
        common = common and stem(piece) not in index.hits
        pairs = list(dict.fromkeys(pairs))
        if common and len(piece) >= 3 and piece not in KNOWN_WORDS and piece not in index.labels:
            index.labels[piece] = pairs  # gcc, for gcc-11 and gcc-13
    index.pieces = {
        piece: min(keys)
        for piece, keys in owners.items()
        if len({pair for key in keys for pair in index.labels[key]}) == 1
        and piece not in index.labels
        and not _is_short(piece)
        and stem(piece) not in index.hits
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
        elif piece.startswith("num") and len(piece) > 5:
            joined += ["num", piece[3:]]  # numjobs
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
        full = synonyms.EXPANSIONS.get(word, ())
        lists += [[*words[:place], *one, *words[place + 1 :]] for one in full]
    stems = {stem(word) for word in words}
    for short, spelled in synonyms.EXPANSIONS.items():
        same = [one for one in spelled if len(one) > 1 and {stem(w) for w in one} <= stems]
        solid = {one for one in stems if one not in synonyms.FAINT}
        if any(solid <= {stem(word) for word in one} for one in same):
            lists += [[short], *(list(one) for one in spelled if one not in same)]
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
        solid_at = max(
            (p for p, w in weights.items() if stem(pieces[p]) not in _UNITS), default=None
        )
        if weights and max(weights.values()) < 1.0:
            nouns = [p for p in weights if stem(pieces[p]) not in _UNITS | synonyms.HALF_FAINT]
            solid_at = max(nouns, default=solid_at)
            if solid_at is not None:
                weights[solid_at] = 1.0  # numjobs, instance_type: what they are about
                index.sole.add(stem(pieces[solid_at]))
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
        data = _RATE.fullmatch("_".join(plain_list[-2:])) or _RATE.fullmatch(
            "".join(plain_list[-1:])
        )
        of_data = data or (_unit_of(parameter) or "").partition("/")[0].endswith(("B", "bit"))
        for word in synonyms.RATES | (synonyms.DATA_RATES if of_data else frozenset()):
            _hit(index, word, name, (0, -1), 1.0)
    counted = synonyms.UNIT_NOUNS.get(_unit_of(parameter) or "", frozenset())
    for word in counted if parameter.role is Role.OUTCOME else ():
        _hit(index, word, name, (0, -1), 1.0)
        index.unit_nouns.add(word)
    dimension = dimension_of(parameter.unit) if isinstance(parameter, Number) else None
    for word in synonyms.DIMENSIONS.get(dimension or "", ()):
        if word not in index.stems[name]:
            _hit(index, word, name, (0, -1), 1.0)


def _unit_of(parameter: Number | Category) -> str | None:
    """The unit of a column in its one spelling."""
    unit = parameter.unit if isinstance(parameter, Number) else None
    return None if unit is None else canonical(unit) or unit


def _is_rate(pieces: list[str], parameter: Number | Category) -> bool:
    """Tokens per second, or a unit such as GB/s."""
    unit = (parameter.unit or "") if isinstance(parameter, Number) else ""
    named = pieces[-1:] != [] and "per" in pieces and pieces[-1] in synonyms.PER_TIME
    named = (
        named
        or bool(_RATE.fullmatch("_".join(pieces[-2:])))
        or bool(_RATE.fullmatch("".join(pieces[-1:])))
    )
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
        keys = [compact(value), *_spelled_label(value)]
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


_LABEL_STARTS = {
    "seq": "sequential",
    "rand": "random",
    "sync": "synchronous",
    "bi": "bidirectional",
}


def _spelled_label(label: str) -> list[str]:
    """Other spellings of a label: sequential read, for seqread; road, for roads."""
    key = compact(label)
    found = []
    for short, full in _LABEL_STARTS.items():
        rest = key.removeprefix(short)
        if rest != key and len(rest) > 3:
            found += [full + rest, f"{full}{rest}s"]
    for several in synonyms.EXPANSIONS.get(key, ()):
        joined = "".join(several)
        found += [joined, f"{joined}s"] if len(several) > 1 else []
    if key.isalpha() and len(key) > 4 and key.endswith("s") and not key.endswith("ss"):
        found.append(key[:-1])
    return found


def _is_short(piece: str) -> bool:
    """Three letters alone stand for no label."""
    return len(piece) < 4 and piece.isalpha()
