import { describe, expect, test } from "vitest";
import type { Draft } from "@/api/types";
import { bestRun, searchFor, told } from "@/query/bestRun";
import { EMPTY } from "@/query/draft";

const less = { kind: "change" as const, direction: "reduce" as const, by: 0.1, relative: true };

function searching(where: string[]) {
  const draft: Draft = { ...EMPTY, goals: { y: less }, where };
  const search = searchFor(draft);
  if (search === null) throw new Error("there is something to look for");
  return search;
}

describe("the best past run", () => {
  const columns = [
    [3, 1, 2, null],
    ["a", "b", "a", "a"],
  ];
  const points = { names: ["y", "k"], total: 4, rows: [10, 11, 12, 13], columns };

  test("obeys the rules that can be read", () => {
    const search = searching(["k == 'a'", "x * 2 < 3"]);
    expect(search).toMatchObject({ outcome: "y", least: true, columns: ["y", "k"], loose: true });
    const found = bestRun(points, search);
    expect(found).toEqual({ row: 12, sample: null });
    expect(told(search, found)).toBe("The least y; some rules are too complex to be checked here.");
    expect(searchFor(EMPTY)).toBeNull();
  });

  test("of a sample, only that is said which the sample tells", () => {
    const some = { ...points, total: 300_000 };
    const strict = searching(["k == 'a'"]);
    expect(told(strict, bestRun(points, strict))).toBe("The least y.");
    expect(told(strict, bestRun(some, strict))).toBe("The least y of a sample of 4 runs.");
    const none = searching(["k == 'c'"]);
    expect(told(none, bestRun(points, none))).toBe("No past run obeys the rules.");
    expect(told(none, { row: null, sample: 100_000 })).toBe(
      "No past run of a sample of 100,000 runs obeys the rules.",
    );
    const loose = searching(["k == 'c'", "size <= 3 MiB"]);
    expect(told(loose, bestRun(points, loose))).toBe(
      "No past run obeys the rules that can be checked here.",
    );
  });
});
