import type { Chat, Draft } from "@/api/types";
import { EMPTY } from "@/query/draft";

export const NOW = "2026-01-01T00:00:00Z";

/** A conversation in which nothing was said yet. */
export function chatOf(more: Partial<Chat> = {}, reply: Partial<Chat["reply"]> = {}): Chat {
  const conversation: Chat["conversation"] = {
    draft: EMPTY,
    before: [],
    confirmed: [],
    asked: [],
    links: [],
    undirected: [],
    unclear: [],
    noted: [],
    turns: [{ who: "compass", text: "Hello.", answer: false }],
  };
  return {
    id: "c",
    engine: "e",
    created: NOW,
    conversation,
    reply: { text: "", trouble: "", choices: [], links: [], ...reply },
    question: "",
    ...more,
  };
}

export const limited = (rule: string): Draft => ({ ...EMPTY, where: [rule] });
