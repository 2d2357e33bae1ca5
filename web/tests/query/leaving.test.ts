import { describe, expect, test } from "vitest";
import { asProblem, Failed, isRefusal, OFFLINE, problem } from "@/api/problem";
import type { Chat } from "@/api/types";
import { type Server, Talk } from "@/query/talk";
import { chatOf, limited } from "./chats";

describe("another conversation", () => {
  /** Several conversations; whatever is done to one of them is written down with its name. */
  async function several() {
    const chats = new Map<string, Chat>(
      [chatOf(), chatOf({ id: "d" })].map((one) => [one.id, one]),
    );
    const calls: string[] = [];
    const next: { fails: Error | null } = { fails: null };
    const at = (id: string) => chats.get(id) ?? chatOf({ id });
    async function doing(call: string, id: string, more: Partial<Chat> = {}) {
      calls.push(`${id}: ${call}`);
      await Promise.resolve();
      const { fails } = next;
      next.fails = null;
      if (fails) throw fails;
      const chat = { ...at(id), ...more };
      chats.set(id, chat);
      return chat;
    }
    const server: Server = {
      read: (id) => doing("read", id),
      say: (id, text) => doing(`say ${text}`, id),
      takeAnswer: (id, answer) => doing(`take ${answer}`, id, { answer }),
      fill: (id, question) => doing(`fill ${question}`, id, { question }),
      edit: (id, draft) =>
        doing(`edit ${draft.where.join(";")}`, id, {
          conversation: { ...at(id).conversation, draft },
        }),
    };
    const talk = new Talk(server, asProblem, isRefusal, 1);
    await talk.open(async () => at("c"));
    return { talk, calls, next, find: async () => at("d"), at };
  }
  const pause = () => new Promise((done) => setTimeout(done, 20));
  const refusal = () => new Failed(problem("no such rule"), 422);

  test("a refused edit stays behind", async () => {
    const { talk, calls, next, find } = await several();
    next.fails = refusal();
    talk.edit(limited("a <="));
    await talk.flush();
    expect(talk.snapshot().refused).toBe(true);
    expect(await talk.open(find)).toBe(true);
    await pause();
    expect(talk.snapshot()).toMatchObject({
      chat: { id: "d" },
      draft: { where: [] },
      busy: false,
      problem: null,
      refused: false,
    });
    expect(calls).toEqual(["c: edit a <="]);
    talk.edit(limited("a <= 2"));
    await talk.flush();
    expect(calls.at(-1)).toBe("d: edit a <= 2");
  });

  test("an edit that was not sent yet goes to the conversation it was made in", async () => {
    const { talk, calls, find, at } = await several();
    talk.edit(limited("a <= 1"));
    expect(await talk.open(find)).toBe(true);
    await pause();
    expect(calls).toEqual(["c: edit a <= 1"]);
    expect(at("c").conversation.draft.where).toEqual(["a <= 1"]);
    expect(talk.snapshot()).toMatchObject({ chat: { id: "d" }, draft: { where: [] }, busy: false });
  });

  test("also one that is made while the other is looked for", async () => {
    const { talk, calls, find } = await several();
    const opened = talk.open(async () => {
      talk.edit(limited("a <= 1"));
      await pause(); // long enough for it to be due
      return find();
    });
    expect(await opened).toBe(true);
    await pause();
    expect(calls).toEqual(["c: edit a <= 1"]);
    expect(talk.snapshot()).toMatchObject({ chat: { id: "d" }, draft: { where: [] }, busy: false });
  });

  test("without a connection nothing is left, and nothing is lost", async () => {
    const { talk, calls, next, find } = await several();
    talk.edit(limited("a <= 1"));
    next.fails = new Failed(OFFLINE);
    expect(await talk.open(find)).toBe(false);
    expect(talk.snapshot()).toMatchObject({ chat: { id: "c" }, draft: { where: ["a <= 1"] } });
    expect(await talk.recover()).toBe(true);
    expect(calls).toEqual(["c: edit a <= 1", "c: edit a <= 1"]);
    expect(talk.snapshot()).toMatchObject({ chat: { id: "d" }, busy: false, problem: null });
  });

  test("what is said, and an answer that comes, belong to the one that was left", async () => {
    const { talk, calls, find } = await several();
    const said = talk.say("hello");
    const taken = talk.takeAnswer("a");
    const opened = talk.open(find);
    await Promise.all([said, taken, opened]);
    expect(calls.toSorted()).toEqual(["c: say hello", "c: take a"]);
    expect(talk.snapshot()).toMatchObject({ chat: { id: "d" }, busy: false, pending: null });
  });

  test("an answer that comes does not hide why an edit was refused", async () => {
    const { talk, next } = await several();
    next.fails = refusal();
    talk.edit(limited("a <="));
    await talk.flush();
    await talk.takeAnswer("x");
    expect(talk.snapshot()).toMatchObject({
      refused: true,
      busy: false,
      chat: { answer: "x" },
      draft: { where: ["a <="] },
    });
    talk.edit(limited("a <= 1"));
    await pause();
    expect(talk.snapshot()).toMatchObject({ refused: false, busy: false, problem: null });
  });

  test("an edit that failed is sent when something else went well", async () => {
    const { talk, calls, next } = await several();
    next.fails = new Failed(OFFLINE);
    talk.edit(limited("a <= 1"));
    await talk.flush();
    await talk.takeAnswer("x");
    await pause();
    expect(calls.at(-1)).toBe("c: edit a <= 1");
    expect(talk.snapshot()).toMatchObject({ busy: false, problem: null });
  });
});
