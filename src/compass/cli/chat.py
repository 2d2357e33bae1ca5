"""`compass chat`: the dialogue in a terminal, or one message per line through a pipe."""

import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from compass.cli import flags, sources
from compass.cli.garbage import look_as_usual
from compass.cli.groups import ServerFlags, grouped
from compass.cli.study import StudyFlags
from compass.domain.errors import BadInput, CompassError

if TYPE_CHECKING:
    from compass.chat.draft import Conversation, Inquiry, NextRuns, Reply
    from compass.chat.steps import Step
    from compass.client.engine import RemoteEngine
    from compass.domain.answer import Answer
    from compass.domain.space import Space
    from compass.engine.compass import Compass

_ENDS = ("exit", "quit", "bye")

Address = Annotated[
    flags.MaybeText,
    flags.option(
        "--llm",
        "URL",
        "A language model that helps to understand you, e.g. http://localhost:11434/v1; "
        "a key comes from COMPASS_LLM_KEY.",
    ),
]
ModelName = Annotated[
    flags.MaybeText, flags.option("--llm-model", "NAME", "The name of that model.")
]


@grouped
def chat(
    data: flags.Source,
    llm: Address = None,
    llm_model: ModelName = None,
    surrogate: flags.Surrogate = None,
    *,
    study: StudyFlags,
    remote: ServerFlags,
    no_cache: flags.NoCache = False,
    as_json: flags.AsJson = False,
) -> None:
    """Ask in plain words; Compass asks back, shows the query, and answers once you agree.

    Through a pipe each line is a message. Leave with Ctrl-D, exit or quit.
    """
    from compass.cli.progress import progress

    read = _reader(llm, llm_model)
    given = study.parsed()
    with progress(quiet=as_json) as tell:
        engine = sources.engine(
            data, given, tell, remote.connect(), cached=not no_cache, surrogate=surrogate
        )
    look_as_usual()
    talk(engine, read, Json() if as_json else Terminal())


def _reader(address: str | None, name: str | None) -> dict[str, Any]:
    """How messages are read, for `respond`."""
    if (address is None) != (name is None):
        raise BadInput(
            "a language model needs an address and a name",
            hint="give both: --llm http://localhost:11434/v1 --llm-model llama3.1",
        )
    if address is None or name is None:
        return {}
    from compass.chat.assistant import reader

    return {"read": reader(address, name)}


class Terminal:
    """The dialogue as a person reads it."""

    quiet = False

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console()
        self.typed = sys.stdin.isatty()

    def messages(self) -> Iterator[str]:
        """What the person types, or the lines of a pipe, which are shown too."""
        while self.typed:
            try:
                yield input("You: ")
            except EOFError:
                sys.stdout.write("\n")
                return
        for line in sys.stdin:
            if line.strip():
                self._print(f"You: {line.strip()}")
            yield line

    def reply(self, reply: "Reply") -> None:
        """Show what Compass says."""
        self._print(f"Compass: {reply.text}")

    def answer(self, answer: "Answer") -> None:
        """Show an answer in full."""
        from compass.cli import render

        render.answer(self.console, answer)
        self.console.print()

    def error(self, error: CompassError) -> None:
        """Show what cannot be used."""
        self._print(f"Compass: {error}")

    def _print(self, text: str) -> None:
        from compass.cli.render import printable

        # A query is to be copied: the terminal breaks it, not we.
        self.console.print(printable(text), soft_wrap=True)


class Json:
    """The dialogue for programs: one JSON object per line."""

    quiet = True

    def __init__(self) -> None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # JSON is, whatever the terminal is

    def messages(self) -> Iterator[str]:
        """The lines of standard input."""
        yield from sys.stdin

    def reply(self, reply: "Reply") -> None:
        """Write what Compass says."""
        self._write("reply", reply.model_dump_json())

    def answer(self, answer: "Answer") -> None:
        """Write an answer in full."""
        self._write("answer", answer.model_dump_json())

    def error(self, error: CompassError) -> None:
        """Write what cannot be used."""
        import json

        self._write("error", json.dumps({"message": error.message, "hint": error.hint}))

    def _write(self, what: str, text: str) -> None:
        sys.stdout.write(f'{{"{what}": {text}}}\n')
        sys.stdout.flush()


def _proposed(
    engine: "Compass | RemoteEngine",
    conversation: "Conversation",
    wanted: "NextRuns",
    screen: Terminal | Json,
) -> "Step":
    """What Compass says of the runs to make next."""
    from compass.chat.dialogue import failed, show_proposals
    from compass.cli.progress import progress

    try:
        with progress(quiet=screen.quiet) as tell:
            sources.show_progress(engine, tell)
            found = engine.run_next(wanted.count, wanted.query)
    except CompassError as error:
        return failed(conversation, error, engine.space)
    return show_proposals(conversation, found, engine.space)


def _looked_up(
    engine: "Compass | RemoteEngine",
    conversation: "Conversation",
    inquiry: "Inquiry",
    space: "Space",
    screen: Terminal | Json,
) -> "Step":
    """What Compass says of what is known already."""
    from compass.chat.dialogue import show_findings
    from compass.chat.look_up import look_up
    from compass.cli.progress import progress
    from compass.engine.compass import Compass

    try:
        with progress(quiet=screen.quiet) as tell:
            sources.show_progress(engine, tell)
            if isinstance(engine, Compass):
                found = look_up(engine, inquiry)
            else:
                found = engine.look_up(inquiry)
    except CompassError as error:
        return show_findings(conversation, error, space)
    return show_findings(conversation, found, space)


def talk(engine: "Compass | RemoteEngine", read: dict[str, Any], screen: Terminal | Json) -> None:
    """Hold a conversation until the person leaves."""
    from compass.chat.dialogue import begin, failed, respond, show_answer
    from compass.cli.progress import progress

    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    space = _nameable(engine)
    conversation, reply = begin(space, _doubts(engine))
    screen.reply(reply)
    answer: Answer | None = None
    for message in screen.messages():
        if message.strip().casefold().rstrip(".!") in _ENDS:
            return
        if not message.strip():
            continue
        try:
            conversation, reply = respond(conversation, message, space, answer=answer, **read)
        except BadInput as error:
            screen.error(error)
            continue
        screen.reply(reply)
        if reply.propose is not None:
            conversation, reply = _proposed(engine, conversation, reply.propose, screen)
            screen.reply(reply)
        if reply.inquiry is not None:
            wanted = reply.inquiry
            conversation, reply = _looked_up(engine, conversation, wanted, space, screen)
            screen.reply(reply)
        if reply.run is None:
            continue
        try:
            with progress(quiet=screen.quiet) as tell:
                sources.show_progress(engine, tell)
                answer = engine.ask(reply.run)
        except CompassError as error:
            conversation, reply = failed(conversation, error, space)
        else:
            screen.answer(answer)
            conversation, reply = show_answer(conversation, answer)
        screen.reply(reply)


def _doubts(engine: "Compass | RemoteEngine") -> list[str]:
    """The roles that are guesses, each with the flag that sets it right."""
    from compass.engine.compass import Compass
    from compass.prepare.role_words import flag

    if isinstance(engine, Compass):
        columns = engine.data.prepared.columns
    else:
        columns = engine.columns().columns
    return [
        f"{one.name}: {one.question.why} ({flag(one.name, one.question.alternatives[0])})"
        for one in columns
        if one.question is not None
    ]


def _nameable(engine: "Compass | RemoteEngine") -> "Space":
    """The columns that a conversation may name; of a table at hand, constant ones as well."""
    from compass.engine.compass import Compass

    return engine.data.prepared.with_constants if isinstance(engine, Compass) else engine.space
