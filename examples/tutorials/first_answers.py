"""First answers, from data that ships with Compass.

The embedded data holds 3,000 configurations of four OpenMP kernels, each measured. Nothing has to
be downloaded or prepared; the three questions are the same on a table of your own.
"""

import compass as cp

# ## Past runs
#
# `read` takes a file, a folder, a glob or a name. What each column is taken for (a knob that people
# set, the context of a run, an outcome that is measured) is guessed, and can be corrected.

data = cp.read("embedded")
print(data)

# An engine learns an outcome when a question first needs it.

engine = cp.Compass(data).fit(["runtime_ms"])

# ## What configuration should I use?
#
# `where` says what is given, `ask` what may be set.

answer = engine.recommend(
    ask=["threads", "schedule", "flags"],
    goals={"runtime_ms": cp.minimize},
    where=["kernel == 'spmv'", "precision == 'double'", "size_kib == 24576"],
    count=3,
)
for suggestion in answer:
    predicted = suggestion.outcome("runtime_ms")
    print(
        {name: suggestion.config[name] for name in ("threads", "schedule", "flags")},
        f"{predicted.value:.2f} ms, {predicted.low:.2f} to {predicted.high:.2f};",
        suggestion.trust.label,
    )

# The label is not a mood: it comes with its reason and with the past runs behind it.

print(answer[0].trust.reason)
print([one.row for one in answer[0].trust.evidence[:3]])

# ## What is the smallest change that gets me there?
#
# From a run that was made (row 53), with as little change as possible, to 30 % less time.

answer = engine.reconfigure(
    53, ask=["threads", "tile", "unroll", "flags"], goals={"runtime_ms": cp.less(0.30)}
)
best = answer[0]
before = data.row(53)["runtime_ms"]
print({edit.name: (edit.old, edit.new) for edit in best.edits})
print(f"{before:.2f} ms measured, {best.outcome('runtime_ms').value:.2f} ms predicted")
assert best.outcome("runtime_ms").value < 0.7 * before

# ## What happens if I change this?

answer = engine.what_if(53, change={"flags": "O3"}, outcomes=["runtime_ms"])
predicted = answer[0].outcome("runtime_ms")
print(f"{predicted.value:.2f} ms, {predicted.low:.2f} to {predicted.high:.2f}")

# Every question is also a sentence, which can be kept, edited and asked on the command line.

print(cp.format_query(answer.query))
