import { expect, it } from "vitest";
import { duration, family, times } from "@/answer/provenance";
import { answer } from "./fixtures";

it("names the family, and what was decided about it", () => {
  const [card] = answer("recommend").models;
  if (card === undefined) throw new Error("no model");
  expect(family(card)).toBe("lightgbm (log)");
});

it("tells how long it took", () => {
  expect([0.00001, 0.0213, 1.24, 320].map(duration)).toEqual(["< 1 ms", "21 ms", "1.2 s", "320 s"]);
  expect(times({ plan: 0.5, search: 1 }).at(-1)).toEqual(["together", "1.5 s"]);
});
