"""The parsed form of a rule: a small tree, never evaluated as code."""

from dataclasses import dataclass

from compass.domain.base import Value


@dataclass(frozen=True, slots=True)
class Literal:
    """A number (perhaps with a unit), a label, true/false, or none."""

    value: Value
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A column."""

    name: str


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left op right` with op one of + - * / % **."""

    op: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Negative:
    """`-operand`."""

    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of numbers (min, max, abs, log2, ...) or a registered rule."""

    function: str
    arguments: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left op right` with op one of < <= > >= == !=."""

    op: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Membership:
    """`operand in {a, b, c}`."""

    operand: "Expression"
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """`not operand`."""

    operand: "Expression"


@dataclass(frozen=True, slots=True)
class And:
    """All of the operands."""

    operands: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of the operands."""

    operands: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Implies:
    """`condition -> consequence`: says nothing where the condition does not hold."""

    condition: "Expression"
    consequence: "Expression"


Expression = (
    Literal
    | Name
    | Arithmetic
    | Negative
    | Call
    | Comparison
    | Membership
    | Not
    | And
    | Or
    | Implies
)


def children(node: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside this one."""
    match node:
        case Arithmetic(_, left, right) | Comparison(_, left, right) | Implies(left, right):
            return (left, right)
        case Negative(operand) | Not(operand):
            return (operand,)
        case Membership(operand, values):
            return (operand, *values)
        case Call(_, arguments):
            return arguments
        case And(operands) | Or(operands):
            return operands
        case _:
            return ()


def names_in(node: Expression) -> tuple[str, ...]:
    """The columns that the expression mentions, each once, in order of appearance."""
    if isinstance(node, Name):
        return (node.name,)
    return tuple(dict.fromkeys(name for child in children(node) for name in names_in(child)))
