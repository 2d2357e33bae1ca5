"""Every worked example does its work in Compass: read, prepare, learn, search, answer, export."""

import gzip
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plugins_examples import example
from sklearn.decomposition import PCA
from typer.testing import CliRunner

import compass as cp
from compass import registry
from compass.cli.main import app
from compass.domain.errors import QueryProblem, RuleProblem, UnknownName
from compass.domain.space import Role
from compass.exporters.forms import export
from compass.model.base import Task
from compass.model.recipe import Recipe, Represented
from conftest import QUICK, ROLES, cluster_columns

RULES = ["cores <= 32 * nodes", "cores >= 8 * nodes"]


@pytest.fixture(scope="module")
def jobs() -> cp.Dataset:
    return cp.read(cluster_columns(600)).roles(**ROLES)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The jobs as a log of key=value lines."""
    columns = cluster_columns(300)
    rows = zip(*columns.values(), strict=True)
    lines = (" ".join(f"{k}={v}" for k, v in zip(columns, row, strict=True)) for row in rows)
    path = tmp_path / "jobs.runlog"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def keyvalue() -> Iterator[Any]:
    with example("reader_keyvalue") as module:
        yield module


@pytest.mark.usefixtures("keyvalue")
def test_a_reader_gives_the_same_runs_as_a_table_in_memory(log: Path) -> None:
    data = cp.read(log)
    assert data.table.fingerprint == cp.read(cluster_columns(300)).table.fingerprint
    packed = log.with_name("jobs.runlog.gz")
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert cp.read(packed).table.fingerprint == data.table.fingerprint
    nameless = log.rename(log.with_name("jobs.txt"))  # the content tells the format
    assert cp.read(nameless).table.fingerprint == data.table.fingerprint
    answer = cp.Compass(data.roles(**ROLES), settings=QUICK).what_if(0, {"gpus": 4}, ["power"])
    assert answer[0].config["gpus"] == 4


@pytest.mark.usefixtures("keyvalue")
def test_the_command_line_reads_it_too(log: Path) -> None:
    shown = CliRunner().invoke(app, ["columns", str(log)], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    assert "300 rows, 300 used" in shown.stdout
    assert "lammps" in shown.stdout


def iterations() -> dict[str, list[Any]]:
    columns = cluster_columns(600)
    count = len(columns["nodes"])
    iteration = [i % 5 for i in range(count)]
    slow = [t * (3 if i == 0 else 1) for t, i in zip(columns["runtime"], iteration, strict=True)]
    return {**columns, "iteration": iteration, "runtime": slow}


def test_a_step_drops_warm_up_runs_and_the_report_says_so() -> None:
    roles = {**ROLES, "outcomes": ["runtime"], "ignored": ["iteration", "power", "state"]}
    with example("step_warm_up"):
        data = cp.read(iterations(), steps=["warm-up"]).roles(**roles)
        prepared = data.prepared
        assert prepared.rows == 480
        assert not np.any(prepared.row_id % 5 == 0)
        notes = prepared.report.notes
        assert "120 rows dropped: it is a warm-up run (iteration 0)" in notes
        engine = cp.Compass(data, rules=RULES, settings=QUICK).fit()
        warm = cp.Compass(cp.read(iterations()).roles(**roles), rules=RULES, settings=QUICK).fit()
        assert engine.cards[0].error < 0.5 * warm.cards[0].error
        with pytest.raises(cp.CompassError, match="row 5 was left out"):
            engine.reconfigure(5, ask=["gpus"], goals={"runtime": cp.minimize})


def test_a_step_adds_a_column_that_rules_and_questions_can_use() -> None:
    with example("step_warm_up"):
        knobs = [*ROLES["knobs"], "cores_per_node"]
        read = cp.read(cluster_columns(600), steps=["cores-per-node"])
        data = read.roles(**{**ROLES, "knobs": knobs})
        assert data.prepared.space["cores_per_node"].role is Role.KNOB
        assert "cores_per_node" not in data.table.names  # the person's data stays as it is
        column = data.prepared.column("cores_per_node")
        assert set(column.tolist()) == {8.0, 16.0, 32.0}
        engine = cp.Compass(data, rules=["cores == cores_per_node * nodes"], settings=QUICK)
        answer = engine.recommend(
            ask=knobs, goals={"power": cp.minimize}, where=["cores_per_node == 16", "nodes >= 2"]
        )
        assert answer[0].config["nodes"] == 2
        assert answer[0].config["cores"] == 32
        with pytest.raises(UnknownName, match="no column named 'cores_per_rack' in the study"):
            _ = read.roles(knobs=["cores_per_rack"]).prepared


def test_a_step_that_is_not_there_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no step named 'warm-up'"):
        _ = cp.read(iterations(), steps=["warm-up"]).prepared


def test_a_reducer_chooses_what_is_learnt_from() -> None:
    columns = cluster_columns(600)
    rare = ("a", "b", "c", "d")
    columns["app"][:12] = [*rare] * 3
    with example("reducer_per_kind"):
        data = cp.read(columns).roles(**ROLES)
        engine = cp.Compass(data, keep=0.2, reducer="per-kind", rules=RULES, settings=QUICK)
        kept = engine.store.prepared
        labels = data.prepared.space["app"].values  # type: ignore[union-attr]
        apps = [labels[int(code)] for code in kept.column("app")]
        assert [apps.count(one) for one in rare] == [1] * 4  # by chance: once in fifty
        assert kept.rows == pytest.approx(120, abs=2)
        assert kept.weight.sum() == pytest.approx(600)
        answer = engine.recommend(ask=["nodes", "cores"], goals={"power": cp.minimize})
        assert answer[0].config["nodes"] == 1
        assert engine.cards[0].rows < 120


def test_a_surrogate_answers_all_three_questions_and_can_be_saved(
    jobs: cp.Dataset, tmp_path: Path
) -> None:
    text = "Recommend a configuration X = {nodes: ?, cores: ?} to achieve Y = {power: minimize}"
    with example("surrogate_neighbours"):
        # The answer below is that of the mean of power, not of its logarithm.
        plain = cp.Settings(scale="linear")
        engine = cp.Compass(jobs, rules=RULES, surrogate="analogy", settings=plain).fit()
        assert {card.family for card in engine.cards} == {"analogy"}
        assert {card.target: card.error for card in engine.cards}["power"] < 0.2
        answer = engine.ask(text)
        assert answer[0].config["nodes"] == 1
        assert answer[0].config["cores"] == 8
        number = next(i for i in range(len(jobs)) if jobs.row(i)["gpus"] == 0)
        changed = engine.what_if(number, {"gpus": 4}, ["runtime", "state"])
        assert changed[0].outcome("runtime").change < 0
        assert changed[0].outcome("state").value in ("COMPLETED", "TIMEOUT")
        faster = engine.reconfigure(number, ask=["gpus"], goals={"runtime": cp.less(0.05)})
        assert faster[0].meets_goals
        engine.save(tmp_path / "jobs.compass")
        again = cp.load(tmp_path / "jobs.compass").ask(text)
        assert again.suggestions == answer.suggestions
    with pytest.raises(UnknownName, match="no surrogate named 'analogy'"):
        cp.load(tmp_path / "jobs.compass")


def test_a_generator_answers_all_three_questions(jobs: cp.Dataset) -> None:
    with example("generator_random"):
        engine = cp.Compass(jobs, rules=RULES, generator="random", settings=QUICK)
        found = engine.recommend(
            ask=["nodes", "cores", "gpus"], goals={"power": cp.minimize}, count=3
        )
        assert len(found) == 3
        assert found[0].config["nodes"] == 1
        for suggestion in found:
            assert 8 * suggestion.config["nodes"] <= suggestion.config["cores"]
        number = next(
            i for i in range(len(jobs)) if jobs.row(i)["nodes"] == 2 and jobs.row(i)["cores"] == 64
        )
        # 64 cores do not fit on one node: the rule moves them as well.
        forced = engine.what_if(number, {"nodes": 1}, ["power"])
        assert {e.name: e.new for e in forced[0].edits} == {"nodes": 1, "cores": 32}
        less = engine.reconfigure(number, ask=["cores", "gpus"], goals={"power": cp.less(0.05)})
        assert less[0].meets_goals
        best = cp.Compass(jobs, rules=RULES, settings=QUICK).reconfigure(
            number, ask=["cores", "gpus"], goals={"power": cp.less(0.05)}
        )
        assert best[0].distance <= less[0].distance + 1e-9


def test_an_embedding_stands_in_front_of_a_model_and_is_saved_with_it(
    jobs: cp.Dataset, tmp_path: Path
) -> None:
    with example("embedding_principal"):
        recipe = Recipe(family="linear", embedding="principal")
        rows = jobs.prepared.columns_of(("nodes", "cores", "gpus"))
        power = jobs.prepared.column("power")
        model = recipe.fit(rows, power, task=Task(), weight=None, seed=7, settings=cp.Settings())
        assert isinstance(model, Represented)
        columns = model.front.transform(rows)
        # Components do not correlate, and the first are the largest.
        np.testing.assert_allclose(columns.T @ columns / len(rows), np.eye(3), atol=1e-9)
        expected = PCA(whiten=True).fit_transform((rows - rows.mean(axis=0)) / rows.std(axis=0))
        np.testing.assert_allclose(
            np.abs(columns), np.abs(expected) * np.sqrt(len(rows) / (len(rows) - 1)), atol=1e-9
        )
        engine = cp.Compass(jobs, surrogate="linear", represent="principal").fit()
        for card in engine.cards:
            assert any("Representation principal" in note for note in card.notes)
            assert "principal" in {score.embedding for score in card.scores}
        again = cp.load(engine.save(tmp_path / "e"))
        question = "What if we change X = {gpus: 0 -> 4}, how would that affect Y = {power}"
        answers = [one.ask(question).model_dump(exclude={"seconds"}) for one in (engine, again)]
        assert answers[0] == answers[1]


def test_a_rule_in_python_stands_beside_rules_as_text(jobs: cp.Dataset) -> None:
    with example("rule_memory") as module:
        engine = cp.Compass(jobs, rules=[*RULES, "fits_in_memory(nodes, size)"], settings=QUICK)
        answer = engine.recommend(
            ask=["nodes", "cores"], goals={"power": cp.minimize}, where=["size == 400"]
        )
        nodes = answer[0].config["nodes"]
        assert nodes == 8  # 4 nodes have 256 GB, and 8 is the next that past runs used
        assert module.fits_in_memory(np.array([nodes]), np.array([400.0]))[0] <= 0
        assert engine.broken_by()["fits_in_memory(nodes, size)"] > 0
        small = engine.ask(
            "Recommend a configuration X = {nodes: ?, cores: ?} to achieve Y = {power: minimize} "
            "where C = {size: 100, fits_in_memory(nodes, size) <= -128}"
        )
        assert small[0].config["nodes"] == 4  # 100 GB and its halo leave 146 free
        with pytest.raises(RuleProblem, match="cannot be called with 1 value") as error:
            engine.recommend(
                ask=["nodes"], goals={"power": cp.minimize}, where=["fits_in_memory(nodes)"]
            )
        assert "fits_in_memory(nodes" in error.value.hint
    with pytest.raises(RuleProblem, match="no function named 'fits_in_memory'"):
        cp.Compass(jobs, rules=["fits_in_memory(nodes, size)"], settings=QUICK).broken_by()


def test_an_exporter_writes_what_a_shell_can_source(jobs: cp.Dataset, tmp_path: Path) -> None:
    with example("exporter_shell"):
        engine = cp.Compass(jobs, rules=RULES, settings=QUICK)
        answer = engine.recommend(ask=["nodes", "cores"], goals={"power": cp.minimize})
        path = tmp_path / "plan.sh"
        export(answer, "shell", path)
        done = subprocess.run(
            ["bash", "-euc", f"source {path}; echo $RUN_NODES $RUN_CORES $RUN_APP"],
            capture_output=True,
            text=True,
            check=True,
        )
        config = answer[0].config
        assert done.stdout.split() == [str(config[n]) for n in ("nodes", "cores", "app")]
        nothing = answer.model_copy(update={"suggestions": (), "no_answer": "Nothing obeys."})
        with pytest.raises(QueryProblem, match="no suggestion") as error:
            export(nothing, "shell", path)
        assert error.value.hint == "Nothing obeys."
    with pytest.raises(UnknownName, match="no exporter named 'shell'"):
        export(answer, "shell", path)
    assert "shell" not in registry.everything("exporter")
