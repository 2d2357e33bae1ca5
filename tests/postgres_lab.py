"""A real PostgreSQL for tests: started once, shared by all test workers.

A keeper process (this file, run as a script) makes a cluster in a folder of its own, reached on a
free port of 127.0.0.1 with a password. As with the Slurm of the tests, each test worker holds a
shared lock; when the kernel has released all of these, the keeper stops the server.
"""

import contextlib
import fcntl
import json
import os
import pwd
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

USER = "postgres"
START_SECONDS = 90  # of patience; it takes about two on a quiet machine


class NotHere(Exception):
    """Why there can be no PostgreSQL on this machine."""


@dataclass(frozen=True)
class PostgresLab:
    """The running server. Each test makes a database of its own in it."""

    port: int
    password: str
    process: int

    def url(self, database: str, password: str | None = None) -> str:
        """The address of a database, with the right password unless another one is given."""
        return f"postgresql://{USER}:{password or self.password}@127.0.0.1:{self.port}/{database}"

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"test_{secrets.token_hex(6)}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run a statement of SQL on its own."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement.encode())


@contextlib.contextmanager
def borrowed(shared: Path) -> Iterator[PostgresLab]:
    """The server that all test workers with this folder share; started if nobody has done it."""
    programs = _programs()
    with (shared / "postgres.users").open("a") as users:
        with (shared / "postgres.start").open("a") as start:
            fcntl.flock(start, fcntl.LOCK_EX)
            fcntl.flock(users, fcntl.LOCK_SH)  # waits while an earlier keeper is stopping
            told = shared / "postgres.json"
            if not told.exists():
                _start_keeper(shared, programs, told)
        facts = json.loads(told.read_text())
        if "problem" in facts:
            raise RuntimeError(f"PostgreSQL did not start: {facts['problem']}")
        yield PostgresLab(**facts)


def _programs() -> Path:
    """The folder of the server's programs, which Debian keeps out of the path."""
    if os.geteuid() != 0:
        raise NotHere("a test PostgreSQL can be started by root only")
    try:
        pwd.getpwnam(USER)
    except KeyError:
        raise NotHere(f"there is no user {USER}; `make postgres` makes it") from None
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        raise NotHere("not installed; `make postgres` installs it")
    return found[-1].parent


def _start_keeper(shared: Path, programs: Path, told: Path) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    log = os.open(shared / "postgres.keeper.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    # Not a child that this process has to wait for: it outlives the worker that started it.
    os.posix_spawn(
        sys.executable,
        [sys.executable, str(Path(__file__).resolve()), str(shared), str(programs)],
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
    _until(told.exists, START_SECONDS + 10, "the keeper of PostgreSQL says nothing")


def _until(holds: Callable[[], bool], seconds: float, complaint: str) -> None:
    limit = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > limit:
            raise TimeoutError(complaint)
        time.sleep(0.05)


class _Keeper:
    """Makes a cluster, starts its server and stops it."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        self.account = pwd.getpwnam(USER)
        self.folder = Path(tempfile.mkdtemp(prefix="postgres-lab-"))
        shutil.chown(self.folder, USER, self.account.pw_gid)
        self.password = secrets.token_hex(8)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        secret = self.folder / "password"
        secret.touch(mode=0o600)
        secret.write_text(self.password)
        shutil.chown(secret, USER)
        make = ("initdb", "--no-sync", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C")
        made = self._run(*make, f"--pwfile={secret}", f"--pgdata={self.folder / 'data'}")
        if made.wait(timeout=START_SECONDS):
            raise RuntimeError(self._log())
        # What is tested are transactions, not the disk: nothing is forced to it.
        options = f"port={self.port} listen_addresses=127.0.0.1 fsync=off max_connections=100"
        settings = [f"-c{one}" for one in options.split()]
        sockets = f"-cunix_socket_directories={self.folder}"
        self.server = self._run("postgres", "-D", str(self.folder / "data"), *settings, sockets)
        _until(
            lambda: self._ended() or self._listens(), START_SECONDS, "PostgreSQL does not listen"
        )
        if self._ended():
            raise RuntimeError(self._log())

    def stop(self) -> None:
        if self.server is not None and self.server.poll() is None:
            self.server.send_signal(signal.SIGQUIT)  # at once: the cluster is thrown away
            self.server.wait(timeout=15)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                (str(self.programs / program), *options),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=self.account.pw_uid,
                group=self.account.pw_gid,
                extra_groups=[],
                cwd=self.folder,
            )

    def _ended(self) -> bool:
        return self.server is None or self.server.poll() is not None

    def _listens(self) -> bool:
        import psycopg

        lab = PostgresLab(self.port, self.password, 0)
        try:
            psycopg.connect(lab.url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-2000:]


def _tell(told: Path, facts: dict[str, object]) -> None:
    fresh = told.with_suffix(".new")
    fresh.write_text(json.dumps(facts))
    fresh.replace(told)


def keep(shared: Path, programs: Path) -> None:
    """Start the server, wait until nobody uses it, stop it."""
    told = shared / "postgres.json"
    keeper = _Keeper(programs)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        keeper.start()
        assert keeper.server is not None
        facts = {"port": keeper.port, "password": keeper.password, "process": keeper.server.pid}
        _tell(told, facts)
        with (shared / "postgres.users").open("a") as users:
            fcntl.flock(users, fcntl.LOCK_EX)
            told.unlink()
            keeper.stop()
    except BaseException as problem:
        keeper.stop()
        _tell(told, {"problem": str(problem)})
        raise


if __name__ == "__main__":
    keep(Path(sys.argv[1]), Path(sys.argv[2]))
