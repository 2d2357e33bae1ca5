"""Files and databases that cannot be used as they are: an error says so, and nothing is lost."""

import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import optuna
import pytest
from experiment_case import PLAN, begun, check_history, new

from compass.domain.errors import BadInput, CompassError, EnvironmentProblem, ExperimentProblem
from compass.domain.experiment import RunState
from compass.experiment.store import ExperimentStore
from postgres_lab import PostgresLab

NOBODY = 65534

OPERATIONS: list[Callable[[ExperimentStore], Any]] = [
    ExperimentStore.names,
    lambda store: store.plan("tune"),
    lambda store: store.runs("tune"),
    lambda store: store.events("tune"),
    lambda store: store.counts("tune"),
    lambda store: store.suggest("tune", new(7777)),
    lambda store: store.claim("tune", 3, "a"),
    lambda store: store.release("tune", worker="a"),
    lambda store: store.create("other", PLAN),
]


@pytest.fixture
def place(quick_folder: Path) -> Path:
    """A store in a file, with 100 runs."""
    path = quick_folder / "my tune?#%.experiment"
    with begun(str(path)) as store:
        store.suggest("tune", new(*range(100)))
    assert [file.name for file in quick_folder.iterdir()] == [path.name]
    return path


def problem(kind: type[CompassError], work: Callable[[], Any]) -> CompassError:
    """The error that comes of it; it has a hint."""
    with pytest.raises(kind) as error:
        work()
    assert type(error.value) is kind
    assert error.value.hint
    return error.value


def sql(place: Path, *statements: str) -> None:
    connection = sqlite3.connect(place)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_file_is_made_by_create_only(quick_folder: Path) -> None:
    path = quick_folder / "new" / "tune.experiment"
    store = ExperimentStore.open(path)
    problem(ExperimentProblem, lambda: store.runs("tune"))
    assert not path.parent.exists()
    store.create("tune", PLAN)
    assert store.names() == ("tune",)
    store.close()


def test_a_file_whose_making_was_interrupted_is_made(quick_folder: Path) -> None:
    path = quick_folder / "tune.experiment"
    path.touch()
    with ExperimentStore.open(path) as store:
        assert store.names() == ()
        problem(ExperimentProblem, lambda: store.runs("tune"))
        store.create("tune", PLAN)
        assert store.names() == ("tune",)


def test_a_folder_that_cannot_be_made(quick_folder: Path) -> None:
    (quick_folder / "file").touch()
    store = ExperimentStore.open(quick_folder / "file" / "tune.experiment")
    error = problem(EnvironmentProblem, lambda: store.create("tune", PLAN))
    assert "cannot make the folder" in error.message


def test_a_folder_is_no_store(quick_folder: Path) -> None:
    store = ExperimentStore.open(quick_folder)
    error = problem(EnvironmentProblem, lambda: store.create("tune", PLAN))
    assert "cannot be opened" in error.message


def test_a_file_of_another_kind(quick_folder: Path) -> None:
    path = quick_folder / "runs.csv"
    path.write_text("x,runtime\n" * 1000)
    for operation in OPERATIONS:
        store = ExperimentStore.open(path)
        error = problem(ExperimentProblem, lambda: operation(store))  # noqa: B023
        assert "is not a store of experiments" in error.message
        store.close()
    assert path.read_text() == "x,runtime\n" * 1000


def test_a_sqlite_file_of_another_program(quick_folder: Path) -> None:
    path = quick_folder / "mail.db"
    sql(path, "CREATE TABLE letters (text)")
    before = path.read_bytes()
    with ExperimentStore.open(path) as store:
        error = problem(ExperimentProblem, lambda: store.create("tune", PLAN))
    assert "another program (its tables are letters)" in error.message
    assert path.read_bytes() == before


def test_a_file_of_optuna(quick_folder: Path) -> None:
    path = quick_folder / "optuna.db"
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
    optuna.create_study(storage=storage, study_name="tune")
    with ExperimentStore.open(path) as store:
        error = problem(ExperimentProblem, lambda: store.create("tune", PLAN))
    assert "studies of Optuna" in error.message
    assert optuna.study.get_all_study_names(storage) == ["tune"]
    storage.engine.dispose()


def test_a_store_of_a_later_version(place: Path) -> None:
    sql(place, "UPDATE compass_store SET version = 99")
    with ExperimentStore.open(place) as store:
        error = problem(ExperimentProblem, lambda: store.runs("tune"))
        assert "later version of Compass (its tables are of version 99" in error.message
        problem(ExperimentProblem, lambda: store.create("tune", PLAN))


def test_a_store_without_a_version(place: Path) -> None:
    sql(place, "DELETE FROM compass_store")
    with ExperimentStore.open(place) as store:
        error = problem(ExperimentProblem, lambda: store.runs("tune"))
        assert "does not say which version" in error.message


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE compass_runs SET asked = 'x' WHERE number = 1",
        "UPDATE compass_runs SET told = '[]' WHERE number = 1",
        'UPDATE compass_runs SET told = \'{"seconds": "x"}\' WHERE number = 1',
        "UPDATE compass_runs SET state = 'happy' WHERE number = 1",
        "UPDATE compass_runs SET suggested_at = 'noon' WHERE number = 1",
        "UPDATE compass_runs SET asked = CAST(x'ff' AS TEXT) WHERE number = 1",
        "ALTER TABLE compass_runs DROP COLUMN asked",
        "DROP TABLE compass_runs",
    ],
)
def test_a_row_that_somebody_changed(place: Path, statement: str) -> None:
    sql(place, statement)
    with ExperimentStore.open(place) as store:
        problem(ExperimentProblem, lambda: store.runs("tune"))


def test_a_file_with_altered_or_missing_bytes(place: Path) -> None:
    whole, chance, refused = place.read_bytes(), random.Random(5), 0
    for attempt in range(40):
        damaged = bytearray(whole)
        if attempt % 2:
            del damaged[chance.randrange(1, len(whole)) :]
        else:
            for at in (chance.randrange(len(whole)) for _ in range(50)):
                damaged[at] = chance.randrange(256)
        place.write_bytes(damaged)
        for operation in OPERATIONS:
            with ExperimentStore.open(place, patience=0.1) as store:
                try:
                    operation(store)  # something else than an error of Compass fails this test
                except CompassError:
                    refused += 1
    assert refused > 100


def test_a_file_that_was_cut_short(place: Path) -> None:
    place.write_bytes(place.read_bytes()[:-5000])
    with ExperimentStore.open(place) as store:
        error = problem(ExperimentProblem, store.names)
    assert "is damaged or cut short" in error.message
    assert ".recover" in error.hint


def test_a_file_that_is_locked(place: Path) -> None:
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with ExperimentStore.open(place, patience=0.2) as store:
        for operation in OPERATIONS:
            error = problem(EnvironmentProblem, lambda: operation(store))  # noqa: B023
            assert "has been locked by another program for 0.2 s" in error.message
        other.execute("ROLLBACK")
        other.close()
        assert len(store.runs("tune")) == 100


def test_a_file_that_cannot_be_written_to(place: Path) -> None:
    place.chmod(0o444)
    place.parent.chmod(0o555)
    with as_nobody(), ExperimentStore.open(place) as store:
        assert len(store.runs("tune")) == 100
        error = problem(EnvironmentProblem, lambda: store.suggest("tune", new(500)))
        assert "cannot be written to" in error.message
        absent = ExperimentStore.open(place.parent / "other.experiment")
        error = problem(EnvironmentProblem, lambda: absent.create("tune", PLAN))
        assert "cannot be opened" in error.message
    place.parent.chmod(0o755)


def test_a_file_that_cannot_be_read(place: Path) -> None:
    place.chmod(0)
    with as_nobody(), ExperimentStore.open(place) as store:
        error = problem(EnvironmentProblem, lambda: store.runs("tune"))
        assert "cannot be opened" in error.message


@contextmanager
def as_nobody() -> Iterator[None]:
    """Permissions count: for the superuser they do not."""
    superuser = os.geteuid() == 0
    if superuser:
        os.seteuid(NOBODY)
    yield
    if superuser:
        os.seteuid(0)


FILL = """
import resource, sys
from experiment_case import new
from compass.domain.errors import EnvironmentProblem
from compass.experiment.store import ExperimentStore
with ExperimentStore.open(sys.argv[1]) as store:
    if len(sys.argv) > 2:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
    for first in range(1000, 1000000, 1000):
        try:
            print(len(store.suggest("tune", new(*range(first, first + 1000)))))
        except EnvironmentProblem as error:
            sys.exit(str(error))
"""


def filled(place: Path, *arguments: object) -> tuple[int, str]:
    """How many runs were stored until there was no room, and what was said then."""
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(place), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parent)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    return sum(map(int, done.stdout.split())), done.stderr


def test_a_file_that_may_not_grow(place: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    stored, said = filled(place, place.stat().st_size + 1_000_000)
    assert (soft, hard) == resource.getrlimit(resource.RLIMIT_FSIZE)
    assert "does not take or give data" in said
    assert "hint: check the disk, its room and its quota; what was stored before is kept" in said
    check_kept(place, stored)


def test_a_full_disk(place: Path, tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(tmp_path)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can be mounted by root only, where it may")
    try:
        small = Path(shutil.copy(place, tmp_path))
        stored, said = filled(small)
        assert "no room is left on the disk" in said
        assert "what was stored before is kept" in said
        check_kept(small, stored)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def check_kept(place: Path, stored: int) -> None:
    assert stored
    with ExperimentStore.open(place) as store:
        assert len(check_history(store)) == 100 + stored
        assert store.counts("tune")[RunState.SUGGESTED] == 100 + stored


def test_a_file_that_is_removed_while_it_is_in_use(place: Path) -> None:
    with ExperimentStore.open(place) as store:
        store.suggest("tune", new(500))
        kept = place.read_bytes()
        place.unlink()
        error = problem(ExperimentProblem, lambda: store.suggest("tune", new(501)))
        assert "was removed or replaced" in error.message
        place.write_bytes(kept)
        problem(ExperimentProblem, lambda: store.suggest("tune", new(501)))
    with ExperimentStore.open(place) as store:
        assert len(store.runs("tune")) == 101


def test_a_wal_file_becomes_one_with_a_rollback_journal(place: Path) -> None:
    sql(place, "PRAGMA journal_mode=WAL")
    with ExperimentStore.open(place) as store:
        store.suggest("tune", new(500))
    assert [file.name for file in place.parent.iterdir()] == [place.name]


@pytest.mark.parametrize(
    "address",
    [
        "mysql://u:secret@host/db",
        "sqlite:///tune.db",
        "postgresql://u:sec@ret@host/db",
        "postgresql://u:secret@host:port/db",
    ],
)
def test_what_is_no_address(address: str) -> None:
    error = problem(BadInput, lambda: ExperimentStore.open(address))
    assert "postgresql://" in error.hint
    assert "secret" not in str(error)
    assert "ret@" not in str(error)


def test_a_server_that_does_not_answer() -> None:
    with ExperimentStore.open("postgresql://u:secret@127.0.0.1:1/db?password=hidden") as store:
        assert store.place == "postgresql://127.0.0.1:1/db"
        error = problem(EnvironmentProblem, lambda: store.create("tune", PLAN))
        assert "no connection to postgresql://127.0.0.1:1/db" in error.message
        assert not {"secret", "hidden"} & set(str(error).replace("'", " ").split())


def test_a_server_that_does_not_let_in(postgres: PostgresLab) -> None:
    for address, cause in (
        (postgres.url("postgres", "wrong-secret"), "password authentication failed"),
        (postgres.url("absent"), '"absent" does not exist'),
    ):
        with ExperimentStore.open(address) as store:
            error = problem(EnvironmentProblem, store.names)
        assert cause in error.message
        assert "wrong-secret" not in str(error)
        assert postgres.password not in str(error)


def test_a_database_in_which_one_may_not_write(postgres: PostgresLab) -> None:
    address = postgres.database()
    name = address.rpartition("/")[2]
    postgres.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with ExperimentStore.open(address) as store:
        assert store.names() == ()
        error = problem(EnvironmentProblem, lambda: store.create("tune", PLAN))
    assert "does not let this user write" in error.message


def test_a_database_that_other_programs_use_as_well(postgres: PostgresLab) -> None:
    address = postgres.database()
    postgres.execute("CREATE TABLE letters (text text)", address.rpartition("/")[2])
    with ExperimentStore.open(address) as store:
        store.create("tune", PLAN)
        assert store.names() == ("tune",)


def test_rows_that_another_program_holds(postgres: PostgresLab) -> None:
    import psycopg

    address = postgres.database()
    with begun(address) as store:
        store.suggest("tune", new(1, 2))
    with psycopg.connect(address) as other, ExperimentStore.open(address, patience=0.2) as store:
        other.execute("SELECT * FROM compass_runs WHERE number = 1 FOR UPDATE")
        assert [run.number for run in store.claim("tune", 5, "a")] == [2]
        other.execute("SELECT * FROM compass_experiments FOR UPDATE")
        error = problem(EnvironmentProblem, lambda: store.suggest("tune", new(3)))
        assert "has been locked by another program for 0.2 s" in error.message
        other.rollback()
        assert len(store.suggest("tune", new(3))) == 1


def test_a_connection_that_was_cut_is_made_again(postgres: PostgresLab) -> None:
    with begun(postgres.database()) as store:
        store.suggest("tune", new(1))
        postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            f"AND datname = '{store.place.rpartition('/')[2]}'"
        )
        assert len(store.suggest("tune", new(2))) == 1


def test_without_psycopg_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)  # importing it is an ImportError now
    with ExperimentStore.open("postgresql://host/db") as store:
        error = problem(EnvironmentProblem, store.names)
    assert error.hint == "pip install 'psycopg[binary]'"


def test_a_store_is_used_by_a_process_and_its_children(store_place: str) -> None:
    with begun(store_place) as store:
        child = os.fork()
        if not child:
            os._exit(len(store.suggest("tune", new(1, 2))))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        assert len(store.suggest("tune", new(2, 3))) == 1


def test_importing_compass_does_not_import_the_database() -> None:
    code = "import compass, compass.experiment, sys; assert 'sqlalchemy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
