import { describe, expect, it } from "vitest";
import type { Curve, CurvePoint, Label } from "@/api/types";
import { PLAIN } from "@/plots/palette";
import { percent, pointAt, predicted, stretches, type Tried, triedOf } from "@/plots/whatif/curves";
import { option } from "@/plots/whatif/option";
import { NOTCHES, notchAt, valueAt } from "@/plots/whatif/slider";

const point = (
  value: CurvePoint["value"],
  told: CurvePoint["predicted"],
  label: Label = "trusted",
) => ({
  value,
  predicted: told,
  low: null,
  high: null,
  label,
  feasible: true,
});
const threads: Curve = {
  parameter: "threads",
  outcome: "time",
  points: [point(1, 10), point(2, 6), point(8, 3, "caution"), point(64, 2, "unsupported")],
};
const tile: Curve = { parameter: "tile", outcome: "time", points: [point(16, 6), point(32, 5)] };
const loaded = { config: { threads: 2, tile: 16 }, curves: [threads, tile] };

describe("reading a curve", () => {
  it("finds the point, or the nearest number", () => {
    expect(pointAt(threads, 2)?.predicted).toBe(6);
    expect(pointAt(threads, 7)?.predicted).toBe(3);
    expect(pointAt(threads, "2")).toBeNull();
    expect(pointAt(undefined, 2)).toBeNull();
  });
  it("follows the one parameter that moved", () => {
    const names = ["threads", "tile"];
    expect(
      predicted(loaded, { threads: 2, tile: 16 }, "time", names, "tile").point?.predicted,
    ).toBe(6);
    expect(
      predicted(loaded, { threads: 8, tile: 16 }, "time", names, "tile").point?.predicted,
    ).toBe(3);
    const both = predicted(loaded, { threads: 8, tile: 32 }, "time", names, "tile");
    expect(both).toMatchObject({ exact: false, point: { predicted: 5 } });
  });
  it("tells a change in percent where that means something", () => {
    expect(percent(3, 6)).toBe(-50);
    expect(percent(-3, -6)).toBe(50);
    expect(percent(3, 0)).toBeNull();
    expect(percent("ok", 3)).toBeNull();
  });
  it("is in pieces of the same trust, by the worse end", () => {
    expect(stretches(threads.points)).toEqual([
      { from: 0, to: 1, label: "trusted" },
      { from: 1, to: 2, label: "caution" },
      { from: 2, to: 3, label: "unsupported" },
    ]);
    expect(stretches([point(1, 1)])).toEqual([]);
  });
});

describe("a slider", () => {
  const wide = {
    kind: "number",
    name: "n",
    role: "knob",
    low: 1,
    high: 1e6,
    optional: false,
  } as const;
  it("goes by factors where the range is wide, and ends at the ends", () => {
    expect(valueAt(wide, NOTCHES / 2)).toBe(1000);
    expect(valueAt(wide, 0)).toBe(1);
    expect(valueAt(wide, NOTCHES)).toBe(1e6);
    expect(notchAt(wide, 1000)).toBe(NOTCHES / 2);
  });
  it("keeps to its grid", () => {
    expect(valueAt({ ...wide, low: 0, high: 1000, step: 5 }, 33)).toBe(165);
    expect(notchAt({ ...wide, low: 5, high: 5 }, 5)).toBe(0);
  });
});

interface Drawn {
  shape: { points: [number, number][] };
}

describe("the drawing", () => {
  const numeric = { kind: "number", role: "knob", low: 1, high: 64, optional: false } as const;
  const look = {
    parameter: { ...numeric, name: "threads", allowed: [1, 2, 8, 64] },
    outcome: { ...numeric, name: "time", role: "outcome" as const },
    now: 8,
    start: 2,
    tried: triedOf([1, 2, 8]),
    palette: PLAIN,
  };
  it("marks now and the start, and greys out what no past run had", () => {
    const made = option(threads, look) as { series: Record<string, never>[] };
    const dots = made.series[1] as unknown as {
      markLine: { data: { xAxis: number }[] };
      markArea: { data: { xAxis: number }[][] };
      data: { symbol: string }[];
    };
    expect(dots.markLine.data.map((one) => one.xAxis)).toEqual([1, 2]);
    expect(dots.markArea.data.map((area) => area.map((one) => one.xAxis))).toEqual([[2.5, 3.5]]);
    expect(dots.data.map((one) => one.symbol)).toEqual(["circle", "circle", "triangle", "rect"]);
  });
  it("greys out both sides of a free range, and nothing before past runs are known", () => {
    const free = { ...look, parameter: { ...numeric, name: "threads", low: 1, high: 64 } };
    const areas = (tried: Tried) => {
      const made = option(threads, { ...free, tried }) as unknown as {
        series: { markArea: { data: { xAxis: unknown }[][] } }[];
      };
      return made.series[1]?.markArea.data.map((area) => area.map((one) => one.xAxis));
    };
    expect(areas(triedOf([2, 8]))).toEqual([
      ["min", 2],
      [8, "max"],
    ]);
    expect(areas(triedOf([1, 64]))).toEqual([]);
    expect(areas(triedOf([]))).toEqual([]);
  });
  it("knows labels one by one, and numbers by their range", () => {
    expect(["a", "b"].map(triedOf(["a", "c"]).has)).toEqual([true, false]);
    expect([0, 1, 5, 9].map(triedOf([1, 8, null]).has)).toEqual([false, true, true, false]);
  });
  it("draws a band without end up to the edge of the plot", () => {
    const open = (one: CurvePoint) =>
      ({ ...one, low: 1, high: "Infinity" }) as unknown as CurvePoint;
    const made = option({ ...threads, points: threads.points.map(open) }, look) as unknown as {
      yAxis: { max: number };
      series: { renderItem: (_: unknown, api: object) => { children: Drawn[] } }[];
    };
    const api = { coord: (point: number[]) => point };
    const [band] = made.series[0]?.renderItem(null, api).children ?? [];
    const heights = band?.shape.points.map((one) => one[1]);
    expect(Math.max(...(heights ?? []))).toBe(made.yAxis.max);
  });
  it("draws hollow what breaks a rule", () => {
    const curve = { ...threads, points: [{ ...point(1, 10), feasible: false }] };
    const made = option(curve, look) as { series: { data: { itemStyle: { color: string } }[] }[] };
    expect(made.series[1]?.data[0]?.itemStyle.color).toBe(PLAIN.body);
  });
});
