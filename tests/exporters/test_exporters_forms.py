"""Answers as CSV, JSON and job scripts, also with labels that somebody chose to do harm."""

import csv
import io
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compass as cp
from compass import registry
from compass.domain.answer import (
    Answer,
    Label,
    Prediction,
    Price,
    Proposal,
    Provenance,
    Suggestion,
    Trust,
)
from compass.domain.base import Config, Value
from compass.domain.errors import DataProblem, QueryProblem, UnknownName
from compass.domain.query import Kind, Query
from compass.exporters.forms import export
from property_examples import examples

HOSTILE = (
    "plain",
    "$(rm -rf /)",
    "`reboot`",
    "a'b\"c",
    "two\nlines",
    "a\rb",
    "; touch /tmp/x #",
    "=1+1",
    "+cmd|' /C calc'!A0",
    "@SUM(A1)",
    "-1+2",
    "\t=1",
    "",
    "naïve ünïcode ✔",
    "a,b;c|d",
    "${HOME}",
    "{nodes}",
    "\\",
    "#SBATCH --wrap=x",
)


def suggestion(config: Config, outcome: Value = 12.5, *, meets: bool = True) -> Suggestion:
    return Suggestion(
        config=config,
        settings=config,
        outcomes=(Prediction(name="runtime", value=outcome, unit="s", low=10.0, high=15.0),),
        distance=0.0,
        meets_goals=meets,
        trust=Trust(
            label=Label.TRUSTED, ood=0.1, uq=0.2, support=4, tau=0.3, reason="Trusted: four runs."
        ),
    )


def answer(*configs: Config, meets: bool = True) -> Answer:
    return Answer(
        query=Query(kind=Kind.RECOMMEND),
        text="Recommend ...",
        suggestions=tuple(suggestion(config, meets=meets) for config in configs),
        provenance=Provenance(data="x", seed=7, versions={}),
    )


def rendered(form: str, told: Answer, template: str | None = None) -> str:
    text: str = registry.get("exporter", form).render(told, template)
    return text


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def parses(script: str) -> None:
    done = subprocess.run(
        ["bash", "-n"], input=script, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def run_bash(script: str) -> str:
    done = subprocess.run(
        ["bash"], input=script, capture_output=True, text=True, timeout=30, check=True
    )
    return done.stdout


def test_csv_has_one_line_per_suggestion_and_survives_the_csv_module() -> None:
    told = answer({"nodes": 4, "app": "wrf", "cap": None}, {"nodes": 8, "app": "x", "cap": 1.25})
    rows = table(rendered("csv", told))
    assert [row["rank"] for row in rows] == ["1", "2"]
    assert [row["nodes"] for row in rows] == ["4", "8"]
    assert [row["cap"] for row in rows] == ["none", "1.25"]
    assert {row["predicted_runtime"] for row in rows} == {"12.5"}
    assert {row["trust"] for row in rows} == {"trusted"}
    assert {row["reason"] for row in rows} == {"Trusted: four runs."}


def test_csv_has_the_chance_of_a_goal_and_the_label_of_algorithm_1() -> None:
    told = answer({"nodes": 4}, {"nodes": 8})
    trust = told[0].trust.model_copy(update={"published": Label.CAUTION})
    outcome = told[0].outcomes[0].model_copy(update={"chance": 0.92})
    first = told[0].model_copy(update={"trust": trust, "outcomes": (outcome,)})
    rows = table(rendered("csv", told.model_copy(update={"suggestions": (first, told[1])})))
    assert [row["chance_runtime"] for row in rows] == ["0.92", ""]
    assert [row["algorithm_1"] for row in rows] == ["caution", ""]
    assert [(row["ood"], row["uq"]) for row in rows] == [("0.1", "0.2")] * 2


@pytest.mark.parametrize("form", ["csv", "sbatch"])
def test_an_idea_is_never_written(form: str) -> None:
    idea = suggestion({"nodes": 64}, meets=False)
    nothing = answer().model_copy(
        update={
            "ideas": (idea,),
            "no_answer": "Nothing is sure.",
            "chance": 0.8,
            "run_next": (Proposal(config={"nodes": 64}, why="to know"),),
            "prices": (Price(chance=0.5, reached=True), Price(chance=0.95, reached=False)),
        }
    )
    with pytest.raises(
        QueryProblem, match=r"no supported answer to write: Nothing is sure\."
    ) as problem:
        rendered(form, nothing)
    assert problem.value.hint == (
        "measure first what the answer proposes to run next, or ask for less certainty "
        "(a chance of 50%)"
    )
    bare = nothing.model_copy(update={"run_next": (), "prices": ()})
    with pytest.raises(QueryProblem) as problem:
        rendered(form, bare)
    assert problem.value.hint == "ask for less, or tell Compass more runs"
    beside = answer({"nodes": 4}).model_copy(update={"ideas": (idea,)})
    assert "64" not in rendered(form, beside)


@pytest.mark.parametrize("label", HOSTILE)
def test_labels_survive_csv_but_never_start_a_formula(label: str) -> None:
    (row,) = table(rendered("csv", answer({"app": label, "nodes": 2})))
    assert row["nodes"] == "2"
    assert row["app"].removeprefix("'") == label.removeprefix("'")
    assert not row["app"].startswith(("=", "+", "-", "@", "\t", "\r"))
    if label.startswith(("plain", "$", "a")) or not label:
        assert row["app"] == label


def test_column_names_never_start_a_formula_either() -> None:
    header = rendered("csv", answer({"=HYPERLINK(1)": 1, "nodes": 2})).splitlines()[0]
    assert '"\'=HYPERLINK(1)"' in header


def test_numbers_below_zero_stay_numbers_in_csv() -> None:
    (row,) = table(rendered("csv", answer({"offset": -3, "share": -0.5})))
    assert (row["offset"], row["share"]) == ("-3", "-0.5")


def test_json_is_the_whole_answer() -> None:
    told = answer({"nodes": 4, "app": "a\nb"})
    assert Answer.model_validate_json(rendered("json", told)) == told


def test_intervals_without_end_survive_json() -> None:
    told = answer({"nodes": 4})
    outcome = told[0].outcomes[0].model_copy(update={"low": float("-inf"), "high": float("inf")})
    open_ended = told.model_copy(
        update={"suggestions": (told[0].model_copy(update={"outcomes": (outcome,)}),)}
    )
    again = Answer.model_validate_json(rendered("json", open_ended))
    assert again[0].outcomes[0].high == float("inf")
    assert again == open_ended


def test_an_answer_that_abstains_is_no_script_though_a_table_may_tell_it() -> None:
    """The changed configuration of a what-if is told whatever its label; nobody should run it."""
    doubtful = answer({"nodes": 4}).model_copy(update={"no_answer": "It leads outside."})
    with pytest.raises(QueryProblem, match="no supported answer to write: It leads outside"):
        rendered("sbatch", doubtful)
    assert table(rendered("csv", doubtful))[0]["nodes"] == "4"


def test_a_script_says_what_to_expect_and_what_to_check() -> None:
    told = answer({"nodes": 2, "time_limit": 60, "mem_req": 8}, meets=False)
    script = rendered("sbatch", told)
    assert "# Trusted: four runs." in script
    assert "# predicted runtime: 12.5 s" in script
    assert "# It does not meet the goal" in script
    assert "# --time is left out: time_limit = 60, and it is not known in which unit" in script
    assert "export COMPASS_TIME_LIMIT=60\n" in script
    known = told.model_copy(update={"units": {"time_limit": "s", "mem_req": "GiB"}})
    script = rendered("sbatch", known)
    assert "#SBATCH --time=0-00:01:00\n#SBATCH --mem=8G\n" in script
    assert "left out" not in script


def test_a_template_takes_times_in_the_form_of_slurm() -> None:
    told = answer({"nodes": 2, "limit_s": 432000}).model_copy(update={"units": {"limit_s": "s"}})
    assert rendered("sbatch", told, "-t {--time} -N {nodes}\n") == "-t 5-00:00:00 -N 2\n"


def test_no_gpus_and_no_value_ask_slurm_for_nothing() -> None:
    script = rendered("sbatch", answer({"gpus": 0, "mem": None, "nodes": 1}))
    assert "--gpus" not in script
    assert "--mem" not in script


def test_other_settings_are_handed_to_the_program() -> None:
    script = rendered("sbatch", answer({"threads": 8, "tile size": 64, "schédule": "it's"}))
    told = run_bash(script + 'echo "$OMP_NUM_THREADS|$COMPASS_TILE_SIZE|$COMPASS_SCH_DULE"')
    assert told == "8|64|it's\n"


@pytest.mark.parametrize("label", HOSTILE)
@pytest.mark.parametrize("column", ["app", "partition", "time_limit", "threads", "a\nb; c"])
def test_a_label_stays_a_label_in_a_script(label: str, column: str) -> None:
    script = rendered("sbatch", answer({column: label, "nodes": 2}))
    parses(script)
    for line in script.splitlines():
        assert line == "" or line.startswith(("#", "export "))
        if line.startswith("export"):
            (word,) = shlex.split(line)[1:]
            assert word.partition("=")[0].isidentifier()
    assert run_bash(script) == ""


def test_a_label_reaches_the_program_as_it_is() -> None:
    for label in ("$(rm -rf /)", "a'b\"c", "`reboot`", "${HOME}"):
        script = rendered("sbatch", answer({"app": label}))
        assert run_bash(script + 'printf %s "$COMPASS_APP"') == label


@examples(25)
@given(st.dictionaries(st.text(min_size=1, max_size=12), st.text(max_size=20), max_size=4))
def test_any_labels_give_a_script_that_bash_accepts(config: dict[str, str]) -> None:
    parses(rendered("sbatch", answer({"nodes": 1, **config})))


def test_a_template_is_filled_and_the_shell_keeps_its_braces() -> None:
    template = (
        "#SBATCH -N {nodes}\n"
        "echo ${HOME} ${X:-none} ${A:-${B}} {{a,b}} '{{print $1}}'\n"
        "f() { echo {app}; }\n"
        "for i in {{1..3}}; do echo $i; done\n"
    )
    filled = rendered("sbatch", answer({"nodes": 4, "app": "it's"}), template)
    assert filled == (
        "#SBATCH -N 4\n"
        "echo ${HOME} ${X:-none} ${A:-${B}} {a,b} '{print $1}'\n"
        "f() { echo 'it'\"'\"'s'; }\n"
        "for i in {1..3}; do echo $i; done\n"
    )
    parses(filled)


@pytest.mark.parametrize("label", [label for label in HOSTILE if "\n" not in label])
def test_a_label_is_one_word_in_a_template(label: str) -> None:
    filled = rendered("sbatch", answer({"app": label}), "printf %s {app}\n")
    parses(filled)
    assert run_bash(filled) == " ".join(label.split())


def test_an_unknown_name_in_a_template_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="'node' in the template") as problem:
        rendered("sbatch", answer({"nodes": 4}), "-N {node}")
    assert "did you mean nodes?" in problem.value.hint
    assert "{{node}}" in problem.value.hint


def test_only_scripts_take_templates_and_nothing_has_no_form() -> None:
    with pytest.raises(QueryProblem, match="takes no template"):
        rendered("csv", answer({"nodes": 1}), "x")
    with pytest.raises(QueryProblem, match="takes no template"):
        rendered("json", answer({"nodes": 1}), "x")
    for form in ("csv", "sbatch"):
        with pytest.raises(QueryProblem, match="no configuration to write"):
            rendered(form, answer())
    with pytest.raises(UnknownName, match="no exporter named 'xlsx'"):
        export(answer({"nodes": 1}), "xlsx", Path("never"))


def test_files_are_replaced_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plan.csv"
    export(answer({"nodes": 1}), "csv", path)
    before = path.read_text()
    assert path.stat().st_mode & 0o777 == 0o644

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("compass.files.os.fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        export(answer({"nodes": 2}), "csv", path)
    assert path.read_text() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan.csv"]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "plan.csv", tmp_path):
        with pytest.raises(DataProblem, match="cannot write"):
            export(answer({"nodes": 1}), "csv", path)
    with pytest.raises(DataProblem, match="cannot read the template"):
        export(answer({"nodes": 1}), "sbatch", tmp_path / "j", tmp_path / "missing")
    assert list(tmp_path.iterdir()) == []


def test_the_answers_of_an_engine_can_be_written(engine: cp.Compass, tmp_path: Path) -> None:
    told = engine.recommend(ask=["nodes", "gpus"], goals={"runtime": cp.minimize}, count=3)
    export(told, "csv", tmp_path / "plan.csv")
    rows = table((tmp_path / "plan.csv").read_text())
    assert [int(row["nodes"]) for row in rows] == [s.config["nodes"] for s in told]
    assert [float(row["predicted_runtime"]) for row in rows] == [
        s.outcome("runtime").value for s in told
    ]
    for end in ("low", "high"):
        assert [float(row[f"{end}_runtime"]) for row in rows] == [
            getattr(s.outcome("runtime"), end) for s in told
        ]
    export(told, "sbatch", tmp_path / "job.sh")
    script = (tmp_path / "job.sh").read_text()
    parses(script)
    assert f"#SBATCH --nodes={told[0].config['nodes']}\n" in script


def test_an_answer_knows_the_units_of_its_settings() -> None:
    """A limit of five days in seconds once became 432,000 minutes."""
    limits, nodes = [86_400 * days for days in (1, 2, 5)] * 20, [1, 2, 4, 8] * 15
    table = {
        "nodes": nodes,
        "timelimit": limits,
        "runtime": [1000 / n + s / 864 for n, s in zip(nodes, limits, strict=True)],
    }
    study = {"columns": {"timelimit": {"role": "knob", "unit": "s"}, "runtime": {"unit": "min"}}}
    engine = cp.Compass(cp.read(table, study=study), surrogate="linear")
    told = engine.recommend(
        ask=["nodes", "timelimit"], goals={"runtime": cp.maximize}, where=["timelimit == 432000"]
    )
    assert told.units == {"timelimit": "s", "runtime": "min"}
    assert told[0].config["timelimit"] == 432_000
    assert "#SBATCH --time=5-00:00:00\n" in rendered("sbatch", told)


def test_an_averaged_recommendation_shows_only_what_was_asked_for(engine: cp.Compass) -> None:
    """The prediction is a mean over sizes: one size beside it would claim it is for that size."""
    answer = engine.recommend(ask=["gpus"], goals={"runtime": cp.minimize}, where=["app == 'wrf'"])
    text = registry.get("exporter", "csv").render(answer)
    (first, *_) = csv.DictReader(io.StringIO(text, newline=""))
    assert first["gpus"] == "4"
    assert "size" not in first
    assert "Averaged over" in first["context"]
    script = registry.get("exporter", "sbatch").render(answer)
    assert "# " in script
    assert "Averaged over" in script


# Runs to make next as job arrays


def submitted(script: str, folder: Path) -> tuple[list[list[str]], dict[str, str]]:
    """What the script gives to sbatch, and the variables that each task sees."""
    file = folder / "runs.sh"
    file.write_text(script)
    calls = folder / "calls"
    (folder / "sbatch").write_text(
        f'#!/bin/sh\nprintf "%s\\0" "$@" >> {calls}\nprintf "\\n" >> {calls}\n'
    )
    (folder / "sbatch").chmod(0o755)
    path = {"PATH": f"{folder}:/usr/bin:/bin"}
    subprocess.run(["/bin/bash", str(file)], env=path, check=True, capture_output=True)
    made = [line.split("\0")[:-1] for line in calls.read_text().splitlines()]
    seen = {}
    for number in {n for call in made for n in tasks_of(call[0])}:
        ran = subprocess.run(
            ["/bin/bash", "-c", f". {shlex.quote(str(file))}; env -0"],
            env={**path, "SLURM_ARRAY_TASK_ID": str(number)},
            check=True,
            capture_output=True,
            text=True,
        )
        seen[str(number)] = ran.stdout
    return made, seen


def tasks_of(option: str) -> list[int]:
    given = option.removeprefix("--array=")
    if "-" in given:
        first, last = map(int, given.split("-"))
        return list(range(first, last + 1))
    return [int(one) for one in given.split(",")]


def proposed(*configs: Config) -> Answer:
    proposals = tuple(Proposal(config=config, why="to be\nsure $(reboot)") for config in configs)
    return answer({"nodes": 1}).model_copy(update={"run_next": proposals})


def test_runs_of_equal_resources_are_one_array(tmp_path: Path) -> None:
    script = registry.get("exporter", "array").render(
        proposed(
            {"nodes": 2, "tile": 16},
            {"nodes": 4, "tile": 16},
            {"nodes": 2, "tile": 32},
            {"nodes": 4, "tile": 64},
        )
    )
    made, seen = submitted(script, tmp_path)
    assert [call[:2] for call in made] == [
        ["--array=1,3", "--nodes=2"],
        ["--array=2,4", "--nodes=4"],
    ]
    assert all(call[2].endswith("runs.sh") for call in made)
    tiles = {n: next(v for v in told.split("\0") if "TILE" in v) for n, told in seen.items()}
    assert tiles == {n: f"COMPASS_TILE={t}" for n, t in zip("1234", (16, 16, 32, 64), strict=True)}


@pytest.mark.parametrize("label", HOSTILE)
def test_no_label_of_a_proposed_run_reaches_the_shell(label: str, tmp_path: Path) -> None:
    script = registry.get("exporter", "array").render(
        proposed({"partition": label, "input": label}, {"partition": "a", "input": "b"})
    )
    made, seen = submitted(script, tmp_path)
    assert len(made) == 2
    assert f"COMPASS_INPUT={' '.join(label.split())}" in seen["1"].split("\0")


def test_a_column_without_a_value_hides_no_other_that_means_the_same() -> None:
    script = rendered("sbatch", answer({"num_nodes": None, "nodes": 4, "GPUs": 0}))
    assert "#SBATCH --nodes=4\n" in script
    assert "--gpus" not in script


def test_without_a_run_to_propose_there_is_no_array() -> None:
    with pytest.raises(QueryProblem, match="no run to propose"):
        registry.get("exporter", "array").render(proposed())
