/** Asking a question again of another engine, by a button. That a person pressed it is kept in
 * memory, where no link reaches: an address fills a question in and never asks it. */
import { go } from "@/app/route";

let wanted: string | null = null;

export function askAgain(engine: string, question: string | undefined): void {
  wanted = engine;
  go({ page: "ask", engine, question });
}

/** Whether a button here asked for this engine to be asked. */
export function isWanted(engine: string): boolean {
  return wanted === engine;
}

/** It was asked, or cannot be: what a person finishes later waits for them. */
export function forget(engine: string): void {
  if (wanted === engine) wanted = null;
}
