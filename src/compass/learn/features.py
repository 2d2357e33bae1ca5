"""The past runs seen through one set of features: what models learn from and answers refer to.

Decision 0031 (docs/decisions).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import DataProblem
from compass.domain.space import Category, Number, Role, Space
from compass.language import parse_rule
from compass.learn.dependencies import FoundDependencies
from compass.learn.runs import RunIndex, distinct_runs, repeated_runs
from compass.prepare import Prepared
from compass.prepare.geometry import Geometry
from compass.prepare.split import by_configuration, by_group, by_time, configurations
from compass.prepare.weigh import deviation
from compass.rules import Rule, compile_rule
from compass.settings import Settings
from compass.trust.failing import FailureChance
from compass.trust.pairs.index import PairIndex, Sorting
from compass.trust.support import Support
from compass.trust.together import SeenTogether

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_RULES = 1000  # compiled rules that are kept; questions bring theirs


@dataclass(frozen=True, eq=False)
class FeatureView:
    """The past runs seen through one set of features; what is derived from them is kept here."""

    prepared: Prepared  # the runs that are learnt from
    everything: Prepared  # all runs
    features: Space
    train: Rows  # positions in the prepared table
    valid: Rows
    X: Floats  # [n, d] all runs that are learnt from
    support: Support
    scale: Floats  # [d] what counts as a large difference
    seed: int
    _dependencies: FoundDependencies | None = None  # where they were looked for before
    _sortings: Mapping[tuple[str, ...], Sorting] = field(default_factory=dict, repr=False)
    _pair_indexes: dict[tuple[str, ...], PairIndex] = field(default_factory=dict, repr=False)
    _rules: dict[tuple[str, tuple[str, ...]], Rule] = field(default_factory=dict, repr=False)

    @classmethod
    def build(
        cls, prepared: Prepared, everything: Prepared, features: tuple[str, ...], settings: Settings
    ) -> "FeatureView":
        """The split, the neighbours and the scales for these features."""
        space = prepared.space.select(features)
        X = prepared.columns_of(features)
        complete = np.flatnonzero(np.isfinite(X).all(axis=1))
        if len(complete) < 2:
            raise DataProblem(
                f"only {len(complete)} past runs have a value for all of: {', '.join(features)}",
                hint="ignore a column that is mostly empty, or keep its gaps (--missing COL=none)",
            )
        train, valid = _split(prepared, X, complete, settings)
        weight, runs = prepared.weight, prepared.citable(train)
        support = Support.build(
            X[runs],
            X[valid],
            space,
            settings.trust,
            settings.seed,
            train_weight=weight[runs],
            valid_weight=weight[valid],
        )
        scale = _scales(X[train], space, weight[train])
        return cls(prepared, everything, space, train, valid, X, support, scale, settings.seed)

    @property
    def names(self) -> tuple[str, ...]:
        """The features, in order."""
        return self.features.names

    @cached_property
    def supporting(self) -> Rows:
        """Positions of the runs behind `support`: what was learnt from and measured."""
        return self.prepared.citable(self.train)

    @cached_property
    def runs(self) -> RunIndex:
        """The runs that are learnt from, by configuration."""
        return RunIndex.of(self.prepared, self.names)

    @cached_property
    def all_runs(self) -> RunIndex:
        """All past runs by configuration, those too that were not learnt from."""
        if self.everything is self.prepared:
            return self.runs
        return RunIndex.of(self.everything, self.names)

    @cached_property
    def dependencies(self) -> FoundDependencies:
        """What holds among the features on all past runs, without having been stated."""
        return self._dependencies or FoundDependencies.of(self.everything, self.features)

    @cached_property
    def together(self) -> SeenTogether:
        """Which values of the knobs runs had together that did not fail."""
        knobs = [self.names.index(name) for name in self.features.having(Role.KNOB)]
        return SeenTogether.of(self._succeeded, knobs)

    @cached_property
    def failing(self) -> FailureChance | None:
        """How likely a configuration fails; None: no run did."""
        known = self.everything.failures
        if not len(known):
            return None
        X = known.values[:, [self.everything.space.names.index(name) for name in self.names]]
        complete = np.flatnonzero(np.isfinite(X).all(axis=1))
        if not len(complete):
            return None
        reasons = tuple(known.reasons[place] for place in complete)
        own = self._succeeded, self.geometry({}), known.row_id[complete], reasons
        return FailureChance(X[complete], *own)

    @cached_property
    def _succeeded(self) -> Floats:
        """The configurations of complete runs that did not fail, [m, d]."""
        data = self.everything
        X = data.columns_of(self.names)
        fine = np.isfinite(X).all(axis=1) & data.measured
        return X[fine & ~np.isin(data.row_id, data.failures.row_id)]

    @cached_property
    def distinct(self) -> Rows:
        """Positions of the runs that can be compared, in order: see `distinct_runs`."""
        return distinct_runs(self.prepared, self.features)

    @cached_property
    def repeated(self) -> tuple[Rows, Rows]:
        """Pairs of distinct runs that are (nearly) the same in every feature."""
        return repeated_runs(self.X[self.distinct], self.features, self.seed)

    def pair_index(self, columns: tuple[str, ...]) -> PairIndex:
        """The distinct runs laid out for finding pairs that agree in these columns."""
        if columns not in self._pair_indexes:
            X, sorting = self.X[self.distinct], self._sortings.get(columns)
            built = PairIndex.build(X, self.features, columns, sorting)
            self._pair_indexes[columns] = built
        return self._pair_indexes[columns]

    def rule(self, text: str, outcomes: tuple[str, ...] = ()) -> Rule:
        """A rule over the features, and over these outcomes beside them."""
        known = self._rules.get((text, outcomes))
        if known is not None:
            return known
        columns = (*self.names, *outcomes)
        compiled = compile_rule(
            parse_rule(text), self.prepared.space.select(columns), columns, text
        )
        if len(self._rules) >= _RULES:
            self._rules.clear()
        self._rules[text, outcomes] = compiled
        return compiled

    def geometry(self, weights: dict[str, float]) -> Geometry:
        """Distances between configurations, with the person's costs of change."""
        costs = np.array([weights.get(name, 1.0) for name in self.names])
        return Geometry.of(self.features, self.scale, costs)


def _split(prepared: Prepared, X: Floats, complete: Rows, settings: Settings) -> tuple[Rows, Rows]:
    """Training and validation rows; identical configurations never lie on both sides.

    Only measured runs are held out: errors on synthetic rows would say nothing about runs.
    """
    if prepared.origin is not None:
        return _with_synthetic(prepared, X, complete, settings)
    share, seed = settings.validation_share, settings.seed
    if prepared.group is not None:
        train, valid = by_group(prepared.group[complete], share, seed)
    elif prepared.time is not None:
        train, valid = by_time(prepared.time[complete], share)
    else:
        train, valid = by_configuration(X[complete], share, seed)
    train, valid = complete[train], complete[valid]
    kinds = configurations(X)
    return train, valid[~np.isin(kinds[valid], kinds[train])]


def _with_synthetic(
    prepared: Prepared, X: Floats, complete: Rows, settings: Settings
) -> tuple[Rows, Rows]:
    """The split of the measured runs; synthetic rows unlike those held out are learnt from too."""
    runs = prepared.citable(complete)
    if len(runs) < 2:
        raise DataProblem(
            f"only {len(runs)} of the rows were measured", hint="add runs that were made"
        )
    train, valid = _split(replace(prepared, origin=None), X, runs, settings)
    others = np.setdiff1d(complete, runs)
    kinds = configurations(X)
    apart = ~np.isin(kinds[others], kinds[valid])
    if prepared.group is not None:
        apart &= ~np.isin(prepared.group[others], prepared.group[valid])
    return np.sort(np.concatenate([train, others[apart]])), valid


def _scales(X: Floats, space: Space, weight: Floats) -> Floats:
    """What counts as a large difference per column: the standard deviation of past runs."""
    scales = []
    for column, parameter in zip(X.T, space.parameters, strict=True):
        values, counts = column, weight
        if isinstance(parameter, Number) and parameter.optional:
            given = column != parameter.none_code
            values, counts = column[given], weight[given]
        spread = deviation(values, counts) if len(values) else 0.0
        scales.append(1.0 if isinstance(parameter, Category) or not spread else spread)
    return np.array(scales)
