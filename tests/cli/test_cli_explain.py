"""`compass explain`: the sentence first, contributions, similar runs; JSON; what is refused."""

import json
from pathlib import Path

import pytest
from cli_case import QUICK, RECOMMEND, RECONFIGURE, compass, process, refused, write_csv

import compass as cp
from compass.engine.store import save
from conftest import ROLES, cluster_columns

FOREST = QUICK.model_copy(update={"surrogate": "forest"})


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    columns = cluster_columns(250)
    columns["gpus"][7] = None
    jobs = write_csv(tmp_path_factory.mktemp("data") / "jobs.csv", columns)
    engine = cp.Compass(cp.read(jobs).roles(**ROLES), settings=FOREST)
    return save(engine.fit(), jobs.parent / "jobs.compass")


@pytest.fixture(scope="module")
def engine(saved: Path) -> cp.Compass:
    return cp.load(saved)


def test_a_row_is_explained_sentence_first(saved: Path, engine: cp.Compass) -> None:
    result = compass("explain", saved, "--row", 3, "--outcome", "runtime")
    assert (result.code, result.err) == (0, "")
    one = engine.explain(3, ["runtime"])[0]
    words = " ".join(result.out.split())
    assert words.startswith(one.sentence)
    for c in one.contributions:
        assert f"{c.name} {c.value} {c.share}" in words
    for part in ("against 100 past runs", "Most similar past runs", "not what causes the outcome"):
        assert part in words
    assert str(one.similar[0].row) in words
    assert "█" in result.out


def test_bars_point_the_way_and_are_as_long_as_the_shares(saved: Path, engine: cp.Compass) -> None:
    result = compass("explain", saved, "--row", 3, "--outcome", "runtime")
    one = engine.explain(3, ["runtime"])[0]
    lines = {line.split()[0]: line for line in result.out.splitlines() if "│" in line}
    top = abs(one.contributions[0].amount)
    for c in one.contributions:
        left, right = (half.count("█") for half in lines[c.name].split("│"))
        length = round(12 * abs(c.amount) / top)
        assert (left, right) == ((length, 0) if c.amount < 0 else (0, length))


def test_similar_runs_are_shown_once_with_all_outcomes(saved: Path, engine: cp.Compass) -> None:
    result = compass("explain", saved, "--row", 3)
    assert result.out.count("Most similar past runs") == 1
    lines = result.out[result.out.index("Most similar past runs") :].splitlines()
    assert lines[1].split() == ["row", "distance", "runtime", "power", "state", "what", "differs"]
    near = engine.explain(3)[0].similar
    assert [line.split()[0] for line in lines[2 : 2 + len(near)]] == [str(e.row) for e in near]
    assert engine.data.row(near[0].row)["state"] in lines[2]


def test_json_is_the_explanation(saved: Path, engine: cp.Compass) -> None:
    result = compass("explain", saved, "--row", 3, "--json", "--importance", "--outcome", "power")
    told = json.loads(result.out)
    expected = engine.explain(3, ["power"])[0].model_dump(mode="json")
    assert told["explanations"] == [expected]
    assert told["importance"] == [engine.importance("power").model_dump(mode="json")]


def test_against_a_run_and_a_file(saved: Path, engine: cp.Compass, tmp_path: Path) -> None:
    result = compass("explain", saved, "--row", 3, "--against", "row:10", "--outcome", "runtime")
    assert "predicted for row 10" in " ".join(result.out.split())
    one = engine.explain(3, ["runtime"], against=10)[0]
    assert " -> " in one.sentence
    config = tmp_path / "run.json"
    config.write_text(json.dumps({n: engine.data.row(10)[n] for n in one.config}))
    written = compass("explain", saved, "--row", 3, "--against", config, "--json")
    assert json.loads(written.out)["explanations"][0]["usual"] == pytest.approx(one.usual)
    alone = compass("explain", saved, "--config", config, "--json", "--outcome", "runtime")
    assert json.loads(alone.out)["explanations"][0]["reached"] == pytest.approx(one.usual)


def test_a_suggestion_is_explained_beside_its_baseline(saved: Path) -> None:
    ask = ("--query", RECONFIGURE, "--from", "row:5")
    result = compass("explain", saved, *ask)
    assert result.code == 0
    assert "row 5" in result.out
    told = json.loads(compass("explain", saved, *ask, "--json").out)["explanations"][0]
    assert told["against"] == "row 5"
    assert [c["name"] for c in told["contributions"]] == ["gpus"]
    second = compass("explain", saved, "--query", RECOMMEND, "--suggestion", 2, "--json")
    assert json.loads(second.out)["explanations"][0]["against"] == "100 past runs"


def test_importance_alone_needs_no_run(saved: Path) -> None:
    result = compass("explain", saved, "--importance")
    assert result.code == 0
    for part in ("the model of runtime", "the model of power", "the model of state", "points"):
        assert part in " ".join(result.out.split())
    assert "not what causes" not in result.out


REFUSED: dict[str, tuple[tuple[object, ...], tuple[str, ...]]] = {
    "nothing": ((), ("nothing to explain", "--row N")),
    "two runs": (("--row", 1, "--config", "x.json"), ("--row and --config", "one of them")),
    "no such row": (("--row", 4000), ("there is no row 4000", "0 to 249")),
    "a row left out": (("--row", 7), ("row 7 was left out when the data was cleaned",)),
    "below zero": (("--row", -1), ("--row",)),
    "unknown outcome": (("--row", 1, "--outcome", "runtme"), ("no outcome named", "runtime?")),
    "a knob": (("--row", 1, "--outcome", "nodes"), ("nodes is not an outcome", "runtime")),
    "no such file": (("--config", "no.json"), ("--config no.json: no such file", "--row N")),
    "no such run": (("--row", 1, "--against", "row:x"), ("--against row:x is not a row",)),
    "not a question": (("--row", 1, "--suggestion", 2), ("--suggestion belongs to", "--query")),
    "no baseline": (("--query", RECONFIGURE), ("needs a configuration to start from",)),
    "too far": (("--query", RECOMMEND, "--suggestion", 50), ("no suggestion 50", "1 to ")),
    "a mean over runs": (
        ("--query", "What if we change X = {gpus: 0 -> 4}, how would that affect Y = {runtime}"),
        ("no suggestion to explain", "--from row:N"),
    ),
    "roles of a saved engine": (("--row", 1, "--role", "gpus=context"), ("already has its roles",)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, saved: Path) -> None:
    words, parts = REFUSED[name]
    refused(compass("explain", saved, *words), *parts)


def test_a_process_of_its_own_says_the_same(saved: Path) -> None:
    words = ("explain", saved, "--row", 3, "--json", "--outcome", "state")
    assert process(*words).out == compass(*words).out
