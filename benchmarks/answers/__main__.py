"""Record answers, or compare two records: `python -m benchmarks.answers record FILE`.

`compare BEFORE AFTER` prints every field that differs and exits with 1 where there is one.
Times, versions and certificates that a deadline cut are left out.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.answers.chat import dialogues
from benchmarks.answers.commands import printed
from benchmarks.answers.http import http_replies
from benchmarks.answers.questions import engines, questions
from compass.domain.errors import CompassError

SHOWN = 40
LEFT_OUT = ("seconds", "versions")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("record")
    write.add_argument("file", type=Path)
    write.add_argument("--only", choices=[*PARTS], action="append", help="by default all parts")
    compare = commands.add_parser("compare")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.command == "record":
        found = dict(pair for name in chosen.only or PARTS for pair in PARTS[name]())
        chosen.file.write_text(json.dumps(found, indent=1, sort_keys=True))
        print(f"{len(found)} answers in {chosen.file}")
        return 0
    before, after = (json.loads(file.read_text()) for file in (chosen.before, chosen.after))
    differences = list(differing(before, after, ()))
    for place, one, other in differences[:SHOWN]:
        print(f"{' / '.join(map(str, place))}\n    before {one!r}\n    after  {other!r}")
    print(f"{len(before)} answers before, {len(after)} after, {len(differences)} differences")
    return int(bool(differences))


def asked() -> Iterator[tuple[str, Any]]:
    """Every question by name, with its answer or its error."""
    for label, engine in engines():
        for asked in questions(engine):
            name = f"{label}: {asked.name}"
            print(name, file=sys.stderr)
            try:
                yield name, plain(asked.ask())
            except CompassError as error:
                yield name, {"error": type(error).__name__, "text": str(error)}


def plain(found: Any) -> Any:
    """An answer as JSON, without what may differ from run to run."""
    if isinstance(found, tuple):
        return [plain(one) for one in found]
    return _without(json.loads(found.model_dump_json()))


def _without(found: Any) -> Any:
    if isinstance(found, list):
        return [_without(one) for one in found]
    if not isinstance(found, dict):
        return found
    kept = {name: _without(value) for name, value in found.items() if name not in LEFT_OUT}
    certificate = kept.get("certificate")
    if isinstance(certificate, dict) and certificate.get("cut"):
        kept["certificate"] = "cut"
    return kept


def differing(before: Any, after: Any, place: tuple[Any, ...]) -> Iterator[tuple[Any, Any, Any]]:
    """Every place at which two records differ, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            if name not in before or name not in after:
                yield (*place, name), before.get(name, "absent"), after.get(name, "absent")
            else:
                yield from differing(before[name], after[name], (*place, name))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differing(one, other, (*place, number))
    elif before != after:
        yield place, before, after


PARTS: dict[str, Callable[[], Iterator[tuple[str, Any]]]] = {
    "engines": asked,
    "chat": dialogues,
    "http": http_replies,
    "commands": printed,
}

if __name__ == "__main__":
    sys.exit(main())
