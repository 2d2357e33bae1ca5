import { describe, expect, test } from "vitest";
import { asProblem, Failed, isRefusal, OFFLINE, problem } from "@/api/problem";
import type { Chat, Draft } from "@/api/types";
import { type AskRoute, nextMove } from "@/query/moves";
import { lost, overtaken, ready, type Server, Talk } from "@/query/talk";
import { chatOf, limited, NOW } from "./chats";

const query = { kind: "recommend" as const, ask: ["a"], where: [], beyond: false };

/** A server that remembers what it was told, and can lose its connection before or after. */
class Fake implements Server {
  chat = chatOf();
  calls: string[] = [];
  fails: "before" | "after" | "refuses" | null = null;

  private async doing(call: string, change: (chat: Chat) => Chat): Promise<Chat> {
    this.calls.push(call);
    await Promise.resolve();
    const { fails } = this;
    this.fails = null;
    if (fails === "refuses") throw new Failed(problem("no such rule"), 422);
    if (fails === "before") throw new Failed(OFFLINE);
    this.chat = change(this.chat);
    if (fails === "after") throw new Failed(OFFLINE);
    return this.chat;
  }
  read = () => this.doing("read", (chat) => chat);
  takeAnswer = (_: string, answer: string) =>
    this.doing(`take ${answer}`, (chat) => ({ ...chat, answer }));
  say = (_: string, text: string) =>
    this.doing(`say ${text}`, (chat) => {
      const turns = [
        ...chat.conversation.turns,
        { who: "person", text, answer: false },
        { who: "compass", text: "", answer: false },
      ];
      return { ...chat, conversation: { ...chat.conversation, turns } };
    });
  fill = (_: string, question: string) =>
    this.doing(`fill ${question}`, (chat) => ({
      ...chat,
      question,
      reply: { ...chat.reply, expecting: "confirm", query },
    }));
  edit = (_: string, draft: Draft) =>
    this.doing(`edit ${draft.where.join(";")}`, (chat) => ({
      ...chat,
      conversation: { ...chat.conversation, draft },
      reply: { ...chat.reply, expecting: "confirm", query },
    }));
}

async function begun(): Promise<{ talk: Talk; server: Fake }> {
  const server = new Fake();
  const talk = new Talk(server, asProblem, isRefusal, 1);
  await talk.open(async () => server.chat);
  return { talk, server };
}

describe("a conversation", () => {
  test("a question is filled in behind an edit that waits, and nothing is said", async () => {
    const { talk, server } = await begun();
    talk.edit(limited("a <= 1"));
    expect(await talk.fill("Q")).toBe(true);
    expect(talk.snapshot()).toMatchObject({ busy: false, chat: { question: "Q" } });
    expect(server.calls).toEqual(["edit a <= 1", "fill Q"]);
  });

  test("a question that cannot be filled in is a problem, and once more is it again", async () => {
    const { talk, server } = await begun();
    server.fails = "refuses";
    expect(await talk.fill("bad")).toBe(false);
    expect(talk.snapshot()).toMatchObject({ busy: false, problem: { error: "no such rule" } });
    expect(await talk.say("hello")).toBe(true);
    expect(talk.snapshot().problem).toBeNull();
    server.fails = "before";
    expect(await talk.fill("Q")).toBe(false);
    expect(await talk.recover()).toBe(true);
    expect(server.calls).toEqual(["fill bad", "say hello", "fill Q", "fill Q"]);
  });

  test("edits are shown at once and sent once", async () => {
    const { talk, server } = await begun();
    talk.edit(limited("a <= 1"));
    talk.edit(limited("a <= 2"));
    expect(talk.snapshot()).toMatchObject({ busy: true, draft: { where: ["a <= 2"] } });
    await new Promise((done) => setTimeout(done, 20));
    expect(server.calls).toEqual(["edit a <= 2"]);
    expect(talk.snapshot()).toMatchObject({ busy: false, problem: null });
  });

  test("an edit goes before what is said after it", async () => {
    const { talk, server } = await begun();
    talk.edit(limited("a <= 1"));
    await talk.say(" hello ");
    expect(server.calls).toEqual(["edit a <= 1", "say hello"]);
  });

  test("what was said is said again, unless it had arrived", async () => {
    const { talk, server } = await begun();
    server.fails = "before";
    expect(await talk.say("one")).toBe(false);
    expect(talk.snapshot().problem?.code).toBe("offline");
    expect(await talk.recover()).toBe(false); // not without the person
    expect(await talk.again()).toBe(true);
    expect(server.calls).toEqual(["say one", "read", "say one"]);
    server.fails = "after";
    expect(await talk.say("two")).toBe(false);
    await talk.again();
    expect(server.calls.filter((call) => call === "say two")).toHaveLength(1);
    expect(talk.snapshot()).toMatchObject({ problem: null, busy: false, pending: null });
  });

  test("an edit that failed goes on by itself, and is not lost", async () => {
    const { talk, server } = await begun();
    server.fails = "before";
    talk.edit(limited("a <= 1"));
    expect(await talk.flush()).toBe(false);
    expect(talk.snapshot()).toMatchObject({ busy: false, draft: { where: ["a <= 1"] } });
    expect(await talk.recover()).toBe(true);
    expect(server.chat.conversation.draft.where).toEqual(["a <= 1"]);
  });

  test("what was said in another window is seen, unless something is under way", async () => {
    const { talk, server } = await begun();
    await server.say("c", "elsewhere");
    await talk.refresh();
    expect(talk.snapshot().chat?.conversation.turns).toHaveLength(3);
    await server.say("c", "again");
    talk.edit(limited("a <= 1"));
    await talk.refresh();
    expect(talk.snapshot().chat?.conversation.turns).toHaveLength(3);
    await talk.flush();
    expect(talk.snapshot().chat?.conversation.turns).toHaveLength(5);
  });

  test("an edit that cannot be stands in nobody's way", async () => {
    const { talk, server } = await begun();
    server.fails = "refuses";
    talk.edit(limited("a <="));
    expect(await talk.flush()).toBe(false);
    expect(talk.snapshot()).toMatchObject({ refused: true, draft: { where: ["a <="] } });
    expect(await talk.say("start over")).toBe(true);
    expect(server.calls).toEqual(["edit a <=", "say start over"]);
    expect(talk.snapshot()).toMatchObject({ refused: false, problem: null, draft: { where: [] } });
    server.fails = "refuses";
    talk.edit(limited("a <="));
    await talk.flush();
    talk.edit(limited("a <= 1")); // corrected
    expect(await talk.flush()).toBe(true);
    expect(talk.snapshot()).toMatchObject({ refused: false, draft: { where: ["a <= 1"] } });
    server.fails = "refuses";
    talk.edit(limited("a <="));
    await talk.flush();
    talk.drop();
    expect(talk.snapshot()).toMatchObject({
      busy: false,
      problem: null,
      draft: { where: ["a <= 1"] },
    });
  });

  test("asking confirms; what was cancelled is finished first", async () => {
    const { talk, server } = await begun();
    expect(await talk.ask()).toBe(true);
    expect(server.calls).toEqual(["read", "edit ", "say yes"]);
    server.calls = [];
    await talk.ask();
    expect(server.calls).toEqual(["read", "say yes"]);
  });

  test("a question that another window has changed is looked at before it is asked", async () => {
    const { talk, server } = await begun();
    server.chat = { ...server.chat, question: "another one" };
    expect(await talk.ask()).toBe(false);
    expect(server.calls).toEqual(["read"]);
    expect(talk.snapshot()).toMatchObject({
      chat: { question: "another one" },
      problem: { code: "changed" },
    });
    expect(await talk.ask()).toBe(true);
    expect(talk.snapshot().problem).toBeNull();
  });

  test("ready, lost and overtaken", () => {
    expect(ready(chatOf({}, { expecting: "confirm", query }))).toBe(true);
    expect(ready(chatOf({}, { expecting: "confirm" }))).toBe(false);
    expect(lost(chatOf({}, { run: query }))).toBe(true);
    const job = { id: "j", kind: "ask", state: "running", stage: "", done: 0, total: 0 };
    const running = { job: { ...job, created: NOW } as NonNullable<Chat["job"]> };
    expect(overtaken(chatOf(running, { run: query }))).toBe(false);
    expect(overtaken(chatOf(running, { expecting: "confirm", query }))).toBe(true);
    expect(overtaken(chatOf())).toBe(false);
  });
});

describe("the address and the conversation", () => {
  const route = (more: Partial<AskRoute> = {}): AskRoute => ({ page: "ask", engine: "e", ...more });
  const known = { heard: undefined, answered: new Set<string>(), wanted: false };
  const finished = chatOf({ question: "Q" }, { expecting: "confirm", query });

  test("a new conversation is written down", () =>
    expect(nextMove(route(), chatOf(), known)).toEqual({
      do: "write",
      route: route({ chat: "c" }),
      push: false,
    }));

  test("a question of the address is filled in, once, and never asked", () => {
    const linked = route({ question: "Q", data: "f" });
    expect(nextMove(linked, chatOf(), known)).toEqual({ do: "fill", question: "Q" });
    const then = nextMove(linked, finished, { ...known, heard: "Q" });
    expect(then).toMatchObject({ do: "write", route: { chat: "c", question: "Q" } });
    const there = nextMove({ ...linked, chat: "c" }, finished, { ...known, heard: "Q" });
    expect(there).toEqual({ do: "nothing" });
    const after = nextMove(route({ question: "bad" }), chatOf(), { ...known, heard: "bad" });
    expect(after).toMatchObject({ do: "write", route: route({ chat: "c" }) });
  });

  test("going back fills the earlier question in again", () => {
    const here = route({ chat: "c", question: "P" });
    const move = nextMove(here, finished, { ...known, heard: "Q" });
    expect(move).toEqual({ do: "fill", question: "P" });
  });

  test("rules, then nothing", () => {
    const all = route({ chat: "c", question: "Q", rules: ["a <= 1"] });
    const plain = route({ chat: "c", question: "Q" });
    const first = nextMove(all, finished, known);
    expect(first).toEqual({ do: "rules", rules: ["a <= 1"], route: plain });
    expect(nextMove(plain, finished, known)).toEqual({ do: "nothing" });
  });

  test("a button asks again of another engine, once the question is there", () => {
    const here = route({ question: "Q" });
    const pressed = { ...known, wanted: true };
    expect(nextMove(here, chatOf(), pressed)).toEqual({ do: "fill", question: "Q" });
    const heard = { ...pressed, heard: "Q" };
    expect(nextMove(here, finished, heard)).toEqual({ do: "ask" });
    expect(nextMove(here, chatOf(), heard)).toMatchObject({ do: "write" });
  });

  test("an answered question stays in the browser's history", () => {
    const here = route({ chat: "c", question: "P" });
    const at = { heard: "P", answered: new Set(["P"]), wanted: false };
    expect(nextMove(here, finished, at)).toMatchObject({ do: "write", push: true });
    expect(nextMove(here, finished, { ...at, answered: new Set() })).toMatchObject({ push: false });
  });
});
