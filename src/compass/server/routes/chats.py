"""Chats: a conversation in plain words that ends in a confirmed query and its answer."""

import re
from datetime import datetime
from typing import Any

from fastapi import Response
from pydantic import Field

from compass.chat.dialogue import (
    failed,
    show_answer,
    show_findings,
    show_proposals,
    unreadable,
)
from compass.chat.draft import Conversation, Draft, Inquiry, NextRuns, Reply, Turn
from compass.chat.outcomes import NEEDS_MODEL, outcome_meant
from compass.chat.steps import Step
from compass.domain.api import AnswerInfo, Id, Job, RunNext, State, excerpt
from compass.domain.base import Noun
from compass.domain.errors import BadInput
from compass.domain.findings import Findings
from compass.domain.query import Query
from compass.language import format_query
from compass.server import logs
from compass.server.chat_tasks import ChatStep
from compass.server.learning import learn_named
from compass.server.listing import Listing
from compass.server.problems import Refused, fault, not_found, too_large
from compass.server.routes.dependencies import (
    LIST_HEADERS,
    IdPath,
    ListDep,
    ServiceDep,
    Wait,
    WorkspaceDep,
    router_for,
)
from compass.server.service import Service
from compass.server.sizes import readable_size
from compass.server.store import ABOUT, Workspace, new_id, now

router = router_for("chats", "/api/v1/chats")
_NOTE = re.compile(r"\(.*\)", re.DOTALL)
_SHORT = re.compile(r"\s*(yes|no)\s*$", re.IGNORECASE)
_FORMAL = re.compile(
    r"\s*(recommend a configuration|reconfigure|what if we change)\s+X\s*=\s*\{", re.IGNORECASE
)
_LONGEST_DRAFT = 32 * 1024  # 50 of them are kept, to be undone
_ENDED = ("too-slow", "too-large")  # of a message that ended the process which read it


class NewChat(Noun):
    """What to talk about."""

    engine: Id


class Message(Noun):
    """What a person says."""

    text: str = Field(min_length=1, max_length=2000)


class ChatAnswer(Noun):
    """An answer to the query that the conversation asked to run."""

    answer: Id


class ChatBrief(Noun):
    """A conversation in a list."""

    id: Id
    engine: Id
    created: datetime
    title: str = Field(
        description="the first words of the person or, where all was done in a form, the question "
        "that came of it; empty: nothing was said yet"
    )
    messages: int = Field(description="how often the person said or changed something")
    answer: Id | None = Field(None, description="the answer that was given last")


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
    question: str = Field(
        "", description="the query to confirm, or answered last, as canonical text; else empty"
    )

    def brief(self) -> ChatBrief:
        """It in a list."""
        turns = self.conversation.turns
        return ChatBrief(
            id=self.id,
            engine=self.engine,
            created=self.created,
            title=excerpt(title_of(turns)),
            messages=sum(turn.who == "person" for turn in turns),
            answer=self.answer,
        )

    def after(self, step: Step, **more: Any) -> "Chat":
        """The chat after a step of the dialogue."""
        conversation, reply = step
        query = reply.query or reply.run
        if query is None and conversation.expecting is None:
            query = conversation.last
        return self.model_copy(
            update={
                "conversation": conversation,
                "reply": reply,
                "job": None,
                "question": "" if query is None else format_query(query),
                **more,
            }
        )


CHATS = Listing("chats", Chat, ChatBrief, Chat.brief, by_use=True)


def title_of(turns: tuple[Turn, ...]) -> str:
    """What a conversation is called: notes of a form, `yes` and `no` tell nothing of it."""
    texts = [turn.text for turn in turns if turn.who == "person"]
    naming = [text for text in texts if not _NOTE.fullmatch(text) and not _SHORT.match(text)]
    lines = [line for turn in turns if turn.who == "compass" for line in turn.text.splitlines()]
    asked = [line for line in lines if _FORMAL.match(line)]
    return naming[0] if naming else asked[-1] if asked else ""


@router.post("", status_code=201)
async def create(service: ServiceDep, workspace: WorkspaceDep, given: NewChat) -> Chat:
    """Begin a conversation with an engine."""
    # It does not read anything yet, but the process that will may have to start.
    seconds = service.limits.query_seconds
    conversation, reply = await _step(service, workspace, given.engine, "begin", seconds)
    chat = Chat(
        id=new_id(),
        engine=given.engine,
        created=now(),
        conversation=conversation,
        reply=reply,
    )
    workspace.put("chats", chat.id, chat)
    return chat


@router.get("", response_model=list[ChatBrief], responses=LIST_HEADERS)
async def listing(listed: ListDep) -> Response:
    """The conversations that were used last, the newest first."""
    return await listed.of(CHATS)


@router.get("/{id}")
async def show(workspace: WorkspaceDep, name: IdPath) -> Chat:
    """A conversation with everything that was said."""
    return workspace.get("chats", name, Chat)


@router.delete("/{id}", status_code=204)
async def delete(workspace: WorkspaceDep, name: IdPath) -> None:
    """Delete a conversation. Its answers stay."""
    if not workspace.remove("chats", name):
        raise not_found("chat")


@router.post("/{id}/messages")
async def say(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: Message, wait: Wait = 60
) -> Chat:
    """Say something. A query that is confirmed by it is answered at once, or goes on as a job."""
    workspace.check_room(len(given.text.encode()))
    async with service.chat_turn(workspace, name):
        chat = workspace.get("chats", name, Chat)
        chat = chat.after(await _read(service, workspace, chat, given.text))
        if chat.reply.run is not None:
            return await _answered(service, workspace, chat, chat.reply.run, wait)
        if chat.reply.propose is not None:
            chat = await _proposed(service, workspace, chat, chat.reply.propose)
        if chat.reply.inquiry is not None:
            chat = await _looked_up(service, workspace, chat, chat.reply.inquiry)
        workspace.put("chats", name, chat)
        return chat


@router.put("/{id}/draft")
async def edit(service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: Draft) -> Chat:
    """Change the draft directly, as a form does. The reply asks for what is missing or confirms."""
    size = len(given.model_dump_json())
    if size > _LONGEST_DRAFT:
        raise too_large(
            f"the draft is longer than {readable_size(_LONGEST_DRAFT)}",
            "name fewer rules or columns",
        )
    workspace.check_room(size)
    async with service.chat_turn(workspace, name):
        chat = workspace.get("chats", name, Chat)
        step = await _step(
            service,
            workspace,
            chat.engine,
            "edit",
            service.limits.message_seconds,
            conversation=chat.conversation.model_dump(mode="json"),
            draft=given.model_dump(mode="json"),
        )
        # A question that is being answered goes on, whatever is asked next.
        chat = chat.after(step, job=_under_way(service, workspace, chat))
        workspace.put("chats", name, chat)
        return chat


@router.post("/{id}/answers")
async def take_answer(
    service: ServiceDep, workspace: WorkspaceDep, name: IdPath, given: ChatAnswer
) -> Chat:
    """Take an answer into the conversation, once its job is done."""
    async with service.chat_turn(workspace, name):
        chat = workspace.get("chats", name, Chat)
        if workspace.get("answers", given.answer, AnswerInfo).engine != chat.engine:
            raise Refused(
                422,
                "bad-input",
                "this answer is of another engine than the conversation",
                hint="give the answer that the job of the conversation names",
            )
        if chat.answer == given.answer and chat.job is None:
            return chat  # taken already: by another window, or before a reply that got lost
        return await _with_answer(service, workspace, chat, given.answer)


async def _read(service: Service, workspace: Workspace, chat: Chat, text: str) -> Step:
    """What Compass says to a message, also to one that takes too long to read."""
    try:
        return await _step(
            service,
            workspace,
            chat.engine,
            "say",
            service.limits.message_seconds,
            conversation=chat.conversation.model_dump(mode="json"),
            text=text,
            answer=chat.answer and str(workspace.place("answers", chat.answer)),
        )
    except Refused as refused:
        if refused.problem.code not in _ENDED:
            raise
        problem = BadInput(
            "I could not read this message within what the server allows",
            hint="say it in fewer words, or in several messages",
        )
        return unreadable(
            chat.conversation, text, problem, service.engine(workspace, chat.engine).space
        )


async def _step(
    service: Service, workspace: Workspace, engine: str, task: str, seconds: float, **given: Any
) -> Step:
    """What a working process says next; a language model is asked in between where it wants to."""
    owner = service.owner_of(workspace, "engines", engine)
    about = str(owner.place("engines", engine) / ABOUT)
    replies: list[dict[str, str]] = []
    while True:
        work = {"about": about, "replies": None if service.model is None else replies, **given}
        written = await service.chat_pool.do(
            task, work, owner=workspace.id, seconds=seconds, warm=about
        )
        step = ChatStep.model_validate_json(written)
        if step.step is not None:
            return step.step
        if service.model is None:
            raise fault(logs.note_fault(what="a language model is missing"))
        replies.append(await service.model.reply(step.messages))


async def _answered(
    service: Service, workspace: Workspace, chat: Chat, query: Query, wait: float
) -> Chat:
    question = {"question": query.model_dump(mode="json")}
    try:
        made, running = service.answer_job(workspace, chat.engine, question)
        if running is not None:
            # Whoever looks while it is waited for finds the job, not a question without one.
            chat = chat.model_copy(update={"job": running.job})
            workspace.put("chats", chat.id, chat)
        done = running is None or await service.jobs.wait(running, wait)
    except Refused as refused:
        return _failed(service, workspace, chat, refused)
    if running is not None and not done:
        service.jobs.keep(running)
        chat = chat.model_copy(update={"job": running.job})
        workspace.put("chats", chat.id, chat)
        return chat
    return await _with_answer(service, workspace, chat, made)


async def _proposed(service: Service, workspace: Workspace, chat: Chat, wanted: NextRuns) -> Chat:
    """The chat with the runs to make next, or with why there are none."""
    space = service.engine(workspace, chat.engine).space
    question = None if wanted.query is None else wanted.query.model_dump(mode="json")
    try:
        reply = await service.run_engine_task(
            workspace,
            chat.engine,
            "next",
            count=wanted.count,
            question={"question": question},
            pending=(),
        )
    except Refused as refused:
        return chat.after(failed(chat.conversation, refused, space))
    found = RunNext.model_validate(reply).run_next
    return chat.after(show_proposals(chat.conversation, found, space))


async def _looked_up(service: Service, workspace: Workspace, chat: Chat, wanted: Inquiry) -> Chat:
    """The chat with what is known already, or with why that cannot be told."""
    space = service.engine(workspace, chat.engine).space
    inquiry = wanted.model_dump(mode="json")
    try:
        if wanted.topic in NEEDS_MODEL:
            meant = outcome_meant(space, wanted.outcome)
            await learn_named(service, workspace, chat.engine, [meant])
        reply = await service.run_engine_task(workspace, chat.engine, "look_up", inquiry=inquiry)
    except Refused as refused:
        return chat.after(show_findings(chat.conversation, refused, space))
    found = Findings.model_validate(reply)
    return chat.after(show_findings(chat.conversation, found, space))


def _under_way(service: Service, workspace: Workspace, chat: Chat) -> Job | None:
    """The job of a chat, unless it came to nothing."""
    if chat.job is None:
        return None
    try:
        job = service.jobs.get(workspace, chat.job.id)
    except Refused:  # forgotten meanwhile
        return None
    return None if job.state in (State.FAILED, State.CANCELLED) else job


async def _with_answer(service: Service, workspace: Workspace, chat: Chat, made: str) -> Chat:
    answer = await service.answer(workspace, made)
    done = chat.after(show_answer(chat.conversation, answer, chat.reply), answer=made)
    workspace.put("chats", chat.id, done)
    return done


def _failed(service: Service, workspace: Workspace, chat: Chat, refused: Refused) -> Chat:
    """What went wrong, said in the conversation, which goes on from there."""
    space = service.engine(workspace, chat.engine).space
    done = chat.after(failed(chat.conversation, refused, space))
    workspace.put("chats", chat.id, done)
    return done
