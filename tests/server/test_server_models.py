"""Models that people bring, over HTTP."""

import os
import pickle
from pathlib import Path
from typing import Any

import httpx
import lightgbm
import numpy as np
import pytest
from server_case import (
    API,
    Server,
    ask,
    left_by_people,
)

from conftest import cluster_columns

pytest_plugins = ("server_fixtures",)
COLUMNS = cluster_columns(240)
WHAT_IF = "What if we change X = {gpus: old -> 4}, how would that affect Y = {runtime}"


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
    assert left_by_people(server) == []


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
    assert person.delete(f"{API}/engines/{engine.json()['id']}").status_code == 204
