import { expect, it } from "vitest";
import { OFFLINE } from "@/api/problem";
import { standingOf } from "@/data/reading";

it("says how the reading of a table stands", () => {
  expect(standingOf(null, false)).toBe("unknown");
  expect(standingOf({ state: "waiting" }, false)).toBe("running");
  expect(standingOf({ state: "running" }, true)).toBe("running");
  expect(standingOf({ state: "failed", problem: OFFLINE }, true)).toBe("failed");
  expect(standingOf({ state: "done" }, true)).toBe("unknown");
});

it("does not wait for what nobody does", () => {
  expect(standingOf(null, true)).toBe("ended");
  expect(standingOf({ state: "cancelled" }, true)).toBe("ended");
});
