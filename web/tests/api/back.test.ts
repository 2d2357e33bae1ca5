import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, it, vi } from "vitest";
import { goOn, returning, whenBack } from "@/api/back";

it.each([
  ["pending success success", false],
  ["error", false],
  ["success error pending", false],
  ["success error pending error success", true],
  ["error success success", false],
])("%s: back now is %s", (looks, back) => {
  const isBack = returning();
  const told = looks.split(" ").map((look) => isBack(look as "pending" | "error" | "success"));
  expect(told.at(-1)).toBe(back);
});

it("asks again for what is shown and failed, and for nothing else", async () => {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  let there = false;
  const asked: string[] = [];
  const watch = (name: string, fails: boolean) =>
    new QueryObserver(queries, {
      queryKey: [name],
      queryFn: async () => {
        asked.push(name);
        if (fails && !there) throw new Error("gone");
        return name;
      },
    }).subscribe(() => undefined);
  const ends = [watch("fine", false), watch("failed", true)];
  const leave = watch("left", true);
  await vi.waitFor(() => expect(queries.isFetching()).toBe(0));
  leave();
  there = true;
  asked.length = 0;
  goOn(queries);
  await vi.waitFor(() => expect(queries.getQueryData(["failed"])).toBe("failed"));
  expect(asked).toEqual(["failed"]);
  for (const end of ends) end();
  queries.clear();
});

it("tells those who wait, as long as they do", () => {
  const queries = new QueryClient();
  const again = vi.fn();
  const stop = whenBack(again);
  goOn(queries);
  stop();
  goOn(queries);
  expect(again).toHaveBeenCalledOnce();
});
