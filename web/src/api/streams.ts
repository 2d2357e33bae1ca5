/** Streams of events, as many at once as leave connections for everything else. */
import { raw } from "./client";
import { events } from "./events";

const AGAIN = 1500; // ms before a lost stream is opened again, or something without one is looked at
// Browsers open six connections to a server at most.
const STREAMS = 2; // at once in this tab
const SILENCE = 25_000; // ms without a sign of life before a stream counts as lost

let streams = 0;

/** Everything that is new, until the caller has enough: from the stream at `path`, through lost
 * connections, or by looking now and then where there is no place for one more stream. */
export async function* followed<T>(
  path: string,
  look: () => Promise<T>,
  signal: AbortSignal,
  hopeless: (error: unknown) => boolean,
): AsyncGenerator<T> {
  while (!signal.aborted) {
    try {
      if (streams < STREAMS) yield* streamed<T>(path, signal);
      else yield await look();
    } catch (error) {
      if (signal.aborted) return;
      if (hopeless(error)) throw error;
    }
    await new Promise((done) => setTimeout(done, AGAIN));
  }
}

async function* streamed<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
  streams += 1;
  try {
    const response = await raw(path, { signal });
    for await (const told of response.body ? events(response.body, SILENCE) : [])
      yield JSON.parse(told) as T;
  } finally {
    streams -= 1;
  }
}
