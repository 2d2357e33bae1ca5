"""From facts to a draft: which question it is, and what each fact is in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf

from compass.chat.draft import Draft, How, Link, Slot
from compass.chat.draft_columns import columns_of, with_renamed_column
from compass.chat.english import question_kind
from compass.chat.english.clauses import Direction
from compass.chat.english.corrections import corrected, is_said, numbers_in, value_for
from compass.chat.english.facts import (
    About,
    Ask,
    Bare,
    Count,
    Drop,
    Equal,
    Everything,
    Fact,
    Keep,
    Limit,
    Loose,
    LooseMove,
    Measured,
    Misfit,
    Moved,
    Named,
    Relation,
    Start,
    Than,
    Told,
    Wanted,
    Watch,
)
from compass.chat.english.link import Index
from compass.chat.english.quantities import fits, number_of, whole
from compass.chat.english.synonyms import BAD_ENDINGS, larger_is_better
from compass.chat.english.words import QuantityForm, TextQuantity, compact
from compass.domain.base import Value
from compass.domain.errors import CompassError
from compass.domain.expression import (
    Comparison,
    Expression,
    Literal,
    Membership,
    Name,
    Not,
    names_in,
)
from compass.domain.goal import Change, Extreme, Goal, IsClass, Observe, Reach, Same, Within
from compass.domain.query import Baseline, Edit, Given, Kind, Row, SetTo
from compass.domain.space import Category, Number, Role
from compass.language import format_rule, parse_rule
from compass.language.bind import bind_rule

_SET = frozenset({"reach", "=="})  # a value, not a bound
_SIDES = {"<": "high", "<=": "high", ">": "low", ">=": "low"}


@dataclass(slots=True)
class Meaning:
    """What a message tells, gathered fact by fact."""

    index: Index
    kind: Kind | None
    expecting: Slot | None
    before: Draft | None
    correction: bool
    goals: dict[str, Goal] = field(default_factory=dict)
    rules: list[Expression] = field(default_factory=list)
    edits: dict[str, Edit] = field(default_factory=dict)
    stated: dict[str, Value] = field(default_factory=dict)
    given: dict[str, Value] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    watched: list[str] = field(default_factory=list)
    without_goal: list[str] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)  # outcomes that end badly now
    unplaced: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    everything: bool = False
    count: int | None = None
    row: int | None = None
    last: str | None = None
    revalued: bool = False  # a number of the draft is replaced
    moves: bool = False  # a parameter is given another value
    told: TextQuantity | None = None  # the last value of an outcome
    misfits: list[tuple[str, str]] = field(default_factory=list)

    # ------------------------------------------------------------------ looking

    def outcome(self, name: str) -> bool:
        """Whether a column is measured."""
        return self.index.parameters[name].role is Role.OUTCOME

    def _is_knob(self, name: str) -> bool:
        return self.index.parameters[name].role is Role.KNOB

    def _is_number_outcome(self, name: str) -> bool:
        return self.outcome(name) and isinstance(self.index.parameters[name], Number)

    def better(self, name: str) -> Direction:
        """Whether less or more of an outcome is better."""
        return "maximize" if larger_is_better(self.index.stems[name]) else "minimize"

    # ------------------------------------------------------------------- noting

    def take(self, facts: Iterable[Fact]) -> None:
        """Note every fact; columns that are only named come last."""
        every = self._swapped([*facts])
        self.row = next((fact.row for fact in every if isinstance(fact, Start)), None)
        explicit = any(isinstance(fact, Moved) for fact in every)
        self.moves = explicit or any(
            isinstance(fact, Equal) and self._is_knob(fact.name) for fact in every
        )
        bounded = {fact.name for fact in every if isinstance(fact, Limit | Wanted)}
        for fact in every:
            match fact:
                case Equal(name=name) if name in bounded and self._is_number_outcome(name):
                    self.last = name  # p99 of 3.1 s, wanted under 1.5 s: the first is what it is
                case Equal(name=name) if self.outcome(name) and _is_denied(fact, every):
                    pass  # it keeps collapsing: which one will not?
                case Equal():
                    self._equal(fact, explicit=explicit)
                case Loose():
                    self._loose(fact)
                case LooseMove():
                    self._loose_move(fact)
                case Named(names=names):
                    self.last = names[-1]
                case Bare() | Told() | Than():
                    pass
                case _:
                    self._take(fact)
        self._take_last(every)
        self._bares([fact for fact in every if isinstance(fact, Bare)])
        self._settle()

    def _take_last(self, every: Iterable[Fact]) -> None:
        """What hangs on the rest: columns that are only named, and old values."""
        for fact in sorted(every, key=lambda fact: not isinstance(fact, Named)):
            if isinstance(fact, Named):
                self._named(fact.names, praised=fact.praised)
            elif isinstance(fact, Told):
                self._told(fact)
            elif isinstance(fact, Than) and fact.name in self.edits:
                self.stated[fact.name] = fact.value
            elif isinstance(fact, Than):
                self.unplaced.append(f"than {fact.value}")

    def _swapped(self, every: list[Fact]) -> list[Fact]:
        """I meant gpus, not nodes: what was said of the one is said of the other."""
        named = [name for fact in every if isinstance(fact, Named) for name in fact.names]
        wrong = [n for fact in every if isinstance(fact, Keep) and fact.spared for n in fact.names]
        if self.before is None or len(named) != 1 or len(every) > 2:
            return every
        new = named[0]
        if not self.correction and not {*wrong} & {*columns_of(self.before)}:
            return every
        if len(wrong) == 1 and wrong[0] in columns_of(self.before) and len(every) == 2:
            self._rename(wrong[0], new)
            return []
        extremes = [n for n, goal in self.before.goals.items() if isinstance(goal, Extreme)]
        other = self._is_number_outcome(new) and new not in self.before.goals
        if len(every) == 1 and len(extremes) == 1 and other:
            self.goals[new] = Extreme(direction=self.better(new))
            self.dropped.append(extremes[0])
            return []
        return every

    def _rename(self, old: str, new: str) -> None:
        assert self.before is not None
        said = self.before.model_copy(
            update={
                "where": tuple(r for r in self.before.where if old in names_in(parse_rule(r))),
            }
        )
        renamed = with_renamed_column(said, old, new)
        self.dropped.append(old)
        self.rules += [parse_rule(rule) for rule in renamed.where]
        if old in self.before.goals:
            self.goals[new] = self.before.goals[old]
        if old in self.before.change:
            self.edits[new] = self.before.change[old]
        if old in self.before.ask:
            self.asked.append(new)
        if old in self.before.keep:
            self.keep.append(new)

    def _take(self, fact: Fact) -> None:  # noqa: PLR0912 - one case for each sort of fact
        match fact:
            case Limit(name=name, op=op, value=value):
                self._limit(name, op, value)
            case Moved():
                self._moved(fact)
            case Wanted(name=name, goal=goal):
                self._goal(name, goal)
            case Ask(names=names):
                self.asked += [name for name in names if name not in self.asked]
            case Keep(names=names, spared=True) if self._is_number_outcome(names[0]):
                self.unplaced.append(f"not {names[0]}")
            case Keep(names=names):
                self.keep += [name for name in names if name not in self.keep]
            case Watch(names=names):
                self.watched += names
                self.last = names[-1]
            case About(name=name):
                self.last = name
            case Drop(names=names):
                # Of all that the words can mean, what was spoken of before.
                known = columns_of(self.before) if self.before is not None else ()
                self.dropped += [name for name in names if name in known] or names[:1]
            case Everything():
                self.everything = True
            case Count(number=number):
                self.count = number
            case Start():
                pass
            case Relation(rule=rule):
                self._rule(rule)
            case Measured(name=name, told=told):
                self.last, self.told = name, told
            case Misfit(name=name, value=value, words=words):
                self.misfits.append((name, value))
                self.unplaced.append(words)

    def _rule(self, rule: Expression) -> None:
        if rule not in self.rules:
            self.rules.append(rule)

    def _compare(self, name: str, op: str, value: Value) -> None:
        self._rule(Comparison(op, Name(name), Literal(whole(value))))

    def _limit(self, name: str, op: str, value: float) -> None:
        self.last = name
        if self.kind is Kind.WHAT_IF and not self.moves and self._is_knob(name):
            self.edits[name] = SetTo(value=whole(value))  # what if I cap it at 1.8 GHz
        elif self.outcome(name) and self.kind is not Kind.WHAT_IF:
            high = _SIDES[op] == "high"
            self._goal(name, Within(high=value) if high else Within(low=value))
        else:
            self._compare(name, op, value)

    def _goal(self, name: str, goal: Goal) -> None:
        """Note what an outcome should become; a bound beside a goal is a rule."""
        self.last = name
        old = self.goals.get(name)
        if isinstance(old, Within) and isinstance(goal, Within):
            low = goal.low if goal.low is not None else old.low
            high = goal.high if goal.high is not None else old.high
            if low is None or high is None or low <= high:
                goal = Within(low=low, high=high)
        elif isinstance(old, Extreme | Change) and isinstance(goal, Within):
            self._bound_rules(name, goal)
            return
        elif isinstance(old, Within) and isinstance(goal, Extreme | Change):
            self._bound_rules(name, old)
        elif isinstance(old, Change) and isinstance(goal, Extreme):
            return
        self.goals[name] = goal

    def _bound_rules(self, name: str, goal: Within) -> None:
        if goal.low is not None:
            self._compare(name, ">=", goal.low)
        if goal.high is not None:
            self._compare(name, "<=", goal.high)

    def _moved(self, fact: Moved) -> None:
        name, edit, old = fact.name, fact.edit, fact.old
        self.last = name
        tried = self.kind is Kind.WHAT_IF or (self.kind is Kind.RECONFIGURE and not fact.spread)
        if not tried and isinstance(edit, SetTo):
            numbers = isinstance(old, int | float) and isinstance(edit.value, int | float)
            if numbers:
                low, high = sorted((float(str(old)), float(str(edit.value))))
                self._compare(name, ">=", low)
                self._compare(name, "<=", high)
            else:
                self._compare(name, "==", edit.value)
            return
        self.edits[name] = edit
        if old is not None:
            self.stated[name] = old

    def _equal(self, fact: Equal, *, explicit: bool) -> None:
        name, values = fact.name, fact.values
        self.last = name
        parameter = self.index.parameters[name]
        single = len(values) == 1 and not fact.negative
        start = self.expecting is Slot.BASELINE and single
        if self.outcome(name) and isinstance(parameter, Number):
            self._about(name, fact)
        elif single and fact.cue == "now" and self.kind is Kind.RECOMMEND:
            supply = isinstance(parameter, Number) and parameter.role is Role.KNOB
            self._compare(name, "<=" if supply else "==", values[0])
        elif self.kind is not Kind.RECOMMEND and (start or (fact.cue == "now" and single)):
            self.given[name] = values[0]
        elif self.outcome(name) and fact.cue == "has" and str(values[0]).startswith("not"):
            self.bad.append(name)  # how it ended
        elif self._is_given(fact):
            self.given[name] = values[0]
        elif self._is_tried(fact, explicit):
            self.edits.setdefault(name, SetTo(value=whole(values[0])))
        elif self.outcome(name) and single and self.kind is not Kind.WHAT_IF:
            if compact(str(values[0])) in BAD_ENDINGS:
                self.bad.append(name)  # my jobs keep timing out: nobody asks for that
            else:
                self.goals[name] = IsClass(value=values[0])
        elif self.outcome(name) and single and fact.cue != "with":
            self.watched.append(name)
        else:
            self._equality(name, values, negative=fact.negative)

    def _is_given(self, fact: Equal) -> bool:
        """Our runs use 8 nodes, in a question that starts from them."""
        single = len(fact.values) == 1 and not fact.negative
        starts = self.kind is Kind.RECONFIGURE and self.row is None and not self.outcome(fact.name)
        return single and starts and fact.cue == "has"

    def _equality(self, name: str, values: tuple[Value, ...], *, negative: bool) -> None:
        """O2 here and O3 there allows both, never none."""
        for place, rule in enumerate(self.rules):
            told = _labels_in(rule, name)
            if told and not negative and isinstance(self.index.parameters[name], Category):
                self.rules[place] = equality(name, (*told, *values), negative=False)
                return
        self._rule(equality(name, values, negative=negative))

    def _is_tried(self, fact: Equal, explicit: bool) -> bool:
        if self.kind is not Kind.WHAT_IF or fact.negative or len(fact.values) != 1:
            return False
        if self.outcome(fact.name):
            return False
        again = self.before is not None and self.before.kind is Kind.WHAT_IF and self.correction
        if again and self.before is not None and self.before.change and fact.cue == "with":
            return fact.name in self.before.change  # on nvme, I mean
        if self.index.parameters[fact.name].role is not Role.KNOB:
            return fact.cue in {"set", ""} and not explicit and not self.moves
        return not (explicit and fact.cue == "with" and self.row is None)

    def _about(self, name: str, fact: Equal) -> None:
        """Power 300 W: a bound on the side that is worse."""
        number = float(str(fact.values[-1]))
        if self.kind is Kind.WHAT_IF:
            self.watched.append(name)
            return
        worse = "<=" if self.better(name) == "minimize" else ">="
        self._limit(name, worse, number)

    def _loose(self, fact: Loose) -> None:
        """A bound without a column is on what was spoken of last, else on one of its unit."""
        said_before = self.last is None and self.before is not None
        if said_before and self._replace(fact.quantity, op="" if fact.op in _SET else fact.op):
            return
        name, quantity = self.last, fact.quantity
        if quantity.unit is None and self.told is not None and self.last is not None:
            share = self.told.form is QuantityForm.SHARE and quantity.form is QuantityForm.NUMBER
            value = quantity.value / 100 if share and quantity.value > 1 else quantity.value
            quantity = TextQuantity(value, self.told.form, self.told.unit)  # 5 h, I want 3
        number = None if name is None else number_of(quantity, name, self.index)
        fitting = name is not None and fits(quantity, name, self.index, wide=3.0)
        if fact.names and (number is None or (fact.quantity.unit is not None and not fitting)):
            name = fact.names[0]
            number = number_of(fact.quantity, name, self.index)
            self.links.append(Link(words=fact.words, columns=fact.names[:6], how=How.SYNONYM))
        op = fact.op
        if op == "reach" and name is not None:
            if not self.outcome(name):
                name = None
            else:
                op = ">=" if self.better(name) == "maximize" else "<="
        if name is None or number is None:
            self.unplaced.append(fact.words)
        else:
            self._limit(name, op, number)

    def _loose_move(self, fact: LooseMove) -> None:
        """Bring it down by a third: what was spoken of last, else what has the unit."""
        share = fact.amount.form in (QuantityForm.SHARE, QuantityForm.FRACTION)
        name = self.last or next(reversed(self.before.goals if self.before else {}), None)
        if name is not None and not share and number_of(fact.amount, name, self.index) is None:
            name = None
        if name is None and fact.names:
            name = fact.names[0]
            self.links.append(Link(words=fact.words, columns=fact.names[:6], how=How.SYNONYM))
        if name is None or not self._is_number_outcome(name):
            self.unplaced.append(fact.words)
            return
        way: OneOf["reduce", "increase"] = "reduce" if fact.down else "increase"
        number = fact.amount.value if share else number_of(fact.amount, name, self.index)
        if number is None or (share and fact.down and number >= 1):
            self.unplaced.append(fact.words)
            return
        self._goal(name, Change(direction=way, by=float(f"{number:.12g}"), relative=share))

    def _told(self, fact: Told) -> None:
        """64 jobs, it is 16 today: the old value of what is changed."""
        name = next(reversed(self.edits), None)
        value = None if name is None else number_of(fact.quantity, name, self.index)
        if name is None or value is None:
            self.unplaced.append(fact.words)
        else:
            self.stated[name] = whole(value)

    def _bares(self, every: Sequence[Bare]) -> None:
        """100 when a row was asked for; make it 32; 60 is too much, 40."""
        if not every:
            return
        words = ", ".join(fact.words for fact in every)
        said = numbers_in(self.before, self.index) if self.before is not None else []
        old = [
            f for f in every if f.old or any(is_said(one, f.quantity, self.index) for one in said)
        ]
        new = [f for f in every if f not in old]
        if len(new) == 1 and not old and self._is_row(new[0].quantity):
            self.row = int(new[0].quantity.value)
            return
        told = self.correction or self.expecting is not None or bool(old)
        if not new and len(old) == 1 and self.revalued:
            return  # 600 is too slow, under 400
        if len(new) != 1 or not told or not self._replace(new[0].quantity, old):
            self.unplaced.append(words)

    def _is_row(self, quantity: TextQuantity) -> bool:
        whole_number = quantity.value.is_integer() and 0 <= quantity.value < 1e12
        return self.expecting is Slot.BASELINE and whole_number and quantity.unit is None

    def _replace(self, new: TextQuantity, old: Sequence[Bare] = (), op: str = "") -> bool:
        """Put another number in the place of one that was said before; whether there was one."""
        said = corrected(self.before, self.index, new, [fact.quantity for fact in old])
        if said is None:
            return False
        name, value = said.name, value_for(said, new, self.index)
        assert self.before is not None
        assert value is not None
        self.last, self.revalued = name, True
        goal = self.before.goals.get(name)
        if said.part == "rule":
            self._compare(name, op or said.op, value)
        elif said.part == "change":
            self.edits[name] = SetTo(value=whole(value))
        elif said.part == "baseline":
            self.given[name] = whole(value)
        elif isinstance(goal, Change):
            relative = said.part == "share"
            self.goals[name] = goal.model_copy(update={"by": value, "relative": relative})
        elif isinstance(goal, Reach):
            self.goals[name] = Reach(value=value)
        else:
            high = (op or said.op).startswith("<")
            self.goals[name] = Within(high=value) if high else Within(low=value)
        return True

    def _named(self, names: tuple[str, ...], *, praised: bool) -> None:
        taken = {*self.edits, *self.goals, *self.keep, *self.dropped, *self.asked, *self.given}
        taken |= {name for rule in self.rules for name in names_in(rule)}
        for name in names:
            if name in taken:
                continue
            if self.outcome(name):
                parameter = self.index.parameters[name]
                if self.kind is Kind.WHAT_IF:
                    self.watched.append(name)
                elif isinstance(parameter, Category) and True in parameter.values:
                    self.goals[name] = IsClass(value=True)  # a valid configuration
                elif praised and isinstance(self.index.parameters[name], Number):
                    self.goals[name] = Extreme(direction=self.better(name))
                else:
                    self.without_goal.append(name)
            elif self._is_asked(name):
                self.asked.append(name)
            elif self.index.parameters[name].role is Role.KNOB:
                self.unplaced.append(name)

    def _is_asked(self, name: str) -> bool:
        if self.expecting is Slot.PARAMETERS:
            return True
        if self.kind is Kind.WHAT_IF:
            return False
        if self.expecting in {Slot.BASELINE, Slot.CONSTRAINTS, Slot.CONFIRM}:
            return False
        return self.index.parameters[name].role is Role.KNOB

    def _settle(self) -> None:
        """A what-if watches outcomes; it does not set them goals."""
        if self.kind is Kind.WHAT_IF:
            for name, goal in list(self.goals.items()):
                if isinstance(goal, Extreme | Change | Reach):
                    self.goals[name] = Observe()
            for name in dict.fromkeys(self.watched):
                if name not in self.edits:
                    self.goals.setdefault(name, Observe())
        else:
            self.without_goal += [name for name in self.watched if name not in self.goals]
        self.without_goal = [n for n in dict.fromkeys(self.without_goal) if n not in self.goals]

    # ------------------------------------------------------------------- giving

    def baseline(self) -> Baseline | None:
        """The run or the configuration that the person has."""
        if self.row is not None:
            return Row(row=self.row)
        return Given.model_validate({"config": self.given}) if self.given else None

    def where(self) -> tuple[str, ...]:
        """The rules as text; those that mean nothing on this table are left to be asked about."""
        good: dict[str, None] = {}
        for rule in self.rules:
            text = format_rule(rule)
            try:
                good[format_rule(bind_rule(parse_rule(text), self.index.space))] = None
            except (CompassError, TypeError, ValueError):
                self.unplaced.append(text)
        return tuple(good)

    def draft(self) -> Draft:
        """The parts of a question that the facts state."""
        recommend = self.kind is Kind.RECOMMEND
        fixed = {n: e for n, e in self.edits.items() if isinstance(e, SetTo) or not recommend}
        busy = {*fixed, *self.goals, *self.keep}
        return Draft(
            kind=self.kind,
            ask=tuple(name for name in self.asked if name not in busy),
            everything=self.everything,
            keep=tuple(self.keep),
            change=fixed,
            stated={n: v for n, v in self.stated.items() if n in fixed or n in self.goals},
            goals=self.goals,
            where=self.where(),
            baseline=self.baseline(),
            count=self.count,
        )


def _is_denied(fact: Equal, every: Iterable[Fact]) -> bool:
    """Whether a class that is named is one that must not be."""
    denied = [f for f in every if isinstance(f, Equal) and f.negative and f.name == fact.name]
    return not fact.negative and any({*fact.values} <= {*one.values} for one in denied)


def _labels_in(rule: Expression, name: str) -> tuple[Value, ...]:
    """The values that a rule allows a column, where it does nothing else."""
    if isinstance(rule, Comparison) and rule.op == "==" and rule.left == Name(name):
        return (rule.right.value,) if isinstance(rule.right, Literal) else ()
    if isinstance(rule, Membership) and rule.operand == Name(name):
        return tuple(v.value for v in rule.values if isinstance(v, Literal))
    return ()


def equality(name: str, values: tuple[Value, ...], *, negative: bool) -> Expression:
    """The rule that a column has one of these values, or none of them."""
    values = tuple(dict.fromkeys(values))
    if len(values) == 1:
        return Comparison("!=" if negative else "==", Name(name), Literal(whole(values[0])))
    inside = Membership(Name(name), tuple(Literal(whole(value)) for value in values))
    return Not(inside) if negative else inside


def kind_of(facts: Iterable[Fact], text: str, index: Index, known: Kind | None) -> Kind | None:
    """Which question it is, by the wording and by what was found."""
    every = [*facts]
    named = question_kind.kind_of(text)
    goals = [f for f in every if isinstance(f, Wanted)]
    relative = any(isinstance(f.goal, Change | Reach | Same) for f in goals)
    relative = relative or any(isinstance(f, LooseMove) for f in every)
    if named is None and question_kind.asks_how(text):
        best = any(isinstance(f.goal, Extreme) for f in goals)
        named = Kind.RECOMMEND if best and not relative else Kind.RECONFIGURE
    row = any(isinstance(f, Start) for f in every)
    if known is not None:
        if known is Kind.RECOMMEND and any(isinstance(f.goal, Change | Reach) for f in goals):
            return Kind.RECONFIGURE if named in {None, Kind.RECOMMEND} else named
        moves = any(
            isinstance(f, Moved)
            or (isinstance(f, Equal) and index.parameters[f.name].role is Role.KNOB)
            for f in every
        )
        if named is None and moves and not goals and question_kind.suggests(text):
            return Kind.WHAT_IF
        return named
    if named is Kind.RECOMMEND and (row or relative):
        return Kind.RECONFIGURE
    if named is not None:
        return named
    return _unnamed_kind(every, text, index, relative=relative, row=row)


def _unnamed_kind(
    every: list[Fact], text: str, index: Index, *, relative: bool, row: bool
) -> Kind | None:
    def role(name: str) -> Role:
        return index.parameters[name].role

    equals = [f for f in every if isinstance(f, Equal) and len(f.values) == 1 and not f.negative]
    knobs = [f for f in equals if role(f.name) is Role.KNOB and f.cue in {"", "set", "with", "has"}]
    started = any(isinstance(f, Measured) for f in every) or any(
        f.cue == "now" and role(f.name) is Role.KNOB for f in equals
    )
    changed = any(isinstance(f, Moved) for f in every) or any(f.cue == "set" for f in knobs)
    limits = any(isinstance(f, Limit) and role(f.name) is Role.OUTCOME for f in every)
    limits = limits or any(isinstance(f, Loose) for f in every)
    wanted = any(isinstance(f, Wanted) and isinstance(f.goal, Extreme | Change) for f in every)
    asked = any(isinstance(f, Ask | Everything) for f in every)
    goals = wanted or limits or relative
    watched = any(isinstance(f, Watch) for f in every) or any(
        isinstance(f, Named) and any(role(n) is Role.OUTCOME for n in f.names) for f in every
    )
    question = text.rstrip().endswith("?")
    moved = changed or (bool(knobs) and row)
    if watched and "?" in text and (moved or knobs) and not asked and not relative and not wanted:
        return Kind.WHAT_IF
    tried = [f for f in every if isinstance(f, Limit | Equal) and role(f.name) is Role.KNOB]
    if tried and watched and not (asked or wanted) and question_kind.supposes(text):
        return Kind.WHAT_IF
    if (changed or equals) and not (goals or asked) and question_kind.suggests(text):
        return Kind.WHAT_IF
    if changed and not goals and question_kind.tries(text):
        return Kind.WHAT_IF
    if (changed or equals) and not asked and question_kind.asks_whether(text):
        return Kind.WHAT_IF
    if (changed or equals) and not (goals or asked) and question_kind.foresees(text):
        return Kind.WHAT_IF
    if changed and not goals and (row or question_kind.wants(text)):
        return Kind.WHAT_IF
    if changed and not (goals or asked) and question:
        return Kind.WHAT_IF
    measured = any(isinstance(f, Measured) for f in every)
    sought = not (relative or measured) and (any(isinstance(f, Ask) for f in every) or wanted)
    if relative or (started and (goals or row) and not sought) or (row and (goals or not changed)):
        return Kind.RECONFIGURE
    if changed and question_kind.tries(text):
        return Kind.WHAT_IF
    counted = any(isinstance(f, Count) for f in every)
    if question_kind.wants(text) or wanted or asked or counted:
        return Kind.RECOMMEND
    return None
