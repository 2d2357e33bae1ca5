"""The roles file: no leaks, rules that hold, and checks that find what is wrong."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from benchmarks import masked
from benchmarks.legal import RULES, Checker, legal_values, same
from benchmarks.roles import kernel_tuner, sources, stated
from compass.domain.answer import Label, Moved, Suggestion, Trust
from compass.domain.space import Role
from compass.language import parse_rule
from compass.settings import ForestSettings
from conftest import ROLES, cluster_columns

SOURCES = sources()
FEATURES = (Role.KNOB, Role.CONTEXT)

# Other results of the same run, and what is computed from results.
LEAKS = {
    "convolution": {"GFLOP_per_s", "time_std", "compile_time", "error"},
    "kripke": {"k1", "k2", "k3", "k4", "k5", "k7", "k8", "k9"},
    "amg": {"wall_time2"},
    "clip": {"energy_j", "span_s", "pkg_power_w_node_std", "dram_power_w_node", "job", "rep"},
    "zeus": {"energy_per_epoch_J"},
    "kabre": {"ConsumedEnergyRaw", "CPUTimeRAW", "ResvCPURAW"},
}


def test_every_table_has_its_leaks_dropped() -> None:
    assert set(LEAKS) == set(SOURCES)
    for name, leaks in LEAKS.items():
        assert leaks <= set(SOURCES[name].study.drop), name


@pytest.mark.parametrize("name", SOURCES)
def test_questions_speak_of_knobs_and_outcomes(name: str) -> None:
    source = SOURCES[name]
    columns = source.study.columns
    assert all(columns[one].role is Role.KNOB for one in source.ask)
    assert all(columns[one].role is Role.OUTCOME for one in source.goals)
    assert not set(source.study.drop) & set(columns)
    for rule in source.study.rules:
        assert rule in RULES, "a rule without a check written by hand"
        parse_rule(rule)


def test_conditions_of_kernel_tuner_become_rules(tmp_path: Path) -> None:
    file = tmp_path / "space.json"
    space = {
        "TuningParameters": [
            {"Name": "bx", "Type": "int", "Values": "[16, 32]"},
            {"Name": "unused", "Type": "int", "Values": "[1]"},
        ],
        "Conditions": [{"Expression": "bx % 32 ==  0 or bx<=16", "Parameters": ["bx"]}],
    }
    file.write_text(json.dumps({"ConfigurationSpace": space}))
    study = kernel_tuner(file, {"bx"})
    assert study.columns["bx"].allowed == (16, 32)
    assert "unused" not in study.columns
    assert study.rules == ("bx % 32 == 0 or bx<=16",)
    parse_rule(study.rules[0])


@pytest.mark.parametrize("name", SOURCES)
def test_rules_and_checks_agree_on_the_real_rows(name: str, real_data: Path) -> None:
    source = SOURCES[name]
    if source.absent(real_data):
        pytest.skip(f"{real_data} has no {source.absent(real_data)}")
    data = source.read(real_data)
    prepared = data.prepared
    # Every column is spoken of: nothing gets a role by guessing.
    assert {*data.study.columns, *data.study.drop} == set(data.table.names)
    features = prepared.space.having(*FEATURES)
    checker = Checker.of(data.table.arrow, data.study, features)
    from compass.prepare import Encoder

    encoder = Encoder(prepared.space.select(features))
    rng = np.random.default_rng(0)
    for row in rng.permutation(prepared.rows)[:300]:
        config = encoder.decode(prepared.columns_of(features)[row])
        assert checker.broken(config) == []
        assert all(checker.values[one].allows(config[one]) for one in features)
    # The hand-written checks and the engine's rules agree on rows with shuffled columns as well.
    mixed = prepared.columns_of(features)[:200].copy()
    for column in mixed.T:
        rng.shuffle(column)
    from compass.engine.rules import compiled, standing

    rules = compiled(standing(data), prepared.space, features)
    assert len(rules) == len(data.study.rules)
    ours = {
        text: [check(encoder.decode(x)) for x in mixed] for text, check in checker.rules.items()
    }
    for rule, text in zip(rules, data.study.rules, strict=True):
        assert rule.holds(mixed).tolist() == ours[text]


def test_the_stated_study_keeps_the_legal_values_of_all_rows() -> None:
    data = cp.read(pa.table(cluster_columns(400))).roles(**ROLES)
    study = stated(data)
    part = cp.read(data.table.arrow.slice(0, 3), study=study)
    for one in data.prepared.space.having(*FEATURES):
        assert part.prepared.space[one] == data.prepared.space[one]


def test_legal_values_come_from_the_cells() -> None:
    table = pa.table(
        {
            "n": list(range(100)),
            "few": [1, 2] * 50,
            "cap": [80.0, None] * 50,
            "label": ["a", "b"] * 50,
            "limit": ["10", "all"] * 50,
        }
    )
    said = {name: {"role": "knob"} for name in ("n", "few", "label")}
    said["cap"] = {"role": "knob", "missing": "none"}
    said["limit"] = {"role": "knob", "kind": "number", "step": 1, "missing": "none"}
    study = cp.Study(columns=said, map={"limit": {"all": None}})
    legal = legal_values(table, study, tuple(said))
    assert legal["n"].allows(50)
    assert not legal["n"].allows(50.5)
    assert not legal["n"].allows(100)
    assert not legal["few"].allows(3)
    assert not legal["few"].allows(None)
    assert legal["cap"].allows(None)
    assert legal["label"].allows("a")
    assert not legal["label"].allows("c")
    assert legal["limit"].allows(10)
    assert legal["limit"].allows(None)
    assert not legal["limit"].allows(11)


def _suggestion(config: dict[str, object], edits: tuple[Moved, ...] = ()) -> Suggestion:
    trust = Trust(label=Label.TRUSTED, ood=0, uq=0, support=1, tau=1, reason="")
    return Suggestion(
        config=config,
        settings=config,
        edits=edits,
        outcomes=(),
        distance=0,
        meets_goals=True,
        trust=trust,
    )


def test_the_checker_finds_broken_rules_illegal_values_and_silent_changes() -> None:
    table = pa.table({"ppn": [1, 2, 64], "nthreads": [64, 32, 1], "solver": [0, 1, 0]})
    study = cp.Study(
        columns={name: {"role": "knob"} for name in ("ppn", "nthreads", "solver")},
        rules=("ppn * nthreads in {64, 128}",),
    )
    checker = Checker.of(table, study, ("ppn", "nthreads", "solver"))
    fine = {"ppn": 2, "nthreads": 64, "solver": 1}
    assert checker.problems(_suggestion(fine), {"solver": 1.0}) == []
    assert len(checker.problems(_suggestion({**fine, "nthreads": 1}), {})) == 1
    assert checker.share_broken({**fine, "nthreads": 1}) == 1.0
    assert len(checker.problems(_suggestion({**fine, "solver": 2}), {})) == 1
    assert len(checker.problems(_suggestion(fine), {"solver": 0})) == 1
    moved = Moved(name="nthreads", old=1, new=64, forced_by="ppn * nthreads in {64, 128}")
    assert checker.problems(_suggestion(fine, (moved,)), {"nthreads": 1}) == []
    excuse = Moved(name="solver", old=0, new=1, forced_by="ppn * nthreads in {64, 128}")
    (told,) = checker.problems(_suggestion(fine, (excuse,)), {"solver": 0})
    assert "no rule forbids" in told
    with pytest.raises(KeyError):
        Checker.of(table, cp.Study(rules=("ppn < 3",)), ())


def test_same_is_for_numbers_and_labels() -> None:
    assert same(1, 1.0)
    assert same(None, None)
    assert not same(None, 1)
    assert not same("1", 1)


def test_masked_questions_on_a_table_whose_laws_are_known(cluster: cp.Dataset) -> None:
    study = stated(cluster)
    train = cp.read(cluster.table.arrow.slice(100), study=study)
    few = cp.Settings(surrogate="forest", forest=ForestSettings(trees=30))
    engine = cp.Compass(train, settings=few)
    features = cluster.prepared.space.having(*FEATURES)
    checker = Checker.of(cluster.table.arrow, study, features)
    examiner = masked.Examiner(engine, ("gpus",), ("runtime", "power"), checker)
    held_out = masked.HeldOut(cluster.prepared.space, cluster.prepared.values[:6])
    tallies = examiner.examine(held_out, seed=0)
    for kind in masked.KINDS:
        assert tallies[kind].violations == []
        assert tallies[kind].failures == []
        assert len(tallies[kind].errors) == 6
        assert len(tallies[kind].seconds) == 5  # the first is not counted
    # Runtime and power together tell the number of GPUs; outcomes are known to about 1 %.
    assert np.mean(tallies["recommend"].errors) < 0.2
    assert np.mean(tallies["reconfigure"].errors) < 0.2
    assert np.mean(tallies["what-if"].errors) < 0.05


def test_a_question_that_fails_is_an_error_of_one(cluster: cp.Dataset) -> None:
    examiner = masked.Examiner(
        cp.Compass(cluster, surrogate="forest"), ("gpus",), ("runtime",), Checker({}, {})
    )
    tally = masked.Tally()

    def fails() -> cp.Answer:
        raise cp.CompassError("nothing works")

    examiner._put(tally, fails, {}, {"gpus": 1})
    assert tally.errors == [1.0]
    assert tally.failures == ["nothing works"]


def test_the_start_never_gives_the_answer_away(cluster: cp.Dataset) -> None:
    engine = cp.Compass(cluster, surrogate="forest")
    examiner = masked.Examiner(engine, ("gpus",), ("runtime",), Checker({}, {}))
    rng = np.random.default_rng(0)
    for row in range(20):
        vector = cluster.prepared.values[row]
        start, stated_ = examiner.start(vector, rng)
        assert cluster.row(start)["gpus"] != cluster.row(row)["gpus"]
        same_context = all(
            cluster.row(start)[one] == cluster.row(row)[one] for one in ("app", "size")
        )
        assert same_context
        assert "gpus" not in stated_
        for one in ("nodes", "cores"):
            assert (cluster.row(start)[one] != cluster.row(row)[one]) == (one in stated_)


def test_goals_are_ranges_or_classes() -> None:
    assert masked.goal_for(100.0) == cp.within(95, 105)
    assert masked.goal_for(-10.0) == cp.within(-10.5, -9.5)
    assert masked.goal_for("COMPLETED") == cp.is_class("COMPLETED")
