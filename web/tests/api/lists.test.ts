import { beforeEach, expect, it, vi } from "vitest";
import { entries } from "@/api/lists";

const server = vi.hoisted(() => ({ asked: [] as string[], parts: 3 }));

vi.mock("@/api/client", () => ({
  raw: async (path: string) => {
    server.asked.push(path);
    const at = server.asked.length;
    const next: Record<string, string> = at < server.parts ? { "Compass-Next": `0.${at}.abc` } : {};
    return new Response(JSON.stringify([{ id: `${at}` }, { id: `${at}b` }]), { headers: next });
  },
}));

beforeEach(() => {
  server.asked.length = 0;
  server.parts = 3;
});

const { signal } = new AbortController();

it("puts the parts of a list together", async () => {
  const found = await entries("/api/v1/jobs", signal);
  expect(found.map((one) => one.id)).toEqual(["1", "1b", "2", "2b", "3", "3b"]);
  expect(server.asked).toEqual([
    "/api/v1/jobs?count=1000",
    "/api/v1/jobs?count=1000&after=0.1.abc",
    "/api/v1/jobs?count=1000&after=0.2.abc",
  ]);
});

it("takes no more than the page can show", async () => {
  server.parts = 1_000_000;
  expect(await entries("/api/v1/engines", signal, 5)).toHaveLength(6);
  expect(server.asked).toHaveLength(3);
});
