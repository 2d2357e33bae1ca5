"""Bounds of numeric expressions, upwards from the columns and back down to them (HC4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from compass.domain.expression import Arithmetic, Call, Expression, Literal, Name, Negative
from compass.rules import intervals
from compass.rules.domains import Domain
from compass.rules.functions import BUILT_IN
from compass.rules.intervals import EVERYTHING, Interval, meet, negative, widen


class Impossible(Exception):
    """Nothing legal is left."""


@dataclass(frozen=True)
class Trees:
    """Expressions over domains; `push` narrows the domains in place."""

    domains: dict[str, Domain]

    def bounds(self, node: Expression) -> Interval | None:
        """What an expression can be; None when it has no value at all."""
        match node:
            case Literal(value):
                return (float(value), float(value)) if isinstance(value, int | float) else None
            case Name(name):
                domain = self.domains[name]
                return (domain.low, domain.high) if domain.low <= domain.high else None
            case Negative(operand):
                inner = self.bounds(operand)
                return None if inner is None else negative(inner)
            case Arithmetic(op, left, right):
                a, b = self.bounds(left), self.bounds(right)
                return None if a is None or b is None else _ARITHMETIC[op](a, b)
            case Call(function, arguments) if function in BUILT_IN:
                inside = [self.bounds(argument) for argument in arguments]
                known = [bound for bound in inside if bound is not None]
                return _function(function, known) if len(known) == len(inside) else None
            case _:
                return EVERYTHING

    def size(self, node: Expression) -> float:
        """The largest size of the terms that an expression is calculated from."""
        match node:
            case Arithmetic("+" | "-" | "%", left, right):
                return self.size(left) + self.size(right)
            case Arithmetic("*", left, right):
                return self.size(left) * self.size(right)
            case Arithmetic("/", left, right):
                divisor = self.bounds(right)
                least = 0.0 if divisor is None else max(divisor[0], -divisor[1], 0.0)
                return self.size(left) / least * (self.size(right) / least) if least else inf
            case Negative(operand):
                return self.size(operand)
            case Call("min" | "max" | "abs", arguments):
                return max(map(self.size, arguments))
            case _:
                bounds = self.bounds(node)
                return 0.0 if bounds is None else max(abs(bounds[0]), abs(bounds[1]))

    def push(self, node: Expression, target: Interval) -> None:
        """Narrow the columns below so that the expression can still lie in the target."""
        now = self.bounds(node)
        target_now = None if now is None else meet(now, target)
        if now is None or target_now is None:
            raise Impossible
        if target_now == now and not isinstance(node, Name):
            return
        match node:
            case Name(name):
                domain = self.domains[name].clip(target)
                if domain.low > domain.high:
                    raise Impossible
                self.domains[name] = domain
            case Negative(operand):
                self.push(operand, negative(target_now))
            case Arithmetic("%", left, right):
                self._push_modulo(left, right, target_now)
            case Arithmetic("**", left, right) | Call("pow", (left, right)):
                self._push_power(left, right, target_now)
            case Arithmetic(op, left, right):
                self._push_arithmetic(op, left, right, target_now)
            case Call("min", arguments):
                self._push_least(arguments, target_now, flip=False)
            case Call("max", arguments):
                self._push_least(arguments, target_now, flip=True)
            case Call(function, (operand,)) if function in BUILT_IN:
                self._push_function(function, operand, target_now)
            case _:
                return

    def _both(self, left: Expression, right: Expression) -> tuple[Interval, Interval]:
        a, b = self.bounds(left), self.bounds(right)
        if a is None or b is None:
            raise Impossible
        return a, b

    def _push_some(self, node: Expression, target: Interval | None) -> None:
        if target is None:
            raise Impossible
        self.push(node, target)

    def _push_arithmetic(
        self, op: str, left: Expression, right: Expression, target: Interval
    ) -> None:
        _, b = self._both(left, right)
        wide = widen(target)
        match op:
            case "+":
                self.push(left, widen(intervals.subtract(wide, b)))
                a, _ = self._both(left, right)
                self.push(right, widen(intervals.subtract(wide, a)))
            case "-":
                self.push(left, widen(intervals.add(wide, b)))
                a, _ = self._both(left, right)
                self.push(right, widen(intervals.subtract(a, wide)))
            case "*":
                self._push_some(left, intervals.factor(target, b))
                a, _ = self._both(left, right)
                self._push_some(right, intervals.factor(target, a))
            case _:
                self.push(left, widen(intervals.multiply(wide, b)))
                a, _ = self._both(left, right)
                # x / y in T is x = t * y, so y is a factor of x.
                self._push_some(right, intervals.factor(a, wide))

    def _push_modulo(self, left: Expression, right: Expression, target: Interval) -> None:
        a, b = self._both(left, right)
        if a[0] < 0.0 or b[0] <= 0.0:
            return
        if a[1] < b[0] * (1.0 - 1e-9):
            self.push(left, target)
        elif target[0] > 0.0:
            self.push(left, (target[0], inf))
            self.push(right, (target[0], inf))
        elif target[1] == 0.0 and a[0] > 0.0:  # a multiple, and not 0: at least the divisor
            self.push(left, (b[0], inf))
            self.push(right, (-inf, a[1]))

    def _push_power(self, left: Expression, right: Expression, target: Interval) -> None:
        a, b = self._both(left, right)
        if b[0] == b[1]:
            self._push_some(left, intervals.base(target, b[0], a))
        elif a[0] == a[1]:
            self._push_some(right, intervals.exponent_of(target, a[0]))

    def _push_least(self, arguments: Sequence[Expression], target: Interval, *, flip: bool) -> None:
        """min(...) in target; with `flip`, max(...)."""
        outside = (-inf, target[1]) if flip else (target[0], inf)
        inside = (target[0], inf) if flip else (-inf, target[1])
        for argument in arguments:
            self.push(argument, outside)
        able = [x for x in arguments if (i := self.bounds(x)) is not None and meet(i, inside)]
        if not able:
            raise Impossible
        if len(able) == 1:
            self.push(able[0], inside)

    def _push_function(self, function: str, operand: Expression, target: Interval) -> None:
        self._push_some(operand, intervals.BACKWARD[function](target))
        if function == "abs" and target[0] > 0.0:
            now = self.bounds(operand)
            if now is None:
                raise Impossible
            if now[0] > -target[0]:
                self.push(operand, (target[0], inf))
            elif now[1] < target[0]:
                self.push(operand, (-inf, -target[0]))


_ARITHMETIC: dict[str, Callable[[Interval, Interval], Interval | None]] = {
    "+": intervals.add,
    "-": intervals.subtract,
    "*": intervals.multiply,
    "/": intervals.divide,
    "%": intervals.modulo,
    "**": intervals.power,
}


def _function(function: str, arguments: list[Interval]) -> Interval | None:
    if function in ("min", "max"):
        pick = min if function == "min" else max
        return pick(a[0] for a in arguments), pick(a[1] for a in arguments)
    if function == "pow":
        return intervals.power(arguments[0], arguments[1])
    return intervals.FORWARD[function](arguments[0])
