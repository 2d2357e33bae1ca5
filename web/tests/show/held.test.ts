import { expect, it } from "vitest";
import { Failed, OFFLINE } from "@/api/problem";
import { Held } from "@/show/Held";
import { unshown } from "@/show/unshown";

it("a part that failed is held until something else is looked at", () => {
  const before = { failed: null, at: "#/history" };
  const failed = { ...before, ...Held.getDerivedStateFromError(new Error("no")) };
  expect(failed.failed).not.toBeNull();
  const same = { at: "#/history", children: null };
  expect(Held.getDerivedStateFromProps(same, failed)).toBeNull();
  expect(Held.getDerivedStateFromProps({ ...same, at: "#/" }, failed)).toEqual({
    failed: null,
    at: "#/",
  });
});

it("whatever is thrown counts as a failure", () => {
  expect(Held.getDerivedStateFromError(null).failed).toEqual({ error: null });
});

it.each([
  "Failed to fetch dynamically imported module: http://127.0.0.1/assets/HistoryPage-1.js",
  "error loading dynamically imported module: http://127.0.0.1/assets/HistoryPage-1.js",
  "Importing a module script failed.",
  "Unable to preload CSS for /assets/HistoryPage-1.css",
])("not loaded: %s", (message) => {
  expect(unshown(new TypeError(message)).error).toBe("this part of the page could not be loaded");
});

it("what cannot be drawn says why", () => {
  const { error, hint } = unshown(new Error("x is undefined"));
  expect(error).toBe("this part of the page cannot be shown");
  expect(hint).toContain("x is undefined");
  expect(unshown(new Failed(OFFLINE)).hint).toContain(OFFLINE.error);
});
