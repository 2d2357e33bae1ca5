"""Every noun over HTTP, judged by the library and by the file that was uploaded."""

import csv
import io
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from server_case import (
    API,
    QUICK,
    RECOMMEND,
    RECONFIGURE,
    RULES,
    STUDY,
    Server,
    ask,
    dataset,
    fit,
    jobs_csv,
)

import compass as cp
from conftest import cluster_columns

pytest_plugins = ("server_fixtures",)
COLUMNS = cluster_columns(240)
WHAT_IF = "What if we change X = {gpus: old -> 4}, how would that affect Y = {runtime}"


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> cp.Compass:
    """The library on the same file with the same options."""
    path = tmp_path_factory.mktemp("peer") / "jobs.csv"
    path.write_bytes(jobs_csv())
    return cp.Compass(cp.read(path, study=STUDY), rules=RULES, **QUICK).fit()  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def answer(person: httpx.Client, engine_id: str) -> dict[str, Any]:
    made = ask(person, engine_id)
    assert made.status_code == 200, made.text
    found: dict[str, Any] = made.json()
    return found


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


# Engines and what they know


def test_an_engine_tells_what_it_learnt(
    person: httpx.Client, engine_id: str, data: str, peer: cp.Compass
) -> None:
    told = person.get(f"{API}/engines/{engine_id}").json()
    assert told["dataset"] == data
    assert told["options"] == {**QUICK, "rules": list(RULES)}
    assert [card["error"] for card in told["models"]] == [card.error for card in peer.cards]
    assert [(one["text"], one["broken_by"]) for one in told["rules"]] == list(
        peer.broken_by().items()
    )
    listed = person.get(f"{API}/engines").json()
    *own, shared = listed
    assert engine_id in [one["id"] for one in own]
    made = [one["created"] for one in own]
    assert made == sorted(made, reverse=True)
    assert [one["shared"] for one in own].count(True) == 0
    assert shared["shared"]


def test_a_query_is_bound_before_it_is_answered(person: httpx.Client, engine_id: str) -> None:
    path = f"{API}/engines/{engine_id}/queries"
    told = person.post(path, json={"question": RECONFIGURE, "run": 5, "count": 2}).json()
    assert told["query"]["kind"] == "reconfigure"
    assert told["query"]["baseline"] == {"kind": "row", "row": 5}
    assert told["query"]["count"] == 2
    again = person.post(path, json={"question": told["query"]}).json()
    assert again == told
    wrong = person.post(
        path, json={"question": "Recommend X = {gpuz: ?} to achieve Y = {runtime: minimize}"}
    )
    assert wrong.status_code == 422
    assert wrong.json()["code"] == "unknown-name"
    broken = person.post(path, json={"question": "Recommend X = {"})
    assert broken.json()["code"] == "query-syntax"
    assert "^" in broken.json()["place"]


TRADE_OFFS = "Recommend X = {gpus: ?, nodes: ?} to achieve Y = {runtime: minimize, cores: minimize}"


@pytest.mark.parametrize(
    ("question", "more"),
    [
        (RECOMMEND, {}),
        (RECOMMEND, {"count": 3, "where": ["nodes <= 2"], "seed": 9}),
        (RECONFIGURE, {"run": 5}),
        (WHAT_IF, {"run": 11}),
        (TRADE_OFFS, {"reference": {"cores": 300}, "prove": 0}),
    ],
)
def test_answers_are_those_of_the_library(
    person: httpx.Client, engine_id: str, peer: cp.Compass, question: str, more: dict[str, Any]
) -> None:
    made = ask(person, engine_id, question, **more)
    assert made.status_code == 200, made.text
    told = made.json()["answer"]
    wanted = plain(peer.ask(question, **more).model_dump(mode="json"))
    assert told["text"] == wanted["text"]
    assert told["suggestions"]
    assert told["suggestions"] == wanted["suggestions"]
    assert told["front"] == wanted["front"]
    assert (told["front"] is not None) == (question == TRADE_OFFS)
    assert told["no_answer"] == wanted["no_answer"]


def test_the_same_question_is_answered_once(
    person: httpx.Client, engine_id: str, answer: dict[str, Any]
) -> None:
    assert ask(person, engine_id).json() == answer
    assert person.get(f"{API}/answers/{answer['id']}").json() == answer
    listed = [one for one in person.get(f"{API}/answers").json() if one["id"] == answer["id"]]
    assert [one["text"] for one in listed] == [answer["answer"]["text"]]


def test_evidence_are_rows_of_the_file(person: httpx.Client, answer: dict[str, Any]) -> None:
    rows = person.get(f"{API}/answers/{answer['id']}/evidence").json()
    told = answer["answer"]["suggestions"][0]["trust"]["evidence"]
    assert rows
    assert [(one["row"], one["distance"]) for one in rows] == [
        (one["row"], one["distance"]) for one in told
    ]
    for one in rows:
        assert one["values"] == {name: COLUMNS[name][one["row"]] for name in COLUMNS}
    none = person.get(f"{API}/answers/{answer['id']}/evidence", params={"suggestion": 999})
    assert none.status_code == 404


def test_curves_are_those_of_the_library(
    person: httpx.Client, engine_id: str, answer: dict[str, Any], peer: cp.Compass
) -> None:
    config = answer["answer"]["suggestions"][0]["config"]
    wanted = [
        plain(one.model_dump(mode="json")) for one in peer.curves(config, ["gpus"], ["runtime"])
    ]
    of_answer = person.get(f"{API}/answers/{answer['id']}/curves", params={"parameter": "gpus"})
    assert of_answer.json() == wanted
    around = {"run": config, "parameters": ["gpus"], "outcomes": ["runtime"]}
    assert person.post(f"{API}/engines/{engine_id}/curves", json=around).json() == wanted


def test_explanations_are_those_of_the_library(
    person: httpx.Client, engine_id: str, answer: dict[str, Any], peer: cp.Compass
) -> None:
    path = f"{API}/engines/{engine_id}"
    of_run = person.post(f"{path}/explanations", json={"run": 4, "outcomes": ["runtime"]}).json()
    assert of_run == [plain(one.model_dump(mode="json")) for one in peer.explain(4, ("runtime",))]
    of_answer = person.post(f"{path}/explanations", json={"answer": answer["id"]})
    assert of_answer.status_code == 200
    assert of_answer.json() != of_run
    assert person.post(f"{path}/explanations", json={}).status_code == 422
    weight = person.get(f"{path}/importance", params={"outcome": "runtime"}).json()
    assert weight == plain(peer.importance("runtime").model_dump(mode="json"))
    where = {"outcome": "runtime", "column": "gpus", "points": 5}
    depends = person.get(f"{path}/dependence", params=where).json()
    wanted = peer.dependence("runtime", "gpus", points=5).model_dump(mode="json")
    assert depends == plain(wanted)


def test_new_runs_make_a_new_engine(person: httpx.Client, engine_id: str) -> None:
    before = person.get(f"{API}/engines/{engine_id}").json()
    known = person.get(f"{API}/datasets").json()
    proposed = person.post(f"{API}/engines/{engine_id}/run-next", json={"runs": 3}).json()
    assert f"{len(proposed['run_next'])})  # " in proposed["script"]
    assert "sbatch --array=" in proposed["script"]
    assert len(proposed["run_next"]) == 3
    table = list(csv.DictReader(io.StringIO(proposed["csv"])))
    assert len(table) == 3
    names = list(table[0])
    for place, row in enumerate(table):
        row["runtime"] = str(20.0 + place)
    sent = {"names": names, "rows": [list(row.values()) for row in table], "questions": [RECOMMEND]}
    told = person.post(f"{API}/engines/{engine_id}/tell", params={"wait": 60}, json=sent)
    assert told.status_code == 201, told.text
    made = told.json()["engine"]
    assert made["parent"] == engine_id
    assert made["rows"] == before["rows"] + 3
    assert len(told.json()["report"]["arrivals"]) == 3
    assert person.get(f"{API}/engines/{made['id']}/tell-report").json() == told.json()["report"]
    # The old one is as it was, and the file of the runs does not stay behind.
    assert person.get(f"{API}/engines/{engine_id}").json() == before
    assert person.get(f"{API}/engines/{engine_id}/tell-report").status_code == 404
    assert person.get(f"{API}/datasets").json() == known
    ragged = person.post(f"{API}/engines/{engine_id}/tell", json={"names": ["a"], "rows": [[1, 2]]})
    assert ragged.status_code == 422


def test_failed_runs_are_taken_with_their_reason(person: httpx.Client, engine_id: str) -> None:
    proposed = person.post(f"{API}/engines/{engine_id}/run-next", json={"runs": 2}).json()
    table = list(csv.DictReader(io.StringIO(proposed["csv"])))
    for row, why in zip(table, ("failed: out of memory", "timeout"), strict=True):
        row["runtime"] = why
    sent = {"names": list(table[0]), "rows": [list(row.values()) for row in table]}
    told = person.post(f"{API}/engines/{engine_id}/tell", params={"wait": 60}, json=sent)
    assert told.status_code == 201, told.text
    report = told.json()["report"]
    assert (report["rows"], report["used"]) == (2, 0)
    (note,) = [note for note in report["notes"] if "failed" in note]
    assert "out of memory" in note
    assert "timeout" in note
    path = f"{API}/engines/{told.json()['engine']['id']}/run-next"
    again = person.post(path, json={"runs": 2}).json()["run_next"]
    tried = [one["config"] for one in proposed["run_next"]]
    assert not any(one["config"] in tried for one in again)


def test_runs_that_say_nothing_leave_nothing_behind(person: httpx.Client, engine_id: str) -> None:
    known = person.get(f"{API}/datasets").json(), person.get(f"{API}/engines").json()
    path = f"{API}/engines/{engine_id}/tell/upload"
    refused = person.post(path, params={"name": "x.csv", "wait": 60}, content=b"colour\nred\n")
    assert refused.status_code == 422, refused.text
    nowhere = f"{API}/engines/{'0' * 16}/tell"
    assert person.post(nowhere, json={"names": ["a"], "rows": [[1]]}).status_code == 404
    assert (person.get(f"{API}/datasets").json(), person.get(f"{API}/engines").json()) == known


# Exports


def test_csv_json_and_job_script(person: httpx.Client, answer: dict[str, Any]) -> None:
    path = f"{API}/answers/{answer['id']}/exports"
    jobs = [person.get(f"{path}/sbatch", params={"suggestion": n}).text for n in (1, 2)]
    for job, suggestion in zip(jobs, answer["answer"]["suggestions"], strict=False):
        assert f"# {' '.join(suggestion['trust']['reason'].split())}" in job
    assert jobs[0] != jobs[1]
    assert person.get(f"{path}/sbatch", params={"suggestion": 900}).status_code == 404
    table = person.get(f"{path}/csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert (
        table.headers["content-disposition"] == f'attachment; filename="compass-{answer["id"]}.csv"'
    )
    rows = list(csv.DictReader(io.StringIO(table.text)))
    settings = [one["settings"]["gpus"] for one in answer["answer"]["suggestions"]]
    assert [float(row["gpus"]) for row in rows] == settings
    assert person.get(f"{path}/json").json() == answer["answer"]
    script = person.get(f"{path}/sbatch").text
    best = answer["answer"]["suggestions"][0]["config"]
    assert script.startswith("#!/bin/bash\n")
    assert f"#SBATCH --nodes={best['nodes']}" in script
    own = person.post(f"{path}/sbatch", json={"template": "run -g {gpus} ${HOME} {{x}}"})
    assert own.text == f"run -g {best['gpus']} ${{HOME}} {{x}}"
    assert person.get(f"{path}/exe").status_code == 422


def test_an_idea_is_not_exported(person: httpx.Client, engine_id: str) -> None:
    question = "Recommend X = {gpus: ?} to achieve Y = {runtime: <= 0.001}"
    made = ask(person, engine_id, question)
    assert made.status_code == 200, made.text
    told = made.json()
    assert told["answer"]["suggestions"] == []
    assert told["answer"]["ideas"]
    path = f"{API}/answers/{told['id']}/exports"
    refusals = [person.get(f"{path}/{form}") for form in ("csv", "sbatch")]
    refusals.append(person.post(f"{path}/sbatch", json={"template": "run -g {gpus}"}))
    for refusal in refusals:
        assert refusal.status_code == 422, refusal.text
        assert "no supported answer to write" in refusal.json()["error"]
        assert "measure first" in refusal.json()["hint"]
    exported = person.get(f"{path}/json").json()
    assert (exported["ideas"], exported["pending"]) == (told["answer"]["ideas"], [])
    assert exported == person.get(f"{API}/answers/{told['id']}").json()["answer"]
    program = person.get(f"{path}/python").text
    assert "not suggested:" in program
    assert person.get(f"{path}/sbatch", params={"suggestion": 2}).status_code == 404


def test_the_python_repeats_the_answer(
    person: httpx.Client, answer: dict[str, Any], tmp_path: Path
) -> None:
    program = person.get(f"{API}/answers/{answer['id']}/exports/python").text
    (tmp_path / "jobs.csv").write_bytes(jobs_csv())
    (tmp_path / "again.py").write_text(program + "print(answer.model_dump_json())\n")
    done = subprocess.run(
        [sys.executable, "again.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    repeated = json.loads(done.stdout.splitlines()[-1])
    assert repeated["suggestions"] == answer["answer"]["suggestions"]


# What the operator offers


def test_what_is_offered_can_be_asked_but_not_changed(
    person: httpx.Client, offered: str, stranger: httpx.Client
) -> None:
    for client in (person, stranger):
        assert client.get(f"{API}/engines/{offered}").json()["shared"]
        assert ask(client, offered).status_code == 200
        assert client.delete(f"{API}/engines/{offered}").status_code == 403


def test_the_same_question_twenty_times_at_once_is_one_answer(
    server: Server, stranger: httpx.Client, offered: str
) -> None:
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda _: ask(stranger, offered, RECOMMEND, seed=9), range(20)))
    assert {one.status_code for one in found} == {200}
    assert len({one.json()["id"] for one in found}) == 1
    asked = [one for one in stranger.get(f"{API}/jobs").json() if one["kind"] == "ask"]
    assert len(asked) == 1


def test_a_program_says_what_it_needs_to_repeat_an_answer_of_an_engine_that_was_told(
    stranger: httpx.Client, offered: str
) -> None:
    first = ask(stranger, offered, RECOMMEND).json()["id"]
    about = stranger.get(f"{API}/engines/{offered}").json()
    names = [one["name"] for one in about["space"]["parameters"]][:8]
    points = stranger.get(f"{API}/engines/{offered}/points", params={"column": names}).json()
    values = [column[0] for column in points["columns"]]
    told = stranger.post(
        f"{API}/engines/{offered}/tell",
        params={"wait": 60},
        json={"names": names, "rows": [values]},
    )
    assert told.status_code == 201, told.text
    second = ask(stranger, told.json()["engine"]["id"], RECOMMEND).json()["id"]
    texts = [stranger.get(f"{API}/answers/{one}/exports/python").text for one in (first, second)]
    assert ["# The engine was told more runs" in text for text in texts] == [False, True]
    for text in texts:
        compile(text, "repeat.py", "exec")


def test_intervals_without_an_end_can_be_told(stranger: httpx.Client) -> None:
    """So few runs that nothing can be said about how far new ones lie from predictions."""
    engine = fit(stranger, dataset(stranger, 16), surrogate="linear", rules=[])
    about = stranger.get(f"{API}/engines/{engine}").json()
    names = [one["name"] for one in about["space"]["parameters"]]
    points = stranger.get(f"{API}/engines/{engine}/points", params={"column": names[:8]}).json()
    row = [column[0] for column in points["columns"]]
    told = stranger.post(
        f"{API}/engines/{engine}/tell",
        params={"wait": 60},
        json={"names": names[:8], "rows": [row], "questions": [RECOMMEND]},
    )
    assert told.status_code == 201, told.text
    assert '"Infinity"' in told.text


def test_points_are_the_values_of_the_rows(person: httpx.Client, data: str, engine_id: str) -> None:
    path = f"{API}/engines/{engine_id}/points"
    (names, rows) = (
        person.get(f"{API}/datasets/{data}/rows", params={"count": 1000}).json()[key]
        for key in ("names", "rows")
    )
    about = person.get(f"{API}/engines/{engine_id}").json()
    wanted = [parameter["name"] for parameter in about["space"]["parameters"]][:3]
    told = person.get(path, params={"column": wanted, "count": 50}).json()
    assert (told["names"], len(told["rows"]), told["total"] > 50) == (wanted, 50, True)
    assert told["rows"] == sorted(set(told["rows"]))
    for name, values in zip(wanted, told["columns"], strict=True):
        raw = [rows[row][names.index(name)] for row in told["rows"]]
        if isinstance(raw[0], str):
            assert values == raw
        else:
            np.testing.assert_allclose(values, raw)
    every = person.get(path, params={"column": wanted[:1]}).json()
    assert len(every["rows"]) == every["total"]
    wrong = person.get(path, params={"column": "nope"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "unknown-name")
