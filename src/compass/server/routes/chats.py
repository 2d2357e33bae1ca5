"""Chats: a conversation in plain words that ends in a confirmed query and its answer."""

import asyncio
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter
from fastapi import Query as Count
from pydantic import Field

from compass.chat.dialogue import begin, failed, respond, told
from compass.chat.draft import Conversation, Reply
from compass.domain.base import Noun
from compass.domain.query import Query
from compass.server.nouns import AnswerInfo, Id, Job, now
from compass.server.problems import Refused
from compass.server.routes.needs import Behind, Here, IdPath, Wait, problems
from compass.server.service import Service
from compass.server.store import Workspace, new_id

router = APIRouter(prefix="/api/v1/chats", tags=["chats"])


class NewChat(Noun):
    """What to talk about."""

    engine: Id


class Message(Noun):
    """What a person says."""

    text: str = Field(min_length=1, max_length=2000)


class Finished(Noun):
    """An answer to the query that the conversation asked to run."""

    answer: Id


class Chat(Noun):
    """A conversation and where it stands."""

    id: Id
    engine: Id
    created: datetime
    conversation: Conversation
    reply: Reply = Field(description="what Compass said last")
    answer: Id | None = Field(None, description="the answer that was given last")
    job: Job | None = Field(
        None, description="the job that answers the confirmed query, while it runs"
    )


@router.post("", status_code=201, responses=problems())
async def create(service: Behind, workspace: Here, given: NewChat) -> Chat:
    """Begin a conversation with an engine."""
    space = service.engine(workspace, given.engine).space
    conversation, reply = begin(space)
    chat = Chat(
        id=new_id(),
        engine=given.engine,
        created=now(),
        conversation=conversation,
        reply=reply,
    )
    workspace.put("chats", chat.id, chat)
    return chat


@router.get("", responses=problems())
async def listing(workspace: Here, count: Annotated[int, Count(ge=1, le=1000)] = 100) -> list[Chat]:
    """The conversations that were used last, the newest first."""
    return workspace.newest("chats", Chat, count)


@router.get("/{id}", responses=problems())
async def show(workspace: Here, name: IdPath) -> Chat:
    """A conversation with everything that was said."""
    return workspace.get("chats", name, Chat)


@router.delete("/{id}", status_code=204, responses=problems())
async def delete(workspace: Here, name: IdPath) -> None:
    """Delete a conversation. Its answers stay."""
    workspace.get("chats", name, Chat)
    workspace.remove("chats", name)


@router.post("/{id}/messages", responses=problems(409))
async def say(
    service: Behind, workspace: Here, name: IdPath, given: Message, wait: Wait = 60
) -> Chat:
    """Say something. A query that is confirmed by it is answered at once, or goes on as a job."""
    workspace.check_room(len(given.text.encode()))
    async with service.talking(workspace, name):
        chat = workspace.get("chats", name, Chat)
        space = service.engine(workspace, chat.engine).space
        answer = None
        if chat.answer is not None:
            with suppress(Refused):  # deleted meanwhile: the conversation goes on without it
                answer = service.answer(workspace, chat.answer)
        # In a thread: a language model, where there is one, may take its time.
        conversation, reply = await asyncio.get_running_loop().run_in_executor(
            service.talkers,
            partial(
                respond, chat.conversation, given.text, space, answer=answer, read=service.reader
            ),
        )
        chat = chat.model_copy(update={"conversation": conversation, "reply": reply, "job": None})
        workspace.put("chats", name, chat)
        if reply.run is not None:
            chat = await _answered(service, workspace, chat, reply.run, wait)
        return chat


@router.post("/{id}/told", responses=problems(409))
async def finish(service: Behind, workspace: Here, name: IdPath, given: Finished) -> Chat:
    """Take an answer into the conversation, once its job is done."""
    async with service.talking(workspace, name):
        chat = workspace.get("chats", name, Chat)
        if workspace.get("answers", given.answer, AnswerInfo).engine != chat.engine:
            raise Refused(
                422,
                "bad-input",
                "this answer is of another engine than the conversation",
                hint="give the answer that the job of the conversation names",
            )
        return _told(service, workspace, chat, given.answer)


async def _answered(
    service: Service, workspace: Workspace, chat: Chat, query: Query, wait: float
) -> Chat:
    question = {"question": query.model_dump(mode="json")}
    try:
        made, running = service.asking(workspace, chat.engine, question)
        done = running is None or await service.jobs.wait(running, wait)
    except Refused as refused:
        return _failed(service, workspace, chat, refused)
    if running is not None and not done:
        service.jobs.keep(running)
        waiting = chat.model_copy(update={"job": running.job})
        workspace.put("chats", chat.id, waiting)
        return waiting
    return _told(service, workspace, chat, made)


def _told(service: Service, workspace: Workspace, chat: Chat, made: str) -> Chat:
    conversation, reply = told(chat.conversation, service.answer(workspace, made))
    done = chat.model_copy(
        update={"conversation": conversation, "reply": reply, "answer": made, "job": None}
    )
    workspace.put("chats", chat.id, done)
    return done


def _failed(service: Service, workspace: Workspace, chat: Chat, refused: Refused) -> Chat:
    """What went wrong, said in the conversation, which goes on from there."""
    space = service.engine(workspace, chat.engine).space
    conversation, reply = failed(chat.conversation, refused, space)
    done = chat.model_copy(update={"conversation": conversation, "reply": reply, "job": None})
    workspace.put("chats", chat.id, done)
    return done
