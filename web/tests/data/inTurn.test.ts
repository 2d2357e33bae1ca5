import { expect, it } from "vitest";
import { inTurn } from "@/data/inTurn";

/** A server that answers when it is told to. */
function slow() {
  const asked: string[] = [];
  const answers: { done: () => void; fail: (error: Error) => void }[] = [];
  const send = inTurn((value: string) => {
    asked.push(value);
    return new Promise<void>((done, fail) => {
      answers.push({ done, fail });
    });
  });
  return { asked, answers, send };
}

const soon = () => new Promise((done) => setTimeout(done));

it("never sends two at once, and of those that wait only the newest", async () => {
  const { asked, answers, send } = slow();
  const told = [send("a")];
  await soon();
  told.push(send("b"), send("c"));
  await soon();
  expect(asked).toEqual(["a"]);
  answers[0]?.done();
  await soon();
  expect(asked).toEqual(["a", "c"]);
  answers[1]?.done();
  expect(await Promise.all(told)).toEqual([false, false, true]);
});

it("goes on after a failure, which is told of the newest only", async () => {
  const { asked, answers, send } = slow();
  const first = send("a");
  await soon();
  const second = send("b");
  answers[0]?.fail(new Error("busy"));
  expect(await first).toBe(false);
  await soon();
  answers[1]?.fail(new Error("gone"));
  await expect(second).rejects.toThrow("gone");
  const third = send("b");
  await soon();
  answers[2]?.done();
  expect(await third).toBe(true);
  expect(asked).toEqual(["a", "b", "b"]);
});
