"""The tagged items of a message, and the tag of a word that could have several."""

import re
from dataclasses import dataclass, replace

from compass.chat.english.lexicon import PHRASES, Phrase
from compass.chat.english.link import Index, LabelMention, Mention
from compass.chat.english.tags import Tag
from compass.chat.english.words import TextQuantity, word_set

_LOW = word_set("low little small short tiny modest reasonable")
_HIGH = word_set("high large big great good")
_ALL_BUT = frozenset({"anything except", "anything but", "everything but", "all but"})
_BESIDE = word_set("under below beneath over above")
ARROWS = frozenset({"->", "=>", "→"})
_LONE_WORDS = word_set("x form one speed") | {"less of"}
_EVERYDAY = word_set("needs got gets getting see sees seeing observe")
_RUN_NUMBER = re.compile("[js]V")


@dataclass(frozen=True, slots=True)
class Item:
    """One part of a message; see `tags`."""

    tag: str
    words: str
    start: int
    end: int
    phrase: Phrase | None = None
    quantity: TextQuantity | None = None
    mention: Mention | None = None
    label: LabelMention | None = None
    others: str = ""


def disambiguate(items: list[Item], index: Index) -> list[Item]:
    """Words with several parts take the one that their neighbours ask for."""
    kept: list[Item] = []
    for place, found in enumerate(items):
        after = "".join(other.tag for other in items[place + 1 : place + 8])
        before = kept[-1].tag if kept else ""
        tag = _disambiguated_tag(found, before, after)
        item = _than_run(found, tag, after, kept) if tag in (Tag.AT_MOST, Tag.AT_LEAST) else found
        if item is not found:
            tag, before = item.tag, kept[-1].tag if kept else ""
        if Tag.ROW in item.others:
            named = _names_run(item, items[place + 1 : place + 3], index)
            tag = "j" if named else "s" if item.words.lower() == "run" else ""
        if Tag.OPTIMIZE in item.others and before == "C" and not after.startswith("C"):
            subject = kept[-1].mention
            if subject is not None and index.ends(index.ranked(subject)[0]):
                tag = "O"
        gap = len(after) - len(after.lstrip("io"))
        if after[gap:].startswith("C"):
            mention = items[place + 1 + gap].mention
            measured = mention is not None and index.ends(index.ranked(mention)[0])
            tag = _before_outcome(item, tag, direct=gap == 0) if measured else tag
        if tag == "" or (tag == Tag.IT and not (before in "<>=sk" and before)):
            continue
        if tag in Tag.BOUNDS and kept:
            reversed_tags = "".join(other.tag for other in kept[:-5:-1])
            negated = reversed_tags.lstrip("iskrRt").startswith("!")
            # It must not drop more than 5 %: that is how much it may drop, not what it may be.
            moved = reversed_tags[:1] in ("r", "R") and item.words.lower() == "more than"
            negated = negated and not (moved and after.startswith("%"))
            if negated and item.phrase is not None:
                while kept[-1].tag != Tag.NOT:
                    kept.pop()
                flipped = "<" if tag == Tag.AT_LEAST else ">"
                part = replace(item.phrase, tag=flipped, strict=False)
                words = f"{kept.pop().words} {item.words}"
                kept.append(replace(item, tag=flipped, phrase=part, words=words))
                continue
        kept.append(item if tag == item.tag else replace(item, tag=tag))
    return kept


def _before_outcome(item: Item, tag: str, *, direct: bool) -> str:
    """Best accuracy, low power, high throughput: what is wanted of the outcome behind."""
    low = item.words.lower()
    if tag == Tag.WHICH and Tag.OPTIMIZE in item.others:
        return "O"
    if not direct:
        return tag
    if tag == Tag.WORD and low in _LOW:
        return "m"
    return "M" if tag == Tag.WORD and low in _HIGH else tag


def _names_run(item: Item, after: list[Item], index: Index) -> bool:
    """Whether a number behind `run` or `job` is its number and does not count something."""
    if Tag.ROW not in item.others or not after or after[0].tag != "V" or after[0].start != item.end:
        return False
    behind = after[1] if len(after) > 1 and after[1].start == after[0].end else None
    if behind is not None and behind.label is not None:
        return any(index.ends(name) for name, _ in behind.label.labels)
    return behind is None or behind.tag not in "CDdn"


def _dropped(item: Item, before: str, bare: str) -> str:
    """Energy use, 10 s off, finishes within an hour: words that add nothing there."""
    low = item.words.lower()
    if low == "use" and before == "C" and bare[:1] in {"b", "%", "<", ">", ",", ".", "&", "="}:
        return ""
    if low == "off" and before and before in "V%H":
        return ""
    timed = bare.lstrip("o").startswith(("F", "<", "V"))
    return "" if low.startswith(("finish", "done", "complete")) and timed else item.tag


def _than_run(item: Item, tag: str, after: str, kept: list[Item]) -> Item:
    """Cheaper than run 8; lower than now: compared with a run, not with a number."""
    rest, low = after.lstrip("oi@"), item.words.lower()
    run = rest.startswith(("jV", "sV"))
    now = rest[:1] in {"g", "z"} and rest[1:2] not in set("VCL")
    if not (run or now) or not (low.endswith(" than") or (run and low in _BESIDE)):
        return item
    if low.startswith("no "):
        return replace(item, tag="z")  # no longer than in row 5
    for part in PHRASES.get(tuple(low.removesuffix(" than").split()), ()):
        if part.tag == Tag.COMPARATIVE:
            return replace(item, tag="q", phrase=part)
    if kept and kept[-1].tag == Tag.NOT:
        kept.pop()
        return replace(item, tag="z")
    return replace(item, tag="d" if tag == Tag.AT_MOST else "D")


def _by_number(item: Item, low: str, before: str, bare: str) -> str:
    """Words that mean something beside a number only: takes 3 h, reach 80 %, one node, a x b."""
    if low == "x" and before == "C" and bare.startswith("C"):
        return "*"
    if low == "form" and bare.startswith(("Lt", "Vt")):
        return "f"
    if low == "one" and item.tag == Tag.NUMBER:
        counts = bare.startswith(("C", "n", "F", "D", "L", "m", "M")) or before in set("=<>ti")
        return "V" if (counts and before != "") or bare.startswith(("C", "n")) else ""
    if low == "less of":
        return "<" if bare.startswith("V") else "d"
    if item.tag == Tag.REACH:
        other = "e" if low.startswith("hit") else "w"
        return "G" if bare.lstrip("<>o").startswith(("V", "%")) else other
    if item.tag == Tag.MEASURED:
        return "S" if bare.lstrip("o").startswith(("V", "%")) else "" if low in _EVERYDAY else "w"
    return "" if low == "speed" and before == "C" else item.tag


def _disambiguated_tag(item: Item, before: str, after: str) -> str:
    """The tag of one item, seen with its neighbours."""
    low = item.words.lower()
    bare = after.replace("i", "").replace("@", "")
    removed = _RUN_NUMBER.sub("", bare.lstrip("<o"))
    free = bare.startswith("C") and not bare[1:].startswith(("V", "=V", "tV"))
    last = before == "=" and bare[:1] in {"", ".", ",", "&"}
    if (free or last) and low.removesuffix(" of") in {"max", "maximum", "min", "minimum"}:
        return "M" if low.startswith("max") else "m"
    if low in {"drop", "remove", "dropping", "take away"}:
        if bare.startswith(("V", "H", "%")):
            return "r" if bare.startswith(("VoC", "H", "%")) else "-"
        if removed.startswith("C") and not removed[1:].startswith(("b", "t", "f", "V", "%")):
            return "v"
        return "r"
    if low in {"add", "plus", "+"} and not bare.startswith(("V", "DV", "wV", "H", "%")):
        return "s" if low == "add" else "&"
    if item.tag in Tag.REACH + Tag.MEASURED + Tag.WORD or low in _LONE_WORDS:
        return _by_number(item, low, before, bare)
    return _settle_more(item, low, before, bare)


def _settle_more(item: Item, low: str, before: str, bare: str) -> str:
    if low == "set" and before == "C":
        return ""
    if item.tag == Tag.UNTOUCHED and low.endswith(("stay", "remain")):
        return "i" if bare.startswith(("V", "=", "<", ">", "B", "L", "y", "Y")) else "Z"
    if item.tag in Tag.OR_LESS + Tag.OR_MORE and low.startswith("and") and bare.startswith("V"):
        return "<" if item.tag == Tag.OR_LESS else ">"
    if low in {"use", "off"} or item.tag == Tag.LABEL:
        return _dropped(item, before, bare)
    if low in {"most", "least"} and bare.startswith("V"):
        return "<" if low == "most" else ">"
    if low == "but" and (before + bare[:1]) in {"CL", "EC", "aC"}:
        return "!"
    if low in ARROWS and not bare.startswith(("V", "L", "<", ">")):
        return ","
    if low in _ALL_BUT and bare.startswith("C"):
        return "E"
    return item.tag
