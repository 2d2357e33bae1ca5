"""Altered model files and saved engines, loaded and asked until time is over: `make fuzz-files`.

A file of every kind that people may bring and a saved engine of every family and embedding are
made once. Every case alters one of them (bytes, fields of JSON, arrays, members of archives), loads
it and asks it. It must be refused with an error and a hint, or answer as plain Python written here
says. Looked for are: an error that is not one of Compass' own, one without a hint, a prediction
that is no number or not what the trees say, a process that ends or does not come back.

Cases run in a child process, so that a crash is seen as such, with bounded memory and with compiled
loops that check every position (AddressSanitizer, where there is a gcc that brings it). The exit
code is 1 where something was found; `--seed N --cases 1` repeats a case.
"""

import argparse
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import compass as cp
from benchmarks import fuzz_alter
from benchmarks.fuzz_subjects import CODED, SPACE, Subject, engines, files, rows
from compass.domain.errors import CompassError
from compass.model.base import Fitted, Task
from compass.model.files import bring_bytes
from compass.model.trees.flat import FlatForest
from compass.native import build

BATCH = 300  # cases of one child, which takes seconds to start
SECONDS = 240.0  # for one case, then it hangs: loading may take 120 s, and machines are slow
MEMORY = 8 * 2**30  # bytes that a child may take
_REPORT = "positions"  # how the files begin in which a wrong position is told
QUESTIONS = (
    "Recommend X = {nodes: ?, app: ?} to achieve Y = {y: minimize}",
    "Recommend X = {nodes: ?, cap: ?} to achieve Y = {state: low}",
    "Reconfigure X = {nodes: ?, size: ?} to achieve Y = {y: reduce by 10%} from row 3",
    "What if we change X = {nodes: 4 -> 8}, how would that affect Y = {y, state}",
)


def case(number: int, subjects: Sequence[Subject], scratch: Path) -> tuple[str, str]:
    """Alter, load and ask; which subject, and what came of it. Raises whatever is a finding."""
    rng = np.random.default_rng(number)
    # A process apart takes seconds to start: such files are altered less often.
    chance = np.array([0.02 if subject.apart else 1.0 for subject in subjects])
    subject = subjects[int(rng.choice(len(subjects), p=chance / chance.sum()))]
    try:
        if subject.engine:
            target = scratch / "altered.compass"
            shutil.rmtree(target, ignore_errors=True)
            fuzz_alter.engine(subject.path, target, rng)
            ask(target, rng)
        else:
            predict(fuzz_alter.content(subject.path.read_bytes(), rng), subject)
    except CompassError as error:
        if not (error.message and error.hint):
            raise AssertionError(f"no message or no hint: {error!r}") from error
        return subject.name, "refused"
    return subject.name, "answered"


def predict(content: bytes, subject: Subject) -> None:
    """Bring a file and check what it predicts."""
    labels = (0, 1, 2) if subject.classes else None
    brought = bring_bytes(content, subject.path.name, columns=CODED, classes=labels)
    task = Task(3 if subject.classes else None)
    model = brought.fitted(SPACE, "y", task, labels)
    try:
        check(model, rows(20, seed=9))
    finally:
        if brought.opened.sandbox is not None:
            brought.opened.sandbox.close()


def ask(path: Path, rng: np.random.Generator) -> None:
    """Load an engine, ask it, and check its models at the runs that it knows."""
    engine = cp.load(path)
    for (features, _), trained in engine.store.trained.items():
        X = engine.store.prepared.columns_of(features)
        check(trained.model, X[np.isfinite(X).all(axis=1)][:20])
    answer = engine.ask(QUESTIONS[int(rng.integers(len(QUESTIONS)))], prove=0.05, count=2)
    answer.model_dump_json()
    if answer.suggestions and rng.random() < 0.3:
        engine.explain(answer[0])


def check(model: Fitted, X: np.ndarray) -> None:
    """A prediction must be a number, or shares of classes; and of trees what they say."""
    said, spread = model.predict(X), model.spread(X)
    assert said.shape == (len(X), model.task.outputs), said.shape
    assert np.isfinite(said).all(), "a prediction that is no number"
    assert np.isfinite(spread).all(), "a spread that is no number"
    assert (spread >= 0).all(), "a negative spread"
    if model.task.classes is not None:
        np.testing.assert_allclose(said.sum(axis=1), 1.0, atol=1e-6)
    forest = getattr(model, "forest", None)
    if isinstance(forest, FlatForest):
        told = np.array([walked(forest, x) for x in X[:5]])
        np.testing.assert_allclose(said[:5], told, rtol=1e-6, atol=1e-9)


def walked(forest: FlatForest, x: np.ndarray) -> np.ndarray:
    """The prediction of trees for one row, in plain Python."""
    compared = x.astype(np.float32).astype(np.float64) if forest.single else x
    raw = np.zeros(forest.offset.size)
    for root, slot in zip(forest.roots.tolist(), forest.slot.tolist(), strict=True):
        node = root
        while forest.feature[node] >= 0:
            left = compared[forest.feature[node]] <= forest.threshold[node]
            node = int(forest.left[node] if left else forest.right[node])
        raw[slot : slot + forest.value.shape[1]] += forest.value[node]
    raw = forest.offset + raw / forest.divisor
    match forest.link:
        case "sigmoid":
            with np.errstate(over="ignore"):
                share = 1.0 / (1.0 + np.exp(-raw[0]))
            return np.array([1 - share, share])
        case "softmax":
            shares = np.exp(raw - raw.max())
            return np.asarray(shares / shares.sum())
        case "exp":
            return np.asarray(np.exp(raw))
    return raw


def child(folder: Path, numbers: Sequence[int]) -> None:
    """Run cases and tell of each in a line of JSON: before it begins, and what came of it."""
    if "ASAN_OPTIONS" not in os.environ:  # which bounds memory itself: it takes all addresses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    listed = json.loads((folder / "subjects.json").read_text())
    subjects = [Subject(**{**one, "path": Path(one["path"])}) for one in listed]
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        for number in numbers:
            _tell({"begin": number})
            try:
                name, came = case(number, subjects, Path(scratch))
                _tell({"name": name, "came": came})
            except Exception as error:
                _tell({"found": f"{type(error).__name__}: {error}", "at": traceback.format_exc()})


def _tell(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


def checking(folder: Path) -> dict[str, str]:
    """Surroundings in which compiled loops check every position; none where that cannot be."""
    # Beside it what throws errors of C++: it wants to know before the first of them.
    first = [_brought("libasan.so"), _brought("libstdc++.so.6")]
    if not all(first):
        print("positions are not checked: there is no gcc with AddressSanitizer (libasan)")
        return {}
    library = folder / "checked.so"
    build.compile_library(library, ("-fsanitize=address", "-g", "-O1"))
    megabytes = MEMORY >> 20
    options = {
        "detect_leaks": 0,
        "allocator_may_return_null": 1,  # too much is refused as it is without it
        "max_allocation_size_mb": megabytes,
        "hard_rss_limit_mb": megabytes,
        "log_path": folder / _REPORT,
    }
    return {
        "COMPASS_KERNELS": str(library),
        "LD_PRELOAD": " ".join(first),
        "ASAN_OPTIONS": ":".join(f"{name}={value}" for name, value in options.items()),
        "PYTHONMALLOC": "malloc",  # small arrays, too, have forbidden ground around them
    }


def _brought(library: str) -> str:
    """The path of a library that the C compiler brings; empty where it does not."""
    command = build.compiler()
    if command is None:
        return ""
    asked = [*command, f"-print-file-name={library}"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return answer if Path(answer).is_absolute() else ""  # it repeats a name that it does not know


def told(
    folder: Path, numbers: Sequence[int], checked: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """What a child tells of its cases; its end, if it ends too early or does not come back."""
    surroundings = {**os.environ, **checked, "OMP_NUM_THREADS": "1"}
    listed = f"{numbers[0]}:{numbers[-1] + 1}"
    command = [sys.executable, "-m", "benchmarks.fuzz_files", "--child", listed, "--folder", folder]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=surroundings
    ) as process:
        assert process.stdout is not None
        watch = select.poll()
        watch.register(process.stdout, select.POLLIN)
        last = None
        while True:
            if not watch.poll(1000 * SECONDS):
                process.kill()
                yield {"found": f"case {last} did not come back in {SECONDS:g} s", "at": ""}
                return
            line = process.stdout.readline()
            if not line:
                break
            message = json.loads(line)
            last = message.get("begin", last)
            yield message
    if process.returncode:
        code = process.returncode
        why = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        report = folder / f"{_REPORT}.{process.pid}"
        at = report.read_text() if report.is_file() else ""
        yield {"found": f"the process ended: {why}", "at": at}


def make(folder: Path) -> int:
    """Make everything that is altered; how many there are."""
    subjects = [*files(folder), *engines(folder)]
    for subject in subjects:  # what is refused as it is would be refused whatever is altered
        if subject.engine:
            ask(subject.path, np.random.default_rng(0))
        else:
            predict(subject.path.read_bytes(), subject)
    kept = [asdict(subject) | {"path": str(subject.path)} for subject in subjects]
    (folder / "subjects.json").write_text(json.dumps(kept))
    return len(subjects)


def run(folder: Path, first: int, cases: int, seconds: float) -> int:
    until, number, happened, findings = time.monotonic() + seconds, first, Counter[str](), 0
    seen: Counter[int] = Counter()
    checked = checking(folder)
    while number < first + cases and time.monotonic() < until:
        batch = range(number, min(number + BATCH, first + cases))
        for message in told(folder, batch, checked):
            number = message.get("begin", number)
            if "name" in message:
                happened[f"{message['name']}: {message['came']}"] += 1
            if "found" in message:
                findings += 1
                print(f"case {number}: {message['found']}")
                # The same fault is shown whole once.
                place = zlib.crc32(message["at"].encode())
                print(message["at"] if not seen[place] else "", end="", flush=True)
                seen[place] += 1
            if "begin" in message and time.monotonic() > until + SECONDS:
                break
        number += 1
    print(f"{number - first} cases, {findings} findings")
    for what, times in sorted(happened.items()):
        print(f"  {times:6d}  {what}")
    return int(findings > 0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz_files", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--cases", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=0, help="the number of the first case")
    parser.add_argument("--folder", type=Path, help="where files are made and kept")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    said = parser.parse_args(arguments)
    if said.child:
        start, stop = map(int, said.child.split(":"))
        child(said.folder, range(start, stop))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = said.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "subjects.json").exists():
            print(f"{make(folder)} files and engines are altered", flush=True)
        return run(folder, said.seed, said.cases, said.seconds)


if __name__ == "__main__":
    sys.exit(main())
