/** Files on their way to the server. They go on while other pages are looked at. */
import { asProblem } from "@/api/problem";
import { upload } from "@/api/upload";

export interface Sending {
  name: string;
  sent: number;
  total: number;
}

/** What is, or was last, sent from a place of the page. */
export interface Upload {
  sending: Sending | null;
  problem: unknown;
}

const NOTHING: Upload = { sending: null, problem: null };

const uploads = new Map<string, Upload>();
const controls = new Map<string, AbortController>();
const listeners = new Set<() => void>();

export function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

export function uploadAt(place: string): Upload {
  return uploads.get(place) ?? NOTHING;
}

function set(place: string, next: Upload): void {
  uploads.set(place, next);
  for (const changed of listeners) changed();
}

// Closing the page throws away what is on its way.
const ask = (event: BeforeUnloadEvent) => event.preventDefault();

function guard(): void {
  if (controls.size > 0) window.addEventListener("beforeunload", ask);
  else window.removeEventListener("beforeunload", ask);
}

/** Send a file, one at a time from each place. `then` is told what it became, wherever one is. */
export async function send<T>(
  place: string,
  path: string,
  file: File,
  then: (made: T) => void,
): Promise<void> {
  if (controls.has(place)) return;
  const control = new AbortController();
  controls.set(place, control);
  guard();
  const progress = (sent: number, total: number) =>
    set(place, { sending: { name: file.name, sent, total }, problem: null });
  progress(0, file.size);
  let problem: unknown = null;
  try {
    then(await upload<T>(path, file, { progress, signal: control.signal }));
  } catch (error) {
    if (asProblem(error).code !== "cancelled") problem = error;
  }
  controls.delete(place);
  guard();
  set(place, { sending: null, problem });
}

export function cancel(place: string): void {
  controls.get(place)?.abort();
}

/** What went wrong has been seen. */
export function forget(place: string): void {
  if (uploadAt(place).problem !== null) set(place, { ...uploadAt(place), problem: null });
}
