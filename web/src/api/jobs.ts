/** Work that takes its time: following a job as it happens, through lost connections, and ending it. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, data, raw } from "./client";
import { events } from "./events";
import { Failed, isRefusal } from "./problem";
import type { Job } from "./types";

const AGAIN = 1500; // ms before a lost stream is opened again, or a job without one is looked at
// Browsers open six connections to a server at most: streams must leave some for everything else.
const STREAMS = 2; // at once in this tab
const SILENCE = 25_000; // ms without a sign of life before a stream counts as lost

export function isJob(given: unknown): given is Job {
  return typeof given === "object" && given !== null && "kind" in given && "state" in given;
}

export function over(job: Job): boolean {
  return job.state === "done" || job.state === "failed" || job.state === "cancelled";
}

/** Every state of a job until it is over. A server that is started again goes on with it. */
export async function* follow(id: string, signal: AbortSignal): AsyncGenerator<Job> {
  while (!signal.aborted) {
    try {
      for await (const job of streams < STREAMS ? streamed(id, signal) : looked(id, signal)) {
        yield job;
        if (over(job)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      // The server knows no such job: waiting longer would not help.
      if (isRefusal(error)) throw error;
    }
    await new Promise((done) => setTimeout(done, AGAIN));
  }
}

let streams = 0;

async function* streamed(id: string, signal: AbortSignal): AsyncGenerator<Job> {
  streams += 1;
  try {
    const response = await raw(`/api/v1/jobs/${id}/events`, { signal });
    for await (const told of response.body ? events(response.body, SILENCE) : [])
      yield JSON.parse(told) as Job;
  } finally {
    streams -= 1;
  }
}

/** How a job stands at the moment, once. */
async function* looked(id: string, signal: AbortSignal): AsyncGenerator<Job> {
  yield data(await api.GET("/api/v1/jobs/{id}", { params: { path: { id } }, signal }));
}

/** A job that is over; throws what went wrong. `seen` is told of every step. */
export async function finished(
  job: Job,
  signal: AbortSignal,
  seen: (job: Job) => void = () => undefined,
): Promise<Job> {
  let last = job;
  seen(job);
  if (!over(job))
    for await (const now of follow(job.id, signal)) {
      last = now;
      seen(now);
    }
  if (last.problem) throw new Failed(last.problem);
  if (signal.aborted) throw new DOMException("cancelled", "AbortError");
  return last;
}

export async function cancel(id: string): Promise<Job> {
  return data(await api.DELETE("/api/v1/jobs/{id}", { params: { path: { id } } }));
}

/** A job as it goes on; null without one. Lists are asked for anew when it is over. */
export function useJob(id: string | null | undefined): Job | null {
  const [job, setJob] = useState<Job | null>(null);
  const queries = useQueryClient();
  useEffect(() => {
    setJob(null);
    if (!id) return;
    const stop = new AbortController();
    void (async () => {
      try {
        for await (const now of follow(id, stop.signal)) setJob(now);
      } catch {
        // a job that is no longer known has nothing to show
      }
      if (!stop.signal.aborted) void queries.invalidateQueries();
    })();
    return () => stop.abort();
  }, [id, queries]);
  return job;
}
