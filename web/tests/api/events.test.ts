import { expect, test } from "vitest";
import { events } from "@/api/events";

/** A stream that sends these pieces; then it ends, or says nothing more. */
function streamOf(pieces: string[], ends: boolean): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(control) {
      for (const piece of pieces) control.enqueue(new TextEncoder().encode(piece));
      if (ends) control.close();
    },
  });
}

async function all(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string[]> {
  const found: string[] = [];
  for await (const one of events(body, 30)) found.push(one);
  return found;
}

test("events, however they are cut; signs of life are none", async () => {
  const pieces = ["event: job\nda", 'ta: {"a":1}\n', "\n: still there\n\nevent: job\ndata: 2\n\n"];
  expect(await all(streamOf(pieces, true))).toEqual(['{"a":1}', "2"]);
});

test("a stream that has fallen silent is over", async () => {
  expect(await all(streamOf(["data: 1\n\n"], false))).toEqual(["1"]);
});
