import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Problem } from "@/api/types";

beforeEach(() => vi.stubGlobal("document", { baseURI: "http://localhost/below/" }));
afterEach(() => vi.unstubAllGlobals());

/** What is told of a key when the server answers so. */
async function told(status: number, body: unknown): Promise<Problem | null> {
  vi.resetModules();
  const { checkKey } = await import("@/app/checkKey");
  const { asProblem } = await import("@/api/problem");
  const answer = vi.fn(async () => new Response(JSON.stringify(body), { status }));
  vi.stubGlobal("fetch", answer);
  try {
    await checkKey("a.key");
    return null;
  } catch (error) {
    return asProblem(error);
  }
}

it("a key that the server knows can be used", async () => {
  expect(await told(200, {})).toBeNull();
});

it("only a key that opens nothing is told as unknown", async () => {
  const none = { error: "the key opens no workspace", hint: "", code: "no-workspace" };
  expect((await told(401, none))?.error).toBe("this server knows no such key");
});

it.each([
  [401, { error: "this server needs a token", hint: "", code: "no-token" }],
  [429, { error: "too much work is waiting", hint: "", code: "busy" }],
])("any other failure is told as it is: %s", async (status, body) => {
  expect(await told(status, body)).toEqual(body);
});

it("a failure without words says which it is", async () => {
  expect((await told(500, "<html>"))?.error).toBe("the server answered 500");
});
