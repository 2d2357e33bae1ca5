"""Lists: bounded, in parts, of small summaries, and nobody else waits for them."""

import asyncio
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from server_case import API, NOTHING, serving

import compass as cp
from compass.domain.api import AnswerInfo, DatasetInfo, EngineInfo, Job, ModelInfo, Problem
from compass.domain.limits import ServerLimits
from compass.domain.space import Number, Role, Space
from compass.domain.study import Study
from compass.server.jobs import JOBS, StoredJob
from compass.server.listing import ANSWERS, CURSOR, DATASETS, ENGINES, every, part_of
from compass.server.routes import dependencies
from compass.server.service import Service
from compass.server.settings import ServerSettings
from compass.server.store import Store, Workspace, now

NAME = "0" * 16

COUNT = 25
LARGE = Study(drop=tuple(f"a column that is not needed {n}" for n in range(2_000)))


def filled(store: Store) -> tuple[Workspace, str]:
    """A workspace with datasets whose studies are large."""
    workspace, key = store.create()
    for number in range(COUNT):
        name = f"{number:016x}"
        about = DatasetInfo(
            id=name, name=f"{number}.csv", created=now(), ready=True, reader="csv", study=LARGE
        )
        workspace.put("datasets", name, about)
    return workspace, key


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    store = Store(tmp_path / "state", ServerLimits())
    yield filled(store)[0]
    store.close()


def test_a_list_comes_in_parts_of_summaries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "state", ServerLimits())
    _, key = filled(store)
    store.close()
    with serving(NOTHING, tmp_path / "state") as server, server.client(key) as client:
        found: list[str] = []
        params: dict[str, Any] = {"count": 10}
        for size in (10, 10, 6):
            part = client.get(f"{API}/datasets", params=params)
            # The summary of a dataset is small, whatever was said about it.
            assert len(part.content) < 1000 * size
            found += [one["id"] for one in part.json() if not one["shared"]]
            assert len(part.json()) <= size
            params["after"] = part.headers.get("Compass-Next")
        assert params["after"] is None
        assert found == [f"{number:016x}" for number in reversed(range(COUNT))]
        # One that is deleted between two parts costs no other its place.
        second = client.get(f"{API}/datasets", params={"count": 10})
        assert client.delete(f"{API}/datasets/{found[9]}").status_code == 204
        rest = client.get(f"{API}/datasets", params={"after": second.headers["Compass-Next"]})
        assert [one["id"] for one in rest.json()][:15] == found[10:]
        for path in ("datasets", "engines", "models", "answers", "chats", "jobs"):
            for wrong in ({"count": 0}, {"count": 1001}, {"after": "x"}):
                assert client.get(f"{API}/{path}", params=wrong).status_code == 422
        followed(server.url, key, found, monkeypatch)


def followed(url: str, key: str, found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients get all parts."""
    monkeypatch.setattr("compass.client.connection._PART", 10)
    with cp.connect(url, workspace=key) as here:
        left = [name for name in found if name != found[9]]
        assert [one.id for one in here.dataset_briefs()][: len(left)] == left
        last = here.dataset("0.csv")
        assert (last.id, last.study) == (found[-1], LARGE)


def test_a_summary_is_made_once_and_again_when_a_thing_changes(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    get = Workspace.get

    def noted(self: Workspace, kind: Any, name: str, noun: Any) -> Any:
        read.append(name)
        return get(self, kind, name, noun)

    first = part_of([workspace], DATASETS, 10)
    monkeypatch.setattr(Workspace, "get", noted)
    workspace.moments.clear()  # as after another start
    assert part_of([workspace], DATASETS, 10) == first
    assert read == []
    name = first.entries[3].id
    about = get(workspace, "datasets", name, DatasetInfo)
    workspace.put("datasets", name, about.model_copy(update={"rows": 7}))
    assert part_of([workspace], DATASETS, 10).entries[3].rows == 7
    assert read == [name]
    for kept in (workspace.briefs / "datasets").iterdir():
        kept.write_text('["')  # cut short
    assert part_of([workspace], DATASETS, 10).entries[3].rows == 7
    assert workspace.remove("datasets", name)
    assert not (workspace.briefs / "datasets" / name).exists()


def test_summaries_go_with_their_workspace(tmp_path: Path) -> None:
    store = Store(tmp_path / "state", ServerLimits())
    workspace, _ = filled(store)
    part_of([workspace], DATASETS, 1)
    assert workspace.briefs.is_dir()
    store.forget(workspace)
    assert not workspace.briefs.exists()
    (store.root / "briefs" / ("f" * 16)).mkdir()  # of one that a kill left
    store.tidy()
    assert os.listdir(store.root / "briefs") == []
    store.close()


def test_all_lists_are_read_in_threads_one_of_a_workspace_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        service = Service(ServerSettings(state=tmp_path / "state"))
        workspace, _ = filled(service.store)
        held, seen, now_in = threading.Event(), [], []

        def slow(*given: Any) -> Any:
            now_in.append(1)
            seen.append((threading.current_thread() is threading.main_thread(), len(now_in)))
            held.wait(60)
            found = part_of(*given)
            now_in.pop()
            return found

        monkeypatch.setattr(dependencies, "part_of", slow)
        listed = dependencies.ListRequest(service, workspace, 10)
        both = [asyncio.create_task(listed.of(DATASETS)) for _ in range(2)]
        while not seen:
            await asyncio.sleep(0)  # the loop turns while the list is read
        held.set()
        first, second = await asyncio.gather(*both)
        assert first.body == second.body
        assert seen == [(False, 1), (False, 1)]
        await service.close()

    asyncio.run(scene())


def long(number: int) -> str:
    return f"{'long ' * 50}{number}"


def test_the_summary_of_an_engine_has_what_tells_it_from_others() -> None:
    study = LARGE.model_copy(update={"rules": ("a > 1",)})
    engine = EngineInfo.model_construct(
        id="a" * 16,
        name="e",
        created=now(),
        options={"surrogate": "forest", "rules": ["a > 1"] * 200},
        study=study,
        given_study=None,
        brought={"t": "b" * 16},
        models=(SimpleNamespace(target=long(7), features=("a",)),),
        space=Space(
            parameters=(
                Number(name="a", role=Role.KNOB, low=0, high=1),
                *(Number(name=long(n), role=Role.OUTCOME, low=0, high=1) for n in range(300)),
            )
        ),
    )
    brief = engine.brief()
    assert brief.options == {"surrogate": "forest"}
    assert (brief.rules, brief.left_out, brief.brought) == (1, 2_000, 1)
    assert brief.dropped == LARGE.drop[:10]
    assert (len(brief.outcomes), brief.learnt) == (10, 1)
    assert len(engine.unlearnt) == 299
    assert len(brief.model_dump_json()) < 10_000
    assert ENGINES.of(engine) == brief


def test_problems_in_a_list_do_not_quote_everything() -> None:
    problem = Problem(error="x" * 9000, code="y", text="z" * 9000, rules=("r" * 9000,) * 200)
    assert len(problem.brief().model_dump_json()) < 10_000
    small = Problem(error="x", code="y", hint="h", rules=("a",))
    assert small.brief() == small


def test_parts_end_where_there_is_no_more(workspace: Workspace) -> None:
    part = part_of([workspace], DATASETS, 1)
    assert part.after is not None
    assert re.fullmatch(CURSOR, part.after)
    assert part_of([workspace], DATASETS, 1000, part.after).after is None
    assert part_of([workspace], DATASETS, COUNT).after is None
    (workspace.place("datasets", part.entries[0].id) / "about.json").write_text("{")
    found = part_of([workspace], DATASETS, COUNT)  # what cannot be read takes no place
    assert len(found.entries) == COUNT - 1
    assert {one.id for one in every(workspace, DATASETS)} == {one.id for one in found.entries}


def test_models_are_listed_without_their_columns() -> None:
    model = ModelInfo(id="a" * 16, name="m", created=now(), columns=("x",) * 10_000)
    assert "columns" not in model.brief().model_dump()


def test_only_the_answers_that_are_listed_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, _ = Store(tmp_path, ServerLimits()).create()
    for number in range(5):
        name = f"{number:016x}"
        about = AnswerInfo(id=name, engine=NAME, created=now(), text="", answered=True)
        workspace.put("answers", name, about)
        os.utime(workspace.place("answers", name), (number, number))
    read: list[str] = []
    get = Workspace.get

    def noted(self: Workspace, kind: Any, name: str, noun: Any) -> Any:
        read.append(name)
        return get(self, kind, name, noun)

    monkeypatch.setattr(Workspace, "get", noted)
    found = part_of([workspace], ANSWERS, 2)
    assert [one.id for one in found.entries] == read == [f"{4:016x}", f"{3:016x}"]
    assert part_of([workspace], ANSWERS, 2) == found
    assert len(read) == 2  # from their summaries


def test_a_damaged_job_hides_no_others(tmp_path: Path) -> None:
    workspace, _ = Store(tmp_path, ServerLimits()).create()
    workspace.put(
        "jobs", NAME, AnswerInfo(id=NAME, engine=NAME, created=now(), text="", answered=True)
    )
    fine = StoredJob(job=Job(id="1" * 16, kind="fit", created=now()), given={})
    workspace.put("jobs", fine.job.id, fine)
    assert part_of([workspace], JOBS, 10) == ([fine.job], None)
