"""Which settings of a family may be tuned, and how far."""

from dataclasses import dataclass
from typing import Any

from compass.model.recipe import Recipe
from compass.settings import Settings


@dataclass(frozen=True)
class Dial:
    """A number that may be turned; `log`: equal factors are equal steps."""

    name: str
    low: float
    high: float
    log: bool = True

    def suggest(self, trial: Any, key: str, default: Any) -> Any:
        """A value that the search wants to try, of the type that the setting has."""
        if isinstance(default, int):
            return trial.suggest_int(key, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(key, self.low, self.high, log=self.log)


@dataclass(frozen=True)
class Switch:
    """A yes or no that may be turned."""

    name: str

    def suggest(self, trial: Any, key: str, default: Any) -> Any:
        """The answer that the search wants to try."""
        del default
        return trial.suggest_categorical(key, [False, True])


@dataclass(frozen=True)
class Panel:
    """The dials of one family and the section of the settings that they are in."""

    section: str
    dials: tuple[Dial | Switch, ...]


# Deeper trees than 16 levels make answers slow and proofs hopeless.
_FOREST = Panel(
    "forest", (Dial("depth", 8, 16, log=False), Dial("leaf", 1, 8), Dial("features", 0.3, 1.0))
)
PANELS: dict[str, Panel] = {
    "forest": _FOREST,
    "extra-trees": _FOREST,
    "lightgbm": Panel(
        "lightgbm",
        (
            Dial("rounds", 50, 1000),
            Dial("leaves", 7, 127),
            Dial("rate", 0.03, 0.3),
            Dial("leaf", 1, 50),
            Dial("ridge", 1e-3, 10),
            Dial("features", 0.4, 1.0, log=False),
        ),
    ),
    "xgboost": Panel(
        "xgboost",
        (
            Dial("rounds", 50, 1000),
            Dial("depth", 3, 10, log=False),
            Dial("rate", 0.03, 0.4),
            Dial("leaf", 0.5, 20),
            Dial("ridge", 1e-3, 10),
            Dial("features", 0.4, 1.0, log=False),
        ),
    ),
    "linear": Panel("linear", (Dial("ridge", 1e-4, 1e3), Switch("pairs"))),
    "neighbours": Panel("neighbours", (Dial("count", 1, 30), Switch("by_distance"))),
    "svm": Panel(
        "kernel", (Dial("cost", 0.1, 1e4), Dial("width", 0.05, 10), Dial("margin", 1e-4, 1.0))
    ),
    "neural": Panel(
        "neural",
        (
            Dial("layers", 2, 4, log=False),
            Dial("units", 32, 256),
            Dial("rate", 1e-3, 2e-2),
            Dial("decay", 1e-6, 0.1),
        ),
    ),
}


def defaults(recipe: Recipe, settings: Settings) -> dict[str, Any]:
    """The values of a recipe's dials, by the keys that a search knows them by."""
    panel = PANELS[recipe.family]
    section = getattr(recipe.settings(settings), panel.section)
    return {key(recipe, dial.name): getattr(section, dial.name) for dial in panel.dials}


def turned(recipe: Recipe, settings: Settings, trial: Any) -> Recipe:
    """The recipe with its dials where the search wants them."""
    panel = PANELS[recipe.family]
    section = getattr(settings, panel.section)
    values = {
        dial.name: dial.suggest(trial, key(recipe, dial.name), getattr(section, dial.name))
        for dial in panel.dials
    }
    return recipe.model_copy(update={"changes": {panel.section: values}})


def key(recipe: Recipe, name: str) -> str:
    """The name of a dial in a search over several families."""
    return f"{recipe.family}.{name}"


def effort(recipe: Recipe, settings: Settings) -> float:
    """How much longer training takes than with the defaults, roughly; 1: as long."""
    chosen = recipe.settings(settings)
    if recipe.family == "lightgbm":
        now, before = chosen.lightgbm, settings.lightgbm
        return now.rounds / before.rounds * (0.5 + 0.5 * now.leaves / before.leaves)
    if recipe.family == "xgboost":
        now_x, before_x = chosen.xgboost, settings.xgboost
        return float(now_x.rounds / before_x.rounds * 2.0 ** ((now_x.depth - before_x.depth) / 2))
    if recipe.family == "neural":
        now_n, before_n = chosen.neural, settings.neural
        size = now_n.layers * now_n.units**2 / (before_n.layers * before_n.units**2)
        return 0.5 + 0.5 * size
    return 1.0
