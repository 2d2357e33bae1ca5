import { describe, expect, it } from "vitest";
import type { AnswerInfo } from "@/api/types";
import { decided, lines, picked, toggled } from "@/app/compare";

const one = {
  id: "a",
  decision: { threads: 2, schedule: "static" },
  outcomes: [{ name: "runtime", value: 1.234, unit: "ms" }],
} as unknown as AnswerInfo;
const other = {
  id: "b",
  decision: { threads: 8 },
  outcomes: [{ name: "runtime", value: 0.9, unit: "ms" }],
} as unknown as AnswerInfo;
const none = { id: "c", decision: {}, outcomes: [] } as unknown as AnswerInfo;

describe("answers beside each other", () => {
  it("are ticked, up to four", () => {
    expect(toggled(["a"], "b")).toEqual(["a", "b"]);
    expect(toggled(["a", "b"], "a")).toEqual(["b"]);
    expect(toggled(["a", "b", "c", "d"], "e")).toEqual(["b", "c", "d", "e"]);
    expect(picked([one, other], ["b", "gone", "a"])).toEqual([other, one]);
  });

  it("say what they decided", () => {
    expect(decided(one)).toBe("threads = 2, schedule = static: runtime 1.234 ms");
    expect(decided(none)).toBe("");
  });

  it("are told line by line, and where they differ", () => {
    expect(lines([one, other])).toEqual([
      { name: "threads", cells: ["2", "8"], differ: true },
      { name: "schedule", cells: ["static", null], differ: true },
      { name: "runtime (expected)", cells: ["1.234 ms", "0.9 ms"], differ: true },
    ]);
  });
});
