"""What holds among the features on all past runs, without having been stated.

Decision 0033 (docs/decisions).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compass.domain.mined import Mined
from compass.domain.space import Space
from compass.language import parse_rule
from compass.prepare import Prepared
from compass.prepare.split import configurations
from compass.rules import Rule, compile_rule, mine


@dataclass(frozen=True, eq=False)
class Dependency:
    """A rule that was found, with what speaks for it."""

    rule: Rule
    mined: Mined


@dataclass(frozen=True, eq=False)
class FoundDependencies:
    """The dependencies of a table, and the different configurations that they were found in."""

    found: tuple[Dependency, ...]
    configurations: int

    @classmethod
    def of(cls, prepared: Prepared, features: Space) -> "FoundDependencies":
        """Those of the measured runs that have a value in every feature."""
        X = prepared.columns_of(features.names)
        X = X[np.isfinite(X).all(axis=1) & prepared.measured]
        found = []
        for mined in mine(X, features):
            rule = compile_rule(parse_rule(mined.text), features, features.names, mined.text)
            # Mining passes over the level `none`; a rule does not.
            if rule.holds(X).all():
                found.append(Dependency(rule, mined))
        return cls(tuple(found), len(np.unique(configurations(X))))

    @classmethod
    def known(cls, found: Sequence[Mined], different: int, features: Space) -> "FoundDependencies":
        """Those that were found before, in so many different configurations."""
        rules = (
            compile_rule(parse_rule(mined.text), features, features.names, mined.text)
            for mined in found
        )
        made = (Dependency(rule, mined) for rule, mined in zip(rules, found, strict=True))
        return cls(tuple(made), different)
