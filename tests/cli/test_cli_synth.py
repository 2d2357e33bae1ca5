"""compass synth: learn, draw on conditions, fill in, judge."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from compass.cli.main import app
from compass.domain.errors import BadInput, EngineProblem


def run(*words: str | Path) -> str:
    done = CliRunner().invoke(app, ["synth", *map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("synth") / "kernels.synth"
    found = json.loads(run("fit", "embedded", "-o", path, "--json"))
    assert found["name"] == "cart"
    assert found["rows"] == 3000
    return path


def test_rows_are_drawn_on_conditions(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "few.csv"
    words = ["-n", "50", "--where", "threads in {1, 2}", "--where", "runtime_ms <= 0.5"]
    report = json.loads(run("sample", model, "-o", out, *words, "--json"))
    assert report["rows"] == report["asked"] == 50
    assert 0 < report["acceptance"] <= 1
    drawn = rows(out)
    assert len(drawn) == 50
    assert all(row["threads"] in ("1", "2") for row in drawn)
    assert all(float(row["runtime_ms"]) <= 0.5 for row in drawn)
    assert {row["origin"] for row in drawn} == {"synthetic"}


def test_the_same_seed_draws_the_same_file(model: Path, tmp_path: Path) -> None:
    one, two, other = (tmp_path / f"{name}.csv" for name in ("one", "two", "other"))
    for path, seed in ((one, 3), (two, 3), (other, 4)):
        run("sample", model, "-o", path, "-n", "20", "--seed", str(seed))
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes() != other.read_bytes()


def test_empty_cells_of_a_file_are_filled(model: Path, tmp_path: Path) -> None:
    given, out = tmp_path / "given.csv", tmp_path / "filled.csv"
    given.write_text("kernel,threads,runtime_ms\ntriad,2,\nstencil,,0.25\n", encoding="utf-8")
    report = json.loads(run("fill", model, given, "-o", out, "--draws", "3", "--json"))
    assert report["rows"] == 6
    filled = rows(out)
    assert [row["kernel"] for row in filled] == ["triad"] * 3 + ["stencil"] * 3
    assert all(row["runtime_ms"] for row in filled)
    assert "runtime_ms" in filled[0]["filled"]
    assert filled[3]["runtime_ms"] == "0.25"


def test_rows_are_judged_and_the_report_is_a_page(model: Path, tmp_path: Path) -> None:
    made, page = tmp_path / "made.csv", tmp_path / "quality.html"
    run("sample", model, "-o", made, "-n", "400")
    words = ["--target", "runtime_ms", "--output", page]
    report = json.loads(run("check", "embedded", made, *words, "--json"))
    names = {one["name"] for one in report["measures"]}
    assert {"dissimilarity", "tabsyndex", "two-sample AUC", "global utility"} <= names
    assert report["target"] == "runtime_ms"
    assert "held" not in report["notes"][0]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "real against real" in run("check", "embedded", made)


def test_what_cannot_be_used_is_told_before_the_work(model: Path, tmp_path: Path) -> None:
    def fails(kind: type[Exception], *words: str | Path) -> None:
        with pytest.raises(kind):
            CliRunner().invoke(app, ["synth", *map(str, words)], catch_exceptions=False)

    fails(BadInput, "sample", model, "-o", tmp_path / "rows.docx")
    fails(BadInput, "sample", tmp_path / "none.synth", "-o", tmp_path / "rows.csv")
    fails(BadInput, "check", "embedded", "embedded", "--output", tmp_path / "page.pdf")
    broken = tmp_path / "broken.synth"
    broken.write_bytes(model.read_bytes()[:200])
    fails(EngineProblem, "sample", broken, "-o", tmp_path / "rows.csv")
    for said in ("--rule", "threads <= 2"), ("--unit", "runtime_ms=s"), ("--synthesizer", "copula"):
        fails(BadInput, "sample", model, "-o", tmp_path / "rows.csv", *said)


def test_a_decision_is_shown_and_written(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "chosen.csv"
    words = ["--where", "runtime_ms <= 0.5", "--given", "kernel=triad", "-n", "100"]
    found = json.loads(run("decide", model, *words, "-o", out, "--json"))
    assert found["report"]["rows"] == 100
    assert {one["name"] for one in found["columns"]} >= {"threads", "runtime_ms"}
    assert {row["kernel"] for row in rows(out)} == {"triad"}
    assert "Commonest choices" in run("decide", model, *words)
    with pytest.raises(BadInput, match="triat"):
        run("decide", model, "--given", "kernel=triat")


def test_predictions_stand_beside_a_surrogate(model: Path, tmp_path: Path) -> None:
    given, out = tmp_path / "given.csv", tmp_path / "said.csv"
    run("sample", model, "-o", given, "-n", "12")
    text = run("predict", model, given, "-o", out, "--draws", "5")
    assert "runtime_ms" in text
    written = rows(out)
    assert len(written) == 12
    assert float(written[0]["runtime_ms by cart, low"]) <= float(
        written[0]["runtime_ms by cart, high"]
    )
    found = json.loads(run("predict", model, given, "--draws", "5", "--json"))
    assert {one["source"] for one in found["predictions"]} == {"cart"}


def few(path: Path) -> Path:
    lines = ["x,y"] + [f"{n},{(7 * n) % 11}" for n in range(60)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_table_is_augmented_only_where_that_helps(tmp_path: Path) -> None:
    data, out = few(tmp_path / "few.csv"), tmp_path / "more.csv"
    roles = ["--role", "x=knob", "--role", "y=outcome", "--surrogate", "linear"]
    found = json.loads(run("augment", data, "-o", out, *roles, "--json"))
    assert [one["outcome"] for one in found["outcomes"]] == ["y"]
    assert len(rows(out)) == 60 + found["rows"]
    assert "no outcome gains" in run("augment", data, "-o", out, *roles)


def test_settings_of_a_synthesizer_are_given_and_tuned(tmp_path: Path) -> None:
    data, out = few(tmp_path / "few.csv"), tmp_path / "few.synth"
    found = json.loads(run("fit", data, "-o", out, "--set", "least=9", "--json"))
    assert found["settings"]["least"] == 9
    found = json.loads(run("fit", data, "-o", out, "--tune", "0.3", "--json"))
    assert any("tuned over" in note for note in found["notes"])
    assert (tmp_path / "few.synth.tuning").is_file()
    with pytest.raises(BadInput, match="leest"):
        run("fit", data, "-o", out, "--set", "leest=9")
    with pytest.raises(BadInput, match="number"):
        run("fit", data, "-o", out, "--set", "least=many")


def test_a_fit_says_what_came_of_synthetic_rows(tmp_path: Path) -> None:
    data, words = few(tmp_path / "few.csv"), ["--role", "x=knob", "--role", "y=outcome"]
    words += ["--surrogate", "linear", "--augment", "cart", "-o", str(tmp_path / "few.compass")]
    done = CliRunner().invoke(app, ["fit", str(data), *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "no outcome is predicted better with synthetic rows" in " ".join(done.output.split())
