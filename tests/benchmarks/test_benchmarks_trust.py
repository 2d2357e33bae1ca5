"""The study of trust on small generated tables: what it splits, counts and prints."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from benchmarks.oneshot import Space
from benchmarks.roles import stated
from benchmarks.trust import __main__ as command
from benchmarks.trust import coverage, engine, labels, meets, problems, report
from benchmarks.trust.plan import Plan, quick
from compass.domain.answer import Label, Trust
from compass.domain.space import Role
from compass.prepare.split import configurations
from compass.settings import ForestSettings, TrustSettings
from conftest import ROLES, cluster_columns

HERE = Path("generated")
# Which scale learns best takes longer to find out than everything else here.
LINEAR = engine.plain("forest").model_copy(
    update={"scale": "linear", "forest": ForestSettings(trees=30)}
)


def _problem(outcome: str = "runtime", rows: int = 450) -> problems.Problem:
    data = cp.read(pa.table(cluster_columns(rows))).roles(**ROLES)
    return problems._problem(f"cluster {outcome}", data, outcome)


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> problems.Problem:
    """A study whose only table is generated."""
    own = _problem()
    classes = _problem("state")
    known = {own.name: own, classes.name: classes}
    for module in (problems, labels, coverage, command):
        monkeypatch.setattr(module, "problems", lambda folder: known)
    return own


def _exhaustive() -> Space:
    """Every configuration of a small law; the largest product failed to launch."""
    block, tile = (a.ravel() for a in np.meshgrid([1, 2, 4, 8, 16, 32], np.arange(1, 13)))
    time = 100 / block + tile + 0.1 * block * tile
    table = pa.table(
        {
            "block": block,
            "tile": tile,
            "time": [
                None if b * t == 384 else v for b, t, v in zip(block, tile, time, strict=True)
            ],
            "valid": (block * tile != 384).astype(int),
        }
    )
    data = cp.read(table, study={"columns": {"valid": {"role": "outcome", "kind": "category"}}})
    data = data.roles(knobs=["block", "tile"], outcomes=["time", "valid"])
    study = stated(data)
    data = cp.read(table, study=study)
    knobs = data.prepared.space.having(Role.KNOB)
    X, y = data.prepared.columns_of(knobs), data.prepared.column("time")
    return Space("law", data, study, knobs, "time", X, y)


def test_no_configuration_is_learnt_and_held_out() -> None:
    own = _problem()
    splits = [
        problems.random_split(own, 3, 150, 80),
        *problems.region_splits(own, 4, 3, 150, 80),
    ]
    assert [split.kind for split in splits] == ["random", *["region"] * 4]
    kinds = configurations(own.X)
    for split in splits:
        assert len(split.learn) == 150
        assert 10 <= len(split.test) <= 80
        assert not set(kinds[split.learn]) & set(kinds[split.test])


def test_a_region_is_one_label_of_the_context_or_an_end_of_a_number() -> None:
    own = _problem()
    app, size = (own.X[:, own.features.names.index(name)] for name in ("app", "size"))
    found = {s.name: s for s in problems.region_splits(own, 99, 0, 9999, 9999)}
    wrf = found["app = wrf"]
    assert len(set(app[wrf.test])) == 1
    assert not set(app[wrf.test]) & set(app[wrf.learn])
    large = found["size >= 400"]
    assert size[large.learn].max() < 400 == size[large.test].min()


def test_parts_of_a_label_are_told_apart() -> None:
    limits = TrustSettings()

    def made(label: Label, ood: float, uq: float, support: int) -> set[str]:
        trust = Trust(label=label, ood=ood, uq=uq, support=support, tau=1.0, reason="")
        flags = labels.made_by(trust, limits)
        return {part for part, flag in zip(labels.PARTS, flags, strict=True) if flag}

    assert made(Label.TRUSTED, 0.5, 0.5, 3) == set()
    assert made(Label.UNSUPPORTED, 0.995, 0.5, 0) == {"far away", "nothing near"}
    assert made(Label.CAUTION, 0.96, 0.97, 1) == {"further than usual", "less certain"}
    assert made(Label.CAUTION, 0.1, 0.1, 1) == {"other"}


def _judged(errors: list[list[float]], region: bool = False) -> labels.Judged:
    """Runs with these errors by label, each of its own configuration."""
    label = np.repeat([0, 1, 2], [len(e) for e in errors])
    m = len(label)
    return labels.Judged(
        name="x",
        classes=False,
        splits=("split 0",),
        region=np.full(m, region),
        split=np.zeros(m, dtype=np.int64),
        kind=np.arange(m, dtype=np.uint64),
        label=label,
        parts=np.zeros((m, len(labels.PARTS)), dtype=bool),
        error=np.concatenate(errors).astype(float),
        y=np.ones(m),
    )


def test_the_order_of_labels_is_checked_with_intervals() -> None:
    rng = np.random.default_rng(0)
    good = _judged([list(rng.normal(m, 0.1, 50)) for m in (1, 2, 3)])
    assert labels.disorders(good) == []
    together = labels.pooled([good], "random")
    assert together.ordered
    usual = good.error.mean()
    for mean, label in zip(together.labels, range(3), strict=True):
        assert mean.mean == pytest.approx(good.error[good.label == label].mean() / usual)
        assert mean.low < mean.mean < mean.high
    same = _judged([list(rng.normal(2, 1, 50)) for _ in range(3)])
    assert not labels.pooled([same], "random").ordered
    assert [len(r) for r in labels.ratios([good, same], "random")] == [2, 2]


def test_a_table_out_of_order_is_named_with_what_the_data_shows() -> None:
    few = _judged([[1.0] * 40, [2.0] * 40, [0.5] * 3])
    [wrong] = labels.disorders(few)
    assert (wrong.worse, wrong.better) == ("unsupported", "caution")
    assert "only 3 rows of 3 configurations are unsupported" in wrong.reasons
    outlier = _judged([[*[0.1] * 40, 400.0], [0.2] * 40, [0.3] * 40])
    [wrong] = labels.disorders(outlier)
    assert any("a few large errors of trusted runs" in reason for reason in wrong.reasons)
    text, figures, missed = report.labels([outlier])
    assert "caution 0.200 <= trusted" in text
    assert figures["disorders"][0]["name"] == "x"
    assert missed


def test_the_held_out_runs_of_every_split_are_judged(one: problems.Problem) -> None:
    plan = quick(0, "forest")
    found = labels.examine(one.name, HERE, plan)
    assert set(found.label) <= {0, 1, 2}
    assert found.error.shape == found.y.shape == found.region.shape
    assert found.region.any()
    assert not found.region.all()
    assert 0 < found.usual < 0.5
    [(name, told)] = labels.by_region(found).items()
    assert name in found.splits
    assert sum(mean.rows for mean in told) == found.region.sum()


def test_a_class_is_right_or_wrong() -> None:
    own = _problem("state")
    learnt = engine.learn(own, np.arange(200), LINEAR, 0)
    errors = learnt.errors(own.X, own.y)
    said = own.data.prepared.space["state"].values
    wrong = learnt.trained.model.predict(own.X).argmax(axis=1) != own.y
    assert len(said) == 2
    assert (errors == wrong).all()


def test_a_higher_level_holds_more_and_coverage_is_counted_on_new_runs() -> None:
    own = _problem()
    split = problems.random_split(own, 0, 9999, 9999)
    learnt = engine.learn(own, split.learn, LINEAR, 0)
    before = learnt.engine.settings
    X = own.X[split.test]
    widths = [np.mean(np.subtract(*learnt.band(X, level)[::-1])) for level in (0.5, 0.8, 0.95)]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]
    assert learnt.assessor.store.settings == before


def test_the_verdict_of_coverage_depends_on_the_calibration_rows() -> None:
    def covered(inside: float, calibration: int) -> coverage.Covered:
        band = coverage.Band(inside, 1.0, 1.0, 0.0)
        levels = {str(level): inside for level in coverage.LEVELS}
        bands = dict.fromkeys(coverage.MAKERS, band)
        held = coverage.Held(
            rows=1000,
            calibration=calibration,
            draws=calibration,
            tested=100,
            log=False,
            family="forest",
            levels=levels,
            bands=bands,
            changes=(),
        )
        return coverage.Covered("x", (held, held))

    assert covered(0.885, 600).holds
    assert not covered(0.93, 600).holds
    assert not covered(0.885, 99).holds  # no sampling error among equal splits
    assert covered(0.905, 99).holds
    assert not covered(0.92, 99).holds
    text, figures, missed = report.coverage([covered(0.93, 600)])
    assert "93.0 ± 0.0" in text
    assert figures["x"]["holds"] is False
    assert len(missed) == 1


def test_pairs_are_disjoint_and_near() -> None:
    own = _problem()
    pairs = coverage._pairs(own, np.arange(300), 40, 0)
    rows = [row for pair in pairs for row in pair]
    assert len(set(rows)) == len(rows) == 80
    app = own.X[:, own.features.names.index("app")]
    assert all(app[i] == app[j] for i, j in pairs)
    assert all((own.X[i] != own.X[j]).any() for i, j in pairs)


def test_measured_changes_are_compared_with_the_interval_of_the_change() -> None:
    own = _problem()
    split = problems.random_split(own, 0, 9999, 9999)
    learnt = engine.learn(own, split.learn, LINEAR, 0)
    found = coverage.changes(learnt, split.test, 6, 0)
    assert len(found) == 6
    assert all(width > 0 < naive for _, width, naive in found)
    assert sum(inside for inside, _, _ in found) >= 3
    text = report._changes(found)
    assert "of 6" in text


def test_repeats_of_a_configuration_are_one_draw() -> None:
    own = _problem()
    rows = np.arange(len(own.y))
    once = np.unique(configurations(own.X), return_index=True)[1]
    for part, repeated in ((once, False), (rows, True)):
        learnt = engine.learn(own, part, LINEAR, 0)
        assert (learnt.draws < 0.9 * learnt.calibration) is repeated


def test_suggestions_are_looked_up_and_never_scored_by_the_model() -> None:
    space = _exhaustive()
    plan = Plan(baselines=1)
    sample = meets.sampled(space, 0.5, 1, plan)
    assert sample.rows == 36
    assert 0 <= sample.inside <= 1
    best = np.nanmin(space.y)
    for found in sample.looked:
        assert found.there
        if found.measured is None:
            assert not found.met
            continue
        assert found.measured in space.y
        assert found.regret == pytest.approx(found.measured / best - 1)
    questions = {found.question for found in sample.looked}
    assert questions == {
        *("minimise", "best 10 %", "best 5 %"),
        *("reduce by 10%", "reduce by 20%", "reduce by 30%"),
    }
    text, _, missed = report.meets([sample])
    assert "minimise" in text
    assert missed == []


def test_the_goal_decides_what_is_met() -> None:
    space = _exhaustive()
    rows = np.arange(len(space.y))
    own = cp.Compass(space.data, settings=LINEAR)
    answer = own.recommend(ask=space.knobs, goals={"time": cp.minimize}, prove=0)
    first = answer[0]
    value = float(space.y[meets._place(space, first)])
    for limit, met in ((value, True), (value - 1e-6, False)):
        asked = meets.Asked("x", {}, limit)
        found = meets.look_up(space, 1.0, 0, asked, 0, first, rows, None)
        assert found.met is met
        assert found.learnt
        assert found.chance == np.mean(np.nan_to_num(space.y, nan=np.inf) <= limit)


def test_a_quick_run_prints_every_part(
    one: problems.Problem,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(meets, "_spaces", lambda folder: {"law": _exhaustive()})
    few, usual = {"forest": ForestSettings(trees=10)}, engine.plain
    for module in (engine, meets):
        monkeypatch.setattr(module, "plain", lambda name: usual(name).model_copy(update=few))
    file = tmp_path / "figures.json"
    assert command.main(["--quick", "--processes", "1", "--json", str(file)]) == 0
    said = capsys.readouterr()
    for part in command.PARTS:
        assert f"# {part}" in said.out
        assert f"{part}: " in said.err
    figures = json.loads(file.read_text())
    assert set(figures["labels"]["tables"]) == {"cluster runtime", "cluster state"}
    assert set(figures["coverage"]) == {"cluster runtime"}
    assert figures["meets"]["samples"]
    with pytest.raises(SystemExit):
        command.main(["--only", "nothing"])
    assert "cluster runtime" in capsys.readouterr().err
