"""A real one-node Slurm with accounting, for tests: started once, shared by all test workers.

A keeper process (this file, run as a script) starts munge, MariaDB, slurmdbd, slurmctld and slurmd
in a folder and on ports of their own. Each test worker that uses them holds a shared lock on a
file; when the kernel has released all of these, also those of workers that crashed, the keeper
gets the exclusive lock and stops what it started.
"""

import contextlib
import fcntl
import json
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = "munged mariadbd mariadb-install-db slurmdbd slurmctld slurmd sacct sacctmgr sbatch"
USERS = ("munge", "mysql", "slurm")
CPUS = 4  # jobs wait for each other less than on the cores that are really there
MEMORY_MB = 8000
START_SECONDS = 90  # of patience; it takes about six on a quiet machine

SLURM_CONF = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld}
SlurmdPort={slurmd}
SlurmUser=slurm
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/state/slurmctld.pid
SlurmdPidFile={folder}/spool/slurmd.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=200
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd}
AccountingStoragePass={folder}/munge/socket
JobCompType=jobcomp/none
MpiDefault=none
ReturnToService=2
KillWait=2
SlurmdParameters=config_overrides
JobSubmitPlugins=lua
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=lab Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""

# What slurmctld calls at each submission: nothing is changed. Tests of job_submit put theirs here.
NOTHING_AT_SUBMISSION = """\
function slurm_job_submit(job, partitions, uid) return slurm.SUCCESS end
function slurm_job_modify(job, record, partitions, uid) return slurm.SUCCESS end
"""

SLURMDBD_CONF = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={dbd}
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={mysql}
StorageUser=slurm
StoragePass={password}
StorageLoc=slurm_acct_db
LogFile={folder}/log/slurmdbd.log
PidFile={folder}/state/slurmdbd.pid
"""


class NotHere(Exception):
    """Why there can be no Slurm on this machine."""


@dataclass(frozen=True)
class SlurmLab:
    """The running Slurm: one node, partition `lab`, accounting on. `SLURM_CONF` points to it."""

    folder: Path

    @property
    def conf(self) -> Path:
        """The configuration file, for `SLURM_CONF`."""
        return self.folder / "slurm.conf"

    def run(self, *command: str) -> str:
        """What a Slurm command prints; its error message is raised."""
        return _output(command, self.conf)

    def submit(self, script: str, *options: str) -> int:
        """Hand in a batch script and return the job's number."""
        text = script if script.startswith("#!") else f"#!/bin/sh\n{script}\n"
        out = str(self.folder / "out" / "%A_%a.out")
        command = ("sbatch", "--parsable", f"--output={out}", *options)
        return int(_output(command, self.conf, text).strip().partition(";")[0])

    def finished(self, *jobs: int, seconds: float = 60) -> None:
        """Wait until accounting knows the end of these jobs and of all of their steps."""
        names = ",".join(map(str, jobs))

        def ended() -> bool:
            shown = "".join(self.run("scontrol", "-o", "show", "job", str(job)) for job in jobs)
            wanted = set(re.findall(r"\bJobId=(\d+)", shown))  # the tasks of an array, each
            listed = self.run("sacct", "-nP", "-j", names, "-o", "JobIDRaw,State,End").splitlines()
            rows = [line.split("|") for line in listed]
            known = {row[0].partition(".")[0] for row in rows}
            return wanted <= known and all(
                row[1].partition(" ")[0] not in ("PENDING", "RUNNING", "COMPLETING")
                and row[2] != "Unknown"
                for row in rows
            )

        _until(ended, seconds, f"accounting does not know the end of {names}")


def _output(command: tuple[str, ...], conf: Path, given: str | None = None) -> str:
    done = subprocess.run(
        command,
        input=given,
        env={**os.environ, "SLURM_CONF": str(conf)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def _until(holds: Callable[[], bool], seconds: float, complaint: str) -> None:
    limit = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > limit:
            raise TimeoutError(complaint)
        time.sleep(0.1)


@contextlib.contextmanager
def borrowed(shared: Path) -> Iterator[SlurmLab]:
    """The Slurm that all test workers with this folder share; started if nobody has done it yet."""
    _check_machine()
    try:
        yield from _shared(shared)
    finally:
        _wait_while_stopping(shared)


def _shared(shared: Path) -> Iterator[SlurmLab]:
    with (shared / "slurm.users").open("a") as users, (shared / "slurm.start").open("a") as start:
        fcntl.flock(start, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)  # waits while an earlier keeper is stopping
        told = shared / "slurm.json"
        if not told.exists():
            _start_keeper(shared, told)
        fcntl.flock(start, fcntl.LOCK_UN)
        facts = json.loads(told.read_text())
        if "problem" in facts:
            raise RuntimeError(f"Slurm did not start: {facts['problem']}")
        yield SlurmLab(Path(facts["folder"]))


def _wait_while_stopping(shared: Path) -> None:
    """Wait for the keeper to stop its daemons, unless another worker still uses them."""
    limit = time.monotonic() + 30
    with (shared / "slurm.users").open("a") as users:
        while time.monotonic() < limit:
            time.sleep(0.2)
            try:
                fcntl.flock(users, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # the keeper has it
            return


def _check_machine() -> None:
    if os.geteuid() != 0:
        raise NotHere("a test Slurm can be started by root only")
    absent = [name for name in PROGRAMS.split() if shutil.which(name) is None]
    if absent:
        raise NotHere(f"not installed: {', '.join(absent)}; `make slurm` installs them")
    for user in USERS:
        try:
            pwd.getpwnam(user)
        except KeyError:
            raise NotHere(f"there is no user {user}; `make slurm` makes it") from None


def _start_keeper(shared: Path, told: Path) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    log = os.open(shared / "slurm.keeper.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    # Not a child that this process has to wait for: it outlives the worker that started it.
    os.posix_spawn(
        sys.executable,
        [sys.executable, str(Path(__file__).resolve()), str(shared)],
        os.environ,
        setsid=True,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, nothing, 0),
            (os.POSIX_SPAWN_DUP2, log, 1),
            (os.POSIX_SPAWN_DUP2, log, 2),
        ],
    )
    os.close(nothing)
    os.close(log)
    _until(told.exists, START_SECONDS + 10, "the keeper of Slurm says nothing")


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        ports = []
        for _ in range(count):
            one = held.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
        return ports


class _Keeper:
    """Starts the five daemons and stops them in the reverse order."""

    def __init__(self) -> None:
        # Short (a socket's path has at most 107 characters) and open to the daemons' users.
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-lab-"))
        self.folder.chmod(0o755)
        self.conf = self.folder / "slurm.conf"
        self.daemons: list[subprocess.Popen[bytes]] = []
        self.password = secrets.token_hex(8)
        ctld, slurmd, dbd, self.mysql = _free_ports(4)
        self.words = {
            "folder": self.folder,
            "host": socket.gethostname().partition(".")[0],
            "ctld": ctld,
            "slurmd": slurmd,
            "dbd": dbd,
            "mysql": self.mysql,
            "password": self.password,
            "cpus": CPUS,
            "memory": MEMORY_MB,
        }

    def start(self) -> None:
        self._folders()
        self._munge()
        self._database()
        self._daemon("slurmdbd", "slurm", "slurmdbd", "-D")
        self._wait("slurmdbd", lambda: self._answers("sacctmgr", "-n", "show", "cluster"))
        for words in (("cluster", "lab"), ("account", "acct"), ("user", "root", "account=acct")):
            _output(("sacctmgr", "-i", "add", *words), self.conf)
        self._daemon("slurmctld", "slurm", "slurmctld", "-D")
        self._daemon("slurmd", "root", "slurmd", "-D")
        self._wait("slurmd", lambda: "idle" in self._printed("sinfo", "-h", "-o", "%T"))

    def stop(self) -> None:
        for daemon in reversed(self.daemons):
            if daemon.poll() is None:
                daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(timeout=15)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _folders(self) -> None:
        owners = {"munge": "munge", "mysql": "mysql", "state": "slurm", "spool": "root"}
        for name, owner in owners.items():
            (self.folder / name).mkdir(mode=0o755)
            shutil.chown(self.folder / name, owner, pwd.getpwnam(owner).pw_gid)
        for name in ("log", "out"):
            (self.folder / name).mkdir()
            (self.folder / name).chmod(0o1777)
        self.conf.write_text(SLURM_CONF.format(**self.words))
        (self.folder / "job_submit.lua").write_text(NOTHING_AT_SUBMISSION)
        secret = self.folder / "slurmdbd.conf"
        secret.touch(mode=0o600)
        secret.write_text(SLURMDBD_CONF.format(**self.words))
        shutil.chown(secret, "slurm")

    def _munge(self) -> None:
        own = self.folder / "munge"
        (own / "key").touch(mode=0o600)
        (own / "key").write_bytes(secrets.token_bytes(128))
        shutil.chown(own / "key", "munge")
        files = {"socket": "socket", "key-file": "key", "pid-file": "pid", "seed-file": "seed"}
        options = [f"--{option}={own / name}" for option, name in files.items()]
        log = f"--log-file={own / 'log'}"
        self._daemon("munge", "munge", "munged", "--foreground", *options, log)
        self._wait("munged", (own / "socket").exists)

    def _database(self) -> None:
        data, door = self.folder / "mysql" / "data", self.folder / "mysql" / "socket"
        install = ("mariadb-install-db", "--no-defaults", "--user=mysql", "--skip-test-db")
        _output((*install, f"--datadir={data}"), self.conf)
        create = self.folder / "mysql" / "create.sql"
        create.write_text(
            "create database slurm_acct_db;\n"
            f"create user 'slurm'@'127.0.0.1' identified by '{self.password}';\n"
            "grant all on slurm_acct_db.* to 'slurm'@'127.0.0.1';\n"
        )
        shutil.chown(create, "mysql")
        self._daemon(
            *("mariadb", "mysql", "mariadbd", "--no-defaults", f"--datadir={data}"),
            *(f"--socket={door}", f"--init-file={create}", f"--port={self.mysql}"),
            *("--bind-address=127.0.0.1", "--skip-name-resolve", "--innodb-buffer-pool-size=64M"),
            *("--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=16M"),
        )
        self._wait("mariadbd", lambda: self._listens(self.mysql))

    def _daemon(self, name: str, user: str, program: str, *options: str) -> None:
        account = pwd.getpwnam(user)
        with (self.folder / "log" / f"{name}.out").open("wb") as out:
            daemon = subprocess.Popen(
                (shutil.which(program) or program, *options),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                user=account.pw_uid,
                group=account.pw_gid,
                extra_groups=[],
                cwd=self.folder,
                env={**os.environ, "SLURM_CONF": str(self.conf)},
            )
        self.daemons.append(daemon)

    def _wait(self, name: str, ready: Callable[[], bool]) -> None:
        def ready_or_dead() -> bool:
            return self.daemons[-1].poll() is not None or ready()

        with contextlib.suppress(TimeoutError):
            _until(ready_or_dead, START_SECONDS, name)
            if self.daemons[-1].poll() is None:
                return
        logs = sorted((self.folder / "log").iterdir(), key=lambda path: path.stat().st_mtime)
        tails = [path.read_text(errors="replace")[-800:] for path in logs[-3:]]
        raise RuntimeError(f"{name} does not come up: " + "\n".join(tails))

    def _printed(self, *command: str) -> str:
        try:
            return _output(command, self.conf)
        except RuntimeError:
            return ""

    def _answers(self, *command: str) -> bool:
        try:
            _output(command, self.conf)
        except RuntimeError:
            return False
        return True

    @staticmethod
    def _listens(port: int) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", port)) == 0


def _tell(told: Path, facts: dict[str, str]) -> None:
    fresh = told.with_suffix(".new")
    fresh.write_text(json.dumps(facts))
    fresh.replace(told)


def keep(shared: Path) -> None:
    """Start Slurm, wait until nobody uses it, stop it."""
    told = shared / "slurm.json"
    keeper = _Keeper()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        keeper.start()
        _tell(told, {"folder": str(keeper.folder)})
        with (shared / "slurm.users").open("a") as users:
            fcntl.flock(users, fcntl.LOCK_EX)
            told.unlink()
            keeper.stop()
    except BaseException as problem:
        keeper.stop()
        _tell(told, {"problem": str(problem)})
        raise


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
