"""Why a role was guessed, in words: the only place where these sentences are made."""

import shlex

from compass.domain.space import Role
from compass.prepare.guess import Guess
from compass.prepare.report import ReasonCode, RoleQuestion, RoleReason

_ARTICLES = {
    Role.KNOB: "a knob",
    Role.CONTEXT: "context",
    Role.OUTCOME: "an outcome",
    Role.IGNORED: "of no use",
}
_SHOWN = 3  # reasons, or columns of a reason, that are told
_DECIDES = 0.3  # of the weight of the strongest reason: what weighs less is not told


def note_of(guess: Guess) -> str:
    """Why a column is taken for what it is, where its name alone does not tell."""
    role, name = guess.role, guess.facts.name
    told = _for(guess, role)
    codes = {reason.code for reason in told}
    if role is Role.IGNORED:
        settled = ReasonCode.SETTLED in codes
        asked = f"{flag(name, Role.KNOB)} to set it"
        if not settled:
            asked = f"{flag(name, Role.OUTCOME)} to ask for it"
        return f"{_listed([_phrase(reason) for reason in told])}; {asked}"
    if ReasonCode.NAME in codes or role not in (Role.OUTCOME, Role.CONTEXT):
        unusual = {ReasonCode.INDEPENDENT, ReasonCode.NOTHING_ELSE} & codes
        return _listed([_phrase(reason) for reason in told if reason.code in unusual])
    because = _listed([_phrase(reason) for reason in told])
    return f"measured: {because}" if role is Role.OUTCOME else because


def flag(name: str, role: Role) -> str:
    """The flag that gives a column a role, as a shell takes it."""
    return f"--role {shlex.quote(f'{name}={role.value}')}"


def question_of(guess: Guess) -> RoleQuestion | None:
    """What a person is asked about a column; None where the guess is sure."""
    alternatives = guess.alternatives
    if not alternatives:
        return None
    return RoleQuestion(
        alternatives=alternatives,
        chance=round(guess.chances[guess.role], 3),
        reasons=tuple(guess.reasons),
        why=_why(guess, alternatives[0]),
    )


def _why(guess: Guess, other: Role) -> str:
    if not _for(guess, guess.role) and not _for(guess, other):
        return f"{_ARTICLES[guess.role]} or {_ARTICLES[other]}: nothing tells which"
    return f"{_because(guess, guess.role)}, or {_because(guess, other)}"


def _because(guess: Guess, role: Role) -> str:
    reasons = _listed([_phrase(reason) for reason in _for(guess, role)])
    return f"{_ARTICLES[role]} ({reasons})" if reasons else _ARTICLES[role]


def _for(guess: Guess, role: Role) -> list[RoleReason]:
    """The reasons that speak for a role, strongest first, one of each code."""
    ordered = sorted(guess.reasons, key=lambda reason: -reason.weight)
    found = {r.code: r for r in reversed(ordered) if r.role is role and r.weight > 0}
    strongest = max((reason.weight for reason in found.values()), default=0.0)
    told = [reason for reason in found.values() if reason.weight >= _DECIDES * strongest]
    return sorted(told, key=lambda reason: -reason.weight)[:_SHOWN]


def _phrase(reason: RoleReason) -> str:
    columns = _named(reason.columns)
    count = f"{reason.value:,.0f}" if reason.value is not None else ""
    beside = "between" if len(reason.columns) > 1 else "beside"
    phrases = {
        ReasonCode.NAME: "by its name",
        ReasonCode.FEW_VALUES: f"{count} repeated values",
        ReasonCode.MOSTLY_ZERO: "mostly zero",
        ReasonCode.UNEVEN: f"{count} repeated values that are not plain",
        ReasonCode.MANY_VALUES: f"{count} different values",
        ReasonCode.MANY_LABELS: f"{count} labels",
        ReasonCode.CLASSES: "labels of success and failure",
        ReasonCode.PROBLEM_CLASSES: "labels name problem classes",
        ReasonCode.SWITCH: "on or off",
        ReasonCode.HARDWARE: "labels name hardware",
        ReasonCode.VARIES_WITH: f"varies with {columns}",
        ReasonCode.EFFECT: "follows from several columns",
        ReasonCode.INDEPENDENT: "follows from nothing else",
        ReasonCode.FAMILY: f"named like {columns}",
        ReasonCode.NEIGHBOURS: f"stands {beside} {columns}",
        ReasonCode.FIRST: "stands before all knobs",
        ReasonCode.BEHIND: "stands behind results",
        ReasonCode.OF_JOBS: "labels in a trace of jobs",
        ReasonCode.TWIN: f"rises and falls with {columns}",
        ReasonCode.FORMULA: f"calculated with {columns}",
        ReasonCode.SETTLED: f"follows from {columns}",
        ReasonCode.COUNTER: "a counter",
        ReasonCode.NOTHING_ELSE: "nothing else can be set",
        ReasonCode.AMONG_COUNTERS: f"stands among {count} counters",
    }
    return phrases[reason.code]


def _named(columns: tuple[str, ...]) -> str:
    if len(columns) > _SHOWN:
        return f"{', '.join(columns[: _SHOWN - 1])} and {len(columns) - _SHOWN + 1} more"
    return _listed(list(columns), last=" and ")


def _listed(parts: list[str], last: str = ", ") -> str:
    return last.join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
