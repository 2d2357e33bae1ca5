"""`compass ask` about machines: the table of all machines, cost, and JSON."""

import json
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.csv
from cli_case import compass
from tests.platforms.machine_law import MACHINES, roofline_table

ASK = "Recommend X = {machine: ?} to achieve Y = {runtime: minimize} where C = {app: a, size: 4}"
STUDY = """
columns:
  "*": {role: ignored}
  machine: {role: context}
  app: {role: context}
  size: {role: context}
  runtime: {role: outcome, unit: s}
machines:
  prices: {lassen: 2.5, quartz: 1}
  power: {lassen: 300}
"""


def test_the_order_of_machines_is_printed_with_cost_and_energy(tmp_path: Path) -> None:
    arrow = roofline_table(6).arrow
    app = pc.if_else(pc.equal(arrow["app"], "app03"), "a", arrow["app"])
    arrow = arrow.set_column(arrow.column_names.index("app"), "app", app)
    own = pc.and_(pc.equal(app, "a"), pc.not_equal(arrow["machine"], "quartz"))
    runs, study = tmp_path / "runs.csv", tmp_path / "study.yaml"
    pyarrow.csv.write_csv(arrow.filter(pc.invert(own)), runs)
    study.write_text(STUDY)
    found = compass("ask", runs, ASK, "--study", study, "--no-cache")
    assert (found.code, found.err) == (0, "")
    assert "a (size = 4): runtime there / runtime on quartz" in found.out
    headers = next(line for line in found.out.splitlines() if line.startswith("machine "))
    assert headers.split() == ["machine", "ratio", "runtime", "cost", "energy", "fastest", "trust"]
    for machine in MACHINES:
        assert any(line.startswith(machine) for line in found.out.splitlines())
    said = json.loads(compass("ask", runs, ASK, "--study", study, "--no-cache", "--json").out)
    machines = said["machines"]["lines"][0]["machines"]
    assert {one["machine"] for one in machines} == set(MACHINES)
    lassen = next(one for one in machines if one["machine"] == "lassen")
    assert lassen["cost"] == 2.5 * lassen["runtime"]
