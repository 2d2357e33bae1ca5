"""The 15 questions of Table VI with their answers: `python -m benchmarks.studies.acceptance`.

They are asked as the paper prints them (tests/acceptance/acceptance_questions.py), on tables with
the columns of the paper's datasets, made by stated laws, with the engines and the starting runs of
the tests. CoMD and FT are files of one application. Printed are the query as it was understood and
the answer as `compass ask` prints it.
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
from benchmarks.studies.findings import TABLE_VI, row_with
from compass.cli import render
from compass.domain.answer import Answer
from compass.language import format_query

from acceptance_engines import engines  # isort: skip  (findings.py has said where it is)

WIDTH = 100


# Where reconfigurations start, as in the tests: a row number, or values of the first such row.
STARTS: dict[str, int | dict[str, Any]] = {
    "Monet": 18,
    "PM-100": {"num_gpus_req": 16, "job_state": "COMPLETED", "num_cores_req": 128},
    "BUTTER-E": {"is_gpu": True, "dataset": "mnist", "depth": 20, "batch_size": 64},
    "CoMD": {"algorithm": "rand", "power_cap": 50, "bw_level": 1},
    "FT": {"algorithm": "rand"},
}


def start_of(engine: cp.Compass, kind: str, name: str) -> dict[str, int]:
    """The run that a question starts from, where it needs one."""
    start = STARTS[name]
    if kind != "reconfigure":
        return {}
    return {"run": start if isinstance(start, int) else row_with(engine, **start)}


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
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the answers here too")
    arguments = parser.parse_args()
    learnt = engines()
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
        save(arguments.json, {"answers": kept})
    return int(any(line[2] == "no answer" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
