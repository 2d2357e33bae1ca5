"""What Compass says, with everything needed to act on it, check it and repeat it."""

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from compass.domain.arguments import takes, text
from compass.domain.base import Config, Noun, Value
from compass.domain.doubt import Doubt
from compass.domain.errors import unknown
from compass.domain.front import Front
from compass.domain.label import Label as Label  # noqa: PLC0414  part of every answer
from compass.domain.machines import PlatformAnswer
from compass.domain.query import Query


class Evidence(Noun):
    """A past run that supports a suggestion."""

    row: int = Field(description="row in the person's data, counted from 0")
    file: str | None = Field(None, description="the file it is in, when there are several")
    source: str | None = Field(
        None, description="file:row that it was sampled from, when the data is a sample"
    )
    distance: float
    config: Config
    outcomes: Config


class Finding(StrEnum):
    """What past runs say about the effect of a parameter that a suggestion moves."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NEVER_OBSERVED = "never observed"
    NOT_IDENTIFIABLE = "not identifiable"


class Unobserved(StrEnum):
    """Why comparable past runs do not tell what a move does."""

    NEVER_VARIED = "never varied"
    ONE_SIDED = "no run on one side"
    TOO_FEW_PAIRS = "too few pairs"
    UNLIKE_PAIRS = "pairs differ in other columns"


class Pair(Noun):
    """Two comparable past runs that differ in the parameter in question."""

    old: int = Field(description="row of the run near the old value")
    new: int = Field(description="row of the run near the new value")
    before: Value = Field(description="outcome of the first")
    after: Value = Field(description="outcome of the second")
    old_source: str | None = Field(None, description="file:row that the first was sampled from")
    new_source: str | None = Field(None, description="file:row that the second was sampled from")


class Effect(Noun):
    """What past runs say about one parameter's effect on one outcome."""

    knob: str
    outcome: str
    old: Value = Field(description="value in the reference: the baseline, or the best past run")
    new: Value = Field(description="value in the suggestion")
    finding: Finding
    unobserved: Unobserved | None = Field(
        None, description="why it was never observed; None: it was, or nothing is comparable"
    )
    adjusted: bool = Field(
        False,
        description="whether the pairs differ in more than the move, the rest being worked out by "
        "the model; else they agree in everything else",
    )
    together: bool = Field(False, description="whether the pairs make all moves at once")
    pairs: int = Field(0, description="pairs of comparable runs, no run in two of them")
    needed: int = Field(0, description="pairs that it takes to say anything")
    agreeing: int = Field(0, description="pairs whose outcome moved as the model expects")
    agree: float | None = Field(
        None, description="share of the pairs whose outcome moved as the model expects"
    )
    observed: float | None = Field(
        None, description="median change of the outcome in these pairs, in percent where it can be"
    )
    expected: float | None = Field(
        None, description="change that the model expects of this parameter alone, likewise"
    )
    percent: bool = Field(True, description="whether these changes are percentages")
    examples: tuple[Pair, ...] = ()
    reason: str = Field(description="all of this as a clause")


class Comparability(StrEnum):
    """How it is known which past runs can be compared, or why it is not."""

    STATED = "stated"
    SAME_CONTEXT = "same context"
    ONE_PROGRAM = "one program"
    PROGRAM_NOT_NAMED = "program not named"
    COLUMN_NOT_USED = "column not used"
    UNEXPLAINED = "unexplained differences"


class Comparable(Noun):
    """Which past runs can be compared with each other."""

    code: Comparability
    columns: tuple[str, ...] = Field((), description="what has to be the same in both runs")
    column: str | None = Field(
        None, description="the column that names jobs but no program, or that is not in use"
    )
    identifiable: bool = Field(description="whether runs of the same program and input are known")
    given: bool = Field(False, description="whether a person said so")
    why: str = Field(description="all of this as a sentence")
    reason: str = Field(description="the same, and what to do where no runs are comparable")


class Trust(Noun):
    """Algorithm 1: novelty, uncertainty, support, and what speaks against the prediction."""

    label: Label = Field(description="it follows from the doubts")
    published: Label | None = Field(
        None, description="the label of Algorithm 1 as published: by OOD and UQ alone"
    )
    measured: int = Field(0, description="past runs of exactly this configuration")
    doubts: tuple[Doubt, ...] = Field((), description="what speaks against relying on it")
    ood: float = Field(description="share of validation runs that are closer to the data")
    uq: float = Field(description="share of validation runs that are more certain")
    risk: float = Field(
        0.0, description="share of validation runs whose prediction is expected to err less"
    )
    support: int = Field(description="past runs within tau of this configuration")
    tau: float = Field(description="the distance that counts as close")
    evidence: tuple[Evidence, ...] = Field((), description="the closest of the supporting runs")
    effects: tuple[Effect, ...] = Field((), description="of every parameter that is moved")
    reason: str = Field(description="label, doubts and support as sentences")


class Prediction(Noun):
    """What an outcome is predicted to be, and its change against the baseline."""

    name: str
    value: Value = Field(description="predicted value or most likely class")
    unit: str | None = None
    low: float | None = Field(
        None, description="lower end of the interval of a new run, in whichever of the contexts"
    )
    high: float | None = Field(None, description="upper end of the interval of a new run")
    level: float | None = Field(None, description="share of new runs that are inside")
    before: Value = Field(None, description="the same prediction at the baseline")
    observed: Value = Field(None, description="what was measured at the baseline")
    change: float | None = None
    change_percent: float | None = None
    change_low: float | None = Field(
        None,
        description="lower end of the change between two new runs, one of each configuration; "
        "over past runs: of the mean change that the model predicts",
    )
    change_high: float | None = Field(None, description="upper end of the same interval")
    probability: float | None = Field(None, description="score of the predicted class")
    meets: bool | None = Field(
        None, description="whether it meets its goal with the chance asked for; None: no goal"
    )
    chance: float | None = Field(
        None, description="how likely a new run meets its goal, going by errors on unseen runs"
    )
    against: float | None = Field(
        None, description="the baseline's value that a relative goal is measured against"
    )
    wanted: str | None = Field(None, description="the goal in numbers, e.g. runtime <= 40")
    scores: dict[str, float] = Field(
        default_factory=dict, description="of a class: the probability of each label"
    )
    scores_before: dict[str, float] = Field(
        default_factory=dict, description="of a class: the same at the baseline"
    )


class Moved(Noun):
    """One parameter's move against the baseline."""

    name: str
    old: Value
    new: Value
    unit: str | None = None
    forced_by: str | None = Field(
        None, description="the rule, else the goal, that left no other way"
    )
    for_goal: bool = Field(False, description="whether that is the goal")


class OutcomeCondition(Noun):
    """A condition on an outcome, which is predicted here: how likely it holds."""

    text: str = Field(description="the condition")
    outcomes: tuple[str, ...] = Field(description="what it speaks of that is predicted")
    asked: bool = Field(description="whether the question states it; else a standing rule does")
    holds: bool = Field(description="whether the predicted values obey it; of most runs of many")
    chance: float | None = Field(None, description="how likely it holds; None: cannot be told")
    before: float | None = Field(None, description="the same at the baseline")


class UnseenValue(Noun):
    """A value that a question sets and that no past run has: the model fills the gap."""

    name: str
    value: float
    below: float | None = Field(None, description="the nearest smaller value that was run")
    above: float | None = Field(None, description="the nearest larger value that was run")

    @property
    def interpolated(self) -> bool:
        """Whether it lies between values that were run; else it is beyond them."""
        return self.below is not None and self.above is not None


class Suggestion(Noun):
    """One complete configuration with its predicted outcomes and its trust."""

    config: Config = Field(description="every feature of the model")
    settings: Config = Field(description="the part that was asked for or changed")
    edits: tuple[Moved, ...] = Field((), description="moves against the baseline")
    outcomes: tuple[Prediction, ...]
    distance: float = Field(description="weighted change against the baseline (L_prox)")
    meets_goals: bool
    conditions: tuple[OutcomeCondition, ...] = Field(
        (), description="conditions on predicted outcomes, and how likely each holds"
    )
    trust: Trust
    breaks: tuple[str, ...] = Field(
        (),
        description="dependencies that hold on all rows, though nobody stated them, and not here",
    )

    @takes(name=text)
    def outcome(self, name: str) -> Prediction:
        """The prediction of one outcome."""
        for outcome in self.outcomes:
            if outcome.name == name:
                return outcome
        raise unknown("outcome", name, [outcome.name for outcome in self.outcomes])


class Price(Noun):
    """What it costs to be so sure: the smallest change that meets the goals with this chance."""

    chance: float
    reached: bool = Field(description="whether any configuration that was found reaches it")
    distance: float | None = Field(None, description="weighted change against the baseline")
    config: Config = Field(default_factory=dict, description="every feature")
    settings: Config = Field(default_factory=dict, description="what is changed, with new values")
    outcomes: Config = Field(default_factory=dict, description="what is predicted there")


class Measured(Noun):
    """The past runs of one configuration, with what was measured on average."""

    rows: tuple[int, ...] = Field(description="rows in the person's data, counted from 0")
    runs: int = Field(description="how many there are")
    config: Config = Field(description="every feature")
    settings: Config = Field(description="those that the question asks for")
    open: Config = Field(
        default_factory=dict, description="knobs that the question leaves open, with their values"
    )
    outcomes: Config


class CertificateStatus(StrEnum):
    """How much is known about the first suggestion, or about there being none."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    BEST_FOUND = "best found"
    NO_PROOF = "no proof"


class Certificate(Noun):
    """What is proved about an answer, under the model and the rules."""

    status: CertificateStatus
    reason: str = Field(description="one plain sentence")
    gap: float | None = Field(
        None, description="how much better another answer could be: distance, else the value"
    )
    bound: float | None = Field(None, description="no answer is better than this")
    value_gap: float | None = Field(
        None, description="how much better the value could be, in units of the outcome"
    )
    resolution: float | None = Field(
        None, description="largest rounding error of a prediction that the proof allows for"
    )
    blocking: tuple[str, ...] = Field(
        (), description="rules and goals that cannot hold together, none of which can be left out"
    )
    blocking_goals: dict[str, str] = Field(
        default_factory=dict, description="of these the goals, each with its outcome"
    )
    nearest: dict[str, float] = Field(
        default_factory=dict, description="the value closest to its goal that can be reached"
    )
    left_out: tuple[str, ...] = Field((), description="rules that the proof could not state")
    cut: bool = Field(False, description="whether the deadline ended the proof")
    goals: tuple[str, ...] = Field(
        (), description="the goals that the proof is about: shifted, to be met with the chance"
    )
    chance: float | None = Field(None, description="the chance that they are shifted for")
    tolerance: float | None = Field(
        None, description="share of the best value that counts as reaching it"
    )
    measured: bool = Field(
        False, description="whether measured runs count; else the proof is about the model alone"
    )


class CurvePoint(Noun):
    """One point of a what-if curve."""

    value: Value
    predicted: Value
    low: float | None = None
    high: float | None = None
    label: Label
    feasible: bool = Field(description="whether all rules hold at this value")


class Curve(Noun):
    """How an outcome answers to one parameter, everything else as in the baseline."""

    parameter: str
    outcome: str
    points: tuple[CurvePoint, ...]


class ForcedMove(Noun):
    """A column that rules make move in some of the runs that a change is applied to."""

    name: str
    runs: int = Field(description="runs in which it moves")
    forced_by: str | None = Field(None, description="the rule that most often leaves no other way")


class Population(Noun):
    """The mean effect of a change over all past runs that match."""

    runs: int
    left_out: int = Field(0, description="matching runs to which the change cannot be applied")
    adjusted: int = Field(0, description="runs in which rules make something else move as well")
    moved: tuple[ForcedMove, ...] = Field(
        (), description="what moves in them, the most often first"
    )
    interpolated: int = Field(0, description="runs that get a value between those that were run")
    conditions: tuple[OutcomeCondition, ...] = Field(
        (), description="conditions on outcomes, which chose the runs, and whether they still hold"
    )
    stands_for: float | None = Field(
        None, description="runs of the source that these stand for, when the data is a sample"
    )
    outcomes: tuple[Prediction, ...]
    label: Label = Field(description="trusted: most of these runs are, after the change")
    changing: int = Field(0, description="those of the runs that the change moves")
    trusted: float | None = Field(None, description="share of these that are trusted afterwards")
    supported: float | None = Field(
        None, description="share of these whose change comparable past runs support"
    )
    reason: str = Field(description="all of this as a sentence")


class FamilyScore(Noun):
    """How one family of models did when the best one was looked for."""

    family: str
    log: bool = Field(False, description="whether it learnt the logarithm of the outcome")
    embedding: str | None = Field(None, description="the representation in front of it")
    error: float | None = Field(None, description="mean over the folds that were tried")
    low: float | None = Field(None, description="lower end of the 95 % interval of the error")
    high: float | None = Field(None, description="upper end of the 95 % interval of the error")
    folds: int = Field(0, description="folds that were tried")
    errors: tuple[float, ...] = Field((), description="of each fold that was tried")
    seconds: float = Field(0.0, description="processor time of all folds")
    provable: bool = Field(False, description="whether answers can be proved optimal over it")
    status: str = Field(description="chosen, tried, stopped or skipped")
    reason: str = Field("", description="why it was stopped, skipped or chosen")


class ColumnDrift(Noun):
    """How far the new values of a column lie from the old ones."""

    column: str
    distance: float = Field(description="0: the same distribution, 1: nothing in common")
    expected: float = Field(description="what chance alone would hardly exceed")
    drifted: bool


class Drift(Noun):
    """What changed between the runs learnt from and those that came later."""

    rows: int = Field(description="new runs")
    columns: tuple[ColumnDrift, ...] = Field((), description="the most changed first")
    error_before: float | None = Field(None, description="of the model on runs like the old ones")
    error_new: float | None = Field(None, description="of the same model on the new runs")
    kind: str = Field(description="none, inputs (other configurations) or law (other outcomes)")
    reason: str


class ModelCard(Noun):
    """What predicted one outcome."""

    target: str
    family: str
    rows: int
    features: tuple[str, ...]
    error: float = Field(description="on rows that were held out; see `unseen`")
    error_name: str
    low: float | None = Field(None, description="lower end of the 95 % interval of the error")
    high: float | None = Field(None, description="upper end of the 95 % interval of the error")
    checked: int = Field(0, description="rows that the error was measured on")
    unseen: bool = Field(
        True,
        description="whether the model did not see those rows; False: somebody brought it, and it "
        "may have been trained on them",
    )
    skill: float | None = Field(
        None,
        description="share of the error of the simplest prediction (the median, or the last run of "
        "the context) that the model saves on held-out rows; 0: it knows nothing",
    )
    skilled: bool = Field(
        True, description="whether it clearly beats that; else nothing it predicts is trusted"
    )
    log: bool = Field(False, description="whether it learnt the logarithm of the outcome")
    embedding: str | None = Field(None, description="the representation in front of it")
    tuned: dict[str, float | bool] = Field(
        default_factory=dict, description="settings that tuning changed"
    )
    provable: bool = Field(False, description="whether answers can be proved optimal over it")
    scores: tuple[FamilyScore, ...] = Field((), description="all families, the best first")
    notes: tuple[str, ...] = ()
    sample: str | None = Field(None, description="how the runs were sampled; None: they were not")
    anew: int = Field(0, description="rows when it was last trained from the beginning")
    update: str = Field("", description="how the model took in later runs")
    drift: Drift | None = Field(None, description="between the runs learnt from and later ones")
    seconds: float


class Provenance(Noun):
    """What is needed to repeat the answer."""

    data: str = Field(description="fingerprint of the data")
    sample: str | None = Field(None, description="how its rows were sampled; None: they were not")
    seed: int
    versions: dict[str, str]


class Proposal(Noun):
    """A configuration worth running next."""

    id: str = Field("", description="the same for the same configuration; results refer to it")
    config: Config
    why: str = Field(description="what measuring it would settle")
    gain: float | None = Field(
        None, description="expected improvement of the decision, in units of the outcome"
    )


class Pending(StrEnum):
    """A part of an answer that comes after the rest of it."""

    PROOF = "proof"
    RUN_NEXT = "run next"


class Answer(Noun):
    """The answer to one query."""

    query: Query
    text: str = Field(description="the query as canonical text")
    suggestions: tuple[Suggestion, ...] = Field(
        (), description="what can be relied on: the better label first, then the goal"
    )
    ideas: tuple[Suggestion, ...] = Field(
        (),
        description="found, but not suggested: unsupported, or not likely enough to meet the goals",
    )
    best_measured: Measured | None = Field(
        None, description="the best past run of the context, as measured"
    )
    prices: tuple[Price, ...] = Field((), description="what more or less certainty costs")
    reachable: dict[str, float] = Field(
        default_factory=dict,
        description="where there is no suggestion, per goal that is missed: the bound in its place "
        "that new runs of what comes closest meet with the chance",
    )
    chance: float | None = Field(
        None, description="how likely each goal has to be met; None: there is no such goal"
    )
    baseline: Config | None = None
    units: dict[str, str] = Field(
        default_factory=dict,
        description="the unit of every column that has a known one: of settings and outcomes",
    )
    context: str = Field("", description="what was assumed about everything not set")
    contexts: int = Field(1, description="over how many contexts predictions are averaged")
    comparable: Comparable | None = Field(None, description="which past runs count as comparable")
    population: Population | None = None
    front: Front | None = Field(
        None, description="of several outcomes: the trade-offs, which the suggestions are then"
    )
    machines: PlatformAnswer | None = Field(
        None, description="of a question about machines: the run on all of them"
    )
    curves: tuple[Curve, ...] = ()
    unseen: tuple[UnseenValue, ...] = Field(
        (), description="values that the question sets and no past run has"
    )
    notes: tuple[str, ...] = ()
    no_answer: str | None = Field(None, description="why there is no supported answer")
    exhausted: bool = Field(
        False, description="whether everything legal was tried, or it is proved that nothing is met"
    )
    certificate: Certificate | None = Field(
        None, description="what is proved about the first suggestion, or about there being none"
    )
    run_next: tuple[Proposal, ...] = ()
    pending: tuple[Pending, ...] = Field(
        (), description="what is still to come; a proof may find a better first suggestion"
    )
    models: tuple[ModelCard, ...] = ()
    provenance: Provenance
    seconds: dict[str, float] = Field(default_factory=dict, description="time of each stage")

    def __len__(self) -> int:
        return len(self.suggestions)

    def __getitem__(self, index: int) -> Suggestion:
        return self.suggestions[index]

    def __iter__(self) -> Iterator[Suggestion]:  # type: ignore[override]
        return iter(self.suggestions)

    @property
    def answered(self) -> bool:
        """Whether there is a supported answer (exit code 0)."""
        return self.no_answer is None
