"""Studies: merged, saved, loaded, and refused with a hint."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compass.domain.errors import StudyProblem
from compass.domain.space import Role
from compass.domain.study import TrustChoice
from compass.prepare import ColumnChoice, Study, load_study, merge, save_study
from compass.prepare.study_file import study_of
from property_examples import examples

FULL = Study(
    columns={
        "nodes": ColumnChoice(role=Role.KNOB, low=1, high=64, step=1),
        "Time[s]": ColumnChoice(role=Role.OUTCOME, unit="s"),
        "threads": ColumnChoice(allowed=(4, 8, 16), missing="none"),
        "affinity": ColumnChoice(values=("on", "off", "1e5", "12:30:00", "no", 3, True)),
        "freq": ColumnChoice(low=0.1, high=2.35),
    },
    drop=("idx",),
    rules=("gpus <= 4 * nodes", "`core 0` + `core 1` <= 24"),
    dependencies=("nodes == nodes_req",),
    group="app",
    time="submit",
    weight="w",
    trust=TrustChoice(neighbours=10, tau=0.3, caution=0.9, unsupported=0.98),
    map={"State": {"CANCELLED*": "CANCELLED"}},
)


@pytest.mark.parametrize("name", ["s.yaml", "s.yml", "s.toml", "study"])
def test_what_is_saved_is_what_is_loaded(tmp_path: Path, name: str) -> None:
    save_study(FULL, tmp_path / name)
    assert load_study(tmp_path / name) == FULL
    assert [p.name for p in tmp_path.iterdir()] == [name]
    save_study(Study(), tmp_path / name)
    assert load_study(tmp_path / name) == Study()


def test_a_saved_study_reads_like_one_written_by_hand(tmp_path: Path) -> None:
    save_study(FULL, tmp_path / "s.yaml")
    text = (tmp_path / "s.yaml").read_text()
    assert text.startswith("# A Compass study")
    assert "nodes: {role: knob, low: 1, high: 64, step: 1}" in text
    save_study(FULL, tmp_path / "s.toml")
    assert '[columns.nodes]\nrole = "knob"\nlow = 1\n' in (tmp_path / "s.toml").read_text()


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUE = st.one_of(TEXT, st.booleans(), st.integers(-(2**62), 2**62), st.floats(-1e300, 1e300))
CHOICE = st.one_of(
    st.builds(
        ColumnChoice,
        role=st.sampled_from([None, *Role]),
        unit=st.one_of(st.none(), TEXT),
        low=st.one_of(st.none(), st.floats(-1e9, 0)),
        high=st.one_of(st.none(), st.floats(0, 1e9)),
        step=st.one_of(st.none(), st.floats(1e-9, 1e9)),
        missing=st.sampled_from([None, "drop", "none"]),
    ),
    st.builds(ColumnChoice, values=st.lists(VALUE, min_size=1, max_size=4).map(tuple)),
    st.builds(
        ColumnChoice, allowed=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=4).map(tuple)
    ),
)
STUDIES = st.builds(
    Study,
    columns=st.dictionaries(TEXT, CHOICE, max_size=3),
    drop=st.lists(TEXT, max_size=2).map(tuple),
    rules=st.lists(TEXT, max_size=2).map(tuple),
    group=st.one_of(st.none(), TEXT),
    map=st.dictionaries(TEXT, st.dictionaries(TEXT, VALUE, max_size=2), max_size=2),
)


@examples(80)
@example(study=Study(rules=("\x85", "a\u2028b")), suffix=".yaml")
@given(study=STUDIES, suffix=st.sampled_from([".yaml", ".toml"]))
def test_any_study_survives_a_file(
    study: Study, suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    save_study(study, path)
    loaded = load_study(path)
    assert loaded == study
    for name, choice in study.columns.items():
        again = loaded.columns[name].values
        assert [type(v) for v in choice.values or ()] == [type(v) for v in again or ()]


def test_yaml_means_what_people_mean(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        "columns:\n"
        "  a: {values: [on, off, yes, no, 12:30:00, 2024-01-01, 0x10, 1_000]}\n"
        "  b: {low: 1e-3, high: 1.5e3, role: knob}\n"
        "  c: {values: [true, 3, 4.5, '7']}\n"
    )
    study = load_study(path)
    assert study.columns["a"].values == (
        "on", "off", "yes", "no", "12:30:00", "2024-01-01", "0x10", "1_000",
    )  # fmt: skip
    assert study.columns["b"] == ColumnChoice(role=Role.KNOB, low=0.001, high=1500)
    assert study.columns["c"].values == (True, 3, 4.5, "7")
    path.write_text("# nothing yet\n")
    assert load_study(path) == Study()


@pytest.mark.parametrize(
    ("raw", "message", "hint"),
    [
        ({"colums": {}}, "unknown key 'colums'", "columns"),
        ({"columns": {"n": {"rol": "knob"}}}, "unknown key 'rol' of n", "role"),
        ({"zzz": 1}, "unknown key 'zzz'", "columns"),
        ({"columns": {"n": {"role": "nob"}}}, "columns.n.role", "role"),
        ({"columns": {"n": {"low": 3, "high": 1}}}, "low 3 is above high 1", ""),
        ({"columns": {"n": {"step": 0}}}, "columns.n.step", ""),
        ({"columns": {"n": {"allowed": []}}}, "`allowed` is empty", ""),
        ({"columns": {"n": {"values": []}}}, "`values` is empty", ""),
        ({"columns": {"n": {"values": [1], "low": 1}}}, "a category has no `low`", ""),
        ({"columns": {"n": {"kind": "number", "values": [1]}}}, "a number has no `values`", ""),
        ({"columns": {"n": {"allowed": [1], "high": 2}}}, "already says", ""),
        ({"drop": "idx"}, "drop", ""),
        ({"trust": {"taux": 1}}, "unknown key 'taux' of trust", "tau"),
        ({"trust": {"zzz": 1}}, "unknown key 'zzz' of trust", "neighbours, tau"),
        ({"trust": {"neighbours": 0}}, "trust.neighbours", "neighbours: 20"),
        ({"trust": {"neighbours": 2.5}}, "trust.neighbours", "neighbours: 20"),
        ({"trust": {"tau": -1}}, "trust.tau", "tau: 0.3"),
        ({"trust": {"close_percentile": 101}}, "trust.close_percentile", "trust:"),
        ({"trust": {"caution": 1}}, "trust.caution", "caution: 0.95"),
        ({"trust": {"caution": 0.9, "unsupported": 0.8}}, "0.9 is above unsupported 0.8", ""),
        ({"trust": {"tau": 1, "close_percentile": 5}}, "already says which distance", ""),
        ([1, 2], "must be a mapping", "columns"),
    ],
)
def test_what_is_wrong_with_a_study(raw: object, message: str, hint: str) -> None:
    with pytest.raises(StudyProblem) as caught:
        study_of(raw)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.hint


def test_study_files_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("a: [1, 2\n")
    with pytest.raises(StudyProblem, match="not well formed"):
        load_study(tmp_path / "study.yaml")
    (tmp_path / "study.toml").write_text("a = \n")
    with pytest.raises(StudyProblem, match="not well formed"):
        load_study(tmp_path / "study.toml")
    (tmp_path / "evil.yaml").write_text("a: !!python/object/apply:os.system [ls]\n")
    with pytest.raises(StudyProblem, match="not well formed"):
        load_study(tmp_path / "evil.yaml")
    with pytest.raises(StudyProblem) as caught:
        load_study(tmp_path / "studi.yaml")
    assert "study.yaml" in caught.value.hint
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StudyProblem, match="cannot read"):
        load_study(tmp_path / "bytes.yaml")
    with pytest.raises(StudyProblem, match="cannot write"):
        save_study(FULL, tmp_path / "no" / "study.yaml")
    none = Study(map={"x": {"-1": None}})
    with pytest.raises(StudyProblem, match="TOML"):
        save_study(none, tmp_path / "none.toml")
    assert not (tmp_path / "none.toml").exists()
    save_study(none, tmp_path / "none.yaml")
    assert load_study(tmp_path / "none.yaml") == none


def test_merging_gives_the_second_the_last_word() -> None:
    more = Study(
        columns={
            "nodes": ColumnChoice(role=Role.CONTEXT),
            "threads": ColumnChoice(values=("few", "many")),
            "affinity": ColumnChoice(low=1),
            "new": ColumnChoice(unit="W"),
        },
        drop=("idx", "stem"),
        time="start",
        map={"State": {"F*": "FAILED"}, "x": {"a": "b"}},
    )
    both = merge(FULL, more)
    assert both.columns["nodes"] == ColumnChoice(role=Role.CONTEXT, low=1, high=64, step=1)
    assert both.columns["threads"] == ColumnChoice(values=("few", "many"), missing="none")
    assert both.columns["affinity"] == ColumnChoice(low=1)
    assert both.columns["new"].unit == "W"
    assert both.drop == ("idx", "stem")
    assert (both.group, both.time) == ("app", "start")
    assert both.rules == FULL.rules
    assert both.trust == FULL.trust
    assert both.map == {"State": {"CANCELLED*": "CANCELLED", "F*": "FAILED"}, "x": {"a": "b"}}
    assert merge(FULL, Study()) == FULL
    assert merge(Study(), FULL) == FULL


def test_what_is_close_is_said_in_one_way() -> None:
    by_share = merge(FULL, Study(trust=TrustChoice(close_percentile=10, caution=0.8)))
    assert by_share.trust == TrustChoice(
        neighbours=10, close_percentile=10, caution=0.8, unsupported=0.98
    )
    assert merge(by_share, Study(trust=TrustChoice(tau=0))).trust.close_percentile is None
