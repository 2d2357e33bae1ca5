import { afterEach, expect, it, vi } from "vitest";
import { forGood, inTab } from "@/api/stored";

afterEach(() => vi.unstubAllGlobals());

it("keeps, gives back and forgets", () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => kept.set(name, text),
    removeItem: (name: string) => kept.delete(name),
  });
  inTab.set("a", "1");
  expect(inTab.get("a")).toBe("1");
  inTab.set("a", null);
  expect(inTab.get("a")).toBeNull();
});

it("full, or forbidden: nothing is thrown", () => {
  vi.stubGlobal("localStorage", {
    getItem: () => null,
    setItem: () => {
      throw new Error("full");
    },
  });
  forGood.set("a", "1");
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    get: () => {
      throw new Error("forbidden");
    },
  });
  forGood.set("a", "1");
  expect(forGood.get("a")).toBeNull();
});
