"""The table of Figure 5, and readings written by hand, for tests of the dialogue."""

from compass.chat.draft import Act, Conversation, Draft, How, Link, Reading, Reply, Slot
from compass.chat.dialogue import begin, respond
from compass.domain.answer import Answer
from compass.domain.space import Category, Number, Role, Space


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


def says(act: Act = Act.SAY, links: tuple[Link, ...] = (), **parts: object) -> Reading:
    """A message that says these parts."""
    own = ("correction", "dropped", "unknown", "outcome_without_goal", "note")
    about = {name: parts.pop(name) for name in own if name in parts}
    said = Draft.model_validate(parts)
    return Reading.model_validate({"act": act, "said": said, "links": links, **about})


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
