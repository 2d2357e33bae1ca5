/** An answer comes first; what is pending of it, its proof and the runs to make next, comes after. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { $api, api, data } from "./client";
import { Failed, isProblem, isRefusal } from "./problem";
import { followed } from "./streams";
import type { Answer, AnswerView, Pending, Problem } from "./types";

const WAIT = 20; // seconds that the server may wait with its reply, where there is no stream

export function isPending(answer: Answer, part?: Pending): boolean {
  const pending = answer.pending ?? [];
  return part === undefined ? pending.length > 0 : pending.includes(part);
}

/** An answer as it is now, and each time there is more of it, until it is whole. It is worked on
 * while somebody follows it. */
export async function* completed(id: string, signal: AbortSignal): AsyncGenerator<AnswerView> {
  const params = { path: { id }, query: { wait: WAIT } };
  const look = async () => data(await api.GET("/api/v1/answers/{id}", { params, signal }));
  const path = `/api/v1/answers/${id}/events`;
  for await (const told of followed<AnswerView | Problem>(path, look, signal, isRefusal)) {
    if (isProblem(told)) throw new Failed(told);
    yield told;
    if (told.problem) throw new Failed(told.problem);
    if (!isPending(told.answer)) return;
  }
}

/** An answer, followed until it is whole; `failed` is why what is pending will not come. */
export function useAnswer(id: string) {
  const options = $api.queryOptions("get", "/api/v1/answers/{id}", { params: { path: { id } } });
  const view = $api.useQuery(
    "get",
    "/api/v1/answers/{id}",
    { params: { path: { id } } },
    { staleTime: Number.POSITIVE_INFINITY }, // nobody else changes it
  );
  const queries = useQueryClient();
  const [failed, setFailed] = useState<unknown>(null);
  const pending = view.data !== undefined && isPending(view.data.answer);
  const key = JSON.stringify(options.queryKey);
  useEffect(() => {
    setFailed(null);
    if (!pending) return;
    const stop = new AbortController();
    void (async () => {
      try {
        for await (const now of completed(id, stop.signal))
          queries.setQueryData(JSON.parse(key), now);
      } catch (error) {
        if (!stop.signal.aborted) setFailed(error);
      }
    })();
    return () => stop.abort();
  }, [id, pending, key, queries]);
  return { view, failed };
}
