"""Steps find their jobs: the row above, the last one before them, or one somewhere else."""

import random

from compass.arrow import texts_of
from compass.slurm.owners import Ids, owners_of


def one_by_one(ids: list[str], clusters: list[str]) -> tuple[list[int], list[int]]:
    """The jobs, and the job of each row, read line by line."""
    jobs: list[int] = []
    owner, waiting = [-1] * len(ids), []
    last: dict[tuple[str, str], int] = {}
    for row, text in enumerate(ids):
        job, point, _ = text.partition(".")
        key = (clusters[row], job)
        if not point:
            last[key] = len(jobs)
            jobs.append(row)
        elif key in last:
            owner[row] = last[key]
        else:
            waiting.append((row, key))
    for row, key in waiting:
        owner[row] = last.get(key, -1)
    return jobs, owner


def test_steps_find_their_jobs_as_line_by_line() -> None:
    chance = random.Random(4)
    names = ["7", "70", "7_1", "7_[2-5]", "123456789", "1234567890", "9+0", ""]
    for _ in range(200):
        count = chance.randint(1, 30)
        ids = [
            chance.choice(names) + chance.choice(["", ".batch", ".0", ".extern.x"])
            for _ in range(count)
        ]
        clusters = [chance.choice("ab") for _ in range(count)]
        gathered = Ids()
        cut = chance.randint(0, count)
        for piece in (slice(0, cut), slice(cut, count)):
            gathered.add(texts_of(ids[piece]), texts_of(clusters[piece]))
        found = owners_of(gathered)
        assert (found.jobs.tolist(), found.owner.tolist()) == one_by_one(ids, clusters)
