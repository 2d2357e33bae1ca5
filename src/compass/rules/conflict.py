"""Why rules cannot hold together: the fewest of them, and the facts that take part."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeVar

import numpy as np

from compass.domain.errors import ConflictingRules
from compass.domain.space import Category, Number
from compass.language import format_value, listed
from compass.rules.domains import Domain
from compass.rules.enumerate import components, legal_tuples
from compass.rules.evaluate import Rule
from compass.rules.narrow import narrow

_TUPLES = 10_000  # combinations tried to show that nothing is left
_SHOWN = 8  # legal values written out

Item = TypeVar("Item")


@dataclass(frozen=True)
class Fact:
    """Something that is true of a column: fixed, low, high, or grid (the values it may take)."""

    kind: str
    name: str


@dataclass(frozen=True)
class Conflict:
    """Rules and facts that contradict each other, none of which can be left out."""

    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...]


def conflict(
    rules: Sequence[Rule], domains: Mapping[str, Domain], fixed: Mapping[str, float]
) -> tuple[str, ...]:
    """The texts of a smallest set of rules that cannot hold together; () when none is found.

    Every member is needed: without it, the others (with the same facts) are no longer refuted.
    """
    found = find_conflict(rules, domains, fixed)
    return () if found is None else tuple(rule.text for rule in found.rules)


def find_conflict(
    rules: Sequence[Rule], domains: Mapping[str, Domain], fixed: Mapping[str, float]
) -> Conflict | None:
    """The contradiction in full; rules alone are preferred to rules with facts."""
    thorough = narrow(rules, domains, fixed) is not None
    if thorough and not _impossible(rules, domains, fixed, thorough=True):
        return None
    named = {name: rule.parameters[name] for rule in rules for name in rule.names}
    numbers = [n for n, p in named.items() if isinstance(p, Number) and n in domains]
    facts = [Fact(kind, name) for kind in ("grid", "low", "high") for name in numbers]
    facts += [Fact("fixed", name) for name in fixed if name in named]
    ordered = sorted(rules, key=lambda rule: -len(rule.names))

    def refuted(some_facts: Sequence[Fact], some_rules: Sequence[Rule]) -> bool:
        kept = set(some_facts)
        relaxed = {n: _relaxed(n, d, kept) if n in numbers else d for n, d in domains.items()}
        still = {n: v for n, v in fixed.items() if n not in named or Fact("fixed", n) in kept}
        return _impossible(some_rules, relaxed, still, thorough=thorough)

    facts = _shrink(facts, lambda some: refuted(some, ordered))
    ordered = _shrink(ordered, lambda some: refuted(facts, some))
    facts = _shrink(facts, lambda some: refuted(some, ordered))
    return Conflict(tuple(rule for rule in rules if rule in ordered), tuple(facts))


def _shrink(items: Sequence[Item], refuted: Callable[[Sequence[Item]], bool]) -> list[Item]:
    """Leave out, one after the other, everything that the contradiction does not need."""
    kept = list(items)
    for item in items:
        without = [other for other in kept if other is not item]
        if refuted(without):
            kept = without
    return kept


def _impossible(
    rules: Sequence[Rule],
    domains: Mapping[str, Domain],
    fixed: Mapping[str, float],
    *,
    thorough: bool,
) -> bool:
    """Whether nothing is left: by narrowing and, when thorough, by trying combinations."""
    narrowed = narrow(rules, domains, fixed)
    if narrowed is None or not thorough:
        return narrowed is None
    used = {name for rule in rules for name in rule.names}
    free = [name for name in domains if name in used and name not in fixed]
    for group in components(rules, free):
        legal = legal_tuples(rules, group, narrowed, fixed, _TUPLES)
        if legal is not None and len(legal) == 0:
            return True
    return False


def _relaxed(name: str, domain: Domain, facts: Iterable[Fact]) -> Domain:
    """The domain with only these facts about it."""
    kinds = {fact.kind for fact in facts if fact.name == name}
    grid = _as_grid(domain)
    if "grid" in kinds and grid is None:
        return domain
    loose = (
        grid
        if "grid" in kinds and grid is not None
        else Domain(domain.low, domain.high, none=domain.none)
    )
    low = loose.low if "low" in kinds else -inf
    high = loose.high if "high" in kinds else inf
    if low > -inf and high < inf and loose is grid:
        return domain
    return replace(loose, low=low, high=high)


def _as_grid(domain: Domain) -> Domain | None:
    """A domain of evenly spaced values as a grid without a list; None: the list is uneven."""
    if domain.values is None:
        return domain
    gaps = np.diff(domain.numbers)
    if len(gaps) == 0 or not np.allclose(gaps, gaps[0], rtol=1e-9, atol=0.0):
        return None
    return Domain(domain.low, domain.high, None, float(gaps[0]), domain.low, domain.none)


def explain_conflict(
    rules: Sequence[Rule], domains: Mapping[str, Domain], fixed: Mapping[str, float]
) -> ConflictingRules:
    """The error that says, in plain words, why nothing obeys all rules."""
    found = find_conflict(rules, domains, fixed)
    if found is None:
        texts = tuple(rule.text for rule in rules)
        return ConflictingRules(
            f"no configuration was found that obeys {listed(texts)}",
            hint="relax one of the rules",
            rules=texts,
        )
    texts = tuple(rule.text for rule in found.rules)
    if not texts and not found.facts:
        empty = [name for name, domain in domains.items() if domain.empty]
        return ConflictingRules(
            f"{listed(empty)} has no legal value", hint="check its bounds and allowed values"
        )
    message = _needed(found, domains, fixed) or _plain(found, domains, fixed)
    ways = ["change or drop one of the rules" if len(texts) > 1 else "change the rule"]
    ways += [f"free {fact.name}" for fact in found.facts if fact.kind == "fixed"]
    return ConflictingRules(message, hint=" or ".join(ways), rules=texts)


def _plain(found: Conflict, domains: Mapping[str, Domain], fixed: Mapping[str, float]) -> str:
    texts = [rule.text for rule in found.rules]
    facts = _facts_in_words(found, domains, fixed)
    ending = {0: "", 1: " can never hold" if not facts else " cannot hold", 2: " cannot both hold"}
    rules = listed(texts) + ending.get(len(texts), " cannot all hold")
    return f"{listed(facts)}, so {rules}" if facts else rules


def _needed(
    found: Conflict, domains: Mapping[str, Domain], fixed: Mapping[str, float]
) -> str | None:
    """`gpus is fixed at 16 but gpus <= 4 * nodes needs nodes >= 4, and nodes is at most 3`."""
    bounds = [fact for fact in found.facts if fact.kind in ("low", "high")]
    if len(found.rules) != 1 or len(bounds) != 1 or len(found.rules[0].names) < 2:
        return None
    (rule,), (bound,) = found.rules, bounds
    others = [fact for fact in found.facts if fact is not bound]
    on_grid = [*others, Fact("grid", bound.name)]
    relaxed = {n: domain for n, domain in domains.items() if n in rule.names}
    for name, domain in relaxed.items():
        if isinstance(rule.parameters[name], Number):
            relaxed[name] = _relaxed(name, domain, on_grid)
    kept = {fact.name: fixed[fact.name] for fact in others if fact.kind == "fixed"}
    left = narrow(found.rules, relaxed, kept)
    needs = None if left is None else left[bound.name]
    limit = inf if needs is None else needs.low if bound.kind == "high" else needs.high
    if needs is None or abs(limit) == inf:
        return None
    parameter = rule.parameters[bound.name]
    sign = ">=" if bound.kind == "high" else "<="
    need = f"{rule.text} needs {bound.name} {sign} {_shown(limit, parameter)}"
    (fact,) = _facts_in_words(replace(found, facts=(bound,)), domains, fixed)
    before = _facts_in_words(replace(found, facts=tuple(others)), domains, fixed)
    return f"{listed(before)} but {need}, and {fact}" if before else f"{need}, but {fact}"


def _facts_in_words(
    found: Conflict, domains: Mapping[str, Domain], fixed: Mapping[str, float]
) -> list[str]:
    """One clause per kind of fact and what it says: `P and Q are one of 1, 2, 4`."""
    parameters = {n: rule.parameters[n] for rule in found.rules for n in rule.names}
    order = {"fixed": 0, "grid": 1, "low": 2, "high": 3}
    saying: dict[str, list[str]] = {}
    for fact in sorted(found.facts, key=lambda fact: order[fact.kind]):
        other = {"low": "high", "high": "low"}.get(fact.kind, "")
        both = Fact(other, fact.name) in found.facts
        if both and fact.kind == "high":
            continue  # named together with the low bound
        words = _clause("range" if both else fact.kind, fact.name, domains, fixed, parameters)
        saying.setdefault(words, []).append(fact.name)
    return [f"{listed(n)} {'is' if len(n) == 1 else 'are'} {words}" for words, n in saying.items()]


def _clause(
    kind: str,
    name: str,
    domains: Mapping[str, Domain],
    fixed: Mapping[str, float],
    parameters: Mapping[str, Number | Category],
) -> str:
    """What a fact says of its column, to follow `is`."""
    parameter = parameters[name]
    match kind:
        case "fixed":
            value = fixed[name]
            return "missing" if np.isnan(value) else f"fixed at {_shown(value, parameter)}"
        case "low":
            return f"at least {_shown(domains[name].low, parameter)}"
        case "high":
            return f"at most {_shown(domains[name].high, parameter)}"
        case "range":
            low, high = domains[name].low, domains[name].high
            return f"between {_shown(low, parameter)} and {_shown(high, parameter)}"
        case _:
            return _grid_clause(domains[name], parameter)


def _grid_clause(domain: Domain, parameter: Number | Category) -> str:
    grid = _as_grid(domain)
    if grid is not None and grid.step is not None:
        if grid.step == 1.0 and grid.whole:
            return "whole"
        return f"in steps of {_shown(grid.step, parameter)}"
    values = [] if domain.values is None else list(domain.values)
    shown = ", ".join(_shown(value, parameter) for value in values[:_SHOWN])
    return f"one of {shown}{', ...' if len(values) > _SHOWN else ''}"


def _shown(value: float, parameter: Number | Category) -> str:
    """An encoded value as the person knows it."""
    if isinstance(parameter, Category):
        return format_value(parameter.values[int(value)])
    if value == parameter.none_code:
        return "none"
    unit = f" {parameter.unit}" if parameter.unit else ""
    exact = float(value)
    return format_value(exact if exact.is_integer() else float(f"{exact:.7g}")) + unit
