"""Answers as they are kept: written once, and checked whenever they are read."""

import hashlib
import json

from pydantic import ValidationError

from compass.domain.answer import Answer
from compass.domain.api import AnswerInfo
from compass.server import logs
from compass.server.problems import Refused, damaged
from compass.server.store import ABOUT, Workspace, now

ANSWER = "answer.json"


def keep(workspace: Workspace, name: str, engine: str, written: bytes) -> None:
    """Keep an answer as it came from a working process."""
    head = json.loads(written)
    about = AnswerInfo(
        id=name,
        engine=engine,
        created=now(),
        text=head["text"],
        answered=head["no_answer"] is None,
        digest=hashlib.sha256(written).hexdigest(),
    )
    with workspace.making("answers", name) as draft:
        (draft / ANSWER).write_bytes(written)
        (draft / ABOUT).write_text(about.model_dump_json())


def view(workspace: Workspace, name: str) -> bytes:
    """An answer and where it is kept, as JSON; the answer itself is not written anew."""
    about = workspace.get("answers", name, AnswerInfo)
    head = {"id": about.id, "engine": about.engine, "created": about.created.isoformat()}
    return json.dumps(head)[:-1].encode() + b', "answer": ' + _read(workspace, about) + b"}"


def whole(workspace: Workspace, name: str) -> Answer:
    """The whole answer, checked and parsed."""
    about = workspace.get("answers", name, AnswerInfo)
    try:
        return Answer.model_validate_json(_read(workspace, about))
    except ValidationError:
        raise _damaged(about) from None


def _read(workspace: Workspace, about: AnswerInfo) -> bytes:
    """The bytes of an answer, which are those that were written."""
    try:
        written = (workspace.place("answers", about.id) / ANSWER).read_bytes()
        if about.digest:
            whole = hashlib.sha256(written).hexdigest() == about.digest
        else:
            json.loads(written)  # of a version that kept no digest
            whole = True
    except (FileNotFoundError, IsADirectoryError, ValueError, RecursionError):
        whole = False
    if not whole:
        raise _damaged(about)
    return written


def _damaged(about: AnswerInfo) -> Refused:
    logs.trouble("damaged", kind="answer", id=about.id)
    return damaged("answer", "delete it and ask again")
