/** What went wrong and what to do about it: one shape for everything that can fail. */
import type { Problem } from "./types";

export class Failed extends Error {
  readonly problem: Problem;
  readonly status: number;

  constructor(problem: Problem, status = 0) {
    super(problem.error);
    this.problem = problem;
    this.status = status;
  }
}

export function problem(error: string, hint = "", code = "page"): Problem {
  return { error, hint, code, place: null, rules: [], text: "", column: 0, name: "" };
}

export const OFFLINE = problem(
  "the server cannot be reached",
  "nothing is lost; start it again with `compass serve`, and the page goes on",
  "offline",
);

/** Whatever was thrown, as a problem that can be shown. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Failed) return error.problem;
  if (isProblem(error)) return error;
  if (error instanceof DOMException && error.name === "AbortError")
    return problem("cancelled", "", "cancelled");
  // `fetch` throws a TypeError when there is no connection, and says nothing else.
  if (error instanceof TypeError && /fetch|network|load failed/i.test(error.message))
    return OFFLINE;
  return problem(error instanceof Error ? error.message : String(error), "try it again");
}

export function isProblem(given: unknown): given is Problem {
  return typeof given === "object" && given !== null && "error" in given && "code" in given;
}

/** Whether it may go well another time: the server cannot be reached, or has too much to do. */
export function isPassing(error: unknown): boolean {
  if (asProblem(error).code === OFFLINE.code) return true;
  return error instanceof Failed && (error.status >= 500 || error.status === 429);
}

/** Whether the server said no, and would say so again. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof Failed && error.status >= 400 && error.status < 500 && error.status !== 429
  );
}
