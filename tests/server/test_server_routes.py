"""Every noun over HTTP, judged by the library and by the file that was uploaded."""

import csv
import io
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import lightgbm
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
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
    csv_of,
    jobs_csv,
    upload,
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


# Datasets, columns, rules


def test_rows_come_back_as_they_were_sent(person: httpx.Client, data: str) -> None:
    page = person.get(f"{API}/datasets/{data}/rows", params={"first": 7, "count": 3}).json()
    assert page["names"] == list(COLUMNS)
    assert page["total"] == 240
    assert page["rows"] == [[COLUMNS[name][row] for name in COLUMNS] for row in (7, 8, 9)]
    beyond = person.get(f"{API}/datasets/{data}/rows", params={"first": 10**12}).json()
    assert beyond["rows"] == []


def test_a_parquet_file_is_the_same_table(person: httpx.Client, data: str) -> None:
    out = io.BytesIO()
    pq.write_table(pa.table(COLUMNS), out)
    made = upload(person, out.getvalue(), "jobs.parquet").json()
    assert made["ready"]
    assert (made["rows"], made["columns"]) == (240, len(COLUMNS))
    first = person.get(f"{API}/datasets/{data}/rows").json()
    again = person.get(f"{API}/datasets/{made['id']}/rows").json()
    assert again["rows"] == first["rows"]
    assert person.delete(f"{API}/datasets/{made['id']}").status_code == 204
    assert person.get(f"{API}/datasets/{made['id']}").status_code == 404


def test_columns_have_the_roles_that_were_said(person: httpx.Client, data: str) -> None:
    told = person.get(f"{API}/datasets/{data}/columns").json()
    roles = {one["name"]: one["role"] for one in told["columns"]}
    assert roles["gpus"] == "knob"
    assert roles["app"] == "context"
    assert roles["runtime"] == "outcome"
    assert (
        person.get(f"{API}/datasets/{data}").json()["study"]["columns"]["app"]["role"] == "context"
    )


def test_a_study_that_does_not_fit_changes_nothing(person: httpx.Client, data: str) -> None:
    before = person.get(f"{API}/datasets/{data}").json()
    refused = person.put(
        f"{API}/datasets/{data}/study", json={"columns": {"nodez": {"role": "knob"}}}
    )
    assert refused.status_code == 422
    assert "nodes" in refused.json()["hint"]
    assert person.get(f"{API}/datasets/{data}").json() == before


def test_rules_are_counted_as_numpy_counts(person: httpx.Client, data: str) -> None:
    nodes, cores = (np.array(COLUMNS[name]) for name in ("nodes", "cores"))
    tried = ["cores <= 8 * nodes", "nodes >= 2", "cores >= nodes"]
    told = person.post(f"{API}/datasets/{data}/rules/check", json={"rules": tried}).json()
    counts = {one["text"]: one["broken_by"] for one in told["rules"]}
    assert counts == {
        tried[0]: int(np.sum(cores > 8 * nodes)),
        tried[1]: int(np.sum(nodes < 2)),
        tried[2]: 0,
    }
    kept = person.get(f"{API}/datasets/{data}/rules").json()
    assert kept == {"rules": [], "dependencies": None}


def test_rules_of_a_study_are_listed_and_others_mined(stranger: httpx.Client) -> None:
    per_node = [a // b for a, b in zip(COLUMNS["cores"], COLUMNS["nodes"], strict=True)]  # type: ignore[operator]
    made = upload(stranger, csv_of({**COLUMNS, "per_node": per_node})).json()["id"]
    said = {
        "columns": {**STUDY["columns"], "per_node": {"role": "knob"}},
        "drop": STUDY["drop"],
        "rules": ["nodes <= 4"],
    }
    assert stranger.put(f"{API}/datasets/{made}/study", json=said).status_code == 200
    told = stranger.get(f"{API}/datasets/{made}/rules", params={"mine": True}).json()
    broken = int(np.sum(np.array(COLUMNS["nodes"]) > 4))
    assert told["rules"] == [{"text": "nodes <= 4", "broken_by": broken, "source": "study"}]
    assert told["dependencies"]
    texts = [one["text"] for one in told["dependencies"]]
    checked = stranger.post(f"{API}/datasets/{made}/rules/check", json={"rules": texts}).json()
    mined = [one for one in checked["rules"] if one["text"] in texts]
    assert len(mined) == len(texts)
    assert all(one["broken_by"] == 0 for one in mined)


def test_a_wrong_rule_is_explained(person: httpx.Client, data: str) -> None:
    refused = person.post(f"{API}/datasets/{data}/rules/check", json={"rules": ["coers <= 3"]})
    assert refused.status_code == 422
    assert "did you mean cores" in refused.json()["hint"]


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
    assert listed[0]["id"] == engine_id
    assert [one["shared"] for one in listed].count(True) == 1


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


@pytest.mark.parametrize(
    ("question", "more"),
    [
        (RECOMMEND, {}),
        (RECOMMEND, {"count": 3, "where": ["nodes <= 2"], "seed": 9}),
        (RECONFIGURE, {"run": 5}),
        (WHAT_IF, {"run": 11}),
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
    assert len(told.json()["told"]["arrivals"]) == 3
    assert person.get(f"{API}/engines/{made['id']}/told").json() == told.json()["told"]
    # The old one is as it was, and the file of the runs does not stay behind.
    assert person.get(f"{API}/engines/{engine_id}").json() == before
    assert person.get(f"{API}/engines/{engine_id}/told").status_code == 404
    assert person.get(f"{API}/datasets").json() == known
    ragged = person.post(f"{API}/engines/{engine_id}/tell", json={"names": ["a"], "rows": [[1, 2]]})
    assert ragged.status_code == 422


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


# Models that people bring


class _Trap:
    def __reduce__(self) -> Any:
        return os.system, (f"touch {os.environ['TRAP']}",)


def test_a_pickle_is_refused_and_not_run(
    person: httpx.Client, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAP", str(tmp_path / "sprung"))
    for name in ("model.pkl", "model.onnx", "model.skops", "model.pt"):
        params = {"name": name}
        refused = person.post(f"{API}/models/upload", params=params, content=pickle.dumps(_Trap()))
        assert refused.status_code == 422, refused.text
    assert not (tmp_path / "sprung").exists()
    assert person.get(f"{API}/models").json() == []
    assert os.listdir(server.state / "passing") == []


def test_a_model_of_ones_own_predicts(person: httpx.Client, data: str, tmp_path: Path) -> None:
    X = np.column_stack([COLUMNS[name] for name in ("nodes", "cores", "gpus")]).astype(float)
    frame = lightgbm.Dataset(
        X, np.array(COLUMNS["runtime"]), feature_name=["nodes", "cores", "gpus"]
    )
    small = {"num_leaves": 4, "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(small, frame, num_boost_round=8)
    content = booster.model_to_string().encode()
    made = person.post(f"{API}/models/upload", params={"name": "mine.txt"}, content=content)
    assert made.status_code == 201, made.text
    about = made.json()
    assert about["format"] == "lightgbm"
    assert about["columns"] == ["nodes", "cores", "gpus"]
    assert person.get(f"{API}/models/{about['id']}").json() == about
    sent = {"dataset": data, "models": {"runtime": about["id"]}, "name": "with my model"}
    engine = person.post(f"{API}/engines", params={"wait": 60}, json=sent)
    assert engine.status_code == 201, engine.text
    assert engine.json()["name"] == "with my model"
    told = ask(person, engine.json()["id"], WHAT_IF, run=0).json()["answer"]["suggestions"][0]
    row = [[told["config"][name] for name in ("nodes", "cores", "gpus")]]
    assert told["outcomes"][0]["value"] == pytest.approx(float(booster.predict(row)[0]))
    assert person.delete(f"{API}/models/{about['id']}").status_code == 204
    assert person.get(f"{API}/models/{about['id']}").status_code == 404


# What the operator offers


def test_what_is_offered_can_be_asked_but_not_changed(
    person: httpx.Client, offered: str, stranger: httpx.Client
) -> None:
    for client in (person, stranger):
        assert client.get(f"{API}/engines/{offered}").json()["shared"]
        assert ask(client, offered).status_code == 200
        assert client.delete(f"{API}/engines/{offered}").status_code == 403
