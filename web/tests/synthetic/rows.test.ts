import { describe, expect, it } from "vitest";
import type { SyntheticPage } from "@/api/types";
import {
  conditions,
  csvOf,
  drawnSentence,
  filledIn,
  filledSentence,
  shownColumns,
} from "@/synthetic/rows";

const page = {
  names: ["app", "a, b", "b", "filled", "origin"],
  rows: [
    ["wrf", 1, 2, "", "measured"],
    ["wrf", 1, 2, "b", "synthetic"],
    ["wrf", 1, 2, "app, a, b", "synthetic"],
    [null, 1, 2, "", "measured"],
  ],
  report: { asked: 200, rows: 180, tried: 360, acceptance: 0.5, broken: {}, notes: [] },
} as SyntheticPage;

describe("synthetic rows", () => {
  it("are shown without what only says where they come from", () => {
    expect(shownColumns(page.names)).toEqual([0, 1, 2]);
  });

  it("say which cells were filled in", () => {
    expect(page.rows.map((row) => [...filledIn(page, row)])).toEqual([
      [],
      ["b"],
      ["app", "a, b"],
      [],
    ]);
    expect(filledIn({ names: ["a"] }, ["x"])).toEqual(new Set());
    expect(filledSentence(page)).toBe(
      "3 cells in 2 rows were filled in. 1 row could not be filled and keeps its gaps.",
    );
  });

  it("say how many obeyed, and when there are fewer than asked for", () => {
    expect(drawnSentence(page)).toBe(
      "180 rows of 200 rows that were asked for; 50 % of 360 drawn rows obeyed.",
    );
    const all = { ...page.report, asked: 180, tried: 180, acceptance: 1 };
    expect(drawnSentence({ report: all })).toBe("180 rows.");
  });

  it("are written as a file, and conditions read line by line", () => {
    expect(
      csvOf({
        names: ["a", 'b"c'],
        rows: [
          [1, "x,y"],
          [null, true],
        ],
      }),
    ).toBe('a,"b""c"\n1,"x,y"\n,true\n');
    expect(conditions(" a < 1 \n\n b in {1, 2}")).toEqual(["a < 1", "b in {1, 2}"]);
  });
});
