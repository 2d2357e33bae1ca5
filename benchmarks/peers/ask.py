"""How every tool is timed: on one thread, in CPU seconds, after a question that does not count."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.peers.case import Case, Question, Reply, Sheet, load, save_sheets

Answer = tuple[list[list[float]], list[float], str]  # suggestions, reported predictions, note
Ask = Callable[[Question], Answer]


def one_core() -> None:
    """Keep this process on the core that it runs on, and every library on one thread."""
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {allowed[-1]})


def pace() -> float:
    """CPU seconds of a fixed piece of work: tells how busy the machine is meanwhile."""
    began = time.process_time()
    sum(i * i for i in range(100_000))
    return time.process_time() - began


def sheet(
    case: Case, tool: str, variant: str, asked: int, settings: str, ask: Ask, probe: list[float]
) -> Sheet:
    """Put all questions to a tool."""
    ask(case.warm)
    replies = []
    for number, question in enumerate(case.questions):
        before = pace()
        began = time.process_time()
        rows, reported, note = ask(question)
        seconds = time.process_time() - began
        steady = (before + pace()) / 2
        replies.append(Reply(seconds, steady, tuple(map(tuple, rows)), tuple(reported), note))
        print(f"{tool} {variant} {number + 1}: {seconds:.3f} s {note}", file=sys.stderr, flush=True)
    return Sheet(tool, variant, asked, settings, tuple(replies), tuple(probe))


def main(name: str, run: Callable[[Case], list[Sheet]]) -> None:
    """Read the case from the folder named on the command line and write the replies there."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.peers.{name}")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    one_core()
    save_sheets(folder / f"{name}.json", run(load(folder)))
