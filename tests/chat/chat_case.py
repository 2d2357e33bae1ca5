"""The table of Figure 5, readings written by hand, and an answer, for tests of the dialogue."""

from functools import cache

import pyarrow as pa

import compass as cp
from compass.chat.dialogue import begin, respond, show_answer
from compass.chat.draft import Act, Conversation, Draft, How, Link, Reading, Reply, Slot
from compass.domain.answer import Answer
from compass.domain.space import Category, Number, Role, Space
from compass.language import format_query
from compass.settings import ForestSettings, TrustSettings
from conftest import ROLES, cluster_columns


def number(name: str, role: Role = Role.KNOB, high: float = 64, unit: str | None = None) -> Number:
    step = 1.0 if role is Role.KNOB else None
    return Number(name=name, role=role, low=1, high=high, step=step, unit=unit)


FIGURE = Space(
    parameters=(
        number("nodes"),
        number("gpus_per_node", high=8),
        number("cpu_cores", high=128),
        number("num_threads"),
        Category(name="thread_affinity", values=("close", "spread")),
        Category(name="queue", role=Role.CONTEXT, values=("debug", "long")),
        number("runtime", Role.OUTCOME, 3600, "s"),
        number("power", Role.OUTCOME, 900, "W"),
    )
)


def link(words: str, *columns: str, how: How = How.SYNONYM) -> Link:
    return Link(words=words, columns=columns, how=how)


def says(act: Act = Act.INFORM, links: tuple[Link, ...] = (), **parts: object) -> Reading:
    """A message that says these parts."""
    own = Reading.model_fields.keys() - {"act", "parts", "links"}
    about = {name: parts.pop(name) for name in own if name in parts}
    draft = Draft.model_validate(parts)
    return Reading.model_validate({"act": act, "parts": draft, "links": links, **about})


class Talk:
    """A conversation in which each message is read by rules, or as a given reading."""

    def __init__(self, space: Space = FIGURE) -> None:
        self.space = space
        self.conversation, self.reply = begin(space)
        self.answer: Answer | None = None

    def say(self, text: str, reading: Reading | None = None) -> Reply:
        """The reply to a message; the conversation is kept as JSON in between."""
        reader = {} if reading is None else {"read": lambda *_, **__: reading}
        kept = Conversation.model_validate_json(self.conversation.model_dump_json())
        assert kept == self.conversation
        self.conversation, self.reply = respond(
            kept, text, self.space, answer=self.answer, **reader
        )
        return self.reply

    def yes(self) -> Reply:
        return self.say("yes", Reading(act=Act.YES))

    def no(self) -> Reply:
        return self.say("no", Reading(act=Act.NO))

    def expects(self, slot: Slot | None) -> None:
        assert self.reply.expecting is slot, self.reply.text
        assert self.conversation.expecting is slot


def text_of(reply: Reply) -> str:
    """The query that a reply shows."""
    assert reply.query is not None, reply.text
    return format_query(reply.query)


@cache
def quick_engine() -> cp.Compass:
    """An engine that learns in a moment: these tests are about what is said."""
    quick = cp.Settings(
        surrogate="forest", forest=ForestSettings(trees=10), trust=TrustSettings(trees=4)
    )
    data = cp.read(pa.table(cluster_columns(300))).roles(**ROLES)
    return cp.Compass(data, rules=["cores <= 32 * nodes"], settings=quick)


@cache
def quick_answer() -> Answer:
    """The answer to one question."""
    return quick_engine().ask(
        "Recommend X = {gpus: ?} to achieve Y = {runtime: minimize} where app == wrf"
    )


def after_an_answer() -> Talk:
    """A conversation that has just been told that answer."""
    answer = quick_answer()
    talk = Talk(quick_engine().space)
    talk.say(f"{answer.text}.")
    talk.yes()
    assert talk.reply.run == answer.query
    talk.conversation, talk.reply = show_answer(talk.conversation, answer)
    talk.answer = answer
    return talk
