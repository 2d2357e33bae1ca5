"""Answers as they are kept: found first, completed later, checked whenever they are read.

An answer of which something is pending is kept in a file of its own, named after how much that is,
beside the question. More of it is written to another file; that `about.json` then says so is the
one step in which it becomes the answer. A server that is killed leaves one or the other.
"""

import hashlib
import json
from typing import Any

from pydantic import ValidationError

from compass.domain.answer import Answer
from compass.domain.api import AnswerInfo, Problem
from compass.server import logs
from compass.server.problems import Refused, damaged
from compass.server.store import ABOUT, Workspace, now

ANSWER = "answer.json"
_TOLD = 6  # settings and outcomes that are told of an answer in a list
QUESTION = "question.json"  # of an answer of which something is pending


def keep(
    workspace: Workspace, name: str, engine: str, question: dict[str, Any], written: bytes
) -> None:
    """Keep an answer as it came from a working process."""
    about = _described({"id": name, "engine": engine, "created": now()}, written)
    with workspace.making("answers", name) as draft:
        (draft / file_of(about)).write_bytes(written)
        if about.pending:
            (draft / QUESTION).write_text(json.dumps(question))
        (draft / ABOUT).write_text(about.model_dump_json())


def complete(workspace: Workspace, before: AnswerInfo, written: bytes) -> AnswerInfo:
    """Keep more of an answer that was kept before."""
    # It may have been given its name meanwhile.
    called = {"name": workspace.get("answers", before.id, AnswerInfo).name}
    same = before.model_dump(include={"id", "engine", "created"}) | called
    about = _described(same, written)
    workspace.change("answers", about.id, file_of(about), written, about)
    workspace.remove_file("answers", about.id, file_of(before))
    if not about.pending:
        workspace.remove_file("answers", about.id, QUESTION)
    return about


def _described(same: dict[str, Any], written: bytes) -> AnswerInfo:
    head = json.loads(written)
    return AnswerInfo(
        **same,
        text=head["text"],
        answered=head["no_answer"] is None,
        **_decided(head),
        pending=head["pending"],
        digest=hashlib.sha256(written).hexdigest(),
    )


def _decided(head: dict[str, Any]) -> dict[str, Any]:
    """What an answer suggests first, what it expects of that, and how far to trust it."""
    first = head["suggestions"][0] if head["suggestions"] else head["population"]
    if first is None or head["no_answer"] is not None:
        return {}
    goals = head["query"].get("goals") or {}
    told = [one for one in first["outcomes"] if one["name"] in goals] or first["outcomes"]
    settings = first.get("settings") or {one["name"]: one["new"] for one in first.get("edits", ())}
    trust = first.get("trust") or first
    return {
        "decision": dict(list(settings.items())[:_TOLD]),
        "outcomes": [{key: one[key] for key in ("name", "value", "unit")} for one in told[:_TOLD]],
        "label": trust.get("label"),
    }


def named(workspace: Workspace, name: str, called: str | None) -> AnswerInfo:
    """The answer by the name that a person gives it; without one, by its question again."""
    return workspace.update(
        "answers", name, AnswerInfo, lambda about: about.model_copy(update={"name": called})
    )


def file_of(about: AnswerInfo) -> str:
    """The name of the file of an answer."""
    return f"unfinished-{len(about.pending)}.json" if about.pending else ANSWER


def question(workspace: Workspace, about: AnswerInfo) -> dict[str, Any]:
    """The question of an answer of which something is pending."""
    try:
        found = json.loads((workspace.place("answers", about.id) / QUESTION).read_bytes())
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _damaged(about)
    return found


def proof_seconds(workspace: Workspace, name: str) -> float:
    """How long the proof of an answer may take; 0: as long as is usual."""
    _, written = _read(workspace, name)
    return json.loads(written)["query"].get("prove") or 0.0


def view(
    workspace: Workspace, name: str, problem: Problem | None = None
) -> tuple[AnswerInfo, bytes]:
    """An answer, where it is kept, and why there will not be more of it, as JSON.

    The answer itself is not written anew.
    """
    about, written = _read(workspace, name)
    head: dict[str, Any] = {
        "id": about.id,
        "engine": about.engine,
        "created": about.created.isoformat(),
    }
    if problem is not None and about.pending:
        head["problem"] = problem.model_dump(mode="json")
    return about, json.dumps(head)[:-1].encode() + b', "answer": ' + written + b"}"


def parsed(workspace: Workspace, name: str) -> Answer:
    """An answer, checked and parsed."""
    about, written = _read(workspace, name)
    try:
        return Answer.model_validate_json(written)
    except ValidationError:
        raise _damaged(about) from None


def _read(workspace: Workspace, name: str) -> tuple[AnswerInfo, bytes]:
    """What is known about an answer, and its bytes, which are those that were written."""
    while True:
        about = workspace.get("answers", name, AnswerInfo)
        try:
            written = (workspace.place("answers", name) / file_of(about)).read_bytes()
            if about.digest:
                whole = hashlib.sha256(written).hexdigest() == about.digest
            else:
                json.loads(written)  # of a version that kept no digest
                whole = True
        except (FileNotFoundError, IsADirectoryError, ValueError, RecursionError):
            whole = False
        if whole:
            return about, written
        if workspace.get("answers", name, AnswerInfo) == about:
            raise _damaged(about)  # else there is more of it than a moment ago


def _damaged(about: AnswerInfo) -> Refused:
    logs.trouble("damaged", kind="answer", id=about.id)
    return damaged("answer", "delete it and ask again")
