"""The tasks of a working process for chats: reading messages and drafts.

Whatever people write is read here and nowhere else in the server: a message that takes too long
ends one of these processes and not the one that answers everybody.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from compass.chat.draft import Conversation, Reply
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.chat.assistant import Messages
    from compass.chat.steps import Step
    from compass.domain.answer import Answer
    from compass.domain.space import Space

Report = Callable[[str, int, int], None]
Given = dict[str, Any]

_KEPT = 16  # tables that stay in memory


class ChatStep(BaseModel):
    """What Compass says next; or, before that, the messages for a language model."""

    step: tuple[Conversation, Reply] | None = None
    messages: list[dict[str, str]] = []


class _ModelNeeded(Exception):
    """The language model has to be asked before it goes on."""

    def __init__(self, messages: "Messages") -> None:
        super().__init__()
        self.messages = messages


class ChatHandlers:
    """Takes conversations a step further, and keeps the tables that they are about in memory."""

    def __init__(self) -> None:
        self._spaces: OrderedDict[str, Space] = OrderedDict()

    def begin(self, given: Given, _: Report) -> bytes:
        """What Compass says first."""
        from compass.chat.dialogue import begin

        return _written(begin(self._space(given)))

    def say(self, given: Given, _: Report) -> bytes:
        """What Compass says to a message.

        Where there is a language model, `replies` is what it has replied so far. This process must
        not know the key to it: when it is to be asked, the server does so, and sends all again.
        """
        from compass.chat.assistant import drafted_by
        from compass.chat.dialogue import respond

        conversation = Conversation.model_validate(given["conversation"])
        replies = given.get("replies")
        reader = {} if replies is None else {"read": drafted_by(_replayed(replies))}
        try:
            step = respond(
                conversation,
                given["text"],
                self._space(given),
                answer=_answer(given.get("answer")),
                **reader,
            )
        except _ModelNeeded as needed:
            return ChatStep(messages=needed.messages).model_dump_json().encode()
        return _written(step)

    def edit(self, given: Given, _: Report) -> bytes:
        """What Compass says to a draft that was changed in a form."""
        from compass.chat.dialogue import edited
        from compass.chat.draft import Draft

        conversation = Conversation.model_validate(given["conversation"])
        draft = Draft.model_validate(given["draft"])
        return _written(edited(conversation, draft, self._space(given)))

    def _space(self, given: Given) -> "Space":
        from compass.domain.space import Space

        path = given["about"]
        if path not in self._spaces:  # of an engine, which never changes
            try:
                about = json.loads(Path(path).read_bytes())
                self._spaces[path] = Space.model_validate(about["space"])
            except (OSError, ValueError, KeyError, TypeError):
                raise BadInput(
                    "what is kept about this engine is damaged", hint="learn it again"
                ) from None
            while len(self._spaces) > _KEPT:
                self._spaces.popitem(last=False)
        self._spaces.move_to_end(path)
        return self._spaces[path]


def _replayed(recorded: Iterable[dict[str, str]]) -> "Callable[[Messages], str]":
    """A language model that repeats its recorded replies."""
    from compass.chat.assistant import Unusable

    replies = iter(recorded)

    def ask(messages: "Messages") -> str:
        reply = next(replies, None)
        if reply is None:
            raise _ModelNeeded(messages)
        if "unusable" in reply:
            raise Unusable(reply["unusable"])
        return reply["content"]

    return ask


def _answer(folder: str | None) -> "Answer | None":
    from compass.domain.answer import Answer, Pending
    from compass.domain.api import AnswerInfo
    from compass.server.answers import file_of
    from compass.server.store import ABOUT

    if folder is None:
        return None
    # There may be more of it than a moment ago, in another file: once for each part of it.
    for _ in range(len(Pending) + 1):
        try:
            about = AnswerInfo.model_validate_json(Path(folder, ABOUT).read_bytes())
            return Answer.model_validate_json(Path(folder, file_of(about)).read_bytes())
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            break
    return None  # deleted meanwhile, or damaged: it goes on without it


def _written(step: "Step") -> bytes:
    return ChatStep(step=step).model_dump_json().encode()
