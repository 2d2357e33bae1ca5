"""The texts of replies: questions, examples from the table, and short answers to choose from."""

from collections.abc import Iterable, Sequence

from compass.chat.draft import Draft, Link, Slot
from compass.domain.errors import CompassError, QuerySyntax
from compass.domain.query import Kind, Query
from compass.domain.space import Category, Number, Role, Space
from compass.evidence.direction import usual_direction
from compass.language import format_query, format_value, listed

_DOUBTS = 6  # roles to check that are written out
_SHOWN = 12  # columns written out in a list
_FEW = ("no", "this", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# What people call these columns; every other column is called by its name.
_CALLED = {
    "nodes": "number of nodes",
    "num_nodes": "number of nodes",
    "gpus_per_node": "GPUs per node",
    "cpu_cores": "CPU cores",
}
_FIRST = (
    "runtime",
    "power",
    "nodes",
    "num_nodes",
    "gpus_per_node",
    "cpu_cores",
    "queue",
    "partition",
)

AGREED = "Cool."
KINDS = ("recommend a configuration", "reconfigure a run", "what if")
GREETING = (
    "Hello. You can ask which configuration to use, what the smallest change of a run is, "
    "or what happens if you change something."
)
AFTER = "You can ask why, what if, or for more options."
AFTER_NOTHING = "You can ask why, what to run next, or for less certainty."
AFTER_WHAT_IF = "You can ask why, or what if you change something else."
HELP = """You can say, in your own words:
- which configuration to use: recommend nodes and cores to minimize runtime
- the smallest change of a run: reconfigure row 12 to reduce power by 10%
- what happens if: what if I double the threads?
- limits: under 16 nodes, at most 300 W, only the gpu partition
- how sure to be: with 95 % certainty; it may go beyond past runs
- corrections: no, under 8 nodes; I meant gpus
- what should I run next?
- what is known: how sure are you?, my best run so far, what matters most for runtime?, show row 12
- why?, give me more options, undo, start over, help
A query in the query language is understood too. Nothing runs before you have confirmed it."""

WHY_ASKED = {
    Slot.KIND: "The three questions are answered in different ways: a recommendation starts from "
    "past runs, a reconfiguration from one run that you have, a what-if only predicts.",
    Slot.GOAL: "The objective says which outcome decides between configurations, and which way.",
    Slot.PARAMETERS: "I look for values of these parameters only; everything else stays as it "
    "was in past runs.",
    Slot.CHANGE: "A what-if predicts the outcomes after a change, so I need to know the change.",
    Slot.BASELINE: "The smallest change is counted from a configuration that you have: one of "
    "your past runs, or values that you write down.",
    Slot.COLUMNS: "You used other words than your table does. If I took them for the wrong "
    "column, the answer would be about something else.",
    Slot.WORDS: "What I did not understand could change the answer, so I ask before I go on.",
    Slot.CONSTRAINTS: "A constraint is a limit that every suggestion must obey, such as the size "
    "of your machine. Without one I may suggest anything that past runs support.",
    Slot.CONFIRM: "This is exactly what I am going to answer. Nothing runs before you agree.",
}


def error_text(error: CompassError) -> str:
    """What is wrong and what to do about it, as sentences."""
    what, hint = _sentence(error.message), _sentence(error.hint)
    if isinstance(error, QuerySyntax) and error.text:
        return f"{what}\n{error.pointer()}\n{hint}"
    return f"{what} {hint}".strip()


def _sentence(text: str) -> str:
    if not text:
        return ""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def roles_to_check(doubts: Sequence[str]) -> str:
    """Which roles of columns are guesses, and what to do about a wrong one."""
    lines = [f"  {doubt}" for doubt in doubts[:_DOUBTS]]
    more = len(doubts) - len(lines)
    lines += [f"  and {more} more"] if more else []
    head = "Please check what I take these columns for; if one is wrong, begin again with its role:"
    return "\n".join([head, *lines])


def begin_example(space: Space) -> str:
    """A first sentence that works on this table."""
    knobs, goals = _sorted(space.having(Role.KNOB))[:2], goal_examples(space)
    return f"recommend {listed(knobs)} to {goals[0]}" if knobs and goals else KINDS[0]


def _sorted(names: Iterable[str]) -> list[str]:
    """Columns that most people know come first, then the table's order."""
    known = list(names)
    return [n for n in _FIRST if n in known] + [n for n in known if n not in _FIRST]


def _numbers(space: Space, *roles: Role) -> list[str]:
    return _sorted(n for n in space.having(*roles) if isinstance(space[n], Number))


def _categories(space: Space, *roles: Role) -> list[str]:
    return _sorted(n for n in space.having(*roles) if isinstance(space[n], Category))


def goal_examples(space: Space) -> tuple[str, ...]:
    """Goals that this table can have."""
    numbers = _numbers(space, Role.OUTCOME)[:2]
    ranges = (f"keep {numbers[-1]} within a range",) if numbers else ()
    return (*_goal_choices(space), *ranges)


def _goal_choices(space: Space) -> tuple[str, ...]:
    """Goals of this table that are complete as they stand."""
    numbers = _numbers(space, Role.OUTCOME)[:2]
    if numbers:
        return tuple(f"{usual_direction(name)} {name}" for name in numbers)
    classes = [space[name] for name in _categories(space, Role.OUTCOME)[:2]]
    return tuple(
        f"{c.name} = {format_value(c.values[0])}" for c in classes if isinstance(c, Category)
    )


def parameter_examples(space: Space) -> tuple[str, ...]:
    """Parameters of this table, as people call them."""
    called = [n for n in _FIRST if n in _CALLED and n in space.having(Role.KNOB, Role.CONTEXT)]
    names = dict.fromkeys((*called, *space.having(Role.KNOB)))
    return tuple(dict.fromkeys(_CALLED.get(n, n) for n in names))[:3]


def change_examples(space: Space) -> tuple[str, ...]:
    """Changes that this table can have."""
    numbers = _numbers(space, Role.KNOB)[:1]
    found = [f"double {name}" for name in numbers]
    for name in _categories(space, Role.KNOB)[:1]:
        category = space[name]
        assert isinstance(category, Category)
        found.append(f"set {name} to {format_value(category.values[-1])}")
    return tuple(found)


def constraint_examples(space: Space) -> tuple[str, ...]:
    """Kinds of limits that this table can have."""
    knobs = _numbers(space, Role.KNOB) or _numbers(space, Role.CONTEXT)
    limits = [f"maximum {n}" for n in knobs[:1]]
    outcomes = _numbers(space, Role.OUTCOME)
    limits += [f"{n} limits" for n in (outcomes[1:2] or outcomes[:1])]
    restricted = _categories(space, Role.CONTEXT, Role.KNOB)
    return (*limits, *(f"{n} restrictions" for n in restricted[:1]))


def _bracket(examples: Sequence[str], last: str = "") -> str:
    """(e.g., a, b, or c)."""
    if not examples:
        return ""
    if last and len(examples) > 1:
        return f"(e.g., {', '.join(examples[:-1])}, {last} {examples[-1]})"
    return f"(e.g., {', '.join(examples)})"


def quoted(words: str) -> str:
    """Somebody's words, shortened, in quotation marks."""
    kept = " ".join(words.split())
    return f"'{kept if len(kept) <= 60 else kept[:57] + '...'}'"


def or_list(names: Sequence[str]) -> str:
    """Names to choose from: a, b or c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def shortened(names: Sequence[str]) -> str:
    """The first of many names."""
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def confirm_columns(names: Sequence[str], draft: Draft) -> str:
    """Whether these columns are meant."""
    asked = all(name in draft.ask or name in draft.change for name in names)
    what = "parameter" if asked else "column"
    if len(names) == 1:
        return (
            f"Your dataset has the following as column name: {names[0]}. Do you mean this {what}?"
        )
    count = _FEW[len(names)] if len(names) < len(_FEW) else str(len(names))
    return (
        f"Your dataset has the following as column names: {listed(names)}. "
        f"Do you mean these {count} {what}s?"
    )


def which_column(link: Link, candidates: Sequence[str]) -> str:
    """Which of several columns is meant."""
    names = or_list(candidates) if len(candidates) <= _SHOWN else shortened(candidates)
    return f"Which column do you mean by {quoted(link.words)}: {names}?"


def question(slot: Slot, draft: Draft, space: Space, undirected: Sequence[str] = ()) -> str:
    """The question that asks for a part; confirmations have their own words."""
    match slot:
        case Slot.KIND:
            return f"What would you like to know? {_bracket([begin_example(space), *KINDS[1:]])}"
        case Slot.GOAL if undirected:
            name = undirected[0]
            return f"Should {name} be minimized or maximized? You can also give a range."
        case Slot.GOAL:
            return f"What is your objective?\n{_bracket(goal_examples(space), 'or')}"
        case Slot.PARAMETERS:
            verb = "change" if draft.kind is Kind.RECONFIGURE else "recommend values for"
            examples = _bracket(parameter_examples(space))
            return f"Which parameters should I {verb}?\n{examples}"
        case Slot.CHANGE:
            return f"What would you like to change?\n{_bracket(change_examples(space))}"
        case Slot.BASELINE:
            return (
                "Which run should I start from?\n"
                f"{_bracket(['row 0', f'a configuration: {example_config(space)}'])}"
            )
        case _:
            return (
                "Do you have any other constraints? " + _bracket(constraint_examples(space))
            ).rstrip()


def example_config(space: Space) -> str:
    """Two settings of this table."""
    parts = []
    for name in space.having(Role.KNOB, Role.CONTEXT)[:2]:
        parameter = space[name]
        value = parameter.values[0] if isinstance(parameter, Category) else parameter.low
        parts.append(f"{name} = {format_value(value)}")
    return ", ".join(parts)


def choices(slot: Slot, space: Space, undirected: Sequence[str] = ()) -> tuple[str, ...]:
    """Short answers to a question that would be understood."""
    match slot:
        case Slot.KIND:
            return KINDS
        case Slot.GOAL if undirected:
            return (f"minimize {undirected[0]}", f"maximize {undirected[0]}")
        case Slot.GOAL:
            return _goal_choices(space)
        case Slot.PARAMETERS:
            return (*parameter_examples(space), "all of them")
        case Slot.CHANGE:
            return change_examples(space)
        case Slot.BASELINE:
            return ("row 0",)
        case Slot.CONSTRAINTS:
            return ("no",)
        case _:
            return ("yes", "no")


def query_text(query: Query) -> str:
    """A query as a sentence; `parse_query` reads it back."""
    text = format_query(query)
    if query.kind is Kind.WHAT_IF:
        return f"{text}?"
    # Behind a number the full stop would be read as its decimal point.
    return f"{text}." if text.endswith("}") else text


def confirmation(query: Query) -> str:
    """The finished query, to be confirmed."""
    return f"✓ Query complete. Can you please confirm the following query:\n{query_text(query)}"
