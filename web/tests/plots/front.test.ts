import { describe, expect, it } from "vitest";
import { bestOfEach, type Direction, direction, front } from "@/plots/pareto/front";

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Every point against every other one. */
function beaten(xs: number[], ys: number[], at: number, toX: Direction, toY: Direction): boolean {
  const a = toX === "minimize" ? 1 : -1;
  const b = toY === "minimize" ? 1 : -1;
  const [x = 0, y = 0] = [xs[at], ys[at]];
  return xs.some((_, other) => {
    const [u = 0, v = 0] = [xs[other], ys[other]];
    const asGood = a * u <= a * x && b * v <= b * y;
    return asGood && (a * u < a * x || b * v < b * y);
  });
}

describe("the front", () => {
  const sides: [Direction, Direction][] = [
    ["minimize", "minimize"],
    ["minimize", "maximize"],
    ["maximize", "minimize"],
    ["maximize", "maximize"],
  ];
  it.each(sides)("is what no run beats: %s, %s", (toX, toY) => {
    const next = random(7);
    for (let round = 0; round < 40; round += 1) {
      const size = 1 + Math.floor(next() * 60);
      // few different values, so that there are many ties
      const xs = Array.from({ length: size }, () => Math.floor(next() * 12));
      const ys = Array.from({ length: size }, () => Math.floor(next() * 12) - 6);
      const found = front(xs, ys, toX, toY).map((at) => `${xs[at]} ${ys[at]}`);
      const wanted = xs.flatMap((x, at) =>
        beaten(xs, ys, at, toX, toY) ? [] : [`${x} ${ys[at]}`],
      );
      expect(new Set(found)).toEqual(new Set(wanted));
      expect(found.length).toBe(new Set(found).size);
      const order = front(xs, ys, toX, toY).map((at) => xs[at] ?? 0);
      expect(order).toEqual([...order].sort((p, q) => p - q));
    }
  });

  it("passes over what was not measured and what does not match", () => {
    const xs = [1, Number.NaN, 0, 2];
    const ys = [1, 0, Number.NaN, 0];
    expect(front(xs, ys, "minimize", "minimize")).toEqual([0, 3]);
    expect(front(xs, ys, "minimize", "minimize", [0, 1, 1, 1])).toEqual([3]);
    expect(front([], [], "minimize", "minimize")).toEqual([]);
  });

  it("takes 100,000 runs in a moment", () => {
    const next = random(3);
    const xs = Float64Array.from({ length: 100_000 }, next);
    const ys = Float64Array.from({ length: 100_000 }, next);
    const began = performance.now();
    expect(front(xs, ys, "minimize", "minimize").length).toBeGreaterThan(1);
    expect(performance.now() - began).toBeLessThan(2000);
  });
});

describe("the best run of each value", () => {
  it("goes by the direction", () => {
    const [xs, ys, all] = [
      [2, 1, 2, 1],
      [5, 3, 4, 9],
      [1, 1, 1, 1],
    ];
    expect(bestOfEach(xs, ys, "minimize", all)).toEqual([1, 2]);
    expect(bestOfEach(xs, ys, "maximize", all)).toEqual([3, 0]);
  });
  it("is left out where there are too many values", () => {
    const xs = Array.from({ length: 100 }, (_, at) => at);
    expect(
      bestOfEach(
        xs,
        xs,
        "minimize",
        xs.map(() => 1),
      ),
    ).toEqual([]);
  });
});

describe("where an outcome should go", () => {
  it("is told only where the goal says so", () => {
    expect(direction(undefined)).toBeNull();
    expect(direction({ kind: "extreme", direction: "maximize" })).toBe("maximize");
    expect(direction({ kind: "observe" })).toBeNull();
    expect(direction({ kind: "same" })).toBeNull();
    expect(direction({ kind: "same", beyond: "less" })).toBe("minimize");
    expect(direction({ kind: "same", beyond: "more" })).toBe("maximize");
    expect(direction({ kind: "within", low: 3, high: null })).toBe("maximize");
    expect(direction({ kind: "within", low: null, high: 4 })).toBe("minimize");
    expect(direction({ kind: "within", low: 3, high: 4 })).toBeNull();
    expect(direction({ kind: "reach", value: 3 }, 4)).toBe("minimize");
    expect(direction({ kind: "reach", value: 5 }, 4)).toBe("maximize");
    expect(direction({ kind: "reach", value: 5 })).toBeNull();
    expect(direction({ kind: "change", direction: "increase", by: 0.1, relative: true })).toBe(
      "maximize",
    );
  });
});
