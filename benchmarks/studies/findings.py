"""The twelve findings of Table V of the COMPASS paper: `python -m benchmarks.studies.findings`.

Each is asked on tables with the columns of the paper's datasets, made by stated laws
(tests/acceptance/acceptance_tables.py), once for every seed of the tables. The law says whether the
answer is right: what it leads to is computed by the law, never by the model that was asked.
"""

import argparse
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import compass as cp
from benchmarks.show import save, table

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import acceptance_tables as made  # noqa: E402  (beside the tests that use it)
from acceptance_questions import TABLE_VI  # noqa: E402

Finding = tuple[bool, str]  # whether it was found, and what the answer said
Config = Mapping[str, Any]


def engines(seed: int) -> dict[str, cp.Compass]:
    """An engine for each dataset of the paper, on tables of this seed, with default settings."""
    one = {"knobs": made.APP_ROLES["knobs"], "outcomes": made.APP_ROLES["outcomes"]}
    unused = ["avg_runtime", "ipath_0", "ipath_1"]
    return {
        "Monet": cp.Compass(cp.read(made.monet(seed=seed)).roles(**made.MONET_ROLES)),
        "PM-100": cp.Compass(
            cp.read(made.pm100(seed=seed)).roles(**made.PM100_ROLES), rules=made.PM100_RULES
        ),
        "BUTTER-E": cp.Compass(cp.read(made.butter_e(seed=seed)).roles(**made.BUTTER_ROLES)),
        "FT": cp.Compass(
            cp.read(made.applications(("FT",), 400, seed)).roles(**one, ignored=unused)
        ),
    }


def row_with(engine: cp.Compass, **values: Any) -> int:
    """The first past run with these values."""
    for number in range(len(engine.data)):
        row = engine.data.row(number)
        if all(row[name] == value for name, value in values.items()):
            return number
    raise LookupError(values)


def recommend_monet(engine: cp.Compass) -> Finding:
    """A quiet place of the mesh: among the quietest tenth, by the law."""
    config = engine.ask(TABLE_VI["recommend", "Monet"])[0].config
    grid = np.array(list(itertools.product(range(24), range(14), range(24)))).T
    place = [config[name] for name in made.MONET_COORDINATES]
    quiet = float(np.mean(made.monet_hot(*grid) < made.monet_hot(*place)))
    return quiet <= 0.1, f"at {place}: quieter than {1 - quiet:.0%} of the mesh"


def recommend_pm100(engine: cp.Compass) -> Finding:
    """As few nodes as hold the GPUs: gpus = 4 * nodes."""
    config = engine.ask(TABLE_VI["recommend", "PM-100"])[0].config
    nodes, gpus = config["num_nodes_req"], config["num_gpus_req"]
    return gpus == 4 * nodes, f"{nodes} nodes for {gpus} GPUs"


def recommend_butter(engine: cp.Compass) -> Finding:
    """Batch 256, Adam, and a depth that is not high."""
    config = engine.ask(TABLE_VI["recommend", "BUTTER-E"])[0].config
    told = f"batch {config['batch_size']}, {config['optimizer']}, depth {config['depth']}"
    right = (config["batch_size"], config["optimizer"]) == (256, "Adam")
    return right and config["depth"] <= 10, told


def recommend_ft(engine: cp.Compass) -> Finding:
    """The algorithm with the least variation."""
    config = engine.ask(TABLE_VI["recommend", "FT"])[0].config
    return config["algorithm"] == "pak", str(config["algorithm"])


def reconfigure_monet(engine: cp.Compass) -> Finding:
    """A coordinate that X does not name moves, and the stalls fall by the law."""
    goal = "Z+_SAMPLE_GEMINI_LINK_CREDIT_STALL"
    number, before = next(
        (number, row)
        for number in range(len(engine.data))
        if (row := engine.data.row(number))[goal] > 300
    )
    answer = engine.ask(TABLE_VI["reconfigure", "Monet"], run=number)
    if not answer.answered:
        return False, "no answer"
    config = answer[0].config
    moved = [edit.name for edit in answer[0].edits if edit.name in made.MONET_COORDINATES]
    hot = made.monet_hot(*(config[name] for name in made.MONET_COORDINATES))
    after = 800 * hot + 0.05 * config["X+_SAMPLE_GEMINI_LINK_CREDIT_STALL"]
    change = after / before[goal] - 1
    return bool(moved) and change < -0.1, f"{', '.join(moved)} moved: {change:+.0%} by the law"


def reconfigure_pm100(engine: cp.Compass) -> Finding:
    """Fewer cores, and a tenth off every power by the law."""
    number = row_with(engine, num_gpus_req=16, job_state="COMPLETED", num_cores_req=128)
    before = engine.data.row(number)
    answer = engine.ask(TABLE_VI["reconfigure", "PM-100"], run=number)
    if not answer.answered:
        return False, "no answer"
    config = answer[0].config
    powers = [made.pm100_power(config, n) / made.pm100_power(before, n) - 1
              for n in made.PM100_POWERS]  # fmt: skip
    cores = config["num_cores_req"] / before["num_cores_req"] - 1
    return max(
        powers
    ) <= -0.08, f"cores {cores:+.0%}; powers {max(powers):+.0%} at most, by the law"


def reconfigure_butter(engine: cp.Compass) -> Finding:
    """A tenth off runtime and power by the law, without the deepest network."""
    number = row_with(engine, is_gpu=True, dataset="mnist", depth=20, batch_size=64)
    before = engine.data.row(number)
    answer = engine.ask(TABLE_VI["reconfigure", "BUTTER-E"], run=number)
    if not answer.answered:
        return False, "no answer"
    config = answer[0].config
    runtime = made.butter_runtime(config) / made.butter_runtime(before) - 1
    power = made.butter_power(config) / made.butter_power(before) - 1
    told = f"depth {config['depth']}, runtime {runtime:+.0%}, power {power:+.0%} by the law"
    return max(runtime, power) <= -0.08, told


def reconfigure_ft(engine: cp.Compass) -> Finding:
    """From rand to spr or pak, about a tenth less variation by the law."""
    number = row_with(engine, algorithm="rand")
    before = engine.data.row(number)
    answer = engine.ask(TABLE_VI["reconfigure", "FT"], run=number)
    if not answer.answered:
        return False, "no answer"
    config = answer[0].config
    change = made.app_variation(config, "FT") / made.app_variation(before, "FT") - 1
    told = f"rand -> {config['algorithm']}: {change:+.0%} by the law"
    return config["algorithm"] in ("spr", "pak") and change <= -0.1, told


def what_if_monet(engine: cp.Compass) -> Finding:
    """Half the stalls of a link are half its load: others fall by half too."""
    answer = engine.ask(TABLE_VI["what-if", "Monet"])
    change = answer[0].outcome("X+_SAMPLE_GEMINI_LINK_CREDIT_STALL").change_percent
    if change is None:
        return False, "no change told"
    return abs(change + 50) <= 15, f"{change:+.0f} % (law: -50 %)"


def what_if_pm100(engine: cp.Compass) -> Finding:
    """More GPUs bring more power, and the nodes that the rules force."""
    population = engine.ask(TABLE_VI["what-if", "PM-100"]).population
    assert population is not None
    changes = {one.name: one.change_percent or 0 for one in population.outcomes}
    told = ", ".join(f"{name.split('_')[0]} {changes[name]:+.0f} %" for name in made.PM100_POWERS)
    moved = {one.name for one in population.moved}
    return min(changes[name] for name in made.PM100_POWERS) > 0 and "num_nodes_req" in moved, told


def what_if_butter(engine: cp.Compass) -> Finding:
    """Doubled depth costs far less than doubled runtime: as much as the law says."""
    rows = map(engine.data.row, range(len(engine.data)))
    changed = [row for row in rows if row["is_gpu"] and row["dataset"] == "adult"]
    changed = [row for row in changed if 2 * row["depth"] <= max(made.BUTTER_DEPTHS)]
    before = np.mean([made.butter_runtime(row) for row in changed])
    after = np.mean([made.butter_runtime({**row, "depth": 2 * row["depth"]}) for row in changed])
    law = 100 * (after / before - 1)
    population = engine.ask(TABLE_VI["what-if", "BUTTER-E"]).population
    assert population is not None
    (told,) = [one.change_percent for one in population.outcomes if one.name == "runtime"]
    return abs((told or 0) - law) <= 0.25 * law, f"{told:+.1f} % (law: {law:+.1f} %)"


def what_if_ft(engine: cp.Compass) -> Finding:
    """From rand to pak: variation and runtime change as the law says."""
    population = engine.ask(TABLE_VI["what-if", "FT"]).population
    assert population is not None
    found = {one.name: one.change_percent or 0 for one in population.outcomes}
    right = abs(found["perf_variation"] + 15) <= 4 and abs(found["runtime"] + 12) <= 4
    told = f"variation {found['perf_variation']:+.0f} % (law: -15 %), "
    return right, told + f"runtime {found['runtime']:+.0f} % (law: -12 %)"


FINDINGS: Sequence[tuple[str, str, Callable[[cp.Compass], Finding]]] = (
    ("recommend", "Monet", recommend_monet),
    ("recommend", "PM-100", recommend_pm100),
    ("recommend", "BUTTER-E", recommend_butter),
    ("recommend", "FT", recommend_ft),
    ("reconfigure", "Monet", reconfigure_monet),
    ("reconfigure", "PM-100", reconfigure_pm100),
    ("reconfigure", "BUTTER-E", reconfigure_butter),
    ("reconfigure", "FT", reconfigure_ft),
    ("what-if", "Monet", what_if_monet),
    ("what-if", "PM-100", what_if_pm100),
    ("what-if", "BUTTER-E", what_if_butter),
    ("what-if", "FT", what_if_ft),
)


def main() -> None:
    """Ask every question on every seed and print how often the finding came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every answer here too")
    arguments = parser.parse_args()
    found: dict[tuple[str, str], list[Finding]] = {}
    for seed in range(100, 100 + arguments.seeds):
        learnt = engines(seed)
        for kind, name, ask in FINDINGS:
            right, told = ask(learnt[name])
            found.setdefault((kind, name), []).append((bool(right), told))
    rows = [
        (kind, name, f"{sum(right for right, _ in answers)} of {len(answers)}", answers[0][1])
        for (kind, name), answers in found.items()
    ]
    print(table(("question", "table", "found", "with the first seed"), rows))
    if arguments.json:
        every = {f"{kind} {name}": answers for (kind, name), answers in found.items()}
        save(arguments.json, {"seeds": arguments.seeds, "answers": every})


if __name__ == "__main__":
    main()
