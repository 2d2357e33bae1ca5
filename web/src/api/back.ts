/** A server that was gone and is back: what failed meanwhile is done again. */
import type { QueryClient } from "@tanstack/react-query";

/** The query that looks whether the server is there. */
export const HEALTH = ["healthz"] as const;

const waiting = new Set<() => void>();

/** Do something again each time that the server is back, until the given function is called. */
export function whenBack(again: () => void): () => void {
  waiting.add(again);
  return () => void waiting.delete(again);
}

/** Told of each look at the server in turn, says whether it is back after it was gone. */
export function returning(): (look: "pending" | "error" | "success") => boolean {
  let gone = false;
  return (look) => {
    const back = gone && look === "success";
    // A look under way says nothing yet.
    if (look !== "pending") gone = look === "error";
    return back;
  };
}

/** Ask again for what is shown and failed, and tell those who wait. */
export function goOn(queries: QueryClient): void {
  const failed = { type: "active", predicate: isFailed } as const;
  void queries.refetchQueries(failed);
  for (const again of [...waiting]) again();
}

function isFailed(query: { state: { status: string } }): boolean {
  return query.state.status === "error";
}
