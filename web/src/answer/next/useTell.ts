import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { whenBack } from "@/api/back";
import { api, data } from "@/api/client";
import { cancel, finished, isJob } from "@/api/jobs";
import { asProblem, isPassing } from "@/api/problem";
import type { AnswerView, EngineInfo, Job, TellView } from "@/api/types";
import { upload } from "@/api/upload";
import { safeName } from "@/data/files";
import { telling } from "./keeping";
import type { Table } from "./measured";

export interface Telling {
  job: Job | null;
  busy: boolean;
  made: TellView | null;
  error: unknown;
  /** Looks again for work that goes on, where the server could not be asked about it. */
  again: (() => void) | null;
  tell: (table: Table) => void;
  /** The same with a file that was filled in elsewhere. */
  tellFile: (file: File) => void;
  cancel: () => void;
}

/** Gives measured runs to an engine; goes on after a reload where it was. */
export function useTell(view: AnswerView, engine: EngineInfo): Telling {
  const [job, setJob] = useState<Job | null>(null);
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<TellView | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [lost, setLost] = useState(false);
  const stop = useRef<AbortController | null>(null);
  const queries = useQueryClient();

  const run = useCallback(
    async (begin: (signal: AbortSignal) => Promise<Job | TellView>) => {
      const mine = new AbortController();
      stop.current?.abort();
      stop.current = mine;
      setBusy(true);
      setError(null);
      setLost(false);
      try {
        const begun = await begin(mine.signal);
        if (isJob(begun)) telling.set(view.id, begun.id);
        const found = isJob(begun) ? await outcome(begun, mine.signal, setJob) : begun;
        if (mine.signal.aborted) return;
        setMade(found);
        void queries.invalidateQueries({ queryKey: ["get", "/api/v1/engines"] });
      } catch (failed) {
        // The page was left: the job goes on, and is found again when one comes back.
        if (mine.signal.aborted) return;
        // Whether it goes on is not known: forgotten, the same runs would be given twice.
        const unsure = telling.get(view.id) !== null && isPassing(failed);
        if (!unsure) telling.set(view.id, null);
        setLost(unsure);
        setError(failed);
      } finally {
        if (!mine.signal.aborted) {
          setBusy(false);
          setJob(null);
        }
      }
    },
    [view.id, queries],
  );

  const resume = useCallback(() => {
    const before = telling.get(view.id);
    if (before !== null)
      void run(async () =>
        data(await api.GET("/api/v1/jobs/{id}", { params: { path: { id: before } } })),
      );
  }, [view.id, run]);

  useEffect(() => {
    resume();
    return () => stop.current?.abort();
  }, [resume]);
  useEffect(() => (lost ? whenBack(resume) : undefined), [lost, resume]);

  function tell({ names, rows }: Table) {
    setMade(null);
    void run(async () =>
      data(
        await api.POST("/api/v1/engines/{id}/tell", {
          params: { path: { id: engine.id }, query: { wait: 0 } },
          body: { names, rows, questions: [view.answer.text] },
        }),
      ),
    );
  }

  function tellFile(file: File) {
    setMade(null);
    const said = new URLSearchParams({
      name: safeName(file.name),
      wait: "0",
      ask: view.answer.text,
    });
    void run((signal) =>
      upload(`/api/v1/engines/${engine.id}/tell/upload?${said}`, file, {
        progress: () => undefined,
        signal,
      }),
    );
  }

  return {
    job,
    busy,
    made,
    error: error !== null && asProblem(error).code === "cancelled" ? null : error,
    again: lost ? resume : null,
    tell,
    tellFile,
    cancel: () => {
      if (job !== null) void cancel(job.id).catch(setError);
    },
  };
}

/** The engine that the job made, and what the new runs changed. */
async function outcome(
  job: Job,
  signal: AbortSignal,
  seen: (job: Job) => void,
): Promise<TellView | null> {
  const { engine: made, state } = await finished(job, signal, seen);
  if (!made || state !== "done") return null;
  const params = { path: { id: made } };
  const report = data(await api.GET("/api/v1/engines/{id}/tell-report", { params }));
  const engine = data(await api.GET("/api/v1/engines/{id}", { params }));
  return { engine, report };
}
