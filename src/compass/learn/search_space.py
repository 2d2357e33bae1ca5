"""The search space of a recipe: the values that its family's settings have, and other ones."""

from typing import Any

from compass.model.base import family
from compass.model.recipe import Recipe
from compass.model.search_space import SearchSpace
from compass.settings import Settings


def space_of(recipe: Recipe) -> SearchSpace:
    """What may be tuned in a recipe; its family must declare a search space."""
    space = family(recipe.family).search_space
    assert space is not None
    return space


def defaults(recipe: Recipe, settings: Settings) -> dict[str, Any]:
    """The values of the settings of a recipe, by the keys that a search knows them by."""
    space = space_of(recipe)
    section = getattr(recipe.settings(settings), space.section)
    return {key(recipe, one.name): getattr(section, one.name) for one in space.parameters}


def within(recipe: Recipe, values: dict[str, Any]) -> dict[str, Any]:
    """Values of settings moved into their ranges: Optuna knows no values outside."""
    moved = {
        name: one.within(values[name])
        for one in space_of(recipe).parameters
        if (name := key(recipe, one.name)) in values
    }
    return values | moved


def suggested(recipe: Recipe, settings: Settings, trial: Any) -> Recipe:
    """The recipe with the settings that an Optuna trial wants to try."""
    space = space_of(recipe)
    section = getattr(settings, space.section)
    values = {
        one.name: one.suggest(trial, key(recipe, one.name), getattr(section, one.name))
        for one in space.parameters
    }
    return recipe.model_copy(update={"changes": {space.section: values}})


def key(recipe: Recipe, name: str) -> str:
    """The name of a setting in a search over several families."""
    return f"{recipe.family}.{name}"


def relative_cost(recipe: Recipe, settings: Settings) -> float:
    """How much longer training takes than with the defaults, roughly; 1: as long."""
    return family(recipe.family).relative_cost(recipe.settings(settings), settings)
