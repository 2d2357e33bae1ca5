"""The solver comes without pandas, and still takes what pandas makes."""

import subprocess
import sys

PROGRAM = """
import sys
from compass.prove.cp_sat import load_solver
load_solver()
assert "pandas" not in sys.modules
from ortools.sat.python import cp_model
load_solver()
assert sys.modules["ortools.sat.python.cp_model"] is cp_model
model = cp_model.CpModel()
x = model.new_int_var(0, 5, "x")
model.maximize(2 * x)
solver = cp_model.CpSolver()
assert solver.solve(model) == cp_model.OPTIMAL
assert solver.value(x) == 5
assert "pandas" not in sys.modules
import pandas
one = model.new_int_var_series(name="y", index=pandas.Index([0, 1]), lower_bounds=0, upper_bounds=2)
assert type(one) is pandas.Series
model.add(one.sum() == 4)
assert solver.solve(model) == cp_model.OPTIMAL
assert list(solver.values(one)) == [2, 2]
"""


def test_pandas_is_loaded_only_for_those_who_use_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
