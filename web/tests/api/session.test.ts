import { afterEach, beforeEach, expect, it, vi } from "vitest";

const kept = new Map<string, string>();

beforeEach(() => {
  kept.clear();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => kept.set(name, text),
    removeItem: (name: string) => kept.delete(name),
  });
});
afterEach(() => vi.unstubAllGlobals());

/** The page as it is opened in one more tab of the same browser. */
async function tab() {
  vi.resetModules();
  return import("@/api/session");
}

it("no tab throws the key of another one away", async () => {
  const one = await tab();
  const other = await tab();
  one.addKey("first");
  other.addKey("second");
  expect(kept.get("compass.workspaces")?.split(" ").sort()).toEqual(["first", "second"]);
  expect(one.session.key()).toBe("first");
  expect(other.session.key()).toBe("second");
  expect((await tab()).session.key()).toBe("second");
});

it("a key that another tab got is used before a new workspace is made", async () => {
  const one = await tab();
  const other = await tab();
  const told = vi.fn();
  other.session.subscribe(told);
  expect(other.keyOfAnyTab()).toBeNull();
  one.addKey("first");
  expect(other.keyOfAnyTab()).toBe("first");
  expect(told).toHaveBeenCalled();
  other.keyRefused("first");
  expect(other.keyOfAnyTab()).toBeNull();
});

it("a key that is given again is used again", async () => {
  const { addKey, keyRefused, session } = await tab();
  addKey("first");
  addKey("second");
  keyRefused("first");
  addKey("first");
  expect(session.key()).toBe("first");
});

it("a browser that keeps nothing works until it is closed", async () => {
  vi.stubGlobal("localStorage", undefined);
  const { addKey, session } = await tab();
  addKey("mine");
  expect(session.key()).toBe("mine");
});

function at(hash: string) {
  const place = { hash, pathname: "/below/", search: "" };
  vi.stubGlobal("location", place);
  vi.stubGlobal("history", {
    replaceState: (_: unknown, __: string, to: string) => {
      place.hash = to.slice(to.indexOf("#"));
    },
  });
  return place;
}

it("takes the token of a link and leaves none in the address, however often", async () => {
  const { session, takeTokenFromLink } = await tab();
  for (const [hash, token] of [
    ["#token=a%20b", "a b"],
    ["#token=other&x=1", "other"],
    ["#token=%", "%"], // not encoded as it should be: no reason to show nothing at all
  ]) {
    const place = at(hash ?? "");
    expect(takeTokenFromLink()).toBe(true);
    expect(session.token()).toBe(token);
    expect(place.hash).toBe("#/");
  }
});

it("other addresses stay as they are", async () => {
  const { session, takeTokenFromLink } = await tab();
  for (const hash of ["", "#/history", "#token=", "#/ask/x?q=token=1"]) {
    const place = at(hash);
    expect(takeTokenFromLink()).toBe(false);
    expect(place.hash).toBe(hash);
  }
  expect(session.token()).toBeNull();
});
