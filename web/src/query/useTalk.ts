/** A conversation about an engine, kept together with the address and with the work it starts. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { api, data } from "@/api/client";
import { cancel as cancelJob, follow, over } from "@/api/jobs";
import { asProblem, Failed, isRefusal, problem as made } from "@/api/problem";
import { inTab } from "@/api/stored";
import type { Chat, Draft, EngineInfo, Job, Problem } from "@/api/types";
import { go } from "@/app/route";
import { LONGEST } from "@/chat/reply";
import { forget, isWanted } from "./again";
import { draftOf, withRules } from "./draft";
import { FIRST_KIND } from "./first";
import { type AskRoute, nextMove } from "./moves";
import { firstOutcome, fromRun } from "./starts";
import { lost, overtaken, type Server, type State, Talk } from "./talk";

const SHORT = 1; // seconds that a message waits for its answer; longer work is followed
const BACK = 2000; // ms between looks for a server that is gone
const SAID: Record<string, string> = {
  recommend: "recommend a configuration",
  reconfigure: "reconfigure a run",
  "what-if": "what if",
};

export interface Talking extends State {
  /** The work that answers the question; also when it is over and failed. */
  job: Job | null;
  /** The answers of this visit by their questions. */
  answers: ReadonlyMap<string, string>;
  say: (text: string) => Promise<boolean>;
  edit: (draft: Draft) => void;
  ask: () => Promise<boolean>;
  cancel: () => void;
  /** Why it could not be cancelled, if it could not. */
  uncancelled: unknown;
  again: () => void;
  /** Take back an edit that was refused. */
  drop: () => void;
}

export function useTalk(route: AskRoute, engine: EngineInfo): Talking {
  const [talk] = useState(() => new Talk(serverOf(engine.id), asProblem, isRefusal));
  const state = useSyncExternalStore(talk.subscribe, talk.snapshot);
  useOpening(talk, route.chat, engine.id);
  useRecovery(talk, state.problem);
  useEffect(() => {
    const look = () => void talk.refresh();
    window.addEventListener("focus", look);
    return () => window.removeEventListener("focus", look);
  }, [talk]);
  const { job, setJob } = useFollowing(talk, state.chat);
  const answers = useAnswers(state.chat);
  useAddress(talk, route, engine, answers);

  const [uncancelled, setUncancelled] = useState<unknown>(null);
  const underWay = state.chat?.job?.id;
  const cancel = useCallback(() => {
    setUncancelled(null);
    if (underWay) void cancelJob(underWay).then(setJob, setUncancelled);
  }, [underWay, setJob]);
  const again = useCallback(() => void talk.again(), [talk]);
  return {
    ...state,
    job,
    answers,
    say: talk.say,
    edit: talk.edit,
    ask: talk.ask,
    drop: talk.drop,
    cancel,
    uncancelled: job && over(job) ? null : uncancelled,
    again,
  };
}

function serverOf(engine: string): Server {
  const at = (id: string) => ({ path: { id } });
  const edit = async (id: string, body: Draft) =>
    data(await api.PUT("/api/v1/chats/{id}/draft", { params: at(id), body }));
  return {
    read: async (id) => data(await api.GET("/api/v1/chats/{id}", { params: at(id) })),
    edit,
    fill: async (id, question) => edit(id, await understood(engine, question)),
    takeAnswer: async (id, answer) =>
      data(await api.POST("/api/v1/chats/{id}/answers", { params: at(id), body: { answer } })),
    say: async (id, text) => {
      if (text.length > LONGEST) return edit(id, await understood(engine, text));
      const params = { ...at(id), query: { wait: SHORT } };
      return data(await api.POST("/api/v1/chats/{id}/messages", { params, body: { text } }));
    },
  };
}

/** The draft of a text in the query language: that of an address, or one that is too long for a
 * message. Nothing that stands in it is asked, nor taken for a word such as `yes`. */
async function understood(engine: string, question: string): Promise<Draft> {
  const params = { path: { id: engine } };
  const body = { question, curve: [], where: [] };
  const view = data(await api.POST("/api/v1/engines/{id}/queries", { params, body }));
  return draftOf(view.query);
}

/** The conversation of the address, or an unused one, or a new one. */
async function find(id: string | undefined, engine: string): Promise<Chat> {
  if (id !== undefined)
    try {
      const found = data(await api.GET("/api/v1/chats/{id}", { params: { path: { id } } }));
      if (found.engine === engine) return found;
    } catch (error) {
      // A link from somebody else names a conversation that only they have.
      if (!(error instanceof Failed) || error.status < 400 || error.status >= 500) throw error;
    }
  const recent = data(await api.GET("/api/v1/chats", { params: { query: { count: 20 } } }));
  const unused = recent.find((chat) => chat.engine === engine && chat.messages === 0);
  if (unused === undefined) return data(await api.POST("/api/v1/chats", { body: { engine } }));
  return data(await api.GET("/api/v1/chats/{id}", { params: { path: { id: unused.id } } }));
}

function silent(chat: Chat): boolean {
  return chat.conversation.turns.every((turn) => turn.who === "compass");
}

function useOpening(talk: Talk, id: string | undefined, engine: string): void {
  const opened = useRef<string | null>(null);
  useEffect(() => {
    const wanted = id ?? "new";
    if (opened.current === wanted) return;
    opened.current = wanted;
    if (id !== undefined && id === talk.snapshot().chat?.id) return;
    void talk.open(() => find(id, engine));
  }, [talk, id, engine]);
}

/** What can be repeated without asking goes on by itself when the server is back. */
function useRecovery(talk: Talk, problem: Problem | null): void {
  const offline = problem?.code === "offline";
  useEffect(() => {
    if (!offline) return;
    const timer = setInterval(() => void talk.recover(), BACK);
    return () => clearInterval(timer);
  }, [talk, offline]);
}

function take(name: string): string | null {
  const found = inTab.get(name);
  inTab.set(name, null);
  return found;
}

/** A job that the server has forgotten, together with what came of it. */
const LOST = {
  state: "failed",
  problem: made("the answer did not arrive", "the server no longer knows of it; ask again", "lost"),
} as Job;

/** Follows the work of a confirmed question, and takes its answer into the conversation. */
function useFollowing(talk: Talk, chat: Chat | null) {
  const [job, setJob] = useState<Job | null>(null);
  const id = chat?.job?.id;
  const answer = chat?.job?.answer;
  useEffect(() => {
    setJob(null);
    if (!id) return;
    const stop = new AbortController();
    void (async () => {
      let last: Job | null = null;
      let gone = false;
      try {
        for await (const now of follow(id, stop.signal)) {
          last = now;
          setJob(now);
        }
      } catch {
        gone = true; // a job that is no longer known may have left its answer
      }
      if (stop.signal.aborted) return;
      const done = answer !== undefined && answer !== null && (gone || last?.state === "done");
      const taken = done && (await talk.takeAnswer(answer));
      if (gone && !taken && !stop.signal.aborted) setJob(LOST);
    })();
    return () => stop.abort();
  }, [talk, id, answer]);
  return { job, setJob };
}

/** Which answers belong to which questions, as long as one looks at the page. */
function useAnswers(chat: Chat | null): ReadonlyMap<string, string> {
  const [answers, setAnswers] = useState<ReadonlyMap<string, string>>(new Map());
  const queries = useQueryClient();
  const done = chat && !chat.conversation.expecting && !chat.reply.run;
  const question = done ? chat.question : "";
  const answer = done ? chat.answer : null;
  useEffect(() => {
    if (!question || !answer) return;
    setAnswers((known) => new Map(known).set(question, answer));
    void queries.invalidateQueries({ queryKey: ["get", "/api/v1/answers"] });
    // It may have made the engine learn an outcome.
    void queries.invalidateQueries({ queryKey: ["get", "/api/v1/engines/{id}"] });
  }, [question, answer, queries]);
  return answers;
}

/** Keeps the address and the conversation together. */
function useAddress(
  talk: Talk,
  route: AskRoute,
  engine: EngineInfo,
  answers: ReadonlyMap<string, string>,
): void {
  const heard = useRef<string | undefined>(undefined);
  const seen = useSyncExternalStore(talk.subscribe, talk.snapshot);
  useEffect(() => {
    // Another effect may just have begun something.
    const { chat, busy, problem } = talk.snapshot() === seen ? seen : talk.snapshot();
    if (chat === null || busy || problem !== null) return;
    const first = SAID[take(FIRST_KIND) ?? ""];
    if (first && !route.question && silent(chat)) return void talk.say(first);
    const move = nextMove(route, chat, {
      heard: heard.current,
      answered: new Set(answers.keys()),
      wanted: isWanted(route.engine),
    });
    if (move.do === "fill") {
      heard.current = move.question;
      return void talk.fill(move.question);
    }
    forget(route.engine);
    switch (move.do) {
      case "rules":
        go(move.route, true);
        return talk.edit(withRules(chat.conversation.draft, move.rules));
      case "begin":
        go(move.route, true);
        return talk.edit(fromRun(move.kind, move.run, firstOutcome(engine.space)));
      case "ask":
        return void talk.ask();
      case "write":
        heard.current = move.route.question;
        return go(move.route, !move.push);
      case "nothing":
        heard.current = route.question;
    }
  }, [talk, route, engine, seen, answers]);
}

/** What went wrong with the question as it stands, if it was confirmed and anything did. */
export function failureOf(chat: Chat, job: Job | null, busy: boolean): Problem | null {
  if (overtaken(chat)) return null; // it is another question by now
  if (job?.state === "cancelled")
    return made("the question was cancelled", "ask it again at any time", "cancelled");
  if (job?.problem) return job.problem;
  if (lost(chat) && !busy)
    return made("the answer did not arrive", "the server was ended in between; ask again", "lost");
  return null;
}
