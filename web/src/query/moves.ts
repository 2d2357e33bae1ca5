/** Keeping the address and the conversation together: what has to be done next. */

import type { Chat } from "@/api/types";
import type { FromRun, Route } from "@/app/route";
import { ready } from "./talk";

export type AskRoute = Extract<Route, { page: "ask" }>;

export type Move =
  | { do: "nothing" }
  /** Put a question of the address into the draft, where a person sees it. */
  | { do: "fill"; question: string }
  | { do: "rules"; rules: string[]; route: AskRoute }
  /** Begin a question at a run. */
  | { do: "begin"; run: number; kind: FromRun; route: AskRoute }
  | { do: "ask" }
  | { do: "write"; route: AskRoute; push: boolean };

export interface Known {
  /** The question of the address that was taken care of last. */
  heard: string | undefined;
  /** Questions that were answered: a new one does not overwrite them in the browser's history. */
  answered: ReadonlySet<string>;
  /** Whether a button of this page asked for the question to be asked; an address never does. */
  wanted: boolean;
}

/** Call only when nothing is on its way and nothing has failed. */
export function nextMove(route: AskRoute, chat: Chat, { heard, answered, wanted }: Known): Move {
  const asked = route.question;
  if (asked && asked !== heard && asked !== chat.question) return { do: "fill", question: asked };
  const { rules, ...plain } = route;
  if (rules?.length) return { do: "rules", rules, route: plain };
  if (route.run !== undefined && route.begin) {
    const { run, begin, ...rest } = plain;
    return { do: "begin", run: route.run, kind: route.begin, route: rest };
  }
  if (wanted && ready(chat)) return { do: "ask" };
  const now: AskRoute = { ...plain, chat: chat.id };
  if (chat.question) now.question = chat.question;
  else delete now.question;
  if (now.chat === route.chat && now.question === route.question) return { do: "nothing" };
  const push = route.chat === chat.id && asked !== undefined && answered.has(asked);
  return { do: "write", route: now, push: push && now.question !== asked };
}
