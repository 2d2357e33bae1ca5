import { describe, expect, it } from "vitest";
import type { LineForecast, MachineForecast } from "@/api/types";
import {
  certainty,
  chance,
  decision,
  leading,
  lineName,
  ratioOf,
  runtimeOf,
  savings,
  settling,
  spans,
  usualSource,
} from "@/machines/order";

const machine = (of: Partial<MachineForecast>): MachineForecast =>
  ({
    machine: "lassen",
    ratio: 0.25,
    low: 0.2,
    high: 0.3,
    runtime: 10,
    fastest: 0.83,
    measured: false,
    label: "trusted",
    reason: "near",
    ...of,
  }) as MachineForecast;
const here = machine({ machine: "quartz", ratio: 1, low: 1, high: 1, fastest: 0, measured: true });
const unknown = machine({ machine: "ruby", ratio: null, low: 0.1, high: 8, fastest: 0.2 });
const line = (machines: MachineForecast[], of: Partial<LineForecast> = {}): LineForecast =>
  ({
    application: "mycode",
    configuration: { size: 4 },
    source_runtime: 40,
    machines,
    order_chance: 0.6,
    doubt: 0.12,
    ...of,
  }) as LineForecast;
const SECONDS = { unit: "s" };

describe("the order of machines in words", () => {
  it("says which machine, and what is gained", () => {
    expect(decision(line([machine({}), here]), "quartz", SECONDS)).toBe(
      "Run it on lassen: 10 s [8, 12] instead of 40 s on quartz.",
    );
    expect(decision(line([here, machine({ ratio: 2 })]), "quartz", SECONDS)).toMatch(
      /^Stay on quartz/,
    );
    expect(decision(line([here, unknown]), "quartz", SECONDS)).toBe(
      "Too little is known of the other machines: run it once on ruby.",
    );
    expect(certainty(line([unknown, here]), "quartz")).toBe("");
    expect(leading(line([unknown, here]), "quartz")).toBe(unknown);
    // Work per second: only the ratio of times is told.
    expect(decision(line([machine({}), here]), "quartz", null)).toBe(
      "Run it on lassen: ×0.25 [0.2, 0.3] the time it takes on quartz.",
    );
  });

  it("says how sure that is, and nothing of an order of two", () => {
    const three = line([machine({}), unknown, here]);
    expect(certainty(three, "quartz")).toBe(
      "lassen is the fastest with a chance of 83 %. The whole order is as below with a chance of 60 %.",
    );
    expect(certainty(line([machine({}), here]), "quartz")).not.toContain("whole order");
    expect([0.001, 0.5, 0.999, null].map(chance)).toEqual(["< 1 %", "50 %", "> 99 %", "–"]);
  });

  it("says what one more run would settle, where that is worth it", () => {
    const next = [{ machine: "ruby", doubt: 0.05 }];
    expect(settling(line([], { run_next: next }))).toBe(
      "12 % of the pairs of machines are expected to be in the wrong order. One run on ruby would leave 5 %.",
    );
    expect(settling(line([], { run_next: next, doubt: 0.001 }))).toBeNull();
    expect(settling(line([]))).toBeNull();
  });

  it("names the cheapest where several have a price", () => {
    const priced = [machine({ cost: 25 }), { ...here, cost: 40 }, unknown];
    expect(savings(line(priced))).toEqual(["lassen costs least (25)."]);
    expect(savings(line([machine({ cost: 25 }), here]))).toEqual([]);
  });

  it("tells runtimes, ratios and runs", () => {
    expect(runtimeOf(here, line([]), SECONDS)).toBe("40 s");
    expect(runtimeOf(unknown, line([]), SECONDS)).toBe("not told");
    expect([ratioOf({ ratio: 0.17234 }), ratioOf({ ratio: null })]).toEqual(["×0.172", "–"]);
    expect(lineName(line([], { configuration: { size: 4, "mode = a": 1, "mode = b": 0 } }))).toBe(
      "size = 4, mode = a",
    );
    expect(usualSource({ a: 2, b: 5, c: 5 })).toBe("b");
    expect(usualSource({})).toBe("");
  });
});

describe("intervals beside each other", () => {
  it("lie on one logarithmic axis with the source itself on it", () => {
    const all = [
      machine({ low: 0.25, ratio: 0.5, high: 1 }),
      machine({ low: 2, high: 4, ratio: 3 }),
    ];
    const { of, same } = spans(all);
    const [one, other] = all.map((each) => of(each));
    expect(same).toBeCloseTo(0.5);
    expect(one?.from).toBeCloseTo(0.02);
    expect(one?.to).toBeCloseTo(same);
    expect(one?.at).toBeCloseTo(0.26);
    expect(other?.to).toBeCloseTo(0.98);
    expect(of(machine({ ratio: null, low: null, high: null }))).toBeNull();
    expect(spans([]).same).toBeGreaterThan(0);
  });
});
