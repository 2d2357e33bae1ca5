"""Run as a program: reads Darshan logs and prints one line of JSON for each.

A process of its own, because the C library below may crash on a damaged log; it imports nothing
of Compass, so that it starts fast.
"""

import json
import os
import sys
import tempfile
from typing import Any

_MODULES = {"POSIX": "POSIX", "MPI-IO": "MPIIO", "STDIO": "STDIO"}  # module: start of its counters
_COUNTERS = {
    "POSIX": ("OPENS", "READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN"),
    "STDIO": ("OPENS", "READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN"),
    "MPI-IO": (
        "INDEP_OPENS", "COLL_OPENS", "INDEP_READS", "COLL_READS", "INDEP_WRITES", "COLL_WRITES",
        "BYTES_READ", "BYTES_WRITTEN",
    ),
}  # fmt: skip
_SECONDS = ("READ", "WRITE", "META")


def totals(backend: Any, log: Any, module: str) -> dict[str, float | int]:
    """The sums of a module's counters over all files and ranks of a job."""
    start = _MODULES[module]
    counters, clocks = backend.counter_names(module), backend.fcounter_names(module)
    places = {name: counters.index(f"{start}_{name}") for name in _COUNTERS[module]}
    times = {name: clocks.index(f"{start}_F_{name}_TIME") for name in _SECONDS}
    found: dict[str, float | int] = {"files": 0}
    found |= {name.lower(): 0 for name in places}
    found |= {f"{name.lower()}_seconds": 0.0 for name in times}
    files = set()
    while (record := backend.log_get_generic_record(log, module, dtype="numpy")) is not None:
        files.add(int(record["id"]))
        for name, place in places.items():  # -1 stands for a counter that was not kept
            found[name.lower()] += max(0, int(record["counters"][place]))
        for name, place in times.items():
            found[f"{name.lower()}_seconds"] += max(0.0, float(record["fcounters"][place]))
    found["files"] = len(files)
    return found


def read(backend: Any, path: str) -> dict[str, Any]:
    """What one log says."""
    log = backend.log_open(path)
    if not log or not log.get("handle"):
        return {"problem": "it does not start as one"}
    try:
        job = backend.log_get_job(log)
        modules = backend.log_get_modules(log)
        mine = {module: start for module, start in _MODULES.items() if module in modules}
        return {
            "job": {name: job[name] for name in ("jobid", "nprocs", "run_time", "start_time_sec")},
            "exe": backend.log_get_exe(log),
            "partial": any(modules[module]["partial_flag"] for module in mine),
            "modules": {start.lower(): totals(backend, log, m) for m, start in mine.items()},
        }
    finally:
        backend.log_close(log)


def careful(backend: Any, path: str) -> dict[str, Any]:
    """What one log says, or the problem with it."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as captured:
        # The library tells of damage on standard error only, and goes on with zeros.
        before = os.dup(2)
        os.dup2(captured.fileno(), 2)
        try:
            found = read(backend, path)
        except (RuntimeError, ValueError, LookupError, TypeError, OSError) as problem:
            found = {"problem": str(problem) or type(problem).__name__}
        finally:
            os.dup2(before, 2)
            os.close(before)
        captured.seek(0)
        lines = captured.read().decode("utf-8", "replace").splitlines()
    errors = [line.removeprefix("Error:").strip() for line in lines if line.startswith("Error:")]
    if errors and "problem" not in found:
        found = {"problem": errors[0]}
    return found


def main() -> None:
    """Reads the logs whose paths stand on standard input, a JSON list."""
    from darshan.backend import cffi_backend as backend

    for path in json.load(sys.stdin):
        sys.stdout.write(json.dumps(careful(backend, path)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
