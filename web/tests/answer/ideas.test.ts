import { describe, expect, it } from "vitest";
import { conditionLines } from "@/answer/conditions";
import { aboutIdeas, firstRun, ideasTitle, whatItIs, whyNot } from "@/answer/ideas";
import { unseenBy, unseenWords } from "@/answer/unseen";
import { called, closest, foundAt, parted } from "@/answer/which";
import { answer, first, idea } from "./fixtures";

describe("suggestions and ideas", () => {
  it("are kept apart", () => {
    const given = answer("abstained");
    expect(parted(given)).toBe(given);
    expect(closest(given)).toBe(idea(given));
    expect(foundAt(given, { as: "suggestion", at: 0 })).toBeUndefined();
    expect(foundAt(given, { as: "idea", at: 0 })).toBe(idea(given));
    expect(called({ as: "idea", at: 1 })).toBe("idea 2");
  });
  it("an answer that abstains suggests nothing", () => {
    const given = { ...answer("what-if"), no_answer: "The change leads outside the past runs." };
    const shown = parted(given);
    expect(shown.suggestions).toEqual([]);
    expect(shown.ideas).toEqual(given.suggestions);
    expect(parted(answer("what-if")).suggestions).toHaveLength(1);
    expect(ideasTitle(shown)).toMatch(/not to be relied on/);
    expect(aboutIdeas(shown)).toMatch(/measure it before/);
    expect(ideasTitle(answer("abstained"))).toBe("Ideas to measure, not suggested");
    expect(aboutIdeas(answer("abstained"))).toMatch(/measure one before/);
  });
});

describe("an idea in words", () => {
  it("says what it is", () => {
    const given = answer("reconfigure");
    expect(whatItIs(answer("abstained"), idea(answer("abstained")), {})).toBe(
      "nodes = 8, num_threads = 32",
    );
    expect(whatItIs(given, first(given), {})).toBe("flags from O2 to O3");
    expect(whatItIs(given, { ...first(given), edits: [] }, {})).toBe("nothing changed");
  });
  it("says why it is not suggested", () => {
    const given = answer("abstained");
    expect(whyNot(given, idea(given))).toBe(
      "Not suggested: a goal is not likely enough to be met.",
    );
    const one = first(answer("recommend"));
    const far = { ...one, trust: { ...one.trust, label: "unsupported" as const } };
    expect(whyNot(given, { ...far, outcomes: [] })).toBe(
      "Not suggested: past runs do not support it.",
    );
    expect(whyNot(given, { ...far, outcomes: [], meets_goals: false })).toBe(
      "Not suggested: a goal is missed, and past runs do not support it.",
    );
  });
  it("says what to measure first", () => {
    const given = answer("abstained");
    expect(firstRun(given, {})).toBe("nodes = 2, num_threads = 32");
    expect(firstRun({ ...given, run_next: [] }, {})).toBeNull();
  });
});

it("conditions on outcomes are told with their chance", () => {
  const conditions = [
    {
      text: "power <= 300",
      outcomes: ["power"],
      asked: true,
      holds: true,
      chance: 0.92,
      before: 0.97,
    },
    { text: "a <= b", outcomes: ["a"], asked: false, holds: false },
  ];
  expect(conditionLines({ ...first(answer("recommend")), conditions })).toEqual([
    {
      text: "power ≤ 300",
      holds: true,
      says: "92 % likely (97 % at the starting run), your condition",
    },
    { text: "a ≤ b", holds: false, says: "a rule of the data" },
  ]);
});

it("values that were never run are told with their neighbours", () => {
  const at = { name: "threads", value: 6 };
  expect(unseenWords({ ...at, below: 4, above: 8 })).toBe(
    "never run, interpolated between 4 and 8",
  );
  expect(unseenWords({ ...at, below: 4 })).toBe("never run, above the largest of 4");
  expect(unseenWords({ ...at, above: 8 })).toBe("never run, below the smallest of 8");
  expect(unseenBy({ ...answer("what-if"), unseen: [at] })).toEqual({ threads: "never run" });
});
