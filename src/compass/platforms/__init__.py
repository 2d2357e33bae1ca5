"""How long a run takes on other machines, from what was measured on one of them.

from compass.platforms import PairColumns, ask, match

columns = PairColumns("machine", "app", "runtime", configuration=("nodes", "size"))
runs = match(compass.readers.read("runs.csv"), columns)
ask(runs, "mycode", "quartz").lines[0].machines
"""

from compass.domain.machines import Peaks, PlatformAnswer
from compass.platforms.ask import AskOptions, ask
from compass.platforms.pairs import MatchedRuns, PairColumns, joined, match
from compass.platforms.predictor import PlatformModel, fit

__all__ = [
    "AskOptions",
    "MatchedRuns",
    "PairColumns",
    "Peaks",
    "PlatformAnswer",
    "PlatformModel",
    "ask",
    "fit",
    "joined",
    "match",
]
