"""Listings: some things of a workspace at a time, each as a small summary.

What is known about a thing may be large: a study of 2,000 columns, a long conversation. A summary
is made when a thing is first listed and kept in `state/briefs`, with the mark of the file that it
was made of; one whose mark is not that of the file is made again. All of this may take its time
and belongs into a thread.
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic import ValidationError

from compass.domain.api import (
    AnswerInfo,
    DatasetBrief,
    DatasetInfo,
    EngineBrief,
    EngineInfo,
    ExperimentInfo,
    ModelBrief,
    ModelInfo,
    SynthesizerInfo,
)
from compass.domain.base import Noun
from compass.server.problems import Refused
from compass.server.store import Kind, Workspace

CURSOR = r"^[0-9]\.[0-9]{1,20}\.[0-9a-f]{16}$"
_FORMAT = 1  # of summaries; those of another one are made again
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Dated(Protocol):
    """Anything with a date, by which a list is ordered."""

    @property
    def created(self) -> datetime:
        """When it was made."""
        ...

    def model_dump_json(self) -> str:
        """The summary as JSON, as it is kept and sent."""
        ...


Thing = TypeVar("Thing", bound=Noun)
Brief = TypeVar("Brief", bound=Dated)


@dataclass(frozen=True)
class Listing(Generic[Thing, Brief]):
    """How things of a kind are listed."""

    kind: Kind
    noun: type[Thing]  # what is kept
    brief: type[Brief]  # its summary
    of: Callable[[Thing], Brief]
    by_use: bool = False  # the one that was used last first, instead of the one made last


DATASETS = Listing("datasets", DatasetInfo, DatasetBrief, DatasetInfo.brief)
MODELS = Listing("models", ModelInfo, ModelBrief, ModelInfo.brief)
ENGINES = Listing("engines", EngineInfo, EngineBrief, EngineInfo.brief)
EXPERIMENTS = Listing("experiments", ExperimentInfo, ExperimentInfo, ExperimentInfo.brief)
SYNTHESIZERS = Listing("synthesizers", SynthesizerInfo, SynthesizerInfo, SynthesizerInfo.brief)
ANSWERS = Listing("answers", AnswerInfo, AnswerInfo, AnswerInfo.brief, by_use=True)


class ListPart(NamedTuple, Generic[Brief]):
    """Some entries of a list."""

    entries: list[Brief]
    after: str | None  # from where to go on; None: these are the last


def part_of(
    workspaces: Sequence[Workspace],
    listed: Listing[Any, Brief],
    count: int,
    after: str | None = None,
    live: Mapping[tuple[str, str], Brief] | None = None,
) -> ListPart[Brief]:
    """Some things of workspaces, one workspace after the other, in each the newest first.

    `live` are summaries that are newer than what is kept, by workspace and name. What another
    version kept, or what is damaged, is left out.
    """
    now = live or {}
    keys = sorted(
        (place, -moment, name)
        for place, workspace in enumerate(workspaces)
        for name, moment in _moments(workspace, listed, now).items()
    )
    at = 0 if after is None else bisect_right(keys, _key(after))
    entries: list[Brief] = []
    more = None
    kept = _kept_briefs(workspaces, listed.kind, keys[at : at + count])
    for key in keys[at:]:
        if len(entries) == count:
            more = _cursor(keys[at - 1])
            break
        at += 1
        owner = workspaces[key[0]]
        with suppress(Refused):
            known = now.get((owner.id, key[2]))
            if known is None:
                known = brief(owner, listed, key[2], kept.get((key[0], key[2])))
            entries.append(known)
    if listed.by_use:  # those that were used last, and of these the newest first
        entries.sort(key=lambda entry: entry.created, reverse=True)
    return ListPart(entries, more)


def every(workspace: Workspace, listed: Listing[Any, Brief]) -> list[Brief]:
    """The summaries of all things of a kind."""
    found = []
    for name in workspace.names(listed.kind):
        with suppress(Refused):
            found.append(brief(workspace, listed, name))
    return found


def brief(
    workspace: Workspace,
    listed: Listing[Any, Brief],
    name: str,
    found: tuple[str, bytes] | None = None,
) -> Brief:
    """The summary of a thing; `found` is its mark with what was kept, where that is known."""
    mark, kept = found or workspace.kept_briefs(listed.kind, [name]).get(name, ("", b""))
    mark = f"{_FORMAT}-{mark}" if mark else ""
    known = _kept(kept, mark, listed.brief)
    if known is not None:
        return known
    made = listed.of(workspace.get(listed.kind, name, listed.noun))
    workspace.keep_brief(listed.kind, name, json.dumps([mark, made.model_dump_json()]).encode())
    return made


def _kept_briefs(
    workspaces: Sequence[Workspace], kind: Kind, keys: Sequence[tuple[int, int, str]]
) -> dict[tuple[int, str], tuple[str, bytes]]:
    """What was kept of the things of a part, of each workspace at once."""
    found: dict[tuple[int, str], tuple[str, bytes]] = {}
    for place, workspace in enumerate(workspaces):
        names = [key[2] for key in keys if key[0] == place]
        kept = workspace.kept_briefs(kind, names) if names else {}
        found |= {(place, name): one for name, one in kept.items()}
    return found


def _kept(written: bytes, mark: str, noun: type[Brief]) -> Brief | None:
    try:
        made_of, brief = json.loads(written)
        return noun.model_validate_json(brief) if made_of == mark != "" else None  # type: ignore[attr-defined]
    except (ValueError, TypeError, ValidationError):
        return None  # none yet, or cut short: it is made again


def _moments(
    workspace: Workspace, listed: Listing[Any, Brief], live: Mapping[tuple[str, str], Brief]
) -> dict[str, int]:
    """When each thing was made or used, by name."""
    found = {n: _moment(b.created) for (owner, n), b in live.items() if owner == workspace.id}
    if listed.by_use:
        return workspace.uses(listed.kind) | found
    names = workspace.names(listed.kind)
    known = workspace.moments.setdefault(listed.kind, {})
    for name in names:
        if name in found:
            continue
        if name not in known:
            with suppress(Refused):
                known[name] = _moment(brief(workspace, listed, name).created)
        if name in known:
            found[name] = known[name]
    for gone in set(known) - set(names):  # a copy: other threads list the same workspace
        known.pop(gone, None)
    return found


def _moment(when: datetime) -> int:
    return (when - _EPOCH) // timedelta(microseconds=1)


def _cursor(key: tuple[int, int, str]) -> str:
    return f"{key[0]}.{-key[1]}.{key[2]}"


def _key(cursor: str) -> tuple[int, int, str]:
    place, moment, name = cursor.split(".")
    return int(place), -int(moment), name
