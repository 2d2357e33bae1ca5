"""What speaks for each role of one column, and what it is taken for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from compass.domain.space import Role
from compass.prepare.facts import ColumnFacts
from compass.prepare.hints import LIKELY, SURE
from compass.prepare.report import ReasonCode, RoleReason

SETTINGS = (Role.KNOB, Role.CONTEXT)
_PRIOR = {Role.KNOB: 0.5, Role.CONTEXT: 0.0, Role.OUTCOME: 0.0, Role.IGNORED: -2.0}
# A measured column that is taken for a knob tells models the answer: a knob has to be likelier
# than anything else, and clearly likelier than a result.
_CAUTION, _NO_RESULT = 0.5, 1.0
_CONFIDENT = 0.85
# So likely is another role that a person is asked: whether a column was measured decides what can
# be learnt at all, whether it is chosen or given only what is offered.
_MEASURED_ASKED, _OTHERS_ASKED = 0.15, 0.3


@dataclass(eq=False)
class Guess:
    """What speaks for each role of one column."""

    facts: ColumnFacts
    odds: dict[Role, float] = field(default_factory=lambda: dict(_PRIOR))
    reasons: list[RoleReason] = field(default_factory=list)
    fixed: Role | None = None  # stated, or settled by a plain fact
    told: float = 0.0  # how strongly its name speaks
    counted: bool = False  # a counter: what other columns tell does not matter

    def add(
        self,
        code: ReasonCode,
        role: Role,
        weight: float,
        columns: Sequence[str] = (),
        value: float | None = None,
    ) -> None:
        """Takes a piece of evidence into account; a negative weight speaks against the role."""
        self.odds[role] += weight
        if code is ReasonCode.NAME:
            self.told = max(self.told, weight)
        self.reasons.append(
            RoleReason(code=code, role=role, weight=weight, columns=tuple(columns), value=value)
        )

    @property
    def role(self) -> Role:
        """The likeliest role."""
        if self.fixed is not None:
            return self.fixed
        knob = self.odds[Role.KNOB]
        odds = self.odds | {Role.KNOB: knob - _CAUTION}
        if knob < odds[Role.OUTCOME] + _NO_RESULT:
            odds.pop(Role.KNOB)
        return max(odds, key=lambda role: odds[role])

    @property
    def open(self) -> bool:
        """Whether what other columns tell may change it."""
        return self.fixed is None and not self.counted

    @property
    def named(self) -> bool:
        """Whether its name, or a person, tells what it is for."""
        return self.fixed is not None or self.told >= LIKELY

    @property
    def surely_named(self) -> bool:
        """Whether that leaves no doubt."""
        return self.fixed is not None or self.told >= SURE

    @property
    def confident(self) -> bool:
        """Whether it is clear enough whether it was measured to tell of its neighbours."""
        if self.role is Role.IGNORED:
            return False
        alike = SETTINGS if self.role in SETTINGS else (Role.OUTCOME,)
        return sum(self.chances.get(role, 0.0) for role in alike) >= _CONFIDENT

    def has(self, code: ReasonCode) -> bool:
        """Whether some evidence of this kind was found."""
        return any(reason.code is code for reason in self.reasons)

    @property
    def chances(self) -> dict[Role, float]:
        """How likely each role is."""
        if self.fixed is not None:
            return {self.fixed: 1.0}
        weights = {role: math.exp(odds) for role, odds in self.odds.items()}
        return {role: weight / sum(weights.values()) for role, weight in weights.items()}

    @property
    def alternatives(self) -> tuple[Role, ...]:
        """What else it may well be, likeliest first; none where the guess is sure."""
        if self.fixed is not None:
            return ()
        chances, own = self.chances, self.role

        def asked(other: Role) -> bool:
            mixed_up = (own is Role.OUTCOME) != (other is Role.OUTCOME)
            learnt = Role.IGNORED not in (own, other)
            limit = _MEASURED_ASKED if mixed_up and learnt else _OTHERS_ASKED
            return other is not own and chances[other] >= limit

        return tuple(sorted(filter(asked, chances), key=lambda role: -chances[role]))
