"""The 15 questions of Table VI with their answers: `python -m benchmarks.studies.acceptance`.

They are asked as the paper prints them (tests/acceptance/acceptance_questions.py), on tables with
the columns of the paper's datasets, made by stated laws. CoMD and FT are files of one application.
Printed are the query as it was understood and the answer as `compass ask` prints it.
"""

import argparse
import io
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console

import compass as cp
from benchmarks.show import save, table
from benchmarks.studies.findings import TABLE_VI, engines, made
from compass.cli import render
from compass.domain.answer import Answer
from compass.language import format_query

WIDTH = 100


def all_engines(seed: int) -> dict[str, cp.Compass]:
    """The engines of Table V, and CoMD."""
    roles = {"knobs": made.APP_ROLES["knobs"], "outcomes": made.APP_ROLES["outcomes"]}
    unused = ["avg_runtime", "ipath_0", "ipath_1"]
    data = cp.read(made.applications(("CoMD",), 400, seed)).roles(**roles, ignored=unused)
    return {**engines(seed), "CoMD": cp.Compass(data)}


def start_of(engine: cp.Compass, kind: str, name: str) -> dict[str, Any]:
    """The run that a reconfiguration starts from: the first that meets its conditions."""
    wanted: dict[tuple[str, str], dict[str, Any]] = {
        ("reconfigure", "PM-100"): {"num_gpus_req": 16, "job_state": "COMPLETED"},
        ("reconfigure", "BUTTER-E"): {"is_gpu": True, "dataset": "mnist", "depth": 20},
        ("reconfigure", "CoMD"): {"algorithm": "rand"},
        ("reconfigure", "FT"): {"algorithm": "rand"},
    }
    if kind != "reconfigure":
        return {}
    rows = map(engine.data.row, range(len(engine.data)))
    values = wanted.get((kind, name))
    if values is None:  # Monet: a place where links stall
        goal = "Z+_SAMPLE_GEMINI_LINK_CREDIT_STALL"
        return {"run": next(number for number, row in enumerate(rows) if row[goal] > 300)}
    fits = (n for n, row in enumerate(rows) if all(row[k] == v for k, v in values.items()))
    return {"run": next(fits)}


def printed(answer: Answer) -> str:
    """An answer as a terminal shows it."""
    text = io.StringIO()
    render.answer(Console(file=text, width=WIDTH), answer)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).strip()


def outcome_of(answer: Answer) -> str:
    """What the answer came to, in a few words."""
    if answer.population is not None:
        return f"mean over {answer.population.runs} runs"
    if not answer.answered:
        return "no answer"
    labels = [suggestion.trust.label.value for suggestion in answer]
    return ", ".join(f"{labels.count(one)} {one}" for one in dict.fromkeys(labels))


def main() -> int:
    """Ask all questions; 1 if one has no answer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=100, help="of the tables")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the answers here too")
    arguments = parser.parse_args()
    learnt = all_engines(arguments.seed)
    lines, texts, kept = [], [], {}
    for (kind, name), question in TABLE_VI.items():
        engine = learnt[name]
        began = time.process_time()
        answer = engine.ask(question, **start_of(engine, kind, name))
        took = time.process_time() - began
        told = outcome_of(answer)
        lines.append((kind, name, told, f"{took:.1f}"))
        texts.append(f"{kind}, {name}\n{question}\n\n{printed(answer)}")
        kept[f"{kind} {name}"] = {
            "question": question,
            "understood": format_query(answer.query),
            "answer": told,
            "configurations": [suggestion.config for suggestion in answer],
        }
    print(table(("question", "table", "answer", "CPU s, learning included"), lines))
    rule = "\n\n" + "-" * WIDTH + "\n"
    print(rule + rule.join(texts))
    if arguments.json:
        save(arguments.json, {"seed": arguments.seed, "answers": kept})
    return int(any(line[2] == "no answer" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
