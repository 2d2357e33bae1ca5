"""An experiment: ask, run, tell, until more runs are not worth it.

Without past runs Compass begins from a space of configurations. It proposes runs, is told what came
of them, and stops when its budget is spent or nothing is to be gained.
"""

import compass as cp


def run(config: dict[str, float]) -> float:
    """What is tuned: here a formula, elsewhere a program that is started."""
    tile, threads = config["tile"], config["threads"]
    return 100 / threads + 3 * threads + (tile / 64 - 2) ** 2


# ## The plan
#
# What can be set, what is wanted, how many runs may be made. Rules would stand under `rules`.

plan = {
    "columns": {
        "tile": {"allowed": [16, 32, 64, 128, 256]},
        "threads": {"allowed": [1, 2, 4, 8, 16]},
    },
    "goals": {"runtime": "minimize"},
    "budget": 20,
}

# ## The loop
#
# The store is a file: if this program is killed, the next one goes on where it was.

with cp.Experiment.start(plan, "tune.experiment") as experiment:
    while runs := experiment.next(2):
        for one in runs:
            experiment.tell(one.number, {"runtime": run(one.config)})
    best = experiment.best()
    status = experiment.status()
    made = experiment.runs()

print(best.config, best.outcomes)
print(status.stop)
print(f"{len(made)} runs made")

# ## Held against the truth

optimum = min(
    run({"tile": t, "threads": n}) for t in (16, 32, 64, 128, 256) for n in (1, 2, 4, 8, 16)
)
print(f"the best of all 25 takes {optimum:.2f} s")
assert best.outcomes["runtime"] <= 1.1 * optimum
assert len(made) <= 20
