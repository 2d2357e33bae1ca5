/** Work that takes its time: following a job as it happens, through lost connections, and ending it. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, data } from "./client";
import { Failed, isRefusal } from "./problem";
import { followed } from "./streams";
import type { Job } from "./types";

export function isJob(given: unknown): given is Job {
  return typeof given === "object" && given !== null && "kind" in given && "state" in given;
}

export function over(job: Job): boolean {
  return job.state === "done" || job.state === "failed" || job.state === "cancelled";
}

/** Every state of a job until it is over. A server that is started again goes on with it. */
export async function* follow(id: string, signal: AbortSignal): AsyncGenerator<Job> {
  const look = async () =>
    data(await api.GET("/api/v1/jobs/{id}", { params: { path: { id } }, signal }));
  // Where the server knows no such job, waiting longer would not help.
  for await (const job of followed<Job>(`/api/v1/jobs/${id}/events`, look, signal, isRefusal)) {
    yield job;
    if (over(job)) return;
  }
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
