/** Where a question stands: what is missing, what is wrong with it, and what can be done next. */
import type { Chat } from "@/api/types";

type Reply = Chat["reply"];
type Slot = NonNullable<Reply["expecting"]>;

/** What has to be told before the question can be asked. */
export const MISSING: Record<Slot, string> = {
  kind: "Say what you would like to know.",
  goal: "Say which outcome matters, and which way.",
  parameters: "Say which parameters to find values for.",
  change: "Say what changes.",
  baseline: "Say which run to start from.",
  words: "Say in other words what was not understood, or leave it out.",
  columns: "Confirm the columns that your words were taken for.",
  constraints: "Any other limits? Add a rule, or go on without.",
  confirm: "",
};

/** What the button says in the conversation. */
export const ASKING = "yes";

/** What is wrong with the draft, or what went wrong when it was asked; else empty. */
export function trouble({ expecting, trouble }: Reply): string {
  return expecting === "confirm" ? trouble : "";
}

/** Whether the person said no to a finished question: nothing is wrong with it. */
export function refused({ expecting, query, trouble }: Reply): boolean {
  return expecting === "confirm" && !query && !trouble;
}

/** Texts of one question may differ in the full stop or question mark behind them. */
export function sameQuestion(one: string, other: string): boolean {
  const bare = (text: string) => text.trim().replace(/[.?]$/, "");
  return bare(one) === bare(other);
}
