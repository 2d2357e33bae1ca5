"""Rules as constraints of the solver; what floats accept is never excluded.

Small groups of listed values are written out as tables of what the rule itself accepts. Sums,
products, remainders, minima and so on become whole-number arithmetic, widened by every rounding.
Negation is pushed inwards as in `compass.rules.truth`, so a statement is only ever needed in one
direction: where its literals hold, the condition does.
"""

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from compass.domain.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Implies,
    Literal,
    Membership,
    Not,
    Or,
    children,
    names_in,
)
from compass.generate.base import Floats
from compass.prove.arithmetic import RuleArithmetic
from compass.prove.model import SolverModel
from compass.prove.scaled_integer import Lit, ScaledInteger, compare, intervals
from compass.prove.variables import AxisVars
from compass.rules import Rule
from compass.rules.exact import is_short
from compass.rules.truth import NEGATED, truth
from compass.rules.values import is_exact, is_whole

TUPLES = 20_000  # largest table of value combinations that is tried and written out


class RuleEncoder:
    """Encodes the conditions of one rule; `instead` fixes columns at other values."""

    def __init__(
        self,
        model: SolverModel,
        rule: Rule,
        predicted: Mapping[str, ScaledInteger],
        instead: Mapping[str, float] | None = None,
    ) -> None:
        self.model = model
        self.rule = rule
        self.columns: dict[str, AxisVars] = {}
        self.fixed: dict[str, float] = {}
        self.unknown = False
        for name in rule.names:
            if instead is not None and name in instead:
                self.fixed[name] = instead[name]
            elif name in model.columns:
                self.columns[name] = model.columns[name]
            elif name in model.task.space:
                self.fixed[name] = model.start(name)
            elif name not in predicted:
                self.unknown = True
        self.numbers = RuleArithmetic(model, rule, self.columns, self.fixed, predicted)

    def add(self) -> bool:
        """Add the rule; False: not all of it can be encoded."""
        return not self.unknown and self._condition(self.rule.expression, True, ())

    def add_negation(self, enforce: Sequence[Lit]) -> bool:
        """Add that the rule does not hold, be it false or unknown; False: that is impossible."""
        if self.unknown:
            return False
        node, whole = self.rule.expression, tuple(enforce)
        if self._table(node, True, whole, but=True):
            return True
        return not _may_be_unknown(node) and self._condition(node, False, whole)

    def _condition(self, node: Expression, positive: bool, enforce: tuple[Lit, ...]) -> bool:
        self.model.deadline.check()
        if isinstance(node, Comparison) and self._exact(node):
            return self._comparison(node, positive, enforce)
        if self._table(node, positive, enforce):
            return True
        match node:
            case Not(operand):
                return self._condition(operand, not positive, enforce)
            case And(operands) | Or(operands):
                parts = [(operand, positive) for operand in operands]
                return self._parts(parts, enforce, everything=isinstance(node, And) == positive)
            case Implies(condition, consequence):
                parts = [(condition, not positive), (consequence, positive)]
                return self._parts(parts, enforce, everything=not positive)
            case Comparison():
                return self._comparison(node, positive, enforce)
            case Membership():
                return self._membership(node, positive, enforce)
            case _:
                return False  # a registered rule on more values than a table can hold

    def _parts(
        self,
        parts: Sequence[tuple[Expression, bool]],
        enforce: tuple[Lit, ...],
        *,
        everything: bool,
    ) -> bool:
        if everything:
            encoded = [self._condition(part, sign, enforce) for part, sign in parts]
            return all(encoded)
        some = [self.model.cp.new_bool_var("") for _ in parts]
        self.model.cp.add_bool_or([*some, *(~literal for literal in enforce)])
        # A part that cannot be encoded leaves its literal free: the whole then demands nothing.
        pairs = zip(parts, some, strict=True)
        encoded = [self._condition(part, sign, (one,)) for (part, sign), one in pairs]
        return all(encoded)

    def _table(
        self, node: Expression, positive: bool, enforce: tuple[Lit, ...], *, but: bool = False
    ) -> bool:
        """Write out what the rule accepts (or all but that); False: too many combinations."""
        names = names_in(node)
        free = [name for name in names if name in self.columns]
        if any(name not in self.columns and name not in self.fixed for name in names):
            return False
        lists = [self.columns[name].listed for name in free]
        if any(values is None for values in lists):
            return False
        listed = [values for values in lists if values is not None]
        shape = tuple(map(len, listed))
        if prod(shape) > TUPLES:
            return False
        holds = self._tried(node, positive, free, listed) != but
        if holds.all():
            return True
        if not holds.any():
            self.model.forbid(enforce)
            return True
        self._write(free, np.argwhere(holds), enforce)
        return True

    def _tried(
        self, node: Expression, positive: bool, free: Sequence[str], listed: Sequence[Floats]
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        columns = {name: np.asarray(value) for name, value in self.fixed.items()}
        for index, (name, values) in enumerate(zip(free, listed, strict=True)):
            columns[name] = values.reshape([-1 if a == index else 1 for a in range(len(free))])
        table = self.rule.table(columns)
        with np.errstate(all="ignore"):
            found = truth(node, table, positive=positive, measure=False)
        return np.broadcast_to(found.holds, tuple(map(len, listed)))

    def _write(
        self,
        free: Sequence[str],
        positions: np.ndarray[tuple[int, ...], np.dtype[np.intp]],
        enforce: tuple[Lit, ...],
    ) -> None:
        from ortools.sat.python.cp_model import Domain

        axes = [self.columns[name] for name in free]
        codes = [axis.codes()[positions[:, i]] for i, axis in enumerate(axes)]
        if len(axes) == 1:
            added = self.model.cp.add_linear_expression_in_domain(
                axes[0].var, Domain.from_values(codes[0].tolist())
            )
        else:
            added = self.model.cp.add_allowed_assignments(
                [axis.var for axis in axes], np.column_stack(codes).tolist()
            )
        if enforce:
            added.only_enforce_if(*enforce)

    def _exact(self, node: Comparison) -> bool:
        """Whether whole-number sums say the same as a table, in fewer reasons."""
        if len(names_in(node)) < 2 or not self.numbers.linear(node):
            return False
        left, right = self.numbers.number(node.left), self.numbers.number(node.right)
        if left is None or right is None or left.nones or right.nones:
            return False
        return left.error == right.error == 0 and self._whole(node)

    def _whole(self, node: Comparison) -> bool:
        whole = {name for name in self.rule.whole if name not in self.fixed}
        whole |= {name for name, value in self.fixed.items() if float(value).is_integer()}
        return is_whole(node.left, whole) and is_whole(node.right, whole)

    @property
    def _decimals(self) -> frozenset[str]:
        """Columns of decimals; one that does not move counts where its value is one."""
        fixed = {name for name, value in self.fixed.items() if is_short(float(value))}
        return (self.rule.decimal - set(self.fixed)) | fixed

    def _comparison(self, node: Comparison, positive: bool, enforce: tuple[Lit, ...]) -> bool:
        op = node.op if positive else NEGATED[node.op]
        written = [isinstance(side, Literal) and side.value is None for side in children(node)]
        if any(written) and not all(written):
            other = self.numbers.number(node.left if written[1] else node.right)
            return other is not None and self._is_none(op, other, positive, enforce)
        left, right = self.numbers.number(node.left), self.numbers.number(node.right)
        if left is None or right is None:
            return False
        modulo = self.numbers.has_modulo(node) and op in ("==", "!=")
        whole = self._whole(node) and left.error == right.error == 0
        if modulo and not whole:
            return False  # residues of real numbers are compared around the circle
        self._nones(op, left, right, positive, enforce)
        decimal = all(is_exact(side, self._decimals) for side in children(node))
        compared = compare(op, left, right, whole=whole, decimal=decimal)
        if compared is None:
            return False
        numbers = (*enforce, *(~none for none in (*left.nones, *right.nones)))
        if compared.low is not None:
            self.model.add(compared.expr >= compared.low, numbers)
        if compared.high is not None:
            self.model.add(compared.expr <= compared.high, numbers)
        if compared.other_than is not None:
            self.model.add(compared.expr != compared.other_than, numbers)
        return True

    def _is_none(
        self, op: str, other: ScaledInteger, positive: bool, enforce: tuple[Lit, ...]
    ) -> bool:
        """A comparison with `none` as it is written."""
        if op == "==":
            self.model.cp.add_bool_or([*other.nones, *(~literal for literal in enforce)])
        elif op == "!=":
            for none in other.nones:
                self.model.forbid((*enforce, none))
        elif positive:
            self.model.forbid(enforce)
        return True

    def _nones(
        self,
        op: str,
        left: ScaledInteger,
        right: ScaledInteger,
        positive: bool,
        enforce: tuple[Lit, ...],
    ) -> None:
        """What a comparison says about the level none, as `compass.rules.truth` has it."""
        either = (*left.nones, *right.nones)
        if op == "==":
            for some, others in ((left.nones, right.nones), (right.nones, left.nones)):
                for none in some:
                    self.model.cp.add_bool_or([*others, ~none, *(~literal for literal in enforce)])
        elif op == "!=":
            for one in left.nones:
                for other in right.nones:
                    self.model.forbid((*enforce, one, other))
        elif positive:
            for none in either:
                self.model.forbid((*enforce, none))

    def _membership(self, node: Membership, positive: bool, enforce: tuple[Lit, ...]) -> bool:
        from ortools.sat.python.cp_model import Domain

        operand = self.numbers.number(node.operand)
        if operand is None or any(isinstance(v.value, str) for v in node.values):
            return False
        members = [float(v.value) for v in node.values if isinstance(v.value, int | float)]
        named = any(literal.value is None for literal in node.values)
        if named != positive:
            for none in operand.nones:
                self.model.forbid((*enforce, none))
        numbers = (*enforce, *(~none for none in operand.nones))
        spans = intervals(members, operand)
        if not positive:
            if operand.error == 0 and is_whole(node.operand, self.rule.whole - set(self.fixed)):
                inside = Domain.from_intervals([[a, b] for a, b in spans])
                self._inside(operand, inside.complement(), numbers)
            return True
        if not spans:
            self.model.forbid(numbers)
            return True
        self._inside(operand, Domain.from_intervals([[a, b] for a, b in spans]), numbers)
        return True

    def _inside(self, operand: ScaledInteger, domain: object, enforce: tuple[Lit, ...]) -> None:
        if operand.fixed:
            if not domain.contains(operand.low):  # type: ignore[attr-defined]
                self.model.forbid(enforce)
            return
        added = self.model.cp.add_linear_expression_in_domain(operand.expr, domain)
        if enforce:
            added.only_enforce_if(*enforce)


def _may_be_unknown(node: Expression) -> bool:
    """Whether neither a condition nor its negation may hold: quotients, logarithms and so on."""
    match node:
        case Call():
            return True
        case Arithmetic(op) if op not in ("+", "-", "*"):
            return True
        case _:
            return any(_may_be_unknown(child) for child in children(node))
