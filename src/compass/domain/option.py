"""What every option of a question and of a fit means, and which numbers it takes.

Plain data, without pydantic: the request models, the query language and the command line are all
made from it, and the command line has to start fast.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Option:
    """One option: what it means, and the numbers that it takes."""

    text: str
    note: str = ""  # for programs only: the command line says it in its own form
    least: int | None = None
    above: int | None = None  # more than this
    most: int | None = None
    below: int | None = None  # less than this

    @property
    def description(self) -> str:
        """What it means, for programs."""
        return f"{self.text}; {self.note}" if self.note else self.text

    @property
    def limits(self) -> dict[str, Any]:
        """The numbers that it takes, as pydantic names them."""
        named = {"ge": self.least, "gt": self.above, "le": self.most, "lt": self.below}
        return {name: end for name, end in named.items() if end is not None}

    @property
    def last(self) -> int | None:
        """The largest whole number that it takes."""
        return self.most if self.below is None else self.below - 1


LOSS_TERMS = ("valid", "proximity", "constraint", "diversity")  # COMPASS, equation 1

# Of a question.
RUN = Option("where to start: the number of a past run, or a configuration")
WHERE = Option("conditions of this question")
COUNT = Option("how many suggestions", least=1, most=1000)
SEED = Option("same seed, same models and answers", least=0, below=2**32)
WEIGHTS = Option(
    "cost of changing a parameter, 1 if not named",
    "of an outcome that is minimised or maximised: its weight in a sum, which is then what decides",
)
REFERENCE = Option(
    "of outcomes that are minimised or maximised: the value from where on a trade-off counts",
    "if not named, a little behind the worst of the measured trade-offs",
)
DIVERSITY = Option("weight of suggestions being different", least=0, most=1000)
LOSS = Option("weights of the terms of the C3G loss", "1 if not named", least=0, most=1000)
PROVE = Option("seconds for a proof of the answer", "0: none", least=0, most=3600)
LEVEL = Option("share of new runs that intervals hold", "e.g. 0.8", above=0, below=1)
CHANCE = Option("how likely a new run has to meet each goal", "e.g. 0.95", above=0, below=1)
BEYOND = Option("also search where no past run of this context has been")
DEPENDENCIES = Option(
    "what suggestions do with rules that hold on all rows, though nobody stated them: keep, ignore",
    "by default a recommendation keeps those that can hardly be an accident",
)
CURVE = Option("parameters to draw the outcomes against")

# Of Algorithm 1 (COMPASS III-C): the key `trust` of a study, and the flag of that name.
TRUST = {
    "neighbours": Option("how many nearest runs tell how far away a configuration is (k)", least=1),
    "tau": Option("the distance that counts as close", "instead of close_percentile", least=0),
    "close_percentile": Option(
        "the percentile of the distances of held-out runs that counts as close", above=0, most=100
    ),
    "caution": Option("share of held-out runs beyond which scores mean caution", above=0, below=1),
    "unsupported": Option(
        "share of held-out runs beyond which a configuration is unsupported", above=0, below=1
    ),
}

# Of a question and of a fit.
GENERATOR = Option("the search that finds candidates", "a generator, see the plug-ins")

# Of a fit.
RULES = Option("rules that every answer must obey")
SURROGATE = Option("a family of models; auto: the best (the default)")
KEEP = Option("learn from this share of the runs, e.g. 0.1", above=0, most=1)
REDUCER = Option(
    "how the runs to learn from are chosen: uniform (default), guided, stratified, front"
)
TUNE = Option("seconds for better settings, per outcome", least=0)
REPRESENT = Option("try an embedding before the model; auto: each")
