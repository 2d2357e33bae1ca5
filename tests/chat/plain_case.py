"""Plain sentences as people say them, each judged by what the dialogue makes of it.

`python -m tests.chat.plain_case develop -v` prints how many are understood, asked about and wrong;
corpus/plain/README.md tells what these mean.
"""

import argparse
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import yaml
from tests.chat.corpus_case import FOLDER, Sentence, score, sentence_of, space_of

from compass.chat import dialogue, english
from compass.chat.draft import Act, Conversation, Draft, MessageReader, Reading, Reply, Slot
from compass.domain.space import Space

SETS = ("develop", "develop2", "score", "score2", "score3", "score4", "score5")
PLAIN = FOLDER / "plain"
FULL, ASKED, WRONG = "understood", "asked about", "wrong"


@dataclass(frozen=True)
class Plain:
    """A message, what was said before it, and what it tells."""

    id: str
    table: str
    text: str
    before: tuple[str, ...]
    sentence: Sentence | None  # None: a question about what is known already
    about: Mapping[str, Any]
    back: Mapping[str, Any] | None


@dataclass(frozen=True)
class Verdict:
    """What became of a message, and what was wrong with it."""

    id: str
    result: str
    reason: str = ""


def present() -> tuple[str, ...]:
    """The sets whose messages are here; one that is not yet scored may be kept elsewhere."""
    return tuple(half for half in SETS if (PLAIN / f"{half}.yaml").exists())


@cache
def tables(half: str) -> dict[str, Space]:
    """The tables of one half by name."""
    return {name: space_of(columns) for name, columns in _read(f"{half}_tables").items()}


@cache
def messages(half: str) -> tuple[Plain, ...]:
    """The messages of one half."""
    return tuple(_plain(item, tables(half)[item["table"]]) for item in _read(half))


def _read(file: str) -> Any:
    return yaml.load((PLAIN / f"{file}.yaml").read_text("utf-8"), yaml.CSafeLoader)


def _plain(item: Mapping[str, Any], space: Space) -> Plain:
    return Plain(
        id=item["id"],
        table=item["table"],
        text=item["text"],
        before=tuple(item.get("before", ())),
        sentence=sentence_of(item, space) if "want" in item else None,
        about={k: item[k] for k in ("about", "row", "places", "outcome", "count") if k in item},
        back=item.get("back"),
    )


def judge(message: Plain, space: Space, read: MessageReader = english.read) -> Verdict:
    """What the dialogue makes of a message."""
    talk, reply = dialogue.begin(space)
    readings: list[Reading] = []

    def watched(text: str, table: Space, **known: Any) -> Reading:
        readings.append(read(text, table, **known))
        return readings[-1]

    for text in (*message.before, message.text):
        talk, reply = dialogue.respond(talk, text, space, read=watched)
    verdict = partial(Verdict, message.id)
    if message.sentence is None:
        return verdict(*_inquired(message.about, readings[-1]))
    result = score(message.sentence, talk.draft, space)
    asked = _asks(talk, reply, readings[-1])
    wrong = [f"wrong {slot}: {text}" for slot, text in sorted(result.wrong)]
    missing = [f"missing {slot}: {text}" for slot, text in sorted(result.missing)]
    if message.back is not None:
        if reply.expecting in (Slot.KIND, Slot.GOAL) and not message.sentence.wants[0].goals:
            asked = (*asked, message.back["words"])  # it asks what is wanted
        return verdict(*_asked_back(message.back, asked, wrong, missing))
    if not wrong and not missing:
        return verdict(ASKED, f"asks {asked}") if asked else verdict(FULL)
    if asked and not wrong:
        return verdict(ASKED, "; ".join([f"asks {asked}", *missing]))
    return verdict(WRONG, "; ".join([*wrong, *missing, *([f"asks {asked}"] if asked else [])]))


def _asks(talk: Conversation, reply: Reply, reading: Reading) -> tuple[str, ...]:
    """What a reply asks about: words, columns to choose from, or what cannot be."""
    words = talk.unclear or reading.unknown
    several = [link for link in talk.links if len(link.columns) > 1]
    choose = [link.words for link in several] if reply.expecting is Slot.COLUMNS else []
    if reply.expecting is not Slot.COLUMNS:
        open_links = [link for link in reading.links if len(link.columns) > 1]
        choose = [link.words for link in open_links if link in talk.links]
    trouble = [reply.text.split("\n", maxsplit=1)[0]] if _troubled(reply) else []
    # Should it be minimized or maximized?
    open_goals = talk.undirected if reply.expecting is Slot.GOAL else ()
    return (*words, *choose, *trouble, *open_goals)


def _troubled(reply: Reply) -> bool:
    told = ("I left everything as it was", "No value of", "cannot", "not sure what", "contradict")
    return bool(reply.trouble) or any(words in reply.text for words in told)


def _inquired(about: Mapping[str, Any], reading: Reading) -> tuple[str, str]:
    if about["about"] == "run-next":
        right = reading.act is Act.RUN_NEXT and reading.parts.count == about.get("count")
        return (FULL, "") if right else (WRONG, f"{reading.act}, count {reading.parts.count}")
    found = reading.inquiry
    if found is None:
        silent = reading.parts != Draft() and not reading.unknown
        return (WRONG if silent else ASKED), f"not taken for {about['about']}"
    told = {
        "about": found.topic.value,
        "row": found.row,
        "places": list(found.places),
        "outcome": found.outcome,
    }
    wanted = {name: value for name, value in about.items() if name != "count"}
    differ = {name: told[name] for name, value in wanted.items() if told[name] != value}
    return (FULL, "") if not differ else (WRONG, f"{differ} instead of {wanted}")


def _asked_back(
    back: Mapping[str, Any], asked: tuple[str, ...], wrong: list[str], missing: list[str]
) -> tuple[str, str]:
    """A question back is right where it is about these words, and the rest is understood."""
    among = set(back.get("among", ()))
    told = " ".join(asked)
    wrong = [one for one in wrong if not any(name in one for name in among)]
    # A contradiction that is told may be kept until it is settled.
    wrong = [one for one in wrong if one.split(":")[0].split()[-1] not in told]
    reason = "; ".join([*wrong, *missing, *([f"asks {asked}"] if asked else [])])
    about = any(_alike(back["words"], words) for words in asked)
    if wrong or not asked:
        return WRONG, reason or "nothing was asked"
    return (FULL if about and not missing else ASKED), reason


def _alike(first: str, second: str) -> bool:
    """Whether two phrases share a word."""
    return bool(set(first.casefold().split()) & set(second.casefold().replace("'", " ").split()))


def verdicts(half: str) -> tuple[Verdict, ...]:
    """The verdict on each message of one half."""
    return tuple(judge(message, tables(half)[message.table]) for message in messages(half))


def main() -> None:
    """Judge one half and print it."""
    parser = argparse.ArgumentParser(description="what the chat makes of plain sentences")
    parser.add_argument("half", choices=SETS)
    parser.add_argument("-v", "--verbose", action="store_true", help="each that is not understood")
    options = parser.parse_args()
    if options.half not in present():
        parser.error(f"the messages of {options.half} are not in {PLAIN}")
    found = verdicts(options.half)
    texts = {message.id: message for message in messages(options.half)}
    for verdict in found:
        if options.verbose and verdict.result != FULL:
            said = " / ".join((*texts[verdict.id].before, texts[verdict.id].text))
            print(f"{verdict.result:12} {verdict.id}: {said}\n    {verdict.reason}")
    counts = Counter(verdict.result for verdict in found)
    shares = ", ".join(
        f"{counts[r]} {r} ({100 * counts[r] / len(found):.1f} %)" for r in (FULL, ASKED, WRONG)
    )
    print(f"{options.half}: {len(found)} messages, {shares}")


if __name__ == "__main__":
    main()
