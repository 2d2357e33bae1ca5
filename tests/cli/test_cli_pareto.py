"""`compass pareto`: the plot, the words, the files, and what is refused."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cli_case import QUICK, compass, refused, write_csv

import compass as cp
from compass.cli.front_plot import plotted
from compass.domain.front import Front, FrontPoint
from compass.engine.store import save
from conftest import ROLES, cluster_columns

HERE = ("--where", "app == 'wrf'", "--where", "size == 200")
ASKED = ("--minimize", "runtime,power", "--ask", "nodes,cores,gpus", *HERE)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobs = write_csv(tmp_path_factory.mktemp("data") / "jobs.csv", cluster_columns(300))
    engine = cp.Compass(cp.read(jobs).roles(**ROLES), rules=["cores <= 32 * nodes"], settings=QUICK)
    return save(engine.fit(), jobs.parent / "jobs.compass")


def test_a_front_is_plotted_and_told_in_words(saved: Path) -> None:
    result = compass("pareto", saved, *ASKED)
    assert result.code == 0
    assert result.err == ""
    flat = " ".join(result.out.split())
    for part in (
        "trade-offs between small runtime and small power",
        "Hypervolume",
        "a tenth behind what was measured",
        "power (smaller is better)",
        "best runtime",
        "than at the best runtime",
        "◆ knee ● measured ○ untried × idea",
    ):
        assert part in flat
    assert max(map(len, result.out.splitlines())) <= 80


def test_json_is_the_answer_that_python_gives(saved: Path) -> None:
    result = compass("pareto", saved, *ASKED, "--count", 4, "--json", "--no-prove")
    answer = cp.Answer.model_validate_json(result.out)
    assert answer.front is not None
    assert len(answer) == 4
    own = cp.load(saved).pareto(
        ["runtime", "power"],
        ask=["nodes", "cores", "gpus"],
        where=HERE[1::2],
        count=4,
        prove=0,
    )
    assert own.front == answer.front


def test_the_front_is_drawn_and_written(saved: Path, tmp_path: Path) -> None:
    svg, table = tmp_path / "front.svg", tmp_path / "front.csv"
    result = compass("pareto", saved, *ASKED, "--svg", svg, "--csv", table)
    assert f"wrote {svg}" in result.err + result.out
    root = ElementTree.fromstring(svg.read_text(encoding="utf-8"))
    circles = [one for one in root.iter() if one.tag.endswith("circle")]
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(circles) >= len(rows) > 3
    assert {"predicted_runtime", "predicted_power", "knee", "measured_runs"} <= set(rows[0])


def test_a_run_is_a_place_to_trade_from(saved: Path) -> None:
    result = compass(
        "pareto", saved, "--minimize", "runtime", "--minimize", "power", "--from", "row:5", "--json"
    )
    answer = json.loads(result.out)
    assert answer["query"]["kind"] == "reconfigure"
    assert answer["baseline"] is not None
    assert answer["front"]["points"]


def test_a_reference_is_kept(saved: Path) -> None:
    result = compass("pareto", saved, *ASKED, "--reference", "power=900", "--json")
    front = json.loads(result.out)["front"]
    assert front["reference"]["power"] == 900
    assert front["reference_from"]["power"] == "given"


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--minimize", "runtime"), "two outcomes"),
        (("--minimize", "runtime,runtime"), "given twice"),
        ((*ASKED, "--reference", "power"), "COLUMN=VALUE"),
        ((*ASKED, "--reference", "power=low"), "is not a number"),
        ((*ASKED, "--generator", "c3g"), "no front"),
        (("--minimize", "runtime,pwoer"), "pwoer"),
    ],
)
def test_what_cannot_be_a_front_is_refused(saved: Path, flags: tuple[str, ...], why: str) -> None:
    refused(compass("pareto", saved, *flags), why)


def point(place: int, x: float, y: float, **more: object) -> FrontPoint:
    return FrontPoint(place=place, settings={}, values={"x": x, "y": y}, **more)


def front(*points: FrontPoint, **directions: str) -> Front:
    return Front(
        directions=directions or {"x": "minimize", "y": "minimize"},
        reference={"x": 9.0, "y": 9.0},
        reference_from={"x": "given", "y": "given"},
        hypervolume=1.0,
        hypervolume_found=1.0,
        found=len(points),
        spread=0.0,
        extent={"x": 1.0, "y": 1.0},
        points=points,
    )


def test_the_plot_has_its_ends_where_they_belong() -> None:
    told = front(point(0, 1, 5), point(1, 2, 2, knee=True, measured=3), point(2, 6, 1))
    lines = plotted(told, {"x": "s"})
    rows = [line for line in lines if "│" in line]
    assert rows[0].endswith("│○·") or "│○" in rows[0]
    assert rows[-1].rstrip().endswith("○")
    assert sum("◆" in row for row in rows) == 1
    assert any("1 s" in line and "6 s" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_the_stairs_lie_on_the_worse_side() -> None:
    both = plotted(front(point(0, 1, 5), point(1, 6, 1)), {})
    top = next(line for line in both if "│" in line)
    assert "·" in top  # minimised: along the top to the right, then down
    least = front(point(0, 6, 5), point(1, 1, 1), x="maximize", y="minimize")
    assert plotted(least, {})


def test_a_single_point_is_no_plot() -> None:
    assert plotted(front(point(0, 1, 5)), {}) == ()
