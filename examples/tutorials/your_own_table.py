"""A table of your own: roles, units and rules.

A table of past runs is all that Compass needs. This one is made here, by the law that a program
with a serial part follows, so that answers can be held against the truth.
"""

import csv
import random

import compass as cp


def seconds(nodes: int, threads: int, size: int) -> float:
    """Amdahl's law with 5 % serial work, and a little for each message."""
    workers = nodes * threads
    return size * (0.05 + 0.95 / workers) + 0.02 * nodes


# ## The table
#
# Each run once, with an error of measurement of about 2 %.

chance = random.Random(7)
with open("runs.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["app", "nodes", "threads", "size", "elapsed"])
    for _ in range(400):
        nodes, threads = chance.choice([1, 2, 4, 8]), chance.choice([1, 2, 4, 8, 16])
        size = chance.choice([10, 20, 40])
        table.writerow(
            ["solver", nodes, threads, size, seconds(nodes, threads, size) * chance.gauss(1, 0.02)]
        )

# ## What each column is
#
# Roles are guessed; a person has the last word. `nodes` and `threads` can be set, `size` is given
# by the problem, `elapsed` is what was measured.

data = cp.read("runs.csv").roles(knobs=["nodes", "threads"], context=["size"], outcomes=["elapsed"])
print(data)

# ## Rules
#
# What must hold of every suggestion is said once, as text. Here: no more than 16 cores in all.

engine = cp.Compass(data, rules=["nodes * threads <= 16"]).fit()
answer = engine.recommend(
    ask=["nodes", "threads"], goals={"elapsed": cp.minimize}, where=["size == 40"]
)
best = answer[0]
print(best.config, f"{best.outcome('elapsed').value:.2f} s predicted", best.trust.label)
assert best.config["nodes"] * best.config["threads"] <= 16

# ## Held against the truth
#
# The law says what the suggestion really takes, and what the best configuration takes.

legal = [(n, t) for n in (1, 2, 4, 8) for t in (1, 2, 4, 8, 16) if n * t <= 16]
truth = seconds(best.config["nodes"], best.config["threads"], 40)
optimum = min(seconds(n, t, 40) for n, t in legal)
print(f"{truth:.2f} s by the law; the best takes {optimum:.2f} s")
assert truth < 1.05 * optimum

# What was learnt is kept in a folder, and gives the same answers when it is loaded.

engine.save("runs.compass")
again = cp.load("runs.compass").recommend(
    ask=["nodes", "threads"], goals={"elapsed": cp.minimize}, where=["size == 40"]
)
assert again[0].config == best.config
