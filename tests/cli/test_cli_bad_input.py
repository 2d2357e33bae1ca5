"""Whatever a person gets wrong is reported in two lines, with exit code 2 and nothing on stdout."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli_case import FLAGS, QUICK, RECOMMEND, RECONFIGURE, compass, process, refused, write_csv

import compass as cp
from compass.engine.store import save
from conftest import ROLES, cluster_columns


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("data") / "jobs.csv", cluster_columns(200))


@pytest.fixture(scope="module")
def saved(jobs: Path) -> Path:
    engine = cp.Compass(cp.read(jobs).roles(**ROLES), rules=["cores <= 32 * nodes"], settings=QUICK)
    return save(engine.fit(), jobs.parent / "jobs.compass")


@pytest.fixture
def start(jobs: Path, tmp_path: Path) -> dict[str, object]:
    features = (*ROLES["knobs"], *ROLES["context"])
    return {name: value for name, value in cp.read(jobs).row(0).items() if name in features}


TABLES = {
    "empty": (b"", "is empty"),
    "header only": (b"a,b,y\n", "no rows"),
    "binary": (bytes(np.random.default_rng(1).integers(0, 256, 4000, dtype=np.uint8)), "not text"),
    "one column": (b"a\n" + b"1\n2\n" * 30, "one column only"),
    "all missing": (b"a,b,y\n" + b",,\n" * 30, "empty"),
    "names twice": (b"a,a,y\n" + b"1,2,3\n" * 30, "several columns named a"),
    "one configuration": (b"a,b,y\n" + b"1,2,3\n2,2,3\n1,2,3\n" * 1, "y"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_file_that_holds_no_runs(name: str, tmp_path: Path) -> None:
    content, part = TABLES[name]
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    query = "Recommend X = {a: ?} to achieve Y = {y: minimize}"
    refused(compass("ask", path, query), part)


def test_a_missing_file_offers_the_nearest(jobs: Path) -> None:
    refused(compass("ask", jobs.parent / "job.csv", RECOMMEND), "no file", "jobs.csv?")
    refused(compass("columns", "/nowhere/jobs.csv"), "there is no folder /nowhere")
    refused(compass("columns", ""), "DATA is empty")
    refused(compass("columns", "x" * 5000), "error: ")


QUESTIONS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "unknown column": (
        "Recommend X = {gpu: ?} to achieve Y = {runtime: minimize}",
        (),
        ("no column named 'gpu'", "did you mean gpus?", "^"),
    ),
    "asked for and aimed at": (
        "Recommend X = {gpus: ?} to achieve Y = {gpus: minimize}",
        (),
        ("'gpus' is both",),
    ),
    "rules against each other": (
        f"{RECOMMEND[:-1]}, nodes > 4, nodes < 2}}",
        (),
        ("nodes > 4", "nodes < 2"),
    ),
    "against a standing rule": (
        "Recommend X = {cores: ?} to achieve Y = {runtime: minimize} "
        "where C = {nodes: 1, cores > 200}",
        (),
        ("cores <= 32 * nodes", "cores > 200"),
    ),
    "no such label": (
        RECOMMEND.replace("wrf", "wfr"),
        (),
        ("no value of app named 'wfr'", "did you mean wrf?"),
    ),
    "no baseline": (RECONFIGURE, (), ("needs a configuration to start from", "--from row:N")),
    "an old value that is not so": (
        RECONFIGURE.replace("gpus: ?", "gpus: 77 -> ?"),
        ("--from", "row:0"),
        ("gpus is 77", "the baseline has"),
    ),
    "a baseline that breaks a rule": (
        RECONFIGURE,
        ("--from", "row:0", "--where", "nodes > 100"),
        ("breaks the rule nodes > 100", "nodes ="),
    ),
    "a row out of range": (RECONFIGURE, ("--from", "row:200"), ("no row 200", "0 to 199")),
    "a row below 0": (RECONFIGURE, ("--from", "row:-1"), ("not a row", "row:0")),
    "not a row": (RECONFIGURE, ("--from", "row:²"), ("not a row",)),
    "from nonsense": (RECONFIGURE, ("--from", "nonsense"), ("no such file", "row:N")),
    "from a folder": (RECONFIGURE, ("--from", "/"), ("cannot read it",)),
    "from far too long a name": (RECONFIGURE, ("--from", "x" * 5000), ("...: cannot read it",)),
    "two baselines": (RECONFIGURE + " from row 1", ("--from", "row:0"), ("once",)),
    "count 0": (RECOMMEND, ("--count", 0), ("--count", "compass ask --help")),
    "count too large": (RECOMMEND, ("--count", 10**20), ("--count",)),
    "count in the text": (RECOMMEND + " top 0", (), ("error: ",)),
    "a negative seed": (RECOMMEND, ("--seed", -1), ("--seed",)),
    "a seed that is no number": (RECOMMEND, ("--seed", "x"), ("--seed", "integer")),
    "a condition that is no rule": (RECOMMEND, ("--where", "nodes <"), ("ends too early", "^")),
    "a curve of nothing": (RECOMMEND, ("--curve", "gpu"), ("no column named 'gpu'",)),
    "a curve of an outcome": (RECOMMEND, ("--curve", "power"), ("power is not a parameter",)),
    "10,000 characters": (
        f"{RECOMMEND[:-1]}{', nodes < 9' * 1000}}}",
        (),
        ("11,", "the limit is 8,000"),
    ),
    "deep nesting": (f"{RECOMMEND[:-1]}, {'not ' * 1500}nodes < 9}}", (), ("too deeply",)),
    "an empty question": ("", (), ("the query is empty", "for example")),
    "prose": ("how many nodes should I use?", (), ("did not expect", "for example")),
    "a factor that gives no whole number": (
        "What if we change X = {nodes: old -> 0.3*old}, how would that affect Y = {runtime}",
        ("--from", "row:0"),
        ("whole numbers",),
    ),
    "roles for a saved engine": (RECOMMEND, ("--role", "gpus=knob"), ("already has its roles",)),
    "a template without a script": (RECOMMEND, ("--template", "t.sh"), ("--sbatch",)),
    "a script for no configuration": (
        "What if we change X = {gpus: 0 -> 4}, how would that affect Y = {runtime}",
        ("--sbatch", "never-written.sh"),
        ("no configuration to write", "--from row:N"),
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_that_cannot_be_answered(name: str, saved: Path) -> None:
    query, flags, parts = QUESTIONS[name]
    refused(compass("ask", saved, query, *flags), *parts)


BASELINES: dict[str, tuple[dict[str, object] | str | bytes, str]] = {
    "a label never seen": ({"app": "namd"}, "no value of app named 'namd'"),
    "not a number": ({"nodes": float("nan")}, "nodes must be a finite number, not nan"),
    "infinite": ({"nodes": float("inf")}, "nodes must be a finite number, not inf"),
    "text for a number": ({"nodes": "many"}, "nodes is a number, not 'many'"),
    "nothing where a value is needed": ({"nodes": None}, "nodes"),
    "an unknown column": ({"nodse": 4}, "did you mean nodes?"),
    "nested": ({"nodes": {"value": 4}}, "not one configuration"),
    "a list": ("[1, 2]", "not one configuration"),
    "incomplete": ("nodes: 4\n", "no value for"),
    "broken YAML": ("nodes: [4\n", "cannot read a configuration"),
    "nested beyond reason": ("[" * 2000, "cannot read a configuration"),
    "not text": (b"\xff\xfe\x00\x01", "not a text file"),
}


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_file_that_is_no_configuration(
    name: str, saved: Path, start: dict[str, object], tmp_path: Path
) -> None:
    given, part = BASELINES[name]
    path = tmp_path / "start.json"
    if isinstance(given, dict):
        path.write_text(json.dumps(start | given))
    else:
        path.write_bytes(given if isinstance(given, bytes) else given.encode())
    refused(compass("ask", saved, RECONFIGURE, "--from", path), part)


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (("--role", "nonsense"), ("--role nonsense is not COLUMN=VALUE", "nodes=knob")),
        (("--role", "nodes=nonsense"), ("no role 'nonsense'", "knob, context, outcome, ignored")),
        (("--role", "node=knob"), ("no column named 'node'", "did you mean nodes?")),
        (("--domain", "nonsense"), ("is not COLUMN=VALUE", "threads=4,8,16")),
        (("--domain", "nodes=x..y"), ("is not a range", "low..high:step")),
        (("--domain", "nodes=8..1"), ("is not a range",)),
        (("--domain", "nodes=1..8:0"), ("is not a range",)),
        (("--domain", "nodes=1..inf"), ("is not a range",)),
        (("--domain", "nodes=nan"), ("is not a list of numbers",)),
        (("--domain", "nodes=few,many"), ("no row can be used", "nodes")),
        (("--unit", "runtime"), ("is not COLUMN=VALUE", "runtime=s")),
        (("--role", "nodes="), ("is not COLUMN=VALUE", "nodes=knob")),
        (("--missing", "nodes=maybe"), ("no missing 'maybe'", "none")),
        (("--drop", "node"), ("no column named 'node'",)),
        (("--rule", "nodes <"), ("ends too early",)),
        (("--rule", "node < 4"), ("no column named 'node'",)),
        (("--rule", ""), ("the rule is empty",)),
        (("--study", "missing.yaml"), ("no study file",)),
    ],
)
@pytest.mark.parametrize("command", ["ask", "columns"])
def test_a_flag_that_does_not_fit(
    command: str, flags: tuple[str, str], parts: tuple[str, ...], jobs: Path
) -> None:
    question = (RECOMMEND,) if command == "ask" else ()
    refused(compass(command, jobs, *question, *flags), *parts)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("columsn: {}\n", "did you mean columns?"),
        ("columns: {nodes: {rol: knob}}\n", "did you mean role?"),
        ("columns: {nodes: {role: king}}\n", "nodes.role"),
        ("columns: [1\n", "not well formed"),
        ("- 3\n", "must be a mapping"),
        ("rules: ['nodes <']\n", "ends too early"),
        ("columns: {node: {role: knob}}\n", "did you mean nodes?"),
    ],
)
def test_a_study_that_does_not_fit(text: str, part: str, jobs: Path, tmp_path: Path) -> None:
    study = tmp_path / "s.yaml"
    study.write_text(text)
    refused(compass("ask", jobs, RECOMMEND, "--study", study), part)


def test_outputs_are_checked_before_any_work(jobs: Path, saved: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for flag in ("--sbatch", "--csv"):
        refused(compass("ask", "no-data", RECOMMEND, flag, tmp_path / "no" / "f"), "no folder")
        refused(compass("ask", "no-data", RECOMMEND, flag, tmp_path), "it is a folder")
    refused(compass("columns", "no-data", "--write-study", "/no/s.yaml"), "mkdir -p /no")
    refused(compass("columns", "no-data", "--confirm", "1"), "--write-study")
    refused(compass("fit", "no-data", "-o", tmp_path / "file"), "is not a folder")
    refused(compass("fit", "no-data", "-o", tmp_path / "file" / "x"), "is not a folder")
    refused(compass("fit", "no-data", "-o", tmp_path), "holds something else")
    refused(compass("fit", "no-data", "-o", "x" * 5000), "cannot save to")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_template_that_cannot_be_filled_leaves_no_script(saved: Path, tmp_path: Path) -> None:
    script, template = tmp_path / "job.sh", tmp_path / "site.sh"
    flags = ("--sbatch", script, "--template", template)
    refused(compass("ask", saved, RECOMMEND, *flags), "cannot read the template")
    template.write_text("#SBATCH --nodes={nodse}\n")
    refused(compass("ask", saved, RECOMMEND, *flags), "'nodse' in the template", "mean nodes?")
    template.write_bytes(b"\xff\xfe")
    refused(compass("ask", saved, RECOMMEND, *flags), "not text")
    assert not script.exists()


def test_a_damaged_engine(saved: Path, tmp_path: Path) -> None:
    broken = tmp_path / "x.compass"
    broken.mkdir()
    refused(compass("ask", broken, RECOMMEND), "is not a saved engine", "compass fit")
    (broken / "CURRENT").write_text("../../etc\n")
    refused(compass("ask", broken, RECOMMEND), "is damaged")
    refused(compass("columns", broken), "is damaged")


def test_flags_and_commands_that_do_not_exist(jobs: Path) -> None:
    refused(compass("aks"), "no such command 'aks'", "compass --help")
    refused(compass("ask"), "missing argument 'DATA'", "compass ask --help")
    refused(compass("ask", jobs, RECOMMEND, "--cuont", "3"), "--cuont", "--count")
    refused(compass("fit", jobs), "--output")
    refused(compass("fit", jobs, "-o", jobs.parent / "never", "--keep", "2"), "keep")


def test_a_number_that_is_none_is_missing_and_told(tmp_path: Path) -> None:
    columns = cluster_columns(100)
    columns["runtime"][3] = "nan"
    columns["runtime"][4] = "inf"
    columns["cores"][5] = "NaN"
    columns["cores"][6] = "-inf"
    result = compass("columns", write_csv(tmp_path / "t.csv", columns), *FLAGS)
    assert result.code == 0
    assert "100 rows, 98 used" in result.out
    flat = " ".join(result.out.split())
    assert "2 missing" in flat
    assert "1 row dropped: cores is missing" in flat
    assert "1 row dropped: cores is infinite" in flat
    assert "runtime is infinite and counts as missing" in flat


def test_the_same_in_a_process_of_its_own(saved: Path) -> None:
    refused(process("ask", saved, RECOMMEND.replace("gpus", "gpu")), "did you mean gpus?", "^")
    refused(process("ask", saved, RECOMMEND, "--count", "0"), "--count")


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "much"])
def test_a_cost_that_is_no_positive_number(saved: Path, value: str) -> None:
    refused(compass("ask", saved, RECOMMEND, "--weight", f"nodes={value}"), "positive number")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("valid=much", "--loss valid=much: 'much' is not a number from 0 to 1000"),
        ("valid=-1", "'-1' is not a number from 0 to 1000"),
        ("valid=1001", "'1001' is not a number from 0 to 1000"),
        ("valid=nan", "'nan' is not a number"),
        ("vlaid=1", "did you mean valid?"),
        ("valid", "for example --loss proximity=0"),
    ],
)
def test_a_weight_that_the_loss_has_not(saved: Path, given: str, words: str) -> None:
    refused(compass("ask", saved, RECOMMEND, "--loss", given), words)
