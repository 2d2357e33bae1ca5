import { describe, expect, it } from "vitest";
import {
  added,
  csv,
  faults,
  guarded,
  proposed,
  type Run,
  read,
  restored,
  toFillIn,
  toTell,
} from "@/answer/next/measured";
import type { Parameter, Space } from "@/api/types";
import { answer, engine } from "./fixtures";

const { space } = engine;
const runs = proposed(answer("impossible").run_next);
const number: Parameter = {
  optional: false,
  kind: "number",
  name: "t",
  role: "outcome",
  low: 0,
  high: 9,
  unit: "s",
};

function filled(outcomes: Record<string, string>, at = 0): Run[] {
  return runs.map((one, place) => (place === at ? { ...one, outcomes } : one));
}

describe("what is typed", () => {
  it("is read as numbers, in whichever way they are written", () => {
    expect(["1.5", " 2e-3 ", "−4", "1_000", ""].map((one) => read(number, one))).toEqual([
      1.5,
      0.002,
      -4,
      1000,
      null,
    ]);
  });
  it.each(["fast", "1.2.3", "0x10", "Infinity", "1 s"])("refuses %s", (text) => {
    expect(() => read(number, text)).toThrow("This is no number (in s)");
  });
  it.each(["failed: out of memory", "Timeout", "OOM", "out of memory"])("takes %s", (text) => {
    expect(read(number, ` ${text}`)).toBe(text);
    expect(() => read({ ...number, role: "knob" }, text)).toThrow("This is no number");
  });
  it("asks for a point where a comma may mean either", () => {
    expect(() => read(number, "1,5")).toThrow("Write a point for the fraction: 1.5");
    expect(() => read(number, "1,000")).toThrow("Write it without the comma");
  });
  it("is a label where the column has labels, also one that is new", () => {
    const column: Parameter = {
      kind: "category",
      name: "ok",
      role: "outcome",
      values: [true, false, "none yet"],
    };
    expect(read(column, "true")).toBe(true);
    expect(read(column, "yes")).toBe(true);
    expect(read(column, "<new>")).toBe("<new>");
  });
});

describe("the table for the server", () => {
  it("holds the runs that have a result, and every column", () => {
    const found = toTell(space, filled({ runtime_ms: "0.5", gflops: " " }, 1));
    expect(found.rows).toHaveLength(1);
    expect(found.names.slice(-3)).toEqual(["runtime_ms", "variation_pct", "gflops"]);
    expect(found.names).toContain("size_kib");
    expect(found.rows[0]?.slice(-3)).toEqual([0.5, null, null]);
    expect(found.rows[0]?.[found.names.indexOf("flags")]).toBe("Ofast-native");
  });
  it("is refused with what is wrong, by run and column", () => {
    expect(faults(space, filled({ runtime_ms: "x" }))).toEqual({
      "proposal-1": { runtime_ms: "This is no number (in ms)" },
    });
    const mine = { ...added(runs, {}), outcomes: { runtime_ms: "1" } };
    expect(Object.keys(faults(space, [mine])["run-1"] ?? {})).toContain("threads");
    expect(faults(space, [...runs, added(runs, {})])).toEqual({});
  });
  it("keeps numbers as they are", () => {
    const [mine] = [added([], { size_kib: 0.1234567890123, threads: 2 })];
    expect(mine.config.size_kib).toBe("0.1234567890123");
  });
});

describe("over a reload", () => {
  it("comes back as it was", () => {
    const before = filled({ runtime_ms: "0.5 or so" });
    expect(restored(JSON.stringify(before))).toEqual(before);
  });
  it("does without what it does not understand", () => {
    expect([null, "", "{", "[1]", '{"id": 1}'].map(restored)).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
  });
  it("gives added runs names of their own", () => {
    const one = added([], {});
    expect(added([one], {}).id).not.toBe(one.id);
  });
});

describe("as a file", () => {
  it("has every column, and the outcomes empty", () => {
    const [head, line] = toFillIn(space, runs).split("\n");
    expect(head).toBe(
      "kernel,size_kib,precision,threads,schedule,chunk,tile,unroll,flags,runtime_ms,variation_pct,gflops",
    );
    expect(line).toBe("matmul,96,single,2,guided,1,32,2,O3,,,");
  });
  it("quotes what would be read otherwise", () => {
    expect(csv([['a"b', "c,d", "e\nf", "g"]])).toBe('"a""b","c,d","e\nf",g\n');
  });
  it("lets no name or label begin like a formula, and leaves numbers alone", () => {
    expect(["=1+1", "-O3", "'-O3", "@x", "+x", "\t=", "it's", "O3"].map(guarded)).toEqual([
      "'=1+1",
      "'-O3",
      "''-O3",
      "'@x",
      "'+x",
      "'\t=",
      "it's",
      "O3",
    ]);
    const odd = {
      parameters: [
        { ...number, name: "=n", role: "knob" },
        { kind: "category", name: "flags", role: "knob", values: ["-O3"] },
        number,
      ],
    } as Space;
    const run: Run = {
      id: "1",
      config: { "=n": "-2", flags: "-O3" },
      outcomes: {},
      added: false,
    };
    expect(toFillIn(odd, [run])).toBe("'=n,flags,t\n-2,'-O3,\n");
  });
});
