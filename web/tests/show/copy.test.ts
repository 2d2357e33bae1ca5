import { afterEach, expect, it, vi } from "vitest";
import { copy } from "@/show/copy";

afterEach(() => vi.unstubAllGlobals());

/** A page that copies what is selected in a field, if it may; gives what was copied. */
function page(allowed: boolean): string[] {
  const copied: string[] = [];
  const there = new Set<object>();
  let selected = "";
  vi.stubGlobal("HTMLElement", class {});
  vi.stubGlobal("document", {
    activeElement: null,
    body: { append: (field: object) => there.add(field) },
    createElement: () => {
      const field = {
        value: "",
        style: {},
        select: () => {
          selected = there.has(field) ? field.value : "";
        },
        remove: () => there.delete(field),
      };
      return field;
    },
    execCommand: () => {
      if (allowed) copied.push(selected);
      return allowed;
    },
  });
  return copied;
}

it("uses the clipboard where there is one", async () => {
  const writeText = vi.fn(async () => undefined);
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  expect(await copy("a link")).toBe(true);
  expect(writeText).toHaveBeenCalledWith("a link");
});

it("copies over plain HTTP, too", async () => {
  vi.stubGlobal("navigator", {});
  const copied = page(true);
  expect(await copy("a link")).toBe(true);
  expect(copied).toEqual(["a link"]);
});

it("tries the old way where the clipboard is refused, and says when nothing works", async () => {
  const writeText = () => Promise.reject(new Error("not allowed"));
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  const copied = page(true);
  expect(await copy("a link")).toBe(true);
  expect(copied).toEqual(["a link"]);
  page(false);
  expect(await copy("a link")).toBe(false);
});
