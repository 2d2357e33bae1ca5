"""Tightening every domain by the rules before a search begins."""

from collections.abc import Mapping, Sequence

from compass.rules.conflict import explain_conflict
from compass.rules.domains import Domain
from compass.rules.evaluate import Rule
from compass.rules.narrow import narrow


def propagate(
    rules: Sequence[Rule], domains: Mapping[str, Domain], fixed: Mapping[str, float]
) -> dict[str, Domain]:
    """The domains that rules and fixed values leave; nothing that obeys all rules is removed.

    `fixed` holds encoded values, which count as they are even outside the legal ones. When
    nothing is left, ConflictingRules names the fewest rules, and the facts, that contradict.
    """
    narrowed = narrow(rules, domains, fixed)
    if narrowed is None:
        raise explain_conflict(rules, domains, fixed)
    return narrowed
