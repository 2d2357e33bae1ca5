"""Machines asked of the engine: `python -m benchmarks.platforms.engine [TABLE ...]`.

Of every application in turn only the runs on the source are in the table. A few of them are asked
what they would take on each other machine, and which machine is best; measured runs, which the
engine has never seen, tell how right that was. Beside it the models of all columns (boosted trees)
on the same table, with a machine column that nobody takes for one.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import compass as cp
from benchmarks.platforms.cases import CASES, Case, folder
from benchmarks.show import save, table
from compass.domain.errors import CompassError
from compass.platforms.pairs import MatchedRuns, PairColumns, match
from compass.readers.table import Table

HEAD = ("source, method", "MAPE %", "mean |log|", "covered %", "told %", "regret %", "best %")
ASKED = 4  # runs of an application


def study(columns: PairColumns, source: Table, *, machines: bool) -> dict:
    """Roles as the case has them."""
    known = {columns.machine: "context", columns.application: "context"}
    known |= dict.fromkeys(columns.configuration, "context")
    known[columns.runtime] = "outcome"
    roles = {name: {"role": known.get(name, "ignored")} for name in source.names}
    for name in (columns.machine, columns.application):
        roles[name]["kind"] = "category"
    named = {
        "machine": columns.machine,
        "application": columns.application,
        "runtime": columns.runtime,
        "configuration": list(columns.configuration),
        "counters": list(columns.counters),
        "throughput": columns.throughput,
    }
    return {"columns": roles} | ({"machines": named} if machines else {})


def thinned(runs: MatchedRuns, source: Table) -> Table:
    """The rows of the lines that are used."""
    rows = sorted({row for line in runs.rows for own in line.values() for row in own})
    return Table.of(source.arrow.take(rows))


def asked(case: Case, source: str) -> dict[str, list[tuple[float, ...]]]:
    """Errors, coverage and regret by application, of both ways to answer."""
    full, columns = case.load(folder())
    whole = thinned(case.runs(folder()), full)
    runs = match(whole, columns)
    place = runs.place(source)
    found: dict[str, list[tuple[float, ...]]] = {"across machines": [], "models of all columns": []}
    names = np.array(whole.column(columns.application).to_pylist(), dtype=object).astype(str)
    where = np.array(whole.column(columns.machine).to_pylist(), dtype=object).astype(str)
    hidden_name = f"{columns.machine}?"
    for application in np.unique(runs.ran_on(source).applications):
        kept = np.flatnonzero((names != application) | (where == source))
        part = Table.of(whole.arrow.take(kept))
        plain = part.arrow.rename_columns(
            [hidden_name if n == columns.machine else n for n in part.names]
        )
        renamed = PairColumns(
            hidden_name, columns.application, columns.runtime, columns.configuration
        )
        own = runs.of(application).ran_on(source)
        lines = np.random.default_rng(7).permutation(len(own))[:ASKED]
        for name, engine, machine in (
            (
                "across machines",
                cp.Compass(cp.read(part.arrow, study=study(columns, part, machines=True))),
                columns.machine,
            ),
            (
                "models of all columns",
                cp.Compass(
                    cp.read(plain, study=study(renamed, Table.of(plain), machines=False)),
                    surrogate="lightgbm",
                ),
                hidden_name,
            ),
        ):
            scored = [_line(engine, machine, columns, own, int(at), place, kept) for at in lines]
            scored = [one for one in scored if one is not None]
            if scored:
                found[name].append(tuple(np.nanmean(np.array(scored), axis=0).tolist()))
    return found


def _line(
    engine: cp.Compass,
    machine: str,
    columns: PairColumns,
    own: MatchedRuns,
    line: int,
    place: int,
    kept: np.ndarray,
) -> tuple[float, ...] | None:
    """MAPE, mean |log error|, coverage, share that is told, regret, whether the best was named."""
    row = int(np.searchsorted(kept, own.rows[line][place][0]))
    sign = -1.0 if columns.throughput else 1.0
    truth = own.log_runtime[line]
    errors, inside, told, guess = [], [], [], {place: truth[place]}
    for at, name in enumerate(own.machines):
        if at == place or not np.isfinite(truth[at]):
            continue
        try:
            answer = engine.what_if(row, {machine: name}, [columns.runtime], prove=0)
        except CompassError:
            continue
        one = (answer.suggestions or answer.ideas)[0].outcome(columns.runtime)
        told.append(one.value is not None)
        value = one.value if one.value is not None else np.sqrt(float(one.low) * float(one.high))
        guess[at] = sign * np.log(max(float(value), 1e-9))
        errors.append(guess[at] - truth[at])
        ends = sorted(sign * np.log(max(float(end), 1e-9)) for end in (one.low, one.high))
        inside.append(ends[0] <= truth[at] <= ends[1])
    if not errors:
        return None
    best = min(guess, key=guess.__getitem__)
    least = min(truth[at] for at in guess)
    off = np.array(errors)
    return (
        100 * float(np.abs(np.expm1(np.minimum(off, 50))).mean()),
        float(np.abs(off).mean()),
        100 * float(np.mean(inside)),
        100 * float(np.mean(told)),
        100 * float(np.expm1(truth[best] - least)),
        100 * float(truth[best] <= least + 1e-9),
    )


def main() -> None:
    """Print the table, and keep the values of every application."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=["rodinia", "multicore", "gavel"])
    parser.add_argument("-o", "--output", type=Path, help="figures as JSON")
    given = parser.parse_args()
    rows, figures = [], {}
    for case in CASES:
        if case.name not in given.tables:
            continue
        for name, each in asked(case, case.sources[0]).items():
            mean = np.mean(np.array(each), axis=0)
            rows.append(
                (f"{case.name} from {case.sources[0]}: {name}", *(f"{v:.3g}" for v in mean))
            )
            figures[rows[-1][0]] = each
            print(rows[-1])
            sys.stdout.flush()
    print(table(HEAD, rows))
    if given.output:
        save(given.output, figures)


if __name__ == "__main__":
    main()
