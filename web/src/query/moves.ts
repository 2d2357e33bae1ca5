/** Keeping the address and the conversation together: what has to be done next. */

import type { Chat } from "@/api/types";
import type { Route } from "@/app/route";
import { ready } from "./talk";

export type AskRoute = Extract<Route, { page: "ask" }>;

export type Move =
  | { do: "nothing" }
  | { do: "say"; text: string }
  | { do: "rules"; rules: string[]; route: AskRoute }
  /** `linked`: because a link that was copied says so, not a button here. */
  | { do: "ask"; route: AskRoute; linked: boolean }
  | { do: "write"; route: AskRoute; push: boolean };

export interface Known {
  /** The question of the address that was taken care of last. */
  heard: string | undefined;
  /** Questions that were answered: a new one does not overwrite them in the browser's history. */
  answered: ReadonlySet<string>;
}

/** Call only when nothing is on its way and nothing has failed. */
export function nextMove(route: AskRoute, chat: Chat, { heard, answered }: Known): Move {
  const asked = route.question;
  if (asked && asked !== heard && asked !== chat.question) return { do: "say", text: asked };
  const { rules, run, ...plain } = route;
  if (rules?.length) return { do: "rules", rules, route: run ? { ...plain, run } : plain };
  if (run && ready(chat)) return { do: "ask", route: plain, linked: plain.data !== undefined };
  const now: AskRoute = { ...plain, chat: chat.id };
  if (chat.question) now.question = chat.question;
  else delete now.question;
  const same = now.chat === route.chat && now.question === route.question && !run;
  if (same) return { do: "nothing" };
  const push = route.chat === chat.id && asked !== undefined && answered.has(asked) && !run;
  return { do: "write", route: now, push: push && now.question !== asked };
}
