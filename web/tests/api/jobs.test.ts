import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { follow } from "@/api/jobs";
import { Failed, problem } from "@/api/problem";

const server = vi.hoisted(() => ({
  streams: new Map<string, ReadableStreamDefaultController<Uint8Array>>(),
  looks: [] as string[],
  jobs: new Map<string, string>(),
}));

vi.mock("@/api/client", () => ({
  raw: async (path: string) => {
    const id = path.split("/").at(-2) ?? "";
    return { body: new ReadableStream({ start: (end) => void server.streams.set(id, end) }) };
  },
  api: {
    GET: async (_: string, { params }: { params: { path: { id: string } } }) => {
      const { id } = params.path;
      server.looks.push(id);
      const state = server.jobs.get(id);
      if (!state) throw new Failed(problem("no such job"), 404);
      return { data: { id, state } };
    },
  },
  data: (given: { data: unknown }) => given.data,
}));

beforeEach(() => {
  vi.useFakeTimers();
  server.streams.clear();
  server.jobs.clear();
  server.looks.length = 0;
});
afterEach(() => vi.useRealTimers());

function tell(id: string, state: string): void {
  const text = `event: job\ndata: ${JSON.stringify({ id, state })}\n\n`;
  server.streams.get(id)?.enqueue(new TextEncoder().encode(text));
}

/** Follows a job; what it was told, and how it ended. */
function following(id: string, stop = new AbortController()) {
  const seen: string[] = [];
  const done = (async () => {
    for await (const job of follow(id, stop.signal)) seen.push(job.state);
  })();
  done.catch(() => undefined);
  return { seen, done, stop };
}

const soon = () => vi.advanceTimersByTimeAsync(10);
const later = () => vi.advanceTimersByTimeAsync(2000);

it("leaves connections for everything else: two streams, the others are looked at", async () => {
  for (const id of ["a", "b", "c", "d"]) server.jobs.set(id, "running");
  const [a, b, c, d] = ["a", "b", "c", "d"].map((id) => following(id));
  await soon();
  expect([...server.streams.keys()]).toEqual(["a", "b"]);
  expect(server.looks).toEqual(["c", "d"]);
  tell("a", "running");
  server.jobs.set("c", "done");
  await later();
  expect(a?.seen).toEqual(["running"]);
  expect(c?.seen).toEqual(["running", "done"]);
  await c?.done;

  // A stream that is free is used by the next one.
  tell("a", "done");
  await a?.done;
  await later();
  expect([...server.streams.keys()]).toEqual(["a", "b", "d"]);
  tell("b", "done");
  tell("d", "failed");
  await Promise.all([b?.done, d?.done]);
  expect(d?.seen.at(-1)).toBe("failed");
});

it("streams that were left are free again, and an unknown job is told", async () => {
  async function first(id: string): Promise<void> {
    for await (const _ of follow(id, new AbortController().signal)) break;
  }
  const both = Promise.all([first("a"), first("b")]);
  await soon();
  const unknown = following("c");
  await expect(unknown.done).rejects.toThrow("no such job");
  tell("a", "running");
  tell("b", "running");
  await both;
  following("d");
  await soon();
  expect([...server.streams.keys()]).toEqual(["a", "b", "d"]);
  tell("d", "done");
  await soon();
});
