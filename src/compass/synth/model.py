"""What was learnt of a table, with everything needed to draw rows of it again.

Saved as one file of plain arrays: `meta` is JSON, the rest is what the synthesizer gave.
"""

import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from compass import files
from compass.domain.base import Noun, Value
from compass.domain.errors import BadInput, EngineProblem
from compass.domain.space import Category, Space
from compass.prepare import Encoder, Prepared
from compass.readers.table import Table
from compass.settings import Settings, SynthesisSettings
from compass.synth import draw as drawing
from compass.synth.base import FittedSynthesizer, Floats, Tell, silent, synthesizer, within
from compass.synth.cells import columns_of, with_origin
from compass.synth.conditions import Asked, Conditions, conditions_of
from compass.synth.decide import DecidedRows, decide
from compass.synth.impute import complete
from compass.synth.predict import LEVEL, Predictions, predict
from compass.synth.report import SynthesisReport

_FORMAT = 1
_META = "meta"
_ARRAY = "array|"


@dataclass(frozen=True, eq=False)
class SyntheticRows:
    """A table of synthetic rows, and how they were come by."""

    table: pa.Table
    report: SynthesisReport
    values: Floats  # [rows, d] encoded

    def __len__(self) -> int:
        return len(self.values)


class SynthesisMeta(Noun):
    """What a saved file says beside its arrays."""

    format: int = _FORMAT
    name: str = Field(description="of the synthesizer")
    space: Space
    order: tuple[str, ...] = Field(description="the columns of the table")
    rules: tuple[str, ...] = ()
    constants: dict[str, Value] = Field({}, description="columns with one value in every row")
    rows: int = Field(description="rows that were learnt from")
    fingerprint: str = Field(description="of the table")
    seed: int
    settings: SynthesisSettings
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class SynthesisModel:
    """Rows of a table, learnt: draws new ones, and fills in empty cells."""

    meta: SynthesisMeta
    learnt: FittedSynthesizer

    @property
    def space(self) -> Space:
        """The columns that are drawn."""
        return self.meta.space

    def conditions(self, where: Iterable[str] = (), given: Asked | None = None) -> Conditions:
        """The rules of the study and these conditions, bound to the columns."""
        return conditions_of(self.space, self.meta.rules, where, given)

    def sample(
        self,
        count: int,
        *,
        where: Iterable[str] = (),
        given: Asked | None = None,
        seed: int | None = None,
        tell: Tell = silent,
    ) -> SyntheticRows:
        """`count` new rows; `where` are rules, `given` values, lists or ranges by column.

        Every row obeys them, and the rules of the study. The report says how many rows were drawn
        for that; when too few could be found, it says so and there are fewer.
        """
        conditions = self.conditions(where, given)
        drawn = drawing.draw(
            self.learnt,
            count,
            conditions,
            seed=self.meta.seed if seed is None else seed,
            effort=self.meta.settings.effort,
            tell=tell,
        )
        notes = _few(drawn)
        if not len(drawn.values):
            worst = max(drawn.broken, key=lambda text: drawn.broken[text], default="")
            raise BadInput(
                f"none of {drawn.tried} rows obeys all conditions",
                hint=f"most of them break: {worst}" if worst else "ask for less",
            )
        report = SynthesisReport(
            asked=count,
            rows=len(drawn.values),
            tried=drawn.tried,
            acceptance=drawn.acceptance,
            broken=drawn.broken,
            notes=(*notes, *unseen_notes(self.learnt, conditions)),
        )
        table = self._table(drawn.values, np.ones(len(drawn.values), dtype=np.bool_))
        return SyntheticRows(table, report, drawn.values)

    def fill(
        self,
        table: Any,
        *,
        where: Iterable[str] = (),
        draws: int = 1,
        seed: int | None = None,
        tell: Tell = silent,
    ) -> SyntheticRows:
        """The rows of a table with their empty cells drawn; columns that it lacks are all drawn.

        With several `draws` each row is there as many times, one after the other: a distribution
        of what was not given. `table` is a file, a data frame, columns by name, or a list of rows;
        the column `filled` names the cells that were drawn. A row that
        cannot be filled keeps its gaps, and the report says so.
        """
        if draws < 1:
            raise BadInput(f"{draws} draws cannot be made", hint="ask for at least one")
        X = self.encoded(given_table(table))
        conditions = self.conditions(where)
        repeated = np.repeat(X, draws, axis=0)
        found = drawing.fill(
            self.learnt,
            repeated,
            conditions,
            seed=self.meta.seed if seed is None else seed,
            tell=tell,
        )
        drawn_cells = np.isnan(repeated) & ~np.isnan(found.values)
        names = np.array(self.space.names)
        words = [", ".join(names[cells]) for cells in drawn_cells]
        synthetic = np.asarray(drawn_cells.any(axis=1))
        arrow = self._table(found.values, synthetic, {"filled": words})
        failed = int((~found.filled).sum())
        notes = (
            ()
            if not failed
            else (f"{failed} rows were not filled: what they give breaks a rule or is not legal",)
        )
        report = SynthesisReport(
            asked=len(repeated),
            rows=int(found.filled.sum()),
            tried=found.tried,
            acceptance=found.acceptance,
            notes=notes,
        )
        return SyntheticRows(arrow, report, found.values)

    def decide(
        self,
        *,
        where: Iterable[str] = (),
        given: Asked | None = None,
        count: int = 500,
        seed: int | None = None,
        tell: Tell = silent,
    ) -> DecidedRows:
        """What runs within limits look like: how often which values, and which together."""
        return decide(self, where=where, given=given, count=count, seed=seed, tell=tell)

    def predict(
        self,
        table: Any,
        *,
        draws: int = 50,
        level: float = LEVEL,
        seed: int | None = None,
        tell: Tell = silent,
    ) -> Predictions:
        """The outcomes of given rows: the mean of so many draws, and what most of them lie in."""
        return predict(self, given_table(table), draws=draws, level=level, seed=seed, tell=tell)

    def encoded(self, table: Table) -> Floats:
        """The cells of a table in the columns that are drawn, [m, d]; NaN where there is none."""
        X = np.full((table.rows, len(self.space)), np.nan)
        known = [name for name in self.space.names if name in table.names]
        if not known:
            raise BadInput(
                "the file has none of the columns that were learnt",
                hint=f"they are {', '.join(self.space.names[:8])}",
            )
        for place, parameter in enumerate(self.space):
            if parameter.name not in known:
                continue
            column = Encoder(Space(parameters=(parameter,))).encode_table(table)[:, 0]
            empty = np.asarray(table.column(parameter.name).is_null())
            strange = np.isnan(column) & ~empty
            if strange.any():
                row = int(np.flatnonzero(strange)[0])
                cell = table.column(parameter.name)[row].as_py()
                kind = "a number"
                if isinstance(parameter, Category):
                    some = ", ".join(map(str, parameter.values[:8]))
                    kind = f"a label (such as {some})"
                raise BadInput(
                    f"row {row}: {parameter.name} cannot be '{cell}'",
                    hint=f"give {kind} that was learnt, or leave the cell empty",
                )
            X[:, place] = np.where(empty, np.nan, column)
        return X

    def _table(
        self,
        values: Floats,
        synthetic: NDArray[np.bool_],
        more: Mapping[str, list[str]] | None = None,
    ) -> pa.Table:
        columns = columns_of(values, self.space)
        for name, value in self.meta.constants.items():
            columns[name] = pa.array([value] * len(values))
        for name, cells in (more or {}).items():
            columns[name] = pa.array(cells)
        return with_origin(columns, synthetic, self.meta.order)

    def save(self, path: str | Path) -> Path:
        """Write everything to one file."""
        path = Path(path)
        arrays: dict[str, Any] = {
            f"{_ARRAY}{name}": array for name, array in self.learnt.arrays().items()
        }
        text = self.meta.model_dump_json().encode("utf-8")
        with files.replacing(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(
                file, allow_pickle=False, **{_META: np.frombuffer(text, np.uint8)}, **arrays
            )
        return path


def given_table(source: Any) -> Table:
    """Rows that are given: a file, a data frame, columns by name, or a list of rows."""
    from compass.readers import read

    if isinstance(source, list | tuple) and all(isinstance(row, Mapping) for row in source):
        if not source:
            raise BadInput("there are no rows", hint="give at least one")
        names = dict.fromkeys(name for row in source for name in row)
        source = {name: [row.get(name) for row in source] for name in names}
    return read(source)


def fit_prepared(
    prepared: Prepared,
    name: str = "cart",
    *,
    rules: Iterable[str] = (),
    seed: int | None = None,
    settings: SynthesisSettings | None = None,
    tuning: float = 0.0,
    journal: Path | None = None,
    tell: Tell = silent,
) -> SynthesisModel:
    """Learn the measured rows of prepared data with the synthesizer of that name.

    `tuning` are seconds in which better settings are looked for; what was tried is kept in
    `journal`.
    """
    kind = synthesizer(name)
    chosen = settings or SynthesisSettings()
    seed = Settings().seed if seed is None else seed
    standing = tuple(rules)
    conditions_of(prepared.space, standing)  # a rule that makes no sense is told before the work
    X = prepared.values[prepared.measured]
    if len(X) < 2:
        raise BadInput("there are too few rows to learn from", hint="at least 2 measured ones")
    weight = prepared.weight[prepared.measured]
    report = prepared.report
    if not np.ptp(weight):  # an engine needs all features, a synthesizer can fill them in
        X = np.vstack([X, prepared.incomplete])
        others = tuple(one for one in report.reasons if not one.keepable)
        report = report.model_copy(update={"reasons": others})
    gapless = complete(X, prepared.space, chosen, seed)
    # What cleaning left out was not learnt either: nobody should have to find that out.
    rows, notes = gapless.values, [*gapless.notes, *report.notes]
    if len(rows) == len(weight) and np.ptp(weight) > 0:
        rng = np.random.default_rng(seed)
        rows = rows[rng.choice(len(rows), len(rows), p=weight / weight.sum())]
        notes.append("rows were drawn by their weights before they were learnt")
    if tuning:
        from compass.synth.tune import tune

        tuned = tune(rows, prepared.space, name, tuning, settings=chosen, seed=seed,
                     journal=journal, tell=tell)  # fmt: skip
        chosen = tuned.settings
        notes.append(tuned.words)
    learnt = kind.fit(rows, prepared.space, seed=seed, settings=chosen, tell=tell)
    meta = SynthesisMeta(
        name=name,
        space=prepared.space,
        order=prepared.table.names,
        rules=standing,
        constants={p.name: _constant(p) for p in prepared.constants},
        rows=len(rows),
        fingerprint=prepared.table.fingerprint,
        seed=seed,
        settings=chosen,
        notes=tuple(notes),
    )
    return SynthesisModel(meta, learnt)


def _constant(parameter: Any) -> Value:
    values = getattr(parameter, "values", None)
    if values is not None:
        return next((one for one in values if one is not None), None)
    low = float(parameter.low)
    return int(low) if low.is_integer() else low


def load_model(path: str | Path) -> SynthesisModel:
    """A saved model; a file that is none, or is damaged, is refused."""
    path = Path(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored.files}
        meta = SynthesisMeta.model_validate_json(arrays.pop(_META).tobytes())
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}", hint="learn one: compass synth fit") from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, ValidationError,
            json.JSONDecodeError) as problem:  # fmt: skip
        raise EngineProblem(
            f"{path} is not a saved synthesizer: {type(problem).__name__}",
            hint="make it with compass synth fit",
        ) from None
    if meta.format != _FORMAT:
        raise EngineProblem(
            f"{path} was saved in format {meta.format}, this Compass reads {_FORMAT}",
            hint="learn it again",
        )
    kind = synthesizer(meta.name)
    plain = {key.removeprefix(_ARRAY): array for key, array in arrays.items()}
    return SynthesisModel(meta, kind.restore(plain, meta.space))


def _few(drawn: drawing.Drawn) -> tuple[str, ...]:
    found = len(drawn.values)
    if found >= drawn.wanted:
        return ()
    text = f"only {found} of {drawn.wanted} rows: {drawn.tried} were drawn"
    worst = max(drawn.broken, key=lambda rule: drawn.broken[rule], default=None)
    return (text if worst is None else f"{text}, most that were refused break {worst}",)


def unseen_notes(learnt: FittedSynthesizer, conditions: Conditions) -> tuple[str, ...]:
    """Columns that are asked for values which no learnt row has."""
    rows = getattr(learnt, "rows", None)
    if not isinstance(rows, np.ndarray):  # what is drawn from has no rows of the table
        return ()
    notes = []
    for name in conditions.asked:
        place = conditions.space.names.index(name)
        if not within(conditions.domains[place], rows[:, place]).any():
            notes.append(f"no learnt row has such a {name}: its values are drawn evenly")
    return tuple(notes)
