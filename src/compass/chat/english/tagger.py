"""A message as a row of parts: what each word is, before asking what they mean together."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from compass.chat.draft import How
from compass.chat.english.items import Item, disambiguate
from compass.chat.english.lexicon import CORRECTABLE, FILLER, KNOWN_WORDS, LONGEST, PHRASES, Phrase
from compass.chat.english.link import Index, LabelMention, Mention, nearest_word
from compass.chat.english.marked_labels import MarkedText, as_labels
from compass.chat.english.tags import Tag
from compass.chat.english.words import (
    QuantityForm,
    TextQuantity,
    Token,
    compact,
    is_number,
    joined_text,
    quantity_at,
    tokens,
    unit_named,
    word_set,
)
from compass.prepare.names import words as column_words

_OF_FORM = {
    QuantityForm.NUMBER: Tag.NUMBER,
    QuantityForm.SHARE: Tag.SHARE,
    QuantityForm.FRACTION: Tag.FRACTION,
    QuantityForm.FACTOR: Tag.FACTOR,
}
_QUOTES = frozenset("\"'`)[]{}#")

# Before `i use`: not what is used now, but what is asked or tried.
_ASKING = word_set("should can could do does would if must may to shall when that might did")
_USES = word_set("uses used runs ran has had")
_EACH = word_set("node rank socket host process proc task core cpu gpu worker replica")
_INTRODUCING = word_set("in with using use on to from of for")
_ENDING = word_set(". , ; ? and or instead to rather partition queue")


@dataclass(slots=True)
class _Message:
    """The words of one message; what each may mean is looked up once."""

    found: list[Token]
    index: Index
    seen: dict[int, Mention | None] = field(default_factory=dict)

    def column_at(self, place: int) -> Mention | None:
        """The column that the words from a place on mean."""
        if not 0 <= place < len(self.found):
            return None
        if place not in self.seen:
            self.seen[place] = self.index.column_at(self.found, place)
        return self.seen[place]


def tokenize(text: str, marks: Mapping[str, str]) -> MarkedText:
    """A message cut into words; `marks` stand for labels in it (see `marked_labels`)."""
    found = [token for token in tokens(text) if token.text not in _QUOTES]
    return MarkedText(text, marks, as_labels(_slashed(found), marks))


def tag_items(source: MarkedText, index: Index) -> list[Item]:
    """The parts of a message that say something."""
    found = source.found
    message = _Message(found, index)
    items: list[Item] = []
    place = 0
    while place < len(found):
        item = _item_at(message, place)
        if item is None:
            place += 1
            continue
        if item.tag:
            items.append(item)
        place = item.end
    return disambiguate(items, index)


def _slashed(found: list[Token]) -> list[Token]:
    """A stroke between words: cores/node is per node, tile/chunk is both of them."""
    for place in range(1, len(found) - 1):
        token, after = found[place], found[place + 1]
        if token.text == "/" and token.joined and found[place - 1].low[-1].isalpha():
            word = "per" if after.low in _EACH else "/"
            found[place] = replace(
                token, low=word, text=word, joined=word == "/", key=compact(word)
            )
    return found


_START = re.compile(r"[iofTat]*jV=?")


def take_row(items: list[Item]) -> tuple[int | None, list[Item]]:
    """The past run that is named, and the other parts: it can stand anywhere in a sentence."""
    tags = "".join(item.tag for item in items)
    for match in _START.finditer(tags):
        place = tags.index(Tag.NUMBER, match.start())
        quantity = items[place].quantity
        if quantity is None or quantity.unit is not None or not quantity.value.is_integer():
            continue
        if 0 <= quantity.value < 1e12:
            rest = [*items[: match.start()], *items[match.end() :]]
            return int(quantity.value), rest
    return None, items


def _item_at(message: _Message, place: int) -> Item | None:
    """The part that starts at a word; None: it says nothing."""
    found, index = message.found, message.index
    if found[place].text == "/":
        divides = place + 1 < len(found) and is_number(found[place + 1])
        return Item(Tag.DIVIDED_BY if divides else Tag.OR, "/", place, place + 1)
    if _is_range(found, place):
        return Item(Tag.TO, found[place].text, place, place + 1)
    if found[place].text == "(":
        own = any(token.low in {"my", "our"} for token in found[max(0, place - 3) : place])
        return Item(Tag.CURRENTLY, "(", place, place + 1) if own else None
    mine = _mine(found, place)
    if mine:
        return Item(Tag.CURRENTLY, joined_text(found, place, mine), place, mine)
    phrase = _phrase_at(found, place)
    quantity = quantity_at(found, place)
    exact = index.exact_at(found, place)
    label = index.label_at(found, place)
    if label is not None and _is_label(message, label, exact):
        return Item(Tag.LABEL, label.words, place, label.end, label=label)
    if exact is not None and not (quantity and quantity[1] >= exact.end):
        grown = message.column_at(place)
        best = grown if grown is not None and grown.end > exact.end else exact
        return Item(Tag.COLUMN, best.words, place, best.end, mention=best)
    if quantity is not None and (phrase is None or quantity[1] >= phrase[1]):
        words = joined_text(found, place, quantity[1])
        return Item(_OF_FORM[quantity[0].form], words, place, quantity[1], quantity=quantity[0])
    column = message.column_at(place)
    if found[place].low == "single" and message.column_at(place + 1) is not None:
        return Item(Tag.NUMBER, found[place].text, place, place + 1, quantity=TextQuantity(1.0))
    if phrase is not None and not (column and column.end > phrase[1]):
        part, end, others = phrase
        asked = place > 0 and found[place - 1].low in _ASKING
        tag = "s" if part.tag == Tag.CURRENTLY and asked else part.tag
        return Item(tag, joined_text(found, place, end), place, end, phrase=part, others=others)
    if column is not None and not (label and column.how is How.FUZZY and label.how is How.EXACT):
        return Item(Tag.COLUMN, column.words, place, column.end, mention=column)
    if label is not None and label.how is How.FUZZY:
        return Item(Tag.LABEL, label.words, place, label.end, label=label)
    return _leftover(found, place)


def _mine(found: Sequence[Token], place: int) -> int:
    """The place behind `our training uses`; 0 if there is nothing like that."""
    if found[place].low not in {"my", "our"}:
        return 0
    for end in range(place + 2, min(place + 4, len(found))):
        if found[end].low in _USES:
            return end + 1
    return 0


def _is_range(found: Sequence[Token], place: int) -> bool:
    """Whether a dash stands between two numbers: 4-8."""
    if found[place].text not in {"-", "..", "..."} or not 0 < place < len(found) - 1:
        return False
    return is_number(found[place - 1]) and is_number(found[place + 1])


def _leftover(found: Sequence[Token], place: int) -> Item | None:
    token = found[place]
    if token.low in FILLER or not token.text[0].isalnum():
        return None
    if token.low not in KNOWN_WORDS and unit_named(token.low) is None:
        meant = nearest_word(token.low, CORRECTABLE)
        if meant is not None:
            corrected = [
                replace(token, text=meant, low=meant, key=meant),
                *found[place + 1 : place + LONGEST],
            ]
            phrase = _phrase_at(corrected, 0)
            if phrase is not None:
                part, width, others = phrase
                end = place + width
                words = joined_text(corrected, 0, width)
                return Item(part.tag, words, place, end, part, others=others)
            if meant in FILLER:
                return None
    return Item(Tag.WORD, token.text, place, place + 1)


def _phrase_at(found: Sequence[Token], place: int) -> tuple[Phrase, int, str] | None:
    for end in range(min(len(found), place + LONGEST), place, -1):
        parts = PHRASES.get(tuple(token.low for token in found[place:end]))
        # `to us` says nothing, but `to us-east-1` does.
        cut = end < len(found) and found[end].joined and found[end - 1].low == "us"
        if parts and not cut:
            return parts[0], end, "".join(part.tag for part in parts)
    return None


def _beside(message: _Message, label: LabelMention) -> bool:
    """Whether a column of the label is named next to it."""
    columns = {name for name, _ in label.labels}
    if _joined_label(message, label, columns):
        return True
    end = label.end
    while end + 1 < len(message.found) and message.found[end].low in {"or", "and", "nor", ",", "/"}:
        other = message.index.label_at(message.found, end + 1)
        if other is None or not columns & {name for name, _ in other.labels}:
            break
        end = other.end
    behind = message.column_at(end)
    if behind is not None:
        return bool(columns & set(behind.scores))
    for start in range(label.start - 1, max(label.start - 8, -1), -1):
        if message.found[start].text in ".;":
            return False
        mention = message.column_at(start)
        if mention is not None and columns & set(mention.scores):
            return True
    return False


def _joined_label(message: _Message, label: LabelMention, columns: set[str]) -> bool:
    """Close or spread: a plain label of the same column stands on the other side of the `or`."""
    found = message.found
    for mark, start in ((label.start - 1, label.start - 2), (label.end, label.end + 1)):
        if not (0 <= start < len(found) and found[mark].low in {"or", "and", "nor", "to"}):
            continue
        other = message.index.label_at(found, start)
        plain_word = found[start].low not in KNOWN_WORDS
        if other is not None and plain_word and columns & {name for name, _ in other.labels}:
            return True
    return False


def _is_label(message: _Message, label: LabelMention, exact: Mention | None) -> bool:
    """Whether words are meant as a label and not as the column of that name."""
    if label.how is How.FUZZY or (exact is not None and exact.end > label.end):
        return False
    if exact is not None and not _beside(message, label):
        return False
    return _trusted(message, label)


def _trusted(message: _Message, label: LabelMention) -> bool:
    """A label that is also an everyday word counts only where its column is named."""
    found, index = message.found, message.index
    words = [token.low for token in found[label.start : label.end]]
    everyday = len(words) == 1 and (words[0] in KNOWN_WORDS or len(words[0]) < 2)
    ending = any(index.ends(name) for name, _ in label.labels)
    if everyday and not ending:
        return _beside(message, label) or _stands_alone(found, label)
    number = label.start > 0 and found[label.start - 1].text[-1].isdigit()
    column = message.column_at(label.start)
    whole = label.end == label.start + 1 and len(column_words(found[label.start].text)) > 1
    if column is not None and whole and {n for n, _ in label.labels} & set(column.scores):
        return True  # smoothSolver is a label of solver
    if column is not None and column.end >= label.end and column.how is not How.FUZZY:
        return not number and _beside(message, label)
    return True


def _stands_alone(found: Sequence[Token], label: LabelMention) -> bool:
    """In double: a preposition before the label and nothing that it could describe behind it."""
    behind = found[label.end].text if label.end < len(found) else "."
    if label.start and found[label.start - 1].text in ",(;:" and behind in ",.;?":
        return True
    if label.start == 0 or found[label.start - 1].low not in _INTRODUCING:
        return False
    return label.end == len(found) or found[label.end].low in _ENDING
