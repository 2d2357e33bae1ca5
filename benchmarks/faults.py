"""Ten minutes of mixed use with kills: `python -m benchmarks.faults [--minutes 10] [--seed 1]`.

A real server, and people who use it at once: they ask, upload tables and ask about those, chat,
export, look at lists and delete. Beside it an experiment runs a command again and again. All the
while somebody kills: the server (politely or not) and starts it again, single working processes of
it, the driver of the experiment and its runs. At the end everything that was acknowledged has to be
there as it was, every run of the experiment once, and when the workspaces are deleted the folder of
the server has the files that it had before. Told besides: replies by status (a 5xx that is not
"come again" is a fault), and the memory of the server in each of its lives.
"""

import argparse
import contextlib
import io
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

import compass as cp
from benchmarks.show import table

PEOPLE = 5
_API = "/api/v1"
_QUESTIONS = (
    "Recommend X = {threads: ?, flags: ?} to achieve Y = {runtime_ms: minimize} "
    "where C = {kernel: %s, precision: double, size_kib: 24 MiB}",
    "Recommend X = {schedule: ?, chunk: ?} to achieve Y = {runtime_ms: minimize} "
    "where C = {kernel: %s, precision: single, size_kib: 24 MiB}",
)
_KERNELS = ("spmv", "triad", "stencil", "matmul")
_COMMAND = "/bin/sh -c 'sleep 0.2; echo time: $(( {a} * {a} + {b} ))'"


@dataclass
class Server:
    """`compass serve` on one state, over several lives."""

    folder: Path
    port: int = 0
    process: subprocess.Popen[str] | None = None
    lives: list[list[float]] = field(default_factory=list)  # MB, every second of each life

    @property
    def url(self) -> str:
        """Where it listens, in all of its lives."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Begin a life; return when it answers."""
        words = [sys.executable, "-m", "compass.cli.main", "serve", "embedded"]
        words += ["--port", str(self.port), "--state", str(self.folder)]
        with (self.folder.parent / "server.log").open("a") as log:
            self.process = subprocess.Popen(
                words, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
            )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "http://" in line:
                self.port = int(line.rpartition(":")[2].strip().rstrip("/"))
                break
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.lives.append([])
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/healthz").status_code == httpx.codes.OK:
                    return
            time.sleep(0.1)

    def memory(self) -> None:
        """Note what the server and its working processes hold."""
        assert self.process is not None
        with contextlib.suppress(psutil.Error):
            own = psutil.Process(self.process.pid)
            every = [own, *own.children(recursive=True)]
            self.lives[-1].append(sum(one.memory_info().rss for one in every) / 2**20)

    def stop(self, number: int) -> None:
        """End a life with a signal; what it left behind ends with it."""
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait()

    def kill_worker(self, chance: random.Random) -> bool:
        """Kill one working process."""
        assert self.process is not None
        with contextlib.suppress(psutil.Error):
            children = psutil.Process(self.process.pid).children(recursive=True)
            if children:
                chance.choice(children).kill()
                return True
        return False


class Person:
    """Somebody with a workspace who uses the server until told to stop."""

    def __init__(self, server: Server, seed: int, stop: threading.Event) -> None:
        self.server, self.stop = server, stop
        self.chance = random.Random(seed)
        self.client = httpx.Client(timeout=120)
        self.statuses: Counter[str] = Counter()
        self.faults: list[str] = []
        self.kept: dict[str, Any] = {}  # what was acknowledged: path and content
        self.key = ""
        self.thread = threading.Thread(target=self._use, name=f"person {seed}")

    def call(self, method: str, path: str, **given: Any) -> httpx.Response | None:
        """One request, again where the server is away or asks to come again; None: at the end."""
        headers = {"Compass-Workspace": self.key} if self.key else {}
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                reply = self.client.request(
                    method, self.server.url + _API + path, headers=headers, **given
                )
            except httpx.HTTPError:
                self.statuses["no connection"] += 1
                time.sleep(0.2)
                continue
            self.statuses[str(reply.status_code)] += 1
            if reply.status_code in (429, 503) and "retry-after" in reply.headers:
                time.sleep(min(2.0, float(reply.headers["retry-after"])))
                continue
            if reply.is_server_error:
                self.faults.append(f"{method} {path}: {reply.status_code} {reply.text[:200]}")
            return reply
        self.faults.append(f"{method} {path}: no reply in two minutes")
        return None

    def _use(self) -> None:
        made = self.call("POST", "/workspaces")
        assert made is not None
        self.key = made.json()["key"]
        uses = (self._ask, self._ask, self._upload, self._chat, self._look, self._export)
        while not self.stop.is_set():
            self.chance.choice(uses)()

    def _engine(self) -> str | None:
        found = self.call("GET", "/engines")
        if found is None or not found.is_success or not found.json():
            return None
        return str(self.chance.choice(found.json())["id"])

    def _ask(self) -> None:
        engine = self._engine()
        if engine is None:
            time.sleep(0.5)
            return
        text = self.chance.choice(_QUESTIONS) % self.chance.choice(_KERNELS)
        asked = {"question": text, "count": 2, "prove": 0, "seed": self.chance.randrange(50)}
        reply = self.call("POST", f"/engines/{engine}/answers", json=asked)
        if reply is not None and reply.status_code == httpx.codes.OK:
            body = reply.json()
            self.kept[f"/answers/{body['id']}"] = body["answer"]["suggestions"]

    def _upload(self) -> None:
        out = io.StringIO()
        out.write("threads,tile,runtime\n")
        for _ in range(60):
            threads, tile = self.chance.choice([1, 2, 4, 8]), self.chance.choice([16, 32, 64])
            out.write(f"{threads},{tile},{100 / threads + tile / 16 + self.chance.random():.3f}\n")
        name = f"t{self.chance.randrange(10**6)}.csv"
        reply = self.call("POST", f"/datasets/upload?name={name}", content=out.getvalue().encode())
        if reply is None or reply.status_code != httpx.codes.CREATED:
            return
        body = reply.json()
        self.kept[f"/datasets/{body['id']}"] = body["digest"]
        if len(self.kept) % 3 == 0:
            self.call("DELETE", f"/datasets/{body['id']}")
            del self.kept[f"/datasets/{body['id']}"]

    def _chat(self) -> None:
        engine = self._engine()
        if engine is None:
            return
        reply = self.call("POST", "/chats", json={"engine": engine})
        if reply is not None and reply.is_success:
            chat = reply.json()["id"]
            said = {"text": "which settings make spmv fastest on 24 MiB? change threads and flags"}
            self.call("POST", f"/chats/{chat}/messages", json=said)

    def _look(self) -> None:
        for path in ("/datasets", "/answers", "/jobs", "/about", "/nothing"):
            self.call("GET", path)

    def _export(self) -> None:
        answers = [path for path in self.kept if path.startswith("/answers/")]
        if answers:
            form = self.chance.choice(["csv", "json", "python", "nothing"])
            self.call("GET", f"{self.chance.choice(answers)}/exports/{form}")

    def lost(self) -> list[str]:
        """What was acknowledged and is not there as it was."""
        found = []
        for path, content in self.kept.items():
            reply = self.call("GET", path)
            if reply is None or not reply.is_success:
                found.append(f"{path}: {reply.status_code if reply is not None else 'no reply'}")
                continue
            body = reply.json()
            now = body["answer"]["suggestions"] if path.startswith("/answers/") else body["digest"]
            if now != content:
                found.append(f"{path}: changed")
        return found


def experiment(folder: Path, stop: threading.Event, seed: int, told: Counter[str]) -> None:
    """Run an experiment whose driver and runs are killed, until told to stop."""
    chance = random.Random(seed)
    words = [
        *(sys.executable, "-m", "compass.cli.main", "run", "--command", _COMMAND),
        *("--domain", "a=1..60:1", "--domain", "b=1..60:1", "--goal", "runtime=minimize"),
        *("--read", r"runtime=/time: (\S+)/", "--budget", "400", "--stop-below", "0", "--json"),
        *("--runner", "local:slots=2", "--store", str(folder / "soak.experiment")),
    ]
    while not stop.is_set():
        with (folder / "driver.log").open("a") as log:
            driver = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=log)
        stop.wait(chance.uniform(5, 25))
        if chance.random() < 0.5:
            told["runs killed"] += _kill_run(folder)
        driver.kill()
        if driver.wait() == -signal.SIGKILL:
            told["drivers killed"] += 1
        else:
            return  # the budget is spent


def _kill_run(folder: Path) -> bool:
    """Kill a running command of the experiment; it is no child of the driver."""
    for one in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if one.environ().get("COMPASS_FOLDER", "").startswith(str(folder)):
                one.kill()
                return True
    return False


def files(folder: Path) -> set[str]:
    """The files of workspaces; what the operator offers to everybody stays."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return {name for name in found if "shared" not in Path(name).parts[:2]}


def main() -> int:
    """Use, kill, count; 1 where something was lost, failed or left behind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="compass-faults-") as name:
        return _soak(Path(name), given.minutes, random.Random(given.seed))


def _soak(folder: Path, minutes: float, chance: random.Random) -> int:
    server = Server(folder / "state")
    server.folder.mkdir()
    server.start()
    while not httpx.get(f"{server.url}{_API}/engines", headers=_new_key(server)).json():
        time.sleep(0.5)  # it offers the embedded runs once it has them
    before = files(server.folder)
    stop, told = threading.Event(), Counter[str]()
    people = [Person(server, seed, stop) for seed in range(PEOPLE)]
    runs = threading.Thread(target=experiment, args=(folder, stop, 7, told))
    for thread in [*(one.thread for one in people), runs]:
        thread.start()
    until, next_fault = time.monotonic() + 60 * minutes, time.monotonic() + 20
    while time.monotonic() < until:
        time.sleep(1)
        server.memory()
        if time.monotonic() < next_fault:
            continue
        next_fault = time.monotonic() + chance.uniform(10, 40)
        if chance.random() < 0.5:
            told["workers killed"] += server.kill_worker(chance)
            continue
        number = chance.choice([signal.SIGTERM, signal.SIGKILL])
        server.stop(number)
        told[f"server ended by {signal.Signals(number).name}"] += 1
        server.start()
    stop.set()
    for thread in [*(one.thread for one in people), runs]:
        thread.join()
    return _judge(server, people, before, folder, told)


def _new_key(server: Server) -> dict[str, str]:
    made = httpx.post(f"{server.url}{_API}/workspaces").json()
    return {"Compass-Workspace": made["key"]}


def _judge(
    server: Server, people: list[Person], before: set[str], folder: Path, told: Counter[str]
) -> int:
    lost = [line for one in people for line in one.lost()]
    kept = sum(len(one.kept) for one in people)
    for one in people:
        one.call("DELETE", "/workspaces/mine")
    until = time.monotonic() + 60
    while (left := files(server.folder) - before) and time.monotonic() < until:
        time.sleep(1)
    server.stop(signal.SIGTERM)
    faults = [line for one in people for line in one.faults]
    statuses = sum((one.statuses for one in people), Counter[str]())
    with cp.Experiment.open(folder / "soak.experiment") as made:
        every = made.runs()
    numbers = [one.number for one in every]
    doubled = len(every) - len({tuple(sorted(one.config.items())) for one in every})
    print(table(("what was done", "times"), sorted(told.items())))
    print(table(("reply", "times"), sorted(statuses.items())))
    lives = [(f"life {n}", len(m), f"{m[len(m) // 4]:.0f}", f"{m[-1]:.0f}", f"{max(m):.0f}")
             for n, m in enumerate(server.lives, 1) if len(m) > 3]  # fmt: skip
    print(table(("memory of the server, MB", "seconds", "at a quarter", "last", "most"), lives))
    gaps = numbers != list(range(1, len(numbers) + 1))
    print(
        f"acknowledged and looked for: {kept}, lost or changed: {len(lost)}\n"
        f"faults: {len(faults)}\n"
        f"files left behind: {len(left)}\n"
        f"runs of the experiment: {len(every)}, "
        f"{Counter(str(one.state) for one in every).most_common()}, "
        f"made twice: {doubled}, numbers missing: {gaps}"
    )
    for line in [*lost[:5], *faults[:5], *sorted(left)[:5]]:
        print("  " + line)
    return 1 if lost or faults or left or doubled or gaps else 0


if __name__ == "__main__":
    sys.exit(main())
