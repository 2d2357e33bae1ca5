"""Pictures hold what the numbers say, and are well-formed."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from machine_law import MACHINES, roofline_runs

from compass.domain.errors import EnvironmentProblem
from compass.platforms.counters import counter_mapping
from compass.platforms.order import ordered
from compass.platforms.pairs import MatchedRuns
from compass.platforms.pictures import machines_svg, order_svg, ratios_svg
from compass.platforms.predictor import PlatformModel, fit

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def runs() -> MatchedRuns:
    return roofline_runs(6)


@pytest.fixture(scope="module")
def model(runs: MatchedRuns) -> PlatformModel:
    return fit(runs.others("app02"), "quartz")


def texts(picture: str) -> list[str]:
    return [one.text or "" for one in ET.fromstring(picture).iter(f"{SVG}text")]


def dots(picture: str) -> list[tuple[str, float, float]]:
    """Name and place of every dot that has one."""
    found = []
    for one in ET.fromstring(picture).iter(f"{SVG}circle"):
        name = one.find(f"{SVG}title")
        assert name is not None
        found.append((name.text or "", float(one.get("cx", "nan")), float(one.get("cy", "nan"))))
    return found


def test_ratios_are_where_they_were_measured_and_predicted(model: PlatformModel) -> None:
    picture = ratios_svg(model)
    truth = model.lines.log_ratio("quartz")
    found = truth - model.held_out
    known = np.isfinite(found)
    placed = [dot for dot in dots(picture) if " on " in dot[0]]
    assert len(placed) == known.sum()
    # Along both axes, the order is that of the numbers, machine by machine.
    x, y = np.array([dot[1] for dot in placed]), np.array([dot[2] for dot in placed])
    rows = [(m, n) for m in range(4) for n in range(len(truth)) if known[n, m]]
    wanted = np.array([(truth[n, m], found[n, m]) for m, n in rows])
    assert np.corrcoef(x, wanted[:, 0])[0, 1] == pytest.approx(1, abs=1e-4)
    assert np.corrcoef(y, wanted[:, 1])[0, 1] == pytest.approx(-1, abs=1e-4)
    assert {"ruby", "lassen", "corona"} <= set(texts(picture))


def test_the_order_has_the_chance_of_every_pair(runs: MatchedRuns, model: PlatformModel) -> None:
    own = runs.of("app02").some(np.array([0]))
    own = own.hidden(np.array([[name != "quartz" for name in own.machines]]))
    picture = order_svg(model, own)
    forecast = model.predict(own)
    chance = ordered(forecast.order_by[0], forecast.covariance[0], 0).before
    told = [int(text) for text in texts(picture) if re.fullmatch(r"\d+", text)]
    places = np.argsort(forecast.order_by[0])
    wanted = [round(100 * chance[i, j]) for i in places for j in places if i != j]
    assert told == wanted
    assert texts(picture)[0].endswith("app02")


def test_machines_have_their_runs_and_their_models(runs: MatchedRuns) -> None:
    picture = machines_svg(runs, counter_mapping())
    names = [name for name, _, _ in dots(picture)]
    for machine in MACHINES:  # a dot for each line, the machine model, the legend
        assert names.count(machine) == len(runs) + 2
    assert all(np.isfinite([x, y]).all() for _, x, y in dots(picture))


def test_umap_explains_itself_where_it_is_missing(
    runs: MatchedRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "umap", None)
    with pytest.raises(EnvironmentProblem, match="umap-learn") as problem:
        machines_svg(runs, counter_mapping(), layout="umap")
    assert "compass-hpc[umap]" in problem.value.hint
