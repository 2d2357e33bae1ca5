/** Getting data: the server reads it as a job, or has it already. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { isJob } from "@/api/jobs";
import type { DatasetInfo, Job } from "@/api/types";
import { go, parse } from "@/app/route";
import { remember } from "./work";

/** A job is remembered where it was begun; data that is there is looked at next. */
export function begun(made: Job | DatasetInfo, place: string, name: string): void {
  if (!isJob(made)) {
    // Whoever has gone to another page meanwhile is not led away from it.
    if (parse(location.hash).page === "home") go({ page: "data", dataset: made.id });
  } else if (made.dataset) remember({ job: made.id, place, name, dataset: made.dataset });
}

/** Begins such work, and says what went wrong. */
export function useBegin(place: string) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const queries = useQueryClient();
  async function begin(name: string, start: () => Promise<Job | DatasetInfo>) {
    setBusy(true);
    setProblem(null);
    try {
      begun(await start(), place, name);
      void queries.invalidateQueries();
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  }
  return { busy, problem, begin };
}

/** A table that was read just now is looked at next. */
export function opened(job: Job, fresh: boolean): void {
  if (fresh && job.dataset) go({ page: "data", dataset: job.dataset });
}
