import { afterEach, describe, expect, it, vi } from "vitest";
import { typedRuns, typedScript } from "@/answer/next/keeping";

afterEach(() => vi.unstubAllGlobals());

function storage(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  const all = new Map<string, string>();
  return {
    getItem: (name) => all.get(name) ?? null,
    setItem: (name, text) => void all.set(name, text),
    removeItem: (name) => void all.delete(name),
  };
}

describe("what was typed", () => {
  it("is there again: a script for the engine, runs for the answer", () => {
    vi.stubGlobal("sessionStorage", storage());
    typedScript.set("e1", "srun -n {threads}");
    typedRuns.set("a1", "[]");
    expect(typedScript.get("e1")).toBe("srun -n {threads}");
    expect(typedScript.get("e2")).toBeNull();
    expect(typedRuns.get("a1")).toBe("[]");
    typedScript.set("e1", null);
    expect(typedScript.get("e1")).toBeNull();
  });
  it("is lost, and nothing else, where the browser keeps nothing", () => {
    vi.stubGlobal("sessionStorage", undefined);
    typedScript.set("e1", "x");
    expect(typedScript.get("e1")).toBeNull();
  });
});
