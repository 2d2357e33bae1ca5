"""What stands behind the colon of a parameter: new values, and old ones that are claimed."""

import math
import re
from dataclasses import dataclass

from compass.domain.base import Value
from compass.domain.errors import QuerySyntax
from compass.domain.expression import Literal
from compass.domain.query import Edit, Plus, SetTo, Times
from compass.domain.units import canonical

_AMOUNT = re.compile(r"(\d+(?:\.\d*)?(?:[eE]\d+)?)([^\W\d_]*)\Z")


@dataclass(frozen=True)
class NewValue:
    """What a parameter becomes; `of` is the word that it is relative to."""

    edit: Edit
    of: str | None = None


@dataclass(frozen=True)
class Hyphenated:
    """`ResNet-50`: a label, but in `n: n-50` an edit; `unit` is what stands behind it."""

    text: str
    unit: str | None = None

    def meaning(self, name: str, old: Literal | str | None) -> NewValue:
        """What it is as the value of this column, behind this old value."""
        word, _, amount = self.text.partition("-")
        references = {"old", "x", name.casefold(), *_word(old)}
        number = _AMOUNT.match(amount)
        unit = self.unit or (number and canonical(number[2]))
        if number and word.casefold() in references and bool(unit) >= bool(number[2]):
            return NewValue(Plus(amount=-float(number[1]), unit=unit), of=word)
        if self.unit is not None:
            raise QuerySyntax(
                f"'{self.text}' is a label, so no unit can stand behind it",
                hint=f"quote the whole value: '{self.text} {self.unit}'",
            )
        return NewValue(SetTo(value=self.text))


def times_old(factor: float) -> Times:
    """The old value times this factor."""
    if not math.isfinite(factor):
        raise QuerySyntax("the factor is too large", hint="write a finite number")
    return Times(factor=factor)


def without_unit(name: str, literal: Literal) -> Value:
    """The value of a literal where no unit may stand."""
    if literal.unit is not None:
        raise QuerySyntax(
            f"the old value of {name} has a unit", hint="write old values as plain numbers"
        )
    return literal.value


def claimed_old(name: str, old: Literal | str | None, new: NewValue | None) -> tuple[Value, ...]:
    """The old value that `old -> new` claims; empty when the word is only a reference."""
    of = new.of.casefold() if new is not None and new.of is not None else None
    references = {"old", name.casefold()}
    if isinstance(old, Literal):
        claimed: tuple[Value, ...] = (without_unit(name, old),)
    elif old is None or old.casefold() in (of, *references):
        claimed = ()
    else:
        to_label = (
            new is not None and isinstance(new.edit, SetTo) and isinstance(new.edit.value, str)
        )
        claimed = () if old.casefold() == "x" and not to_label else (old,)
    references |= _word(old)  # `n -> n/2`: any word will do
    if of is not None and of not in references | {"x"}:
        raise QuerySyntax(
            f"{name} can only change relative to its own old value, not to '{of}'",
            hint=f"write {name}: old -> 2*old; a relation between columns is a rule of C",
        )
    return claimed


def _word(old: Literal | str | None) -> set[str]:
    return {old.casefold()} if isinstance(old, str) else set()
