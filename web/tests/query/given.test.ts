import { describe, expect, test } from "vitest";
import type { Space } from "@/api/types";
import { beyond, fromRun, lacking, withNone } from "@/query/given";
import { space } from "./table";

const wide: Space = {
  parameters: [
    ...space.parameters,
    { kind: "number", name: "chunk", role: "knob", low: 1, high: 8, optional: true },
  ],
};

describe("a configuration that is written down", () => {
  test("needs a value for every parameter but outcomes", () => {
    expect(lacking(space, { kernel: "spmv", threads: 0 })).toEqual(["size", 'my "flags"']);
    const whole = { kernel: "spmv", size: 8, threads: 2, 'my "flags"': "O3" };
    expect(lacking(wide, whole)).toEqual([]);
    expect(withNone(wide, whole)).toEqual({ ...whole, chunk: null });
    expect(withNone(wide, { chunk: 4 })).toEqual({ chunk: 4 });
  });

  test("begins as a copy of a run, without what cannot be said", () => {
    const names = ["threads", "run time", "kernel", "size"];
    expect(fromRun(space, names, [2, 1.5, "stencil", "12"])).toEqual({ threads: 2 });
    expect(fromRun(space, names, [2, 1.5, "triad", 12])).toEqual({
      kernel: "triad",
      size: 12,
      threads: 2,
    });
  });
});

test("a run that the table has no row of", () => {
  expect(beyond(3000, false)).toBe("There are 3,000 runs; the last is number 2999.");
  expect(beyond(3000, true)).toMatch(/^The table ends with run 2999. Runs that were given back/);
});
