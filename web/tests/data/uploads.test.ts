import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Failed, problem } from "@/api/problem";
import type { Sending } from "@/api/upload";
import { cancel, forget, send, subscribe, uploadAt } from "@/data/uploads";

interface Asked extends Sending {
  path: string;
  done: (made: unknown) => void;
  fail: (error: unknown) => void;
}

const asked: Asked[] = [];
vi.mock("@/api/upload", () => ({
  upload: (path: string, _: unknown, sending: Sending) =>
    new Promise((done, fail) => {
      asked.push({ ...sending, path, done, fail });
      sending.signal.addEventListener("abort", () =>
        fail(new Failed(problem("cancelled", "", "cancelled"))),
      );
    }),
}));

const guards = new Set<unknown>();
beforeEach(() => {
  asked.length = 0;
  vi.stubGlobal("window", {
    addEventListener: (_: string, guard: unknown) => guards.add(guard),
    removeEventListener: (_: string, guard: unknown) => guards.delete(guard),
  });
});
afterEach(() => vi.unstubAllGlobals());

const FILE = new File(["12345"], "runs.csv");

it("goes on while nobody looks, and is there for whoever comes back", async () => {
  const then = vi.fn();
  const leave = subscribe(vi.fn());
  const sending = send("upload", "/x", FILE, then);
  leave();
  asked[0]?.progress(2, 5);
  expect(uploadAt("upload").sending).toEqual({ name: "runs.csv", sent: 2, total: 5 });
  expect(guards.size).toBe(1);
  asked[0]?.done("made");
  await sending;
  expect(then).toHaveBeenCalledWith("made");
  expect(uploadAt("upload")).toEqual({ sending: null, problem: null });
  expect(guards.size).toBe(0);
});

it("ends when it is cancelled, which is no problem", async () => {
  const then = vi.fn();
  const sending = send("upload", "/x", FILE, then);
  cancel("upload");
  await sending;
  expect(then).not.toHaveBeenCalled();
  expect(uploadAt("upload")).toEqual({ sending: null, problem: null });
});

it("keeps what went wrong until the next one", async () => {
  const sending = send("upload", "/x", FILE, vi.fn());
  asked[0]?.fail(new Error("no room"));
  await sending;
  expect(uploadAt("upload").problem).toEqual(new Error("no room"));
  forget("upload");
  expect(uploadAt("upload").problem).toBeNull();
});

it("sends one at a time from each place", async () => {
  const all = ["upload", "upload", "model x"].map((place) => send(place, place, FILE, vi.fn()));
  expect(asked.map((one) => one.path)).toEqual(["upload", "model x"]);
  for (const one of asked) one.done(null);
  await Promise.all(all);
});
