"""A message as a row of parts: what each word is, before asking what they mean together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compass.chat.draft import How
from compass.chat.lexicon import CORRECTABLE, FILLER, KNOWN_WORDS, LONGEST, PHRASES, Part
from compass.chat.link import Index, LabelMention, Mention, nearest_word
from compass.chat.words import Form, Quantity, Token, is_number, quantity_at, tokens, unit_named

_OF_FORM = {Form.NUMBER: "V", Form.SHARE: "%", Form.FRACTION: "H", Form.FACTOR: "X"}
_QUOTES = frozenset("\"'`)[]{}#")


@dataclass(frozen=True, slots=True)
class Item:
    """One part of a message; see `lexicon` for the tags."""

    tag: str
    words: str
    start: int
    end: int
    part: Part | None = None
    quantity: Quantity | None = None
    mention: Mention | None = None
    label: LabelMention | None = None
    others: str = ""


def tagged(text: str, index: Index) -> list[Item]:
    """The parts of a message that say something."""
    found = [token for token in tokens(text) if token.text not in _QUOTES]
    items: list[Item] = []
    place = 0
    while place < len(found):
        item = _item_at(found, place, index)
        if item is None:
            place += 1
            continue
        items.append(item)
        place = item.end
    return _settled(items, index)


def _item_at(found: Sequence[Token], place: int, index: Index) -> Item | None:
    """The part that starts at a word; None: it says nothing."""
    if _is_range(found, place):
        return Item("t", found[place].text, place, place + 1)
    if found[place].text == "(":
        mine = any(token.low in {"my", "our"} for token in found[max(0, place - 3) : place])
        return Item("g", "(", place, place + 1) if mine else None
    phrase = _phrase_at(found, place)
    quantity = quantity_at(found, place)
    exact = index.exact_at(found, place)
    label = index.label_at(found, place)
    length = max((t.end for t in (exact, label) if t is not None and t.how is How.EXACT), default=0)
    if label is not None and label.how is How.EXACT and label.end >= length:
        if (exact is None or _beside(found, label, index)) and _trusted(found, label, index):
            return Item("L", label.words, place, label.end, label=label)
    if exact is not None and not (quantity and quantity[1] >= exact.end):
        grown = index.column_at(found, place)
        best = grown if grown is not None and grown.end > exact.end else exact
        return Item("C", best.words, place, best.end, mention=best)
    if quantity is not None and (phrase is None or quantity[1] >= phrase[1]):
        words = _words(found, place, quantity[1])
        return Item(_OF_FORM[quantity[0].form], words, place, quantity[1], quantity=quantity[0])
    column = index.column_at(found, place)
    if phrase is not None and not (column and column.end > phrase[1]):
        part, end, others = phrase
        return Item(part.tag, _words(found, place, end), place, end, part=part, others=others)
    if column is not None and not (label and column.how is How.FUZZY and label.how is How.EXACT):
        return Item("C", column.words, place, column.end, mention=column)
    if label is not None and label.how is How.FUZZY:
        return Item("L", label.words, place, label.end, label=label)
    return _leftover(found, place)


def _is_range(found: Sequence[Token], place: int) -> bool:
    """Whether a dash stands between two numbers: 4-8."""
    if found[place].text != "-" or not 0 < place < len(found) - 1:
        return False
    return is_number(found[place - 1]) and is_number(found[place + 1])


def _leftover(found: Sequence[Token], place: int) -> Item | None:
    token = found[place]
    if token.low in FILLER or not token.text[0].isalnum():
        return None
    if token.low not in KNOWN_WORDS and unit_named(token.low) is None:
        meant = nearest_word(token.low, CORRECTABLE)
        if meant is not None:
            corrected = [replace(token, text=meant, low=meant), *found[place + 1 : place + LONGEST]]
            phrase = _phrase_at(corrected, 0)
            if phrase is not None:
                part, width, others = phrase
                end = place + width
                return Item(part.tag, _words(found, place, end), place, end, part, others=others)
            if meant in FILLER:
                return None
    return Item("w", token.text, place, place + 1)


def _phrase_at(found: Sequence[Token], place: int) -> tuple[Part, int, str] | None:
    for end in range(min(len(found), place + LONGEST), place, -1):
        parts = PHRASES.get(tuple(token.low for token in found[place:end]))
        if parts:
            return parts[0], end, "".join(part.tag for part in parts)
    return None


def _words(found: Sequence[Token], start: int, end: int) -> str:
    pieces = [found[start].text]
    pieces += [token.text if token.joined else f" {token.text}" for token in found[start + 1 : end]]
    return "".join(pieces)


def _beside(found: Sequence[Token], label: LabelMention, index: Index) -> bool:
    """Whether a column of the label is named next to it."""
    columns = {name for name, _ in label.labels}
    for start in (*range(label.end, label.end + 2), *range(label.start - 1, label.start - 5, -1)):
        if not 0 <= start < len(found) or found[start].text in ".;":
            continue
        mention = index.column_at(found, start)
        near = mention is not None and (start >= label.end or mention.end >= label.start - 2)
        if mention is not None and near and columns & set(mention.scores):
            return True
    return False


def _trusted(found: Sequence[Token], label: LabelMention, index: Index) -> bool:
    """A label that is also an everyday word counts only where its column is named."""
    words = [token.low for token in found[label.start : label.end]]
    everyday = len(words) == 1 and (words[0] in KNOWN_WORDS or len(words[0]) < 2)
    ending = any(index.ends(name) for name, _ in label.labels)
    if everyday and not ending:
        return _beside(found, label, index)
    number = label.start > 0 and found[label.start - 1].text[-1].isdigit()
    column = index.column_at(found, label.start)
    if column is not None and column.end >= label.end and column.how is not How.FUZZY:
        return not number and _beside(found, label, index)
    return True


def _settled(items: list[Item], index: Index) -> list[Item]:
    """Words with several parts take the one that their neighbours ask for."""
    kept: list[Item] = []
    for place, item in enumerate(items):
        after = "".join(other.tag for other in items[place + 1 : place + 5])
        before = kept[-1].tag if kept else ""
        tag = _settle(item, before, after)
        if tag == "a" and "O" in item.others and after.startswith("C"):
            mention = items[place + 1].mention
            if mention is not None and index.ends(index.ranked(mention)[0]):
                tag = "O"
        if tag == "" or (tag == "@" and not (before in "<>=sk" and before)):
            continue
        if tag in "<>" and kept:
            negated = kept[-1].tag == "!" or (
                len(kept) > 1 and kept[-1].tag in "isk" and kept[-2].tag == "!"
            )
            if negated and item.part is not None:
                while kept[-1].tag != "!":
                    kept.pop()
                flipped = "<" if tag == ">" else ">"
                part = replace(item.part, tag=flipped, strict=False)
                words = f"{kept.pop().words} {item.words}"
                kept.append(replace(item, tag=flipped, part=part, words=words))
                continue
        kept.append(item if tag == item.tag else replace(item, tag=tag))
    return kept


def _settle(item: Item, before: str, after: str) -> str:
    """The tag of one item, seen with its neighbours."""
    low = item.words.lower()
    bare = after.replace("i", "").replace("@", "")
    if low.removesuffix(" of") in {"max", "maximum", "min", "minimum"}:
        if bare.startswith("C") and not bare[1:].startswith(("V", "=V", "tV")):
            return "M" if low.startswith("max") else "m"
    if low in {"drop", "remove", "dropping", "take away"}:
        if bare.startswith(("V", "H", "%")):
            return "r" if bare.startswith(("VoC", "H", "%")) else "-"
        if bare.startswith("C") and not bare[1:].startswith(("b", "t", "f", "V", "%")):
            return "v"
        return "r"
    if low in {"run", "job", "configuration", "baseline", "entry", "sample", "line", "trial"}:
        number = bare.startswith("V") and not bare.startswith(("VC", "VD", "Vd", "Vn"))
        return "j" if number else ("s" if low == "run" else "")
    if low in {"add", "plus"} and not bare.startswith(("V", "DV", "H", "%")):
        return "&" if low == "plus" else "s"
    if low == "set" and before == "C":
        return ""
    return item.tag
