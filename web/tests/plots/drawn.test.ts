import { describe, expect, it } from "vitest";
import type { Answer, Explanation, Parameter, Suggestion, Value } from "@/api/types";
import { runsInWords, unreadInWords } from "@/plots/among";
import { bars, combining } from "@/plots/contributions";
import { escaped, rangeOf, spreads, tick } from "@/plots/marks";
import { pinsOf } from "@/plots/matching";
import { faint, PLAIN } from "@/plots/palette";
import { axesOf, passing, runLines, suggestionLines } from "@/plots/parallel/axes";
import { runsOf } from "@/plots/parallel/rules";
import { cloud, rowOf } from "@/plots/pareto/cloud";
import { telling } from "@/plots/pareto/columns";
import { option } from "@/plots/pareto/option";
import { next } from "@/plots/pareto/useSteps";
import { entries, summary } from "@/plots/pareto/words";
import { joined, portions } from "@/plots/points";
import { settled } from "@/plots/settled";
import { jitter, stepAxis, stepsOf } from "@/plots/steps";
import { zoomed } from "@/plots/zoomed";

const suggestion = {
  config: { threads: 2, size: 10 },
  settings: { threads: 2 },
  outcomes: [{ name: "time", value: 3, low: 2, high: 4 }],
  trust: { label: "caution" },
} as unknown as Suggestion;
const answer = {
  query: { kind: "recommend", ask: ["threads"], goals: {}, where: [] },
  suggestions: [suggestion],
  provenance: { sample: null },
} as unknown as Answer;
const threads: Parameter = {
  kind: "number",
  name: "threads",
  role: "knob",
  low: 1,
  high: 2,
  allowed: [1, 2],
  optional: false,
};
const observed = {
  total: 4,
  rows: [10, 11, 12, 13],
  columns: new Map([
    ["threads", [1, 2, 2, null]],
    ["time", [9, 5, 4, 1]],
  ]),
};

describe("points", () => {
  it("are asked for in portions and joined again", () => {
    expect(portions(["a", "b", "a", "c"], 2)).toEqual([["a", "b"], ["c"]]);
    const part = (name: string) => ({ names: [name], total: 5, rows: [0], columns: [[name]] });
    expect([...joined([part("a"), part("b")]).columns.keys()]).toEqual(["a", "b"]);
    expect(joined([]).rows).toEqual([]);
  });
});

describe("the cloud", () => {
  const x = { name: "threads", to: null, outcome: false, steps: [1, 2] };
  const y = { name: "time", to: "minimize" as const, outcome: true, steps: null };
  it("has no points of runs that were not measured", () => {
    const made = cloud(observed, answer, [], x, y);
    expect(made.matchingRows).toEqual([10, 11, 12]);
    expect(made.line).toEqual([
      [0, 9],
      [1, 4],
    ]);
    expect(made.marks).toMatchObject([
      { x: 1, y: 3, values: [2, 3], yRange: [2, 4], xRange: null },
    ]);
  });
  it("names no best runs where the question does not say what better is", () => {
    expect(cloud(observed, answer, [], x, { ...y, to: null }).line).toEqual([]);
    const both = { ...x, outcome: true, steps: null };
    expect(cloud(observed, answer, [], both, y).line).toEqual([]);
  });
  it("knows intervals without end, which travel as words", () => {
    const [one] = answer.suggestions;
    const outcomes = one?.outcomes.map((of) => ({ ...of, low: 2, high: "Infinity" }));
    const open = { ...answer, suggestions: [{ ...one, outcomes }] } as unknown as Answer;
    expect(cloud(observed, open, [], x, y).marks[0]?.yRange).toEqual([2, Number.POSITIVE_INFINITY]);
  });
  it("leaves out suggestions where a recommendation leaves a column open", () => {
    expect(cloud(observed, answer, [], { ...x, name: "size", steps: null }, y).marks).toEqual([]);
  });
  it("becomes an option with a series for each trust", () => {
    const look = (name: string) => ({
      name,
      title: name,
      to: null,
      log: false,
      range: null,
      steps: null,
    });
    const made = option(cloud(observed, answer, [], x, y), {
      x: look("threads"),
      y: look("time"),
      palette: PLAIN,
      others: true,
      tell: String,
    }) as { series: { id: string; data: ArrayLike<unknown> }[] };
    const sizes = Object.fromEntries(made.series.map((one) => [one.id, one.data.length]));
    expect(sizes).toMatchObject({ matching: 6, caution: 1, trusted: 0, start: 0 });
  });
});

describe("what the runs are part of", () => {
  const x = { name: "size", to: "minimize" as const, outcome: true, steps: null };
  const y = { name: "time", to: "minimize" as const, outcome: true, steps: null };
  const runs = {
    total: 4,
    rows: [10, 11, 12, 13],
    columns: new Map<string, Value[]>([
      ["size", [1, 2, 3, 4]],
      ["time", [9, 5, 4, 1]],
      ["k", ["a", "a", "b", "b"]],
    ]),
  };
  const pin = pinsOf("k == 'a'") ?? [];
  const texts = (of: typeof runs, pins: typeof pin, unread = false, from = answer) => {
    const made = cloud(of, from, pins, x, y);
    return [
      ...entries(made, PLAIN, false, unread).map((one) => one.text),
      summary(made, AXES, unread),
    ];
  };
  const AXES = { x: "size", y: "time" };
  const part = { ...runs, total: 431_000 };

  it("is everything where all came", () => {
    const [told, best, words] = texts(runs, []);
    expect(told).toBe("4 past runs in the data");
    expect(best).toBe("best trade-offs that were measured");
    expect(words).toContain("4 past runs in the data and 0 suggestions");
    expect(texts(runs, pin)[0]).toBe("2 past runs that match the question");
  });
  it("is a sample where there are more, and its best is not the best of all", () => {
    const [told, best, words] = texts(part, []);
    expect(told).toBe("a sample of 4 of 431,000 past runs");
    expect(best).toBe("best trade-offs of the sample");
    expect(words).toContain("a sample of 4 of 431,000 past runs");
    expect(texts(part, pin)[0]).toBe(
      "2 past runs that match the question, in a sample of 4 of 431,000 past runs",
    );
  });
  it("is a sample, too, where the engine learnt from one", () => {
    const reduced = { ...answer, provenance: { ...answer.provenance, sample: "a sample of 5 %" } };
    const [told, best] = texts(runs, [], false, reduced);
    expect(told).toBe("4 past runs in the sample that was learnt from");
    expect(best).toBe("best trade-offs of the sample");
  });
  it("says which rules were not looked at", () => {
    expect(texts(runs, pin, true)[0]).toBe("2 past runs that match the rest of the question");
    expect(unreadInWords([])).toBeNull();
    expect(unreadInWords(["a <= b"])).toBe(
      "This plot does not look at a rule of the question: a <= b. Runs that break it are drawn as if they matched.",
    );
    expect(unreadInWords(["a <= b", "c or d"])).toContain("rules of the question: a <= b; c or d.");
  });
  it("counts lines that were thinned out as a sample", () => {
    const all = { came: 20_000, total: 20_000, reduced: false, unread: false };
    const told = (drawn: number, matching: number, total = 20_000) =>
      runsInWords({ ...all, total, drawn, matching, apart: matching < all.came });
    expect(told(2000, 20_000)).toBe("a sample of 2,000 of 20,000 past runs");
    expect(told(2000, 3000)).toBe("a sample of 2,000 of 3,000 past runs that match the question");
    expect(told(1, 1)).toBe("1 past run that matches the question");
    expect(told(2000, 20_000, 431_000)).toBe("a sample of 2,000 of 431,000 past runs");
    // Few enough to draw all of them, and yet only those of the sample.
    expect(told(1204, 1204, 431_000)).toBe(
      "1,204 past runs that match the question, in a sample of 20,000 of 431,000 past runs",
    );
  });
  it("names its best points by it", () => {
    const look = { title: "", name: "", to: null, log: false, range: null, steps: null };
    const tip = (of: typeof runs) => {
      const made = option(cloud(of, answer, [], x, y), {
        ...{ x: look, y: look, palette: PLAIN, others: true, tell: String },
      }) as { tooltip: { formatter: (of: object) => string } };
      return made.tooltip.formatter({ seriesId: "reached", value: [1, 2] });
    };
    expect(tip(runs)).toContain("Best that was measured");
    expect(tip(part)).toContain("Best of the sample");
  });
});

describe("lines across axes", () => {
  const time: Parameter = { ...threads, name: "time", role: "outcome", allowed: null, high: 9 };
  const valueIn = settled(answer, []);
  const axes = axesOf([threads, time], observed, [suggestion], valueIn);
  it("have a gap where there is no value", () => {
    const lines = runLines(axes, observed, new Uint8Array([1, 1, 1, 1]), 10);
    expect(lines[3]).toEqual([null, 1]);
    expect(suggestionLines(axes, [suggestion], valueIn)).toEqual([[1, 3]]);
    expect(passing(lines, axes, new Map([["threads", [[0.5, 1.5]]]]))).toBe(2);
    expect(passing(lines, axes, new Map())).toBe(4);
  });
  it("are thinned out evenly", () => {
    expect(runLines(axes, observed, new Uint8Array([1, 1, 1, 1]), 2).map((one) => one[1])).toEqual([
      9, 4,
    ]);
  });
  it("join neighbours to one part", () => {
    expect(runsOf([3, 0, 1, 5])).toEqual([
      [0, 1],
      [3, 3],
      [5, 5],
    ]);
  });
});

describe("small things", () => {
  it("escapes what people write", () => {
    expect(escaped(`<script>'&"`)).toBe("&lt;script&gt;&#39;&amp;&quot;");
  });
  it("writes short ticks", () => {
    expect([0, 1500, 25_000, 1.2e6, -3e9, 1e-6, 2e20].map(tick)).toEqual([
      "0",
      "1500",
      "25k",
      "1.2M",
      "−3G",
      "1e−6",
      "2e20",
    ]);
  });
  it("knows ranges", () => {
    expect(rangeOf([null, 3, "x", 1], [Number.NaN])).toEqual({ low: 1, high: 3 });
    expect(rangeOf([])).toBeNull();
    expect(spreads({ low: 0, high: 1000 })).toBe(false);
    expect(spreads({ low: 0.1, high: 1000 })).toBe(true);
  });
  it("has steps of few values only", () => {
    expect(stepsOf({ ...threads, allowed: null, step: 0.1, low: 0, high: 0.3 })).toEqual([
      0, 0.1, 0.2, 0.3,
    ]);
    expect(stepsOf({ ...threads, allowed: null, step: 1, high: 100 })).toBeNull();
    expect(stepAxis(Array.from({ length: 60 }, String), 14).tick.customValues).toHaveLength(12);
    for (let at = 0; at < 100; at += 1) expect(Math.abs(jitter(at))).toBeLessThanOrEqual(0.2);
  });
  it("goes round with the arrow keys", () => {
    expect([
      next(null, "ArrowRight", 3),
      next(2, "ArrowRight", 3),
      next(0, "ArrowLeft", 3),
    ]).toEqual([0, 0, 2]);
    expect([next(0, "x", 3), next(null, "End", 0)]).toEqual([null, null]);
  });
  it("never zooms beyond the whole", () => {
    expect(zoomed({ start: 0, end: 100 }, 2)).toEqual({ start: 0, end: 100 });
    expect(zoomed({ start: 0, end: 100 }, 0.5)).toEqual({ start: 25, end: 75 });
    expect(zoomed({ start: 80, end: 100 }, 2)).toEqual({ start: 60, end: 100 });
  });
  it("sees which column tells most", () => {
    const y = [1, 1, 10, 10];
    expect(telling([1, 1, 2, 2], y)).toBeCloseTo(1);
    expect(telling([1, 2, 1, 2], y)).toBeCloseTo(0);
    expect(telling([7, 7, 7, 7], y)).toBeCloseTo(0);
    expect(telling([1], [1])).toBe(0);
    expect(faint("#000000", 0.5)).toBe("rgba(0, 0, 0, 0.5)");
  });
});

describe("contributions", () => {
  const explanation = {
    target: "time",
    scale: "factor",
    contributions: [
      { name: "a", value: 1, amount: 2, share: "x 7.4", unit: "KiB" },
      { name: "b", value: "z", amount: -1, share: "x 0.37" },
    ],
  } as unknown as Explanation;
  it("are as long as their share of the largest", () => {
    expect(bars(explanation)).toMatchObject([
      { title: "a = 1 KiB", share: "× 7.4", raises: true, length: 100 },
      { title: "b = z", share: "× 0.37", raises: false, length: 50 },
    ]);
    expect(combining(explanation)).toContain("multiply");
    expect(combining({ ...explanation, scale: "amount" })).toContain("add up");
  });
});

it("a click on a past run says which row it is, and one on something else does not", () => {
  const rows = { matchingRows: [4, 7], otherRows: [1] };
  const at = (seriesId: string, dataIndex: number) => rowOf({ seriesId, dataIndex }, rows);
  expect([at("matching", 1), at("others", 0)]).toEqual([7, 1]);
  expect([at("reached", 0), at("matching", 9), rowOf({}, rows)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
