"""A state in a database, as two servers see it that are not there: two stores on one PostgreSQL."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from database_case import LIMITS, Two, opened
from sqlalchemy import Connection, select

from compass.domain.api import ExperimentInfo, Job, ModelInfo, State
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.experiment import tables as experiment_tables
from compass.server.database.connection import StateDatabase
from compass.server.database.store import DatabaseStore
from compass.server.database.tables import claims as locking
from compass.server.jobs import JOBS, Running
from compass.server.listing import MODELS, part_of
from compass.server.problems import Refused
from compass.server.store import ABOUT, Store, Workspace, new_id, now
from postgres_lab import PostgresLab


@pytest.fixture(scope="module")
def two(postgres: PostgresLab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    with opened(postgres, tmp_path_factory.mktemp("two") / "state") as found:
        yield found


@pytest.fixture
def both(two: Two) -> Iterator[list[Workspace]]:
    found = two.both()
    yield found
    two.stores[0].forget(found[0])


def model(name: str, called: str = "m") -> ModelInfo:
    return ModelInfo(id=name, name=called, created=now())


def kept(workspace: Workspace, name: str, size: int = 10) -> None:
    """Keep a model with a file of so many bytes."""
    with workspace.making("models", name) as draft:
        (draft / "model").write_bytes(b"x" * size)
        (draft / ABOUT).write_text(model(name).model_dump_json())


def running(workspace: Workspace, kind: str = "fit") -> Running:
    return Running(workspace, Job(id=new_id(), kind=kind, created=now()), {"of": "it"})


def test_what_one_keeps_the_other_has_at_once(both: list[Workspace]) -> None:
    here, there = both
    name = new_id()
    kept(here, name)
    assert there.get("models", name, ModelInfo).id == name
    assert (there.place("models", name) / "model").read_bytes() == b"x" * 10
    assert there.bytes == here.bytes > 10
    here.update("models", name, ModelInfo, lambda one: one.model_copy(update={"name": "new"}))
    assert there.get("models", name, ModelInfo).name == "new"
    assert [one.name for one in part_of([there], MODELS, 10).entries] == ["new"]
    assert there.remove("models", name)
    assert not here.has("models", name)
    assert not here.remove("models", name)
    assert not here.place("models", name).exists()
    assert here.bytes == there.bytes == 0
    with pytest.raises(Refused, match="no such model"):
        here.update("models", name, ModelInfo, lambda one: one)


def test_a_list_shows_what_the_other_changed(both: list[Workspace]) -> None:
    here, there = both
    names = [new_id() for _ in range(5)]
    for name in names:
        kept(here, name)
    first = part_of([there], MODELS, 2)
    assert [one.id for one in first.entries] == names[:2:-1]
    here.remove("models", names[2])
    here.put("models", names[1], model(names[1], "other").model_copy(update={"bytes": 1}))
    rest = part_of([there], MODELS, 10, first.after)
    assert [(one.id, one.name) for one in rest.entries] == [(names[1], "other"), (names[0], "m")]


def test_of_two_that_make_the_same_the_first_one_stays(both: list[Workspace]) -> None:
    name = new_id()
    with both[0].making("models", name) as draft:
        (draft / "model").write_text("second")
        (draft / ABOUT).write_text(model(name, "second").model_dump_json())
        kept(both[1], name)
    assert both[0].get("models", name, ModelInfo).name == "m"
    assert (both[0].place("models", name) / "model").read_bytes() == b"x" * 10


def test_files_that_a_dead_server_left_are_in_nobodys_way(both: list[Workspace]) -> None:
    name = new_id()
    place = both[0].place("models", name)
    place.mkdir(parents=True)
    (place / "half").write_text("of a server that was killed")
    assert not both[1].has("models", name)
    kept(both[1], name)
    assert sorted(one.name for one in place.iterdir()) == [ABOUT, "model"]


def test_a_workspace_never_has_more_than_it_may(both: list[Workspace]) -> None:
    def one(number: int) -> bool:
        try:
            kept(both[number % 2], new_id(), 5_000)
        except Refused as refused:
            assert refused.problem.code == "too-large"  # noqa: PT017 - others are raised
            return False
        return True

    with ThreadPoolExecutor(8) as many:
        done = sum(many.map(one, range(16)))
    assert done == 3
    assert both[0].bytes <= LIMITS.workspace_bytes
    files = sum(one.stat().st_size for one in both[0].folder.rglob("*") if one.is_file())
    assert both[0].bytes == both[1].bytes == files


def test_changes_at_once_are_all_made(both: list[Workspace]) -> None:
    name = new_id()
    kept(both[0], name)

    def longer(number: int) -> None:
        both[number % 2].update(
            "models", name, ModelInfo, lambda one: one.model_copy(update={"name": one.name + "x"})
        )

    with ThreadPoolExecutor(8) as many:
        list(many.map(longer, range(20)))
    assert both[0].get("models", name, ModelInfo).name == "m" + 20 * "x"


def test_a_workspace_that_one_deletes_is_gone_at_the_other(two: Two) -> None:
    here, there = two.both()
    kept(here, new_id())
    two.stores[1].forget(there)
    assert not here.folder.exists()
    with pytest.raises(Refused, match="no such workspace"):
        kept(here, new_id())
    with pytest.raises(Refused, match="no such workspace"):
        _ = here.info


def test_only_so_many_workspaces(two: Two) -> None:
    made = [two.stores[0].of(f"user:{number}") for number in range(LIMITS.workspaces)]
    with pytest.raises(Refused) as refused:
        two.stores[1].create()
    assert refused.value.problem.code == "too-many-workspaces"
    again = two.stores[1].of("user:0")
    assert again.info == made[0].info
    for one in made:
        two.stores[1].forget(one)


def test_each_job_is_taken_by_one(two: Two, both: list[Workspace]) -> None:
    first, second = two.claims
    jobs = [running(both[0]) for _ in range(30)]
    for number, one in enumerate(jobs):
        assert first.add(one, f"fit/{number}", of_workspace=100, of_user=None) is None
        first.release(one)
    with ThreadPoolExecutor(6) as many:
        parts = list(many.map(lambda number: two.claims[number % 2].take(3), range(20)))
    taken = [claim.key for part in parts for claim in part]
    assert len(taken) == len(set(taken)) == 30
    by_server = [one.server for one in second.live([both[0].id])]
    assert {one.server for one in two.databases} >= set(by_server)
    assert len(by_server) == 30


def test_there_is_one_job_about_the_same(two: Two, both: list[Workspace]) -> None:
    first, second = two.claims
    one, other = running(both[0]), running(both[1])
    assert first.add(one, "fit/x", of_workspace=9, of_user=None) is None
    there = second.add(other, "fit/x", of_workspace=9, of_user=None)
    assert there is not None
    assert there.key == one.key
    assert second.get(other.key) is None
    assert first.end(one)
    assert second.add(other, "fit/x", of_workspace=9, of_user=None) is None


def test_jobs_of_a_workspace_are_counted_at_all_servers(two: Two, both: list[Workspace]) -> None:
    for number in range(3):
        one = running(both[number % 2])
        two.claims[number % 2].add(one, f"fit/{number}", of_workspace=3, of_user=None)
    with pytest.raises(Refused, match="3 pieces of work of this workspace") as refused:
        two.claims[1].add(running(both[1]), "fit/3", of_workspace=3, of_user=None)
    assert refused.value.status == 429
    # What is answered waits in another line than what is learnt.
    assert two.claims[1].add(running(both[1], "ask"), "a", of_workspace=3, of_user=None) is None


def test_jobs_of_a_dead_server_are_free_and_it_has_lost_them(
    two: Two, both: list[Workspace]
) -> None:
    first, second = two.claims
    two.alive()
    one = running(both[0])
    assert first.add(one, "fit/x", of_workspace=9, of_user=None) is None
    assert second.take(9) == []
    for _ in range(100):  # unless its sign of life came in between
        two.seems_dead(0)
        found = second.take(9)
        if found:
            break
    assert [claim.key for claim in found] == [one.key]
    assert not first.save(one)
    assert not first.end(one)
    assert second.look([], [], [])[one.key].server == two.databases[1].server


def test_how_a_job_ended_is_known_at_the_other(two: Two, both: list[Workspace]) -> None:
    first, second = two.claims
    one = running(both[0])
    first.add(one, "fit/x", of_workspace=9, of_user=None)
    one.pending = 2
    first.look([one], [], [])
    assert second.look([], [one.key], [])[one.key].pending == 2
    one.problem = Refused(429, "too-many", "too many", retry_after=7)
    one.update(state=State.FAILED, ended=now(), problem=one.problem.problem)
    assert first.end(one)
    found = second.get(one.key)
    assert found is not None
    assert (found.over, found.status, found.retry_after) == (True, 429, 7)
    assert [job.id for job in part_of([both[1]], JOBS, 9).entries] == [one.job.id]


def test_what_was_pending_when_a_job_ended_is_known_at_the_other(
    two: Two, both: list[Workspace]
) -> None:
    first, second = two.claims
    one = running(both[0], "complete")
    first.add(one, "complete/x", of_workspace=9, of_user=None)
    one.pending = 2
    first.look([one], [], [])
    one.pending = 0  # and over before the next look
    one.update(state=State.DONE, ended=now())
    assert first.end(one)
    assert second.look([], [one.key], [])[one.key].pending == 0


def test_servers_that_follow_jobs_of_each_other_take_them_in_one_order(
    two: Two, both: list[Workspace]
) -> None:
    first, second = two.claims
    ours, theirs = sorted(
        (running(workspace) for workspace in both), key=lambda one: one.key, reverse=True
    )
    for claims, one in ((first, ours), (second, theirs)):
        claims.add(one, f"fit/{one.job.id}", of_workspace=9, of_user=None)

    def held(connection: Connection) -> None:
        """As the other server does: its own job first, then the one that it follows."""
        own = select(locking).where(locking.c.job == theirs.job.id).with_for_update()
        connection.execute(own)
        looking.append(threads.submit(first.look, [ours], [], [theirs.key]))
        blocked = "SELECT count(*) FROM pg_stat_activity WHERE pg_backend_pid() = ANY"
        while not connection.exec_driver_sql(f"{blocked}(pg_blocking_pids(pid))").scalar_one():
            assert not looking[0].done()
            time.sleep(0.01)
        other = select(locking).where(locking.c.job == ours.job.id)
        assert connection.execute(other.with_for_update(skip_locked=True)).first() is not None

    looking: list[Future[Any]] = []
    with ThreadPoolExecutor(1) as threads:
        two.databases[1].write(held)
        looking[0].result()


def test_a_job_that_nobody_was_to_keep_is_kept_when_it_is_asked_for(
    two: Two, both: list[Workspace]
) -> None:
    first, second = two.claims
    one = running(both[0], "ask")
    one.kept = False
    first.add(one, "ask/x", of_workspace=9, of_user=None)
    assert first.end(one)
    assert not both[1].has("jobs", one.job.id)
    second.keep(one.key)
    assert both[1].has("jobs", one.job.id)


def test_one_server_at_a_time(two: Two) -> None:
    here, there = two.alive()
    assert here.lock("it")
    assert not there.lock("it")
    assert there.lock("something else")
    here.unlock("it")
    assert there.lock("it")
    for _ in range(100):
        two.seems_dead(1)
        if here.lock("it"):
            break
    else:
        pytest.fail("what a dead server held is never free")


def test_a_transaction_in_which_nothing_happens_is_ended(two: Two) -> None:
    shown = "SHOW idle_in_transaction_session_timeout"
    assert two.databases[0].read(lambda one: one.exec_driver_sql(shown).scalar_one()) == "30s"


def test_files_stay_where_a_removal_fails(two: Two, both: list[Workspace]) -> None:
    name, database = new_id(), two.databases[0]
    kept(both[0], name)
    for statement in (
        "CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN RAISE EXCEPTION ''no''; END'",
        "CREATE CONSTRAINT TRIGGER refused AFTER DELETE ON compass_things "
        "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refused()",
    ):
        database.write(partial(Connection.exec_driver_sql, statement=statement))
    try:
        with pytest.raises(Refused):
            both[0].remove("models", name)
    finally:
        database.write(lambda one: one.exec_driver_sql("DROP FUNCTION refused CASCADE"))
    assert both[1].has("models", name)
    assert (both[1].place("models", name) / "model").is_file()
    assert both[0].remove("models", name)


def test_one_that_seemed_dead_goes_on_keeping_things(two: Two, both: list[Workspace]) -> None:
    name = new_id()
    kept(both[0], name)
    two.stores[0].passing.rmdir()  # by another one, which took it for left over
    both[0].update("models", name, ModelInfo, lambda one: one.model_copy(update={"name": "new"}))
    assert both[1].get("models", name, ModelInfo).name == "new"
    two.stores[0].passing.rmdir()
    assert both[0].remove("models", name)
    assert not both[0].place("models", name).exists()


def test_what_is_told_while_an_experiment_is_deleted_is_deleted_too(
    two: Two, both: list[Workspace]
) -> None:
    name = new_id()
    about = ExperimentInfo(id=name, name="e", created=now(), plan={})
    with both[0].making("experiments", name) as draft:
        (draft / ABOUT).write_text(about.model_dump_json())
    known, runs = experiment_tables.experiments, experiment_tables.runs
    new = {"name": name, "plan": "{}", "created_at": 0, "last_run": 0, "last_event": 0}
    two.databases[0].write(lambda one: one.execute(known.insert().values(new)))

    def told(connection: Connection) -> None:
        held = select(known.c.id).where(known.c.name == name).with_for_update(key_share=True)
        own = connection.execute(held).scalar_one()
        removing.append(threads.submit(both[0].remove, "experiments", name))
        blocked = "SELECT count(*) FROM pg_stat_activity WHERE pg_backend_pid() = ANY"
        while not connection.exec_driver_sql(f"{blocked}(pg_blocking_pids(pid))").scalar_one():
            time.sleep(0.01)
        texts = dict.fromkeys(("key", "origin", "state", "asked", "told"), "x")
        numbers = dict.fromkeys(("number", "repeat", "event", "suggested_at"), 1)
        connection.execute(runs.insert().values(experiment=own, **texts, **numbers))

    removing: list[Future[bool]] = []
    with ThreadPoolExecutor(1) as threads:
        two.databases[1].write(told)
        assert removing[0].result()
    left = select(known.c.id).where(known.c.name == name)
    assert two.databases[1].read(lambda one: one.execute(left).first()) is None


def test_an_experiment_that_does_not_fit_leaves_nothing(two: Two, both: list[Workspace]) -> None:
    name, known = new_id(), experiment_tables.experiments
    new = {"name": name, "plan": "{}", "created_at": 0, "last_run": 0, "last_event": 0}

    def begin() -> None:
        with both[0].making("experiments", name) as draft:
            two.databases[0].write(lambda one: one.execute(known.insert().values(new)))
            (draft / ABOUT).write_bytes(b" " * 2 * LIMITS.workspace_bytes)

    with pytest.raises(Refused, match="may keep"):
        begin()
    left = select(known.c.id).where(known.c.name == name)
    assert two.databases[1].read(lambda one: one.execute(left).first()) is None


def test_what_living_servers_offer(two: Two) -> None:
    here, there = two.alive()
    assert here.offers({"a"}) == {"a"}
    assert there.offers({"b"}) == {"a", "b"}
    assert here.offers({"c"}) == {"b", "c"}


def test_what_a_dead_server_was_about_to_keep_is_removed(
    postgres: PostgresLab, tmp_path: Path
) -> None:
    with opened(postgres, tmp_path / "state") as found:
        left = found.stores[0].passing / "draft"
        left.mkdir()
        found.stores[1].tidy()
        assert left.exists()
        for _ in range(100):
            found.seems_dead(0)
            found.stores[1].tidy()
            if not left.exists():
                break
        assert not left.exists()
        found.stores[0].passing.mkdir(exist_ok=True)


def test_a_folder_and_a_database_belong_together(postgres: PostgresLab, tmp_path: Path) -> None:
    with opened(postgres, tmp_path / "a") as a, opened(postgres, tmp_path / "b") as b:
        for folder, database in ((a.folder, b.databases[0]), (tmp_path / "c", b.databases[0])):
            with pytest.raises(BadInput, match="the database is not that of") as wrong:
                DatabaseStore(folder, LIMITS, database)
            assert "--store" in wrong.value.hint
        # A server of files keeps away while others work on it, and afterwards.
        with pytest.raises(EnvironmentProblem, match="another server works on"):
            Store(a.folder, LIMITS)
    with pytest.raises(EnvironmentProblem, match="kept in a database"):
        Store(tmp_path / "a", LIMITS)
    files = Store(tmp_path / "files", LIMITS)
    files.create()
    files.close()
    database = StateDatabase(postgres.database())
    try:
        with pytest.raises(BadInput, match="the database is not that of"):
            DatabaseStore(tmp_path / "files", LIMITS, database)
    finally:
        database.close()


def test_addresses_that_are_none() -> None:
    with pytest.raises(BadInput, match="names a database of PostgreSQL"):
        StateDatabase("tune.experiment")
    with pytest.raises(
        EnvironmentProblem, match=r"no connection to postgresql://127\.0\.0\.1:1/db"
    ):
        StateDatabase("postgresql://u:secret@127.0.0.1:1/db")


def test_a_database_that_goes_away(postgres: PostgresLab, tmp_path: Path) -> None:
    with opened(postgres, tmp_path / "state", count=1) as found:
        workspace, _ = found.stores[0].create()
        assert found.databases[0].lock("it")
        name = found.databases[0].address.rpartition("/")[2]
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        postgres.execute(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        )
        with pytest.raises(Refused) as refused:
            _ = workspace.info
        assert (refused.value.status, refused.value.problem.code) == (503, "database")
        assert refused.value.passing
        found.databases[0].unlock("it")
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        assert workspace.info.id == workspace.id
        end = time.monotonic() + 60
        while not found.databases[0].reached:
            assert time.monotonic() < end
            time.sleep(0.1)
        while not found.databases[0].lock("it"):  # given up as soon as there is a database
            assert time.monotonic() < end
            time.sleep(0.1)
