import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { DatasetInfo, Job } from "@/api/types";
import { begun } from "@/data/begin";
import { choicesOf, choose } from "@/data/useChoices";
import { isFresh } from "@/data/work";

vi.mock("@/api/client", () => ({})); // nobody is asked

const place = { hash: "" };
beforeEach(() => vi.stubGlobal("location", place));
afterEach(() => vi.unstubAllGlobals());

it("work is remembered, wherever one is", () => {
  place.hash = "#/history";
  begun({ id: "j", kind: "read", state: "running", dataset: "d" } as Job, "upload", "runs.csv");
  expect(isFresh("j")).toBe(true);
  expect(place.hash).toBe("#/history");
});

it("data that is there is looked at, unless one has gone elsewhere", () => {
  const made = { id: "d" } as DatasetInfo;
  place.hash = "#/history";
  begun(made, "upload", "runs.csv");
  expect(place.hash).toBe("#/history");
  place.hash = "#/";
  begun(made, "upload", "runs.csv");
  expect(place.hash).toBe("#/data/d");
});

it("a choice is changed from what is chosen by then", () => {
  choose("d", () => ({ models: { energy: "1" }, tune: 5 }));
  choose("d", ({ models }) => ({ models: { ...models, runtime: "2" } }));
  expect(choicesOf("d")).toMatchObject({ models: { energy: "1", runtime: "2" }, tune: 5 });
  expect(choicesOf("other").tune).toBe(0);
});
