"""Fronts of several outcomes: `python -m benchmarks.pareto [STUDY ...]` prints what was measured.

The tables are made of the kept values of every seed (`figures.json`), so that they are there at
once. A study is measured again by a module of its own, which says how:

    python -m benchmarks.pareto.oneshot --keep      the front of 5 % of a table
    python -m benchmarks.pareto.replay --keep       the loop beside other samplers
    python -m benchmarks.pareto.learning --keep     fewer rows for the same front
    python -m benchmarks.pareto.embedding --keep    attention embeddings beside raw features
    python -m benchmarks.pareto.speed --keep        CPU seconds of a question

The exit code is 1 where an aim is missed: a front below that of the rows learnt from, or not above
a plain forest's; a sampler ahead of the loop beyond the intervals of both, or better on the mean of
several spaces; 27 % fewer rows; a choice of representation that unseen rows contradict more often
than not; 0.5 s of CPU.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

from benchmarks.pareto import embedding, kept, learning, oneshot, replay, speed


def _oneshot() -> list[str]:
    shots = [oneshot.Shot(**one) for one in kept.records("oneshot")]
    print(oneshot.show(shots))
    return oneshot.lost(shots)


def _replay() -> list[str]:
    return replay.show_tables(kept.records("replay"))


def _learning() -> list[str]:
    points = [learning.Point(**one) for one in kept.records("learning")]
    print(learning.show(points, learning.WAYS))
    saved = learning.fewer(points, "front", "model")
    return [] if saved >= learning.AIM else [f"{saved:.0%} fewer rows"]


def _embedding() -> list[str]:
    studies = [embedding.Study(**one) for one in kept.records("embedding")]
    print(embedding.show(studies, ("time_ms", "compile_time")))
    return embedding.contradicted(studies)


def _speed() -> list[str]:
    cases = kept.records("speed")
    print(speed.show(cases))
    return speed.slow(cases)


STUDIES: dict[str, Callable[[], list[str]]] = {
    "oneshot": _oneshot,
    "replay": _replay,
    "learning": _learning,
    "embedding": _embedding,
    "speed": _speed,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pareto", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("study", nargs="*", choices=[*STUDIES, []], metavar="STUDY")
    missed = []
    for name in parser.parse_args(arguments).study or STUDIES:
        print(f"\n## {name}\n", flush=True)
        missed += [f"{name}: {what}" for what in STUDIES[name]()]
    for what in missed:
        print(f"missed: {what}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
