"""Datasets over HTTP: rows, columns, studies and rules, judged by the file that was uploaded."""

import io
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from server_case import (
    API,
    STUDY,
    csv_of,
    upload,
)

from conftest import cluster_columns

pytest_plugins = ("server_fixtures",)
COLUMNS = cluster_columns(240)


def test_rows_come_back_as_they_were_sent(person: httpx.Client, data: str) -> None:
    page = person.get(f"{API}/datasets/{data}/rows", params={"first": 7, "count": 3}).json()
    assert page["names"] == list(COLUMNS)
    assert page["total"] == 240
    assert page["rows"] == [[COLUMNS[name][row] for name in COLUMNS] for row in (7, 8, 9)]
    beyond = person.get(f"{API}/datasets/{data}/rows", params={"first": 10**12}).json()
    assert beyond["rows"] == []


def test_rows_are_filtered_sorted_and_numbered(person: httpx.Client, data: str) -> None:
    asked = {"where": "nodes >= 2", "sort": "runtime", "down": "true", "first": 3, "count": 4}
    page = person.get(f"{API}/datasets/{data}/rows", params=asked).json()
    fine = [row for row in range(240) if COLUMNS["nodes"][row] >= 2]
    ordered = sorted(fine, key=lambda row: (-COLUMNS["runtime"][row], row))
    assert (page["total"], page["found"]) == (240, len(fine))
    assert page["numbers"] == ordered[3:7]
    assert page["rows"] == [[COLUMNS[name][row] for name in COLUMNS] for row in ordered[3:7]]
    refused = person.get(f"{API}/datasets/{data}/rows", params={"sort": "runtim"})
    assert refused.status_code == 422
    assert "runtime" in refused.json()["hint"]


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


def test_a_long_text_is_shown_in_part(stranger: httpx.Client, tmp_path: Path) -> None:
    long = ["x" * 200_000 + str(number) for number in range(20)]
    pq.write_table(pa.table({"note": long, "nodes": list(range(20))}), tmp_path / "a.parquet")
    made = upload(stranger, (tmp_path / "a.parquet").read_bytes(), "a.parquet").json()
    page = stranger.get(f"{API}/datasets/{made['id']}/rows").json()
    assert {len(note) for note, _ in page["rows"]} == {1001}
    assert [nodes for _, nodes in page["rows"]] == list(range(20))
