"""Synthetic rows: drawn on conditions, and judged.

Rows that are like the measured ones help to try out tools, to share what may not be shared, and to
see which settings go with an outcome. They are never evidence.
"""

import compass as cp

# ## Learn the table, draw rows

data = cp.read("embedded")
learnt = cp.synthesizer(data)
rows = learnt.sample(
    300, given={"kernel": "spmv", "threads": [1, 2], "runtime_ms": cp.within(1, 3)}
)
print(rows.table.num_rows, "rows")
print(f"{rows.report.acceptance:.0%} of the rows drawn obeyed")

# Every row obeys what was given.

drawn = rows.table.to_pydict()
assert set(drawn["kernel"]) == {"spmv"}
assert set(drawn["threads"]) <= {1, 2}
assert all(1 <= one <= 3 for one in drawn["runtime_ms"])

# ## Whether to believe them
#
# Each measure stands beside the same measure between two halves of the real rows.

report = cp.judge_synthetic(data, learnt.sample(1000).table)
for measure in report.measures:
    print(measure.name, measure.value, "| real against real:", measure.floor)
