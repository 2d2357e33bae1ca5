"""Answers to export: usual ones, empty ones, and ones with names and labels that bite."""

from compass.domain.answer import (
    Answer,
    Curve,
    CurvePoint,
    Evidence,
    Label,
    ModelCard,
    Moved,
    Population,
    Prediction,
    Proposal,
    Provenance,
    Suggestion,
    Trust,
)
from compass.domain.base import Config, Value
from compass.domain.goal import minimize
from compass.domain.query import Kind, Query, SetTo

HEAD, TAIL = "first-half", "second-half"
BROKEN = f"{HEAD}\n{TAIL}"  # must not begin a line of its own outside quotes

HOSTILE: dict[str, str] = {
    "a line break": BROKEN,
    "quotes": 'it\'s "quoted" `here`',
    "shell": "$(touch /tmp/x); rm -rf ~ & | > < \\ !",
    "a formula": "=1+1",
    "mark-up": "<b>bold</b> | [link](x) {brace} %s {0}",
    "other alphabets": "größe 规模 \U0001f680",
    "blanks": "  \t ",
    "nothing": "",
}


def _answer(kind: Kind, suggestions: tuple[Suggestion, ...], **more: object) -> Answer:
    change = {} if kind is Kind.RECOMMEND else {"nodes": SetTo(value=4)}
    query = Query(kind=kind, ask=("nodes",), change=change, goals={"runtime": minimize})
    given: dict[str, object] = {
        "query": query,
        "text": "Recommend a configuration X = {nodes: ?} to achieve Y = {runtime: minimize}",
        "suggestions": suggestions,
        "context": "120 past runs match.",
        "provenance": Provenance(data="0" * 32, seed=7, versions={"compass": "0"}),
        "seconds": {"plan": 0.001},
        "run_next": tuple(Proposal(config=one.config, why=BROKEN) for one in suggestions),
    }
    return Answer.model_validate(given | more)


def _suggestion(
    config: Config, *, rank: int = 0, old: Value = 8, name: str = "nodes"
) -> Suggestion:
    runtime = Prediction(
        name="runtime",
        value=12.5 + rank,
        unit="s",
        low=11.0,
        high=14.0 + rank,
        level=0.9,
        before=20.0,
        change=-7.5 + rank,
        change_percent=-37.5,
        meets=True,
    )
    state = Prediction(name="state", value="COMPLETED", probability=0.97)
    near = Evidence(row=17, distance=0.1, config=config, outcomes={"runtime": 12.0})
    return Suggestion(
        config=config,
        settings={name: config[name]},
        edits=(Moved(name=name, old=old, new=config[name]),),
        outcomes=(runtime, state),
        distance=0.5 * rank,
        meets_goals=True,
        trust=Trust(
            label=Label.TRUSTED,
            ood=0.2,
            uq=0.3,
            support=5,
            tau=0.4,
            evidence=(near,),
            reason="Trusted: 5 past runs are near it.",
        ),
    )


def usual() -> dict[str, Answer]:
    """What people get: several suggestions, a single one, and a level `none`."""
    plain: Config = {"nodes": 4, "cores": 128, "app": "lammps", "cap": None, "ratio": 0.1 + 0.2}
    card = ModelCard(
        target="runtime",
        family="forest",
        rows=900,
        features=tuple(plain),
        error=0.05,
        error_name="MAPE",
        seconds=0.3,
    )
    curve = Curve(
        parameter="nodes",
        outcome="runtime",
        points=(CurvePoint(value=4, predicted=12.5, label=Label.TRUSTED, feasible=True),),
    )
    several = tuple(_suggestion({**plain, "nodes": 4 + i}, rank=i) for i in range(3))
    one = (_suggestion(plain),)
    extra = {"models": (card,), "curves": (curve,), "baseline": {"nodes": 8}, "notes": ("A note.",)}
    return {
        "several suggestions": _answer(Kind.RECOMMEND, several, models=(card,)),
        "one suggestion": _answer(Kind.RECONFIGURE, one, **extra),
        "numbers as large as they get": _answer(
            Kind.RECOMMEND, (_suggestion({"nodes": 2**60, "tiny": 5e-324, "huge": 1.7e308}),)
        ),
    }


def empty() -> dict[str, Answer]:
    """Answers without a suggestion: none was found, or the question was about many runs."""
    proposal = Proposal(config={"nodes": 2}, why="it has not been tried")
    people = Population(
        runs=12,
        outcomes=(Prediction(name="runtime", value=3.0, change=-1.0),),
        label=Label.CAUTION,
        reason="Caution: made up.",
    )
    return {
        "no suggestion": _answer(
            Kind.RECOMMEND, (), no_answer="No legal configuration obeys all rules."
        ),
        "no suggestion but proposals": _answer(
            Kind.RECOMMEND, (), no_answer="Run these first.", run_next=(proposal,)
        ),
        "the mean over many runs": _answer(Kind.WHAT_IF, (), population=people),
    }


def hostile() -> dict[str, Answer]:
    """Answers with one label or one column name each that a careless form trips over."""
    found = {}
    for what, text in HOSTILE.items():
        config: Config = {"nodes": 4, "partition": text, "flags": "-O2"}
        found[f"{what} in a label"] = _answer(Kind.RECOMMEND, (_suggestion(config),))
        named: Config = {"nodes": 4, text: "value"}
        found[f"{what} in a name"] = _answer(
            Kind.RECOMMEND, (_suggestion(named, name=text, old="old"),)
        )
    return found


def answer(label: str) -> Answer:
    """The answer of that name."""
    return (usual() | empty() | hostile())[label]
