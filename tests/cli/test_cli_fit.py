"""`compass fit`: which family was chosen and why, tuning that goes on, models from files."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from cli_case import FLAGS, RECOMMEND, compass, process, refused, write_csv

import compass as cp
from compass.prepare import load_study
from conftest import cluster_columns

FEATURES = ("app", "size", "nodes", "cores", "gpus")
ONE = tuple(
    word
    for name, role in {
        **dict.fromkeys(("nodes", "cores", "gpus"), "knob"),
        **dict.fromkeys(("app", "size"), "context"),
        "runtime": "outcome",
        **dict.fromkeys(("power", "state"), "ignored"),
    }.items()
    for word in ("--role", f"{name}={role}")
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("runs") / "runs.csv", cluster_columns(150))


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two quick families are all there is."""
    monkeypatch.setattr(
        "compass.learn.compare.selectable_families", lambda: ["neighbours", "linear"]
    )
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture(scope="module")
def saved(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("saved") / "e.compass"
    assert compass("fit", runs, "-o", place, *ONE, "--surrogate", "linear").code == 0
    return place


@pytest.mark.usefixtures("two")
def test_the_families_are_shown_with_their_errors_and_reasons(runs: Path, tmp_path: Path) -> None:
    result = compass("fit", runs, "-o", tmp_path / "e.compass", *ONE)
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    place = next(i for i, line in enumerate(lines) if line == "runtime: families compared")
    header, first, second = lines[place + 1 : place + 4]
    assert header.split()[:2] == ["family", "scale"]
    assert "cross-validated MAPE" in header
    assert {first.split()[0], second.split()[0]} == {"linear", "neighbours"}
    assert "chosen" in first
    assert "chosen" not in second
    assert "%" in second
    top = next(line for line in lines if line.startswith("runtime "))
    assert first.split()[0] in top


@pytest.mark.usefixtures("two")
def test_json_has_the_whole_card(runs: Path, tmp_path: Path) -> None:
    place = tmp_path / "e.compass"
    result = compass("fit", runs, "-o", place, *ONE, "--json")
    assert (result.code, result.err) == (0, "")
    found = json.loads(result.out)
    assert found["path"] == str(place)
    (card,) = found["models"]
    assert card["target"] == "runtime"
    (chosen,) = [score for score in card["scores"] if score["status"] == "chosen"]
    assert card["family"] == chosen["family"]
    assert card["log"] == chosen["log"]
    assert {score["family"] for score in card["scores"]} == {"neighbours", "linear"}
    for score in card["scores"]:
        assert score["low"] <= score["error"] <= score["high"]


def test_outcomes_can_be_named_and_the_others_come_when_they_are_asked_for(
    runs: Path, tmp_path: Path
) -> None:
    place = tmp_path / "e.compass"
    quick = ("--surrogate", "linear", *FLAGS)
    done = compass("fit", runs, "-o", place, *quick, "--outcome", "power", "--outcome", "state")
    assert done.code == 0, done.err
    assert "note: learnt when a question first needs it: runtime" in done.out
    assert cp.load(place).learnt == ("power", "state")
    asked = compass("ask", place, RECOMMEND, "--no-prove", "--json")
    assert asked.err == f"note: learnt runtime, now in {place}\n"
    again = compass("ask", place, RECOMMEND, "--no-prove", "--json")
    assert again.err == ""
    assert cp.load(place).learnt == ("runtime", "power", "state")
    raw = compass("ask", runs, RECOMMEND, "--no-prove", "--json", *quick, "--no-cache")
    first, second, third = (json.loads(one.out)["suggestions"] for one in (asked, again, raw))
    for one in third:
        for near in one["trust"]["evidence"]:
            near["file"] = next(iter(first))["trust"]["evidence"][0]["file"]
    assert first == second == third


def test_what_cannot_be_added_to_an_engine_is_told_and_the_answer_comes(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "e.compass"
    compass("fit", runs, "-o", place, "--surrogate", "linear", *FLAGS, "--outcome", "power")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("compass.engine.generation.write_arrays", full)
    done = compass("ask", place, RECOMMEND, "--no-prove")
    assert done.code == 0
    assert "note: learnt runtime, for this question only: cannot save" in done.err
    assert f"hint: to keep it, fit again: compass fit DATA -o {place}" in done.err
    assert cp.load(place).learnt == ("power",)


def test_a_name_that_is_no_outcome_is_refused(runs: Path, tmp_path: Path) -> None:
    place = tmp_path / "e.compass"
    refused(compass("fit", runs, "-o", place, *FLAGS, "--outcome", "nodes"), "not an outcome")
    refused(compass("fit", runs, "-o", place, *FLAGS, "--outcome", "powr"), "did you mean power?")
    assert not place.exists()


def test_json_tells_what_is_not_learnt(runs: Path, tmp_path: Path) -> None:
    words = ("--surrogate", "linear", *FLAGS, "--outcome", "power", "--json")
    told = json.loads(compass("fit", runs, "-o", tmp_path / "e.compass", *words).out)
    assert [card["target"] for card in told["models"]] == ["power"]
    assert told["not_learnt"] == ["runtime", "state"]


def test_a_question_that_names_no_outcome_says_what_it_learns(runs: Path) -> None:
    words = ("--surrogate", "linear", "--no-cache", *FLAGS)
    text = "What if we change X = {gpus: 0 -> 4}"
    told = compass("ask", runs, text, *words).err
    assert "note: no outcome is named, so 3 are learnt first" in told
    assert "hint: name what matters, e.g. how would that affect Y = {runtime}" in told
    named = compass("ask", runs, f"{text}, how would that affect Y = {{power}}", *words)
    assert "no outcome" not in named.err


def test_a_named_family_is_used(runs: Path, tmp_path: Path) -> None:
    result = compass("fit", runs, "-o", tmp_path / "e", *ONE, "--surrogate", "neighbours", "--json")
    assert json.loads(result.out)["models"][0]["family"] == "neighbours"
    asked = compass("ask", runs, RECOMMEND, *ONE, "--surrogate", "linear", "--json")
    assert asked.code == 0
    assert json.loads(asked.out)["models"][0]["family"] == "linear"
    refused(
        compass("fit", runs, "-o", tmp_path / "e", *ONE, "--surrogate", "forrest"),
        "no surrogate named 'forrest'",
        "forest",
    )


def trials(place: Path) -> int:
    records = [json.loads(line) for line in place.read_text().splitlines()]
    return sum(record["op_code"] == 4 for record in records)


def test_tuning_is_kept_beside_the_engine_and_goes_on(runs: Path, tmp_path: Path) -> None:
    place = tmp_path / "e.compass"
    words = ("fit", runs, "-o", place, *ONE, "--surrogate", "linear", "--tune", "1")
    first = compass(*words)
    assert first.code == 0, first.err
    assert "note: runtime: Tuning: " in first.out
    assert "settings tried, error" in first.out
    journal = tmp_path / "e.compass.tuning"
    before = trials(journal)
    assert before >= 1
    again = compass(*words, "--json")
    (card,) = json.loads(again.out)["models"]
    assert trials(journal) > before
    assert f"Tuning: {trials(journal)} settings tried" in card["notes"][-1]
    if card["tuned"]:
        assert set(card["tuned"]) == {"ridge", "pairs"}


def test_a_tuning_file_that_is_something_else_is_refused(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "e.compass.tuning").write_text("my notes\n")
    result = compass(
        "fit", runs, "-o", tmp_path / "e.compass", *ONE, "--surrogate", "linear", "--tune", "1"
    )
    refused(result, "cannot go on from the tuning file", "remove it")
    assert (tmp_path / "e.compass.tuning").read_text() == "my notes\n"
    assert not (tmp_path / "e.compass").exists()


def test_without_tuning_nothing_is_left_beside_the_engine(saved: Path) -> None:
    assert [path.name for path in saved.parent.iterdir()] == ["e.compass"]


def test_a_saved_engine_refuses_other_models(saved: Path, model: Path) -> None:
    for words in (("--surrogate", "forest"), ("--model", f"runtime={model}")):
        refused(compass("ask", saved, RECOMMEND, *words), "already has its models", "fit again")
    assert compass("ask", saved, RECOMMEND).code == 0


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LightGBM text file whose inputs have the names of columns; labels come as codes."""
    import lightgbm

    columns = cluster_columns(300, seed=1)
    columns["app"] = [float(app == "wrf") for app in columns["app"]]
    X = np.column_stack([columns[name] for name in FEATURES]).astype(np.float64)
    parameters = {"objective": "regression", "verbosity": -1, "num_leaves": 8, "num_threads": 1}
    named = lightgbm.Dataset(
        X, np.array(columns["runtime"]), feature_name=list(FEATURES), params=parameters
    )
    path = tmp_path_factory.mktemp("model") / "m.txt"
    lightgbm.train(parameters, named, 15).save_model(path)
    return path


@pytest.fixture(scope="module")
def sheet(model: Path) -> Path:
    path = model.with_name("columns.yaml")
    path.write_text("app: {column: app, codes: {lammps: 0, wrf: 1}}\n")
    return path


def test_a_model_from_a_file_is_saved_with_the_engine(
    runs: Path, model: Path, sheet: Path, tmp_path: Path
) -> None:
    words = ("--model", f"runtime={model}", "--model-columns", f"runtime={sheet}")
    result = compass("fit", runs, "-o", tmp_path / "e", *ONE, *words)
    assert result.code == 0, result.err
    assert "brought" in result.out
    here = compass("ask", runs, RECOMMEND, *ONE, *words, "--json")
    there = process("ask", tmp_path / "e", RECOMMEND, "--json")
    assert (here.code, there.code) == (0, 0), there.err
    both = [json.loads(found.out) for found in (here, there)]
    assert both[0]["suggestions"] == both[1]["suggestions"]
    assert both[0]["models"][0]["family"] == both[1]["models"][0]["family"] == "brought"


def test_what_a_model_file_lacks_is_said(
    runs: Path, model: Path, sheet: Path, tmp_path: Path
) -> None:
    fit = ("fit", runs, "-o", tmp_path / "e", *ONE)
    refused(compass(*fit, "--model", f"runtime={model}"), "app")  # no codes for the labels
    refused(compass(*fit, "--model", "model.txt"), "names no outcome", "--model runtime=")
    refused(compass(*fit, "--model", "runtime=missing.onnx"), "no file missing.onnx")
    refused(compass(*fit, "--model", f"runtme={model}"), "runtme", "runtime")
    refused(compass(*fit, "--model-columns", f"runtime={sheet}"), "there is no --model runtime=")
    refused(
        compass(*fit, "--model", f"runtime={model}", "--model-columns", "runtime=missing.yaml"),
        "missing.yaml",
    )
    assert not (tmp_path / "e").exists()


def test_pickles_need_to_be_allowed_and_are_not_saved(runs: Path, tmp_path: Path) -> None:
    from sklearn.linear_model import LinearRegression

    X = np.random.default_rng(0).uniform(1, 9, (50, 4))
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(LinearRegression().fit(X, X.sum(axis=1))))
    sheet = tmp_path / "columns.yaml"
    sheet.write_text("[size, nodes, cores, gpus]\n")
    words = ("--model", f"runtime={path}", "--model-columns", f"runtime={sheet}")
    refused(compass("ask", runs, RECOMMEND, *ONE, *words), "pickle", "allow")
    asked = compass("ask", runs, RECOMMEND, *ONE, *words, "--allow-pickle", "--json")
    assert asked.code == 0, asked.err
    refused(
        compass("fit", runs, "-o", tmp_path / "e", *ONE, *words, "--allow-pickle"), "pickle", "ONNX"
    )


def test_a_representation_that_is_not_known_offers_the_nearest(runs: Path, tmp_path: Path) -> None:
    words = ("--surrogate", "linear", "--represent", "autoencodr")
    refused(compass("fit", runs, "-o", tmp_path / "e", *ONE, *words), "autoencoder")


def test_labels_are_made_as_flags_and_the_study_say(runs: Path, tmp_path: Path) -> None:
    study, place = tmp_path / "study.yaml", tmp_path / "e.compass"
    study.write_text("trust: {neighbours: 7, close_percentile: 10, caution: 0.9}\n")
    flags = ("--trust", "tau=0.25", "--trust", "caution=80%", "--surrogate", "linear")
    result = compass("fit", runs, "-o", place, *ONE, "--study", study, *flags)
    assert result.code == 0, result.err
    trust = cp.load(place).settings.trust
    assert (trust.neighbours, trust.tau, trust.caution) == (7, 0.25, 0.8)
    answer = cp.Answer.model_validate_json(compass("ask", place, RECOMMEND, "--json").out)
    found = (*answer.suggestions, *answer.ideas)
    assert {one.trust.tau for one in found} == {0.25}
    direct = compass("ask", runs, RECOMMEND, *ONE, "--study", study, *flags, "--json")
    again = cp.Answer.model_validate_json(direct.out)
    assert [one.trust for one in (*again.suggestions, *again.ideas)] == [s.trust for s in found]
    refused(compass("ask", place, RECOMMEND, "--trust", "tau=1"), "already has its roles, rules")
    written = tmp_path / "written.yaml"
    shown = compass("columns", runs, *ONE, "--study", study, "--write-study", written)
    assert shown.code == 0, shown.err
    assert load_study(written).trust == load_study(study).trust


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ("tau", ("is not NAME=NUMBER", "--trust tau=0.3")),
        ("tua=1", ("no setting of trust named 'tua'", "did you mean tau?")),
        ("tau=close", ("'close' is not a number", "the distance that counts as close")),
        ("tau=-1", ("trust.tau", "for example trust:")),
        ("tau=nan", ("trust.tau", "for example trust:")),
        ("neighbours=0", ("trust.neighbours", "for example trust:")),
        ("neighbours=2.5", ("trust.neighbours", "for example trust:")),
        ("caution=100%", ("trust.caution", "for example trust:")),
        ("caution=0.995", ("caution 0.995 is above unsupported 0.99", "give both")),
    ],
)
def test_labels_that_cannot_be_made_so_are_refused(
    given: str, parts: tuple[str, ...], runs: Path, tmp_path: Path
) -> None:
    words = ("-o", tmp_path / "e", *ONE, "--surrogate", "linear", "--trust", given)
    refused(compass("fit", runs, *words), *parts)
