"""A state in a database, as two servers see it that are not there: two stores on one PostgreSQL."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import update

from compass.domain.api import Job, ModelInfo, State
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.domain.limits import ServerLimits
from compass.server.database.claims import Claims
from compass.server.database.connection import StateDatabase, seconds_ago
from compass.server.database.store import DatabaseStore
from compass.server.database.tables import DEAD_AFTER, servers
from compass.server.jobs import JOBS, Running
from compass.server.listing import MODELS, part_of
from compass.server.problems import Refused
from compass.server.store import ABOUT, Store, Workspace, new_id, now
from postgres_lab import PostgresLab

LIMITS = ServerLimits(workspace_bytes=20_000, workspaces=4, waiting_per_workspace=3)


@dataclass
class Two:
    """Two stores of one state, their databases, and the folder."""

    folder: Path
    databases: list[StateDatabase]
    stores: list[DatabaseStore]

    @property
    def claims(self) -> list[Claims]:
        return [Claims(one) for one in self.databases]

    def both(self) -> list[Workspace]:
        """A new workspace, as each of them opens it."""
        _, key = self.stores[0].create()
        return [one.open(key) for one in self.stores]

    def alive(self) -> list[StateDatabase]:
        """Both, after a sign of life."""
        for one in self.databases:
            one.beat()
        return self.databases

    def seems_dead(self, which: int) -> None:
        """As if one had given no sign of life for some time, which it will do in two seconds."""
        own = servers.c.id == self.databases[which].server
        old = update(servers).where(own).values(seen_at=seconds_ago(2 * DEAD_AFTER))
        self.databases[which].write(lambda one: one.execute(old))


@contextmanager
def opened(lab: PostgresLab, folder: Path, count: int = 2) -> Iterator[Two]:
    address = lab.database()
    databases = [StateDatabase(address) for _ in range(count)]
    found = Two(folder, databases, [DatabaseStore(folder, LIMITS, one) for one in databases])
    try:
        yield found
    finally:
        for store in found.stores:
            store.close()


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
        name = found.databases[0].address.rpartition("/")[2]
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        postgres.execute(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        )
        with pytest.raises(Refused) as refused:
            _ = workspace.info
        assert (refused.value.status, refused.value.problem.code) == (503, "database")
        assert refused.value.passing
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        assert workspace.info.id == workspace.id
        end = time.monotonic() + 60
        while not found.databases[0].reached:
            assert time.monotonic() < end
            time.sleep(0.1)
