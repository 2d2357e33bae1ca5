/** Work that this browser started: what it was for, so that a reload can show it again. */
import { useSyncExternalStore } from "react";
import type { Job } from "@/api/types";
import { keep, kept } from "./kept";

const KEY = "compass.jobs";
const MOST = 50;

export interface Work {
  job: string;
  /** Where it was started, which is where it is shown: "upload", "path", a catalogue entry, or learning. */
  place: string;
  name: string;
  dataset: string;
}

export const learning = (dataset: string) => `learn ${dataset}`;
export const downloading = (entry: string) => `catalogue ${entry}`;

let list: readonly Work[] = kept<Work[]>(KEY) ?? [];
const listeners = new Set<() => void>();
// Started since the page was opened: only these lead on to the next page by themselves.
const fresh = new Set<string>();

function set(next: readonly Work[]): void {
  list = next.slice(-MOST);
  keep(KEY, list);
  for (const changed of listeners) changed();
}

export function remember(work: Work): void {
  fresh.add(work.job);
  // A place has one piece of work at a time: the newer one is what the person means.
  set([...list.filter((one) => one.place !== work.place || work.place === "upload"), work]);
}

export function done(job: string): void {
  set(list.filter((one) => one.job !== job));
}

export function isFresh(job: string): boolean {
  return fresh.has(job);
}

/** All work that was started here, or only that of one place. */
export function useWork(place?: string): readonly Work[] {
  const all = useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => list,
  );
  return place === undefined ? all : all.filter((one) => one.place === place);
}

export function isRunning(job: Pick<Job, "state">): boolean {
  return job.state === "waiting" || job.state === "running";
}

/** Fits of a dataset that were not started here: by the server, in another window, by a program. */
export function othersFits(
  jobs: readonly Job[],
  dataset: string,
  mine: readonly Work[],
): readonly Job[] {
  const known = new Set(mine.map((work) => work.job));
  return jobs.filter((job) => job.kind === "fit" && job.dataset === dataset && !known.has(job.id));
}

/** The job that reads a dataset; null: it is not known. */
export function readingOf(jobs: readonly Job[], dataset: string): Job | null {
  return jobs.find((job) => job.kind === "read" && job.dataset === dataset) ?? null;
}
