"""Generated dumps of sacct whose truth is known: `python -m benchmarks.schedule.advice.dump FILE`.

Users run a few applications each, with sizes of input that vary; an application has its own
distribution of runtime and of memory, and drifts now and then. Arrays, requeues, steps, memory per
task, cancelled and unfinished jobs are in it, and a site that gathers no memory on one partition.
"""

import argparse
from pathlib import Path

import numpy as np

HEADER = (
    "JobID|JobIDRaw|JobName|User|Account|Partition|QOS|State|ExitCode|Submit|Start|End|Elapsed|"
    "Timelimit|TotalCPU|ReqCPUS|AllocCPUS|NNodes|NTasks|ReqMem|MaxRSS|AveCPU|ReqTRES|AllocTRES"
)
_EPOCH = np.datetime64("2026-01-01T00:00:00")


def _clock(seconds: float) -> str:
    whole = int(seconds)
    days, rest = divmod(whole, 86400)
    text = f"{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text


def lines(jobs: int, seed: int) -> list[str]:
    """The lines of a dump with that many jobs, in the order of submission."""
    rng = np.random.default_rng(seed)
    users = max(5, jobs // 2000)
    base_time = rng.lognormal(7.0, 1.2, (users, 6))  # s, of each user's applications
    base_memory = rng.lognormal(7.3, 1.1, (users, 6))  # MiB per task
    spread = rng.choice([0.03, 0.1, 0.35], (users, 6))
    asked_time = base_time * rng.choice([1.5, 3.0, 10.0, 24.0], (users, 6))
    asked_memory = base_memory * rng.choice([1.3, 2.0, 4.0, 8.0], (users, 6))
    cores = rng.choice([1, 1, 4, 8, 16, 32, 64], (users, 6))
    out = [HEADER]
    submit, number = 0.0, 1000
    while number < 1000 + jobs:
        user, app = (
            int(rng.integers(users)),
            int(rng.choice(6, p=[0.4, 0.25, 0.15, 0.1, 0.05, 0.05])),
        )
        drift = 1.6 if number > 1000 + 0.6 * jobs and (user + app) % 7 == 0 else 1.0
        tasks = int(rng.choice([1, 1, 1, 12])) if rng.random() < 0.08 else 1  # an array
        submit += rng.exponential(40.0)
        for task in range(min(tasks, 1000 + jobs - number)):
            scale = drift * rng.lognormal(0.0, spread[user, app])
            run = float(base_time[user, app] * scale)
            memory = float(base_memory[user, app] * scale * rng.lognormal(0.0, 0.05))
            limit = 60 * np.ceil(asked_time[user, app] / 60)
            wanted = int(max(100, np.ceil(asked_memory[user, app] / 100) * 100))
            n = int(cores[user, app])
            nodes = max(1, n // 32)
            state, code = "COMPLETED", "0:0"
            if memory > wanted * 1.02:
                state, code, run, memory = "OUT_OF_MEMORY", "0:125", run * 0.6, wanted * 0.99
            elif run > limit:
                state, code, run = "TIMEOUT", "0:0", limit
            elif rng.random() < 0.03:
                state, code, run = "FAILED", "1:0", run * rng.random()
            elif rng.random() < 0.02:
                state, code, run = "CANCELLED by 1234", "0:0", run * rng.random()
            wait = float(rng.exponential(600.0 * nodes))
            start, end = submit + wait, submit + wait + run
            stamp = [str(_EPOCH + np.timedelta64(int(x), "s")) for x in (submit, start, end)]
            job = f"{number - task}_{task}" if tasks > 1 else str(number)
            gathered = user % 11 != 3
            part = "quiet" if not gathered else ("wide" if nodes > 1 else "batch")
            name = f"app{app}-u{user}" if app < 5 else f"run_{number}"
            cpu = run * n * 0.7
            tres = f"billing={n},cpu={n},mem={wanted}M,node={nodes}"
            common = f"user{user}|acc{user % 9}|{part}|normal"
            out.append(
                f"{job}|{number}|{name}|{common}|{state}|{code}|{stamp[0]}|{stamp[1]}|{stamp[2]}|"
                f"{_clock(run)}|{_clock(limit)}|{_clock(cpu)}.{number % 1000:03}|{n}|{n}|{nodes}||"
                f"{wanted}M|||{tres}|{tres}"
            )
            step = state.split()[0]
            rss, small = (f"{int(memory * 1024)}K", "88K") if gathered else ("0", "0")
            for kind, peak, used in (("batch", rss, cpu), ("extern", small, 0.0)):
                out.append(
                    f"{job}.{kind}|{number}.{kind}|{kind}||acc{user % 9}|||{step}|{code}|"
                    f"{stamp[1]}|{stamp[1]}|{stamp[2]}|{_clock(run)}||{_clock(used)}|{n}|{n}|{nodes}|"
                    f"1||{peak}|{_clock(used)}||cpu={n},mem={wanted}M,node={nodes}"
                )
            number += 1
    return out


def main() -> None:
    """Write a dump."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--jobs", type=int, default=333_333, help="three lines each")
    parser.add_argument("--seed", type=int, default=1)
    known = parser.parse_args()
    known.file.write_text("\n".join(lines(known.jobs, known.seed)) + "\n")


if __name__ == "__main__":
    main()
