/** How the reading of a table stands, as far as it is known. */
import type { Job } from "@/api/types";
import { isRunning } from "./work";

/** `ended`: nobody reads it, and nothing says why; it was cancelled, or its job is forgotten. */
export type Standing = "unknown" | "running" | "failed" | "ended";

/** `listed`: whether the server has told all its jobs. */
export function standingOf(job: Pick<Job, "state" | "problem"> | null, listed: boolean): Standing {
  if (job === null) return listed ? "ended" : "unknown";
  if (isRunning(job)) return "running";
  if (job.problem) return "failed";
  // What is read is about to be shown.
  return job.state === "done" ? "unknown" : "ended";
}
