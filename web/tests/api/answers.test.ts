import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type * as Answers from "@/api/answers";
import { problem } from "@/api/problem";
import type { Answer } from "@/api/types";

const server = vi.hoisted(() => ({
  streams: [] as ReadableStreamDefaultController<Uint8Array>[],
  refused: false,
}));

vi.mock("@/api/client", () => ({
  raw: async () => {
    if (server.refused) {
      const { Failed } = await import("@/api/problem");
      throw new Failed(problem("no such answer"), 404);
    }
    return { body: new ReadableStream({ start: (end) => void server.streams.push(end) }) };
  },
  api: {},
  $api: {},
  data: (given: { data: unknown }) => given.data,
}));

let answers: typeof Answers;

// Files of tests share modules: these are made anew with the server of this file.
beforeEach(async () => {
  vi.resetModules();
  answers = await import("@/api/answers");
  vi.useFakeTimers();
  server.streams.length = 0;
  server.refused = false;
});
afterEach(() => {
  vi.useRealTimers();
  vi.resetModules();
});

const soon = () => vi.advanceTimersByTimeAsync(10);
const later = () => vi.advanceTimersByTimeAsync(2000);

function tell(event: string, told: unknown): void {
  const text = `event: ${event}\ndata: ${JSON.stringify(told)}\n\n`;
  server.streams.at(-1)?.enqueue(new TextEncoder().encode(text));
}

const lacking = (...pending: string[]) => ({ id: "a", answer: { pending } });

function following() {
  const seen: number[] = [];
  const done = (async () => {
    for await (const view of answers.completed("a", new AbortController().signal))
      seen.push(view.answer.pending.length);
  })();
  done.catch(() => undefined);
  return { seen, done };
}

it("tells the answer each time there is more of it, until it is whole", async () => {
  const { seen, done } = following();
  await soon();
  tell("answer", lacking("proof", "run next"));
  tell("answer", lacking("run next"));
  tell("answer", lacking());
  await done;
  expect(seen).toEqual([2, 1, 0]);
});

it("goes on after a lost stream", async () => {
  const { seen, done } = following();
  await soon();
  tell("answer", lacking("proof"));
  server.streams.at(-1)?.close();
  await later();
  expect(server.streams).toHaveLength(2);
  tell("answer", lacking("proof"));
  tell("answer", lacking());
  await done;
  expect(seen).toEqual([1, 1, 0]);
});

it("says why a proof will not come", async () => {
  const { done } = following();
  await soon();
  tell("problem", problem("this took longer than the server allows"));
  await expect(done).rejects.toThrow("longer than");
});

it("says why a proof will not come where it looks without a stream", async () => {
  const { seen, done } = following();
  await soon();
  tell("answer", { ...lacking("proof"), problem: problem("the engine was deleted") });
  await expect(done).rejects.toThrow("was deleted");
  expect(seen).toEqual([1]);
});

it("ends where the answer is gone", async () => {
  server.refused = true;
  await expect(following().done).rejects.toThrow("no such answer");
});

it("knows what is pending; of answers of earlier versions nothing is", () => {
  const { isPending } = answers;
  const answer = lacking("proof").answer as unknown as Answer;
  expect([isPending(answer), isPending(answer, "proof"), isPending(answer, "run next")]).toEqual([
    true,
    true,
    false,
  ]);
  expect(isPending({} as Answer)).toBe(false);
});
