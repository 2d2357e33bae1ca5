"""The client against a real server: the same as the library, for several people, over restarts."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.csv as pv
import pytest
from client_case import ASK, CHANGE, STUDY, table

import compass as cp
from benchmarks.schedule.advice.dump import lines
from compass.chat.draft import Inquiry, Topic
from compass.chat.look_up import look_up
from compass.client import Server
from compass.client.engine import RemoteEngine
from compass.domain.advice import JobRequest
from compass.domain.base import Noun
from compass.domain.errors import BadInput, UnknownName
from compass.schedule.advice.advisor import Advisor
from compass.schedule.advice.source import past_jobs
from compass.schedule.usage import usage
from served import Served, served


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return table(tmp_path_factory.mktemp("runs") / "jobs.csv")


@pytest.fixture(scope="module")
def here(runs: Path) -> cp.Compass:
    return cp.Compass(cp.read(runs, study=STUDY), surrogate="forest", seed=5).fit()


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory, here: cp.Compass) -> Path:
    """A saved engine, so that the server has nothing to fit."""
    return here.save(tmp_path_factory.mktemp("offered") / "offered.compass")


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory, offered: Path) -> Iterator[Served]:
    with served(offered, tmp_path_factory.mktemp("kept") / "state") as running:
        yield running


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test is another person."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("COMPASS_TOKEN", raising=False)


@pytest.fixture(scope="module")
def key(there: Served) -> str:
    """The workspace of those tests that only look."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(there.state.parent / "config"))
        return cp.connect(there.url).workspace


@pytest.fixture(scope="module")
def server(there: Served, key: str) -> Iterator[Server]:
    with cp.connect(there.url, workspace=key) as server:
        yield server


@pytest.fixture(scope="module")
def remote(server: Server, runs: Path) -> RemoteEngine:
    return server.upload(runs).with_study(STUDY).fit(surrogate="forest", seed=5)


def untimed(found: Any) -> Any:
    """Nouns as JSON values without how long things took, and without folders of files."""
    if isinstance(found, Noun):
        return untimed(found.model_dump(mode="json"))
    if isinstance(found, dict):
        if isinstance(found.get("file"), str):
            found = found | {"file": Path(found["file"]).name}
        return {name: untimed(value) for name, value in found.items() if name != "seconds"}
    return [untimed(one) for one in found] if isinstance(found, list | tuple) else found


def test_outcomes_are_learnt_as_in_the_library(server: Server, runs: Path) -> None:
    data = server.upload(runs).roles(outcomes=["runtime", "power", "state"])
    told: list[str] = []
    engine = data.fit(surrogate="forest", outcomes=[], progress=lambda what, *_: told.append(what))
    assert (engine.learnt, engine.cards) == ((), ())
    assert engine.to_learn(ASK) == ("runtime",)
    assert "learning runtime" not in told
    engine.ask(ASK, prove=0.0)
    assert "learning runtime" in told
    assert engine.learnt == ("runtime",)
    assert engine.to_learn(ASK) == ()
    assert engine.importance("state", repeats=2).outcome == "state"
    assert engine.learnt == ("runtime", "state")
    # The same engine again, with what it lacks.
    again = data.fit(surrogate="forest")
    assert again.id == engine.id
    assert set(again.learnt) == {"runtime", "power", "state"}
    for wrong in (lambda: again.fit(["nodes"]), lambda: again.fit(["powr"])):
        with pytest.raises(cp.CompassError):
            wrong()
    again.delete()


def test_every_method_gives_what_the_library_gives(here: cp.Compass, remote: RemoteEngine) -> None:
    for engine in (here, remote):  # names, keywords and kinds of results are the same
        assert isinstance(engine.ask(ASK, count=2), cp.Answer)
    goals = {"runtime": cp.minimize}
    answer = here.ask(CHANGE)
    calls: dict[str, Any] = {
        "ask": lambda e: e.ask(ASK, where=["nodes < 8"], count=2, level=0.8, curve=["gpus"]),
        "a chance": lambda e: e.ask(CHANGE, chance=0.95, beyond=True, prove=0.0),
        "stream": lambda e: list(e.stream(CHANGE, generator="c3g", prove=20.0)),
        "ask from a row": lambda e: e.ask(CHANGE, weights={"nodes": 3.0}, prove=0.0),
        "recommend": lambda e: e.recommend(ask=["gpus"], goals=goals, fixed={"app": "wrf"}),
        "reconfigure": lambda e: e.reconfigure(3, ["gpus"], {"runtime": cp.less(0.1)}),
        "what_if": lambda e: e.what_if(3, {"gpus": cp.plus(1)}, ["runtime"]),
        "what_if of all": lambda e: e.what_if(None, {"gpus": cp.times(2)}, ["runtime"]),
        "query": lambda e: e.query(ASK, count=3),
        "run_next": lambda e: e.run_next(3, ASK),
        "run_next beside others": lambda e: e.run_next(3, ASK, pending=[here.data.row(5)]),
        "run_next for itself": lambda e: e.run_next(3),
        "curves": lambda e: e.curves(3, ["gpus", "nodes"], ["runtime"]),
        "explain a row": lambda e: e.explain(3, ["runtime"], against=4),
        "explain a configuration": lambda e: e.explain(answer.baseline),
        "explain a suggestion": lambda e: e.explain(answer[0], against=3),
        "overview": lambda e: e.overview(),
        "importance": lambda e: e.importance("runtime", repeats=3),
        "dependence": lambda e: e.dependence("runtime", "nodes", points=4, lines=2),
        "cards": lambda e: e.cards,
        "learnt": lambda e: e.learnt,
        "to_learn": lambda e: e.to_learn(ASK, where=["nodes < 8"], count=2),
        "space": lambda e: e.space,
        "broken_by": lambda e: e.broken_by(),
        "rows": lambda e: len(e.data),
    }
    for name, call in calls.items():
        mine, theirs = call(here), call(remote)
        assert type(mine) is type(theirs), name
        assert untimed(mine) == untimed(theirs), name


@pytest.mark.parametrize(
    "inquiry",
    [
        Inquiry(topic=Topic.ROW, row=3),
        Inquiry(topic=Topic.COMPARE, places=(3, -1), rows=True),
        Inquiry(topic=Topic.BEST_RUN, outcome="runtime", where=("app == 'wrf'",)),
        Inquiry(topic=Topic.IMPORTANCE, outcome="runtime"),
        Inquiry(topic=Topic.CERTAINTY),
    ],
)
def test_what_is_known_is_the_same_as_in_the_library(
    here: cp.Compass, remote: RemoteEngine, inquiry: Inquiry
) -> None:
    assert untimed(look_up(here, inquiry)) == untimed(remote.look_up(inquiry))


def test_the_answer_comes_before_its_proof(remote: RemoteEngine) -> None:
    told: list[str] = []
    before, remote.progress = remote.progress, lambda what, *_: told.append(what)
    try:
        first, *_, last = remote.stream(CHANGE, generator="c3g", prove=20.0, seed=31)
    finally:
        remote.progress = before
    assert (first.certificate, last.pending) == (None, ())
    assert last.certificate is not None
    assert "proving" in told


def test_many_questions_at_once(here: cp.Compass, remote: RemoteEngine) -> None:
    questions = [ASK, {"question": CHANGE, "count": 1}, "nonsense", {"question": ASK, "run": 4000}]
    mine, theirs = here.ask_all(questions, prove=0.0), remote.ask_all(questions, prove=0.0)
    for one, other in zip(mine, theirs, strict=True):
        assert untimed(one.answer) == untimed(other.answer)
        assert str(one.error) == str(other.error)
    assert [reply.error is None for reply in theirs] == [True, True, False, False]


def test_columns_are_told_as_the_library_tells_them(
    server: Server, runs: Path, remote: RemoteEngine
) -> None:
    mine = cp.read(runs, study=STUDY).columns(mined=True)
    assert untimed(server.upload(runs).with_study(STUDY).columns(mined=True)) == untimed(mine)
    assert untimed(remote.columns(mined=True)) == untimed(mine)
    roles = cp.read(runs).roles(knobs=["size"], outcomes=["runtime"]).columns()
    there = server.upload(runs).with_study(cp.Study()).roles(knobs=["size"], outcomes=["runtime"])
    assert untimed(there.columns()) == untimed(roles)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda e: e.ask("Recommend X = {gpu: ?} to achieve Y = {runtime: minimize}"),
        lambda e: e.ask("Recommend X = {gpus ?} to achieve"),
        lambda e: e.ask(CHANGE, run=4),
        lambda e: e.ask(ASK, run=4_000),
        lambda e: e.ask(ASK, where=["nodes < 2", "nodes > 4"]),
        lambda e: e.ask(ASK, where=["nodes <"]),
        lambda e: e.explain({"nodes": "many"}),
        lambda e: e.importance("walltime"),
    ],
)
def test_what_is_wrong_is_told_in_the_same_words(
    here: cp.Compass, remote: RemoteEngine, wrong: Any
) -> None:
    with pytest.raises(cp.CompassError) as mine:
        wrong(here)
    with pytest.raises(cp.CompassError) as theirs:
        wrong(remote)
    assert type(mine.value) is type(theirs.value)
    assert str(mine.value) == str(theirs.value)


def test_what_is_there_is_neither_sent_nor_learnt_again(
    server: Server, runs: Path, remote: RemoteEngine, tmp_path: Path
) -> None:
    known = server.upload(runs)
    copy = tmp_path / "another-name.csv"
    copy.write_bytes(runs.read_bytes())
    assert server.upload(copy).id == known.id
    again = known.with_study(STUDY).fit(surrogate="forest", seed=5)
    assert again.id == remote.id
    assert len([one for one in server.datasets() if one.id == known.id]) == 1
    copy.write_bytes(runs.read_bytes().replace(b"lammps", b"gromacs"))
    assert server.upload(copy).id != known.id


def test_what_is_no_file_is_sent_as_a_table(server: Server, runs: Path) -> None:
    sent = server.upload(pv.read_csv(runs), name="from memory")
    assert (sent.name, len(sent)) == ("from memory.parquet", 120)
    assert server.upload(pv.read_csv(runs)).id == sent.id
    assert [c.name for c in sent.columns().columns] == [
        c.name for c in cp.read(runs).columns().columns
    ]


def test_progress_is_heard(server: Server, remote: RemoteEngine) -> None:
    heard: list[tuple[str, int, int]] = []
    remote.progress = lambda *told: heard.append(told)
    try:
        remote.ask(ASK, seed=99)
    finally:
        remote.progress = None
    assert all(what and done <= total for what, done, total in heard)


def test_telling_makes_a_new_engine_that_knows_the_runs(
    server: Server, remote: RemoteEngine, offered: Path, tmp_path: Path
) -> None:
    new = table(tmp_path / "new.csv", 12, seed=9)
    mine = cp.load(offered)
    theirs = server.engine(remote.id)
    told = theirs.tell(new, [ASK], name="told")
    assert untimed(told) == untimed(mine.tell(new, [ASK]))
    assert (theirs.name, len(theirs.data), theirs.about.parent) == ("told", 132, remote.id)
    assert untimed(theirs.ask(ASK)) == untimed(mine.ask(ASK))
    assert server.engine("told").id == theirs.id
    assert len(server.engine(remote.id).data) == 120  # as it was
    theirs.delete()
    with pytest.raises(UnknownName, match="no engine named 'told' on the server"):
        server.engine("told")


def test_the_last_questions_are_looked_at_again(
    server: Server, remote: RemoteEngine, tmp_path: Path
) -> None:
    engine = server.engine(remote.id)
    engine.ask(ASK)
    told = engine.tell(table(tmp_path / "new.csv", 12, seed=9))
    assert [one.question for one in told.questions] == engine.asked
    engine.delete()


def test_two_people_do_not_see_each_other(
    there: Served, server: Server, remote: RemoteEngine, runs: Path
) -> None:
    with cp.connect(there.url) as other:
        assert other.workspace != server.workspace
        assert [one.name for one in other.engines()] == ["offered.compass"]
        assert other.datasets() == []
        stranger = RemoteEngine(other, remote.about)
        with pytest.raises(BadInput, match="no such engine"):
            stranger.ask(ASK)
        assert other.engine("offered.compass").ask(ASK).answered
        # A person comes back to what they had.
        other.upload(runs)
    with cp.connect(there.url) as back:
        assert back.workspace == other.workspace
        assert len(back.datasets()) == 1


def test_a_key_that_opens_nothing(there: Served) -> None:
    for key in ("0" * 16 + ".guessed", "nonsense", "line\nbreak"):
        with pytest.raises(BadInput, match="opens no workspace"):
            cp.connect(there.url, workspace=key)


def test_what_is_too_large_is_not_sent(server: Server, tmp_path: Path) -> None:
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(server.about.limits.upload_bytes + 1)
    with pytest.raises(BadInput, match="larger than the 512 MiB"):
        server.upload(large)
    (tmp_path / "empty.csv").touch()
    with pytest.raises(BadInput, match="is empty"):
        server.upload(tmp_path / "empty.csv")


def test_a_server_that_dies_and_comes_back(there: Served, server: Server, runs: Path) -> None:
    """In the middle of a job: the next server takes it up, and the client follows it there."""
    deaths: list[str] = []

    def dies(what: str, *_: int) -> None:
        if not deaths:
            deaths.append(what)
            there.again(signal.SIGKILL)

    data = server.upload(runs).with_study(STUDY)
    engine = data.fit(name="twice", surrogate="forest", seed=1, progress=dies)
    assert deaths
    assert server.engine("twice").id == engine.id  # over a new connection
    assert [card.target for card in engine.cards] == ["runtime"]


def jobs(server: Server) -> dict[str, str]:
    return {job["id"]: job["state"] for job in server.connection.call("GET", "/jobs")}


def test_a_proof_is_made_though_the_server_died_after_the_answer(
    there: Served, server: Server
) -> None:
    engine = server.engines()[-1]
    steps = engine.stream(CHANGE, generator="c3g", prove=20.0, seed=32)
    assert next(steps).pending
    there.again(signal.SIGKILL)
    *_, last = steps
    assert last.pending == ()
    assert last.certificate is not None


def test_ctrl_c_ends_the_job(server: Server, remote: RemoteEngine, runs: Path) -> None:
    before = jobs(server)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        server.upload(runs).with_study(STUDY).fit(surrogate="forest", tune=600, progress=interrupt)
    ended = {name: state for name, state in jobs(server).items() if name not in before}
    assert list(ended.values()) == ["cancelled"]


def test_advice_from_accounting_is_that_of_the_library(server: Server, tmp_path: Path) -> None:
    dump = tmp_path / "accounting.csv"
    dump.write_text("\n".join(lines(150, 5)) + "\n")
    there = server.upload(dump)
    jobs = past_jobs(str(dump))
    here = Advisor(jobs)
    assert list(there.advise(last=10)) == here.of_last(10)
    number = str(jobs.id[-1])
    assert there.advise(job=number) == (here.of_job(number),)
    assert there.advise(pasted=f"{number}.batch") == there.advise(job=number)
    asked = JobRequest(user="user1", name="app0-u1", limit=36_000.0)
    assert there.advise(request=asked)[0].edits == here.of_request(asked).edits
    assert there.usage() == usage(jobs)
    with pytest.raises(BadInput, match="no job 77 is known"):
        there.advise(job="77")
    with pytest.raises(BadInput, match="what jobs used"):
        server.upload(table(tmp_path / "runs.csv")).usage()
