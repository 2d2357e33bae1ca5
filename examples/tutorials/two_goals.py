"""Two goals at once: what is fast, what is steady, and what lies between.

With several outcomes to minimise or maximise there is no single best configuration. The answer is a
front: configurations that nothing beats in every outcome.
"""

import compass as cp

engine = cp.Compass(cp.read("embedded")).fit(["runtime_ms", "variation_pct"])

# ## The front

answer = engine.pareto(
    ["runtime_ms", "variation_pct"],
    ask=["threads", "schedule", "flags"],
    where=["kernel == 'spmv'", "precision == 'double'", "size_kib == 24576"],
)
front = answer.front
for point in front.points:
    print(point.settings, point.values, "knee" if point.knee else "")

# No point is beaten by another one in both outcomes:

values = [
    tuple(point.values[name] for name in ("runtime_ms", "variation_pct")) for point in front.points
]
for one in values:
    assert not any(a <= one[0] and b <= one[1] and (a, b) != one for a, b in values)

# ## A single point
#
# Weights say what an outcome is worth beside the others; then one configuration is the answer.

answer = engine.recommend(
    ["threads", "schedule", "flags"],
    {"runtime_ms": cp.minimize, "variation_pct": cp.minimize},
    where=["kernel == 'spmv'", "precision == 'double'", "size_kib == 24576"],
    weights={"runtime_ms": 3},
)
print(answer[0].config["threads"], answer[0].config["schedule"], answer[0].config["flags"])
