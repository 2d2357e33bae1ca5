/** The colours of the page for what is drawn on a canvas, which knows no CSS variables. */
import { useSyncExternalStore } from "react";
import type { Label } from "@/api/types";

export interface Palette {
  text: string;
  dimmed: string;
  line: string;
  body: string;
  observed: string;
  front: string;
  trust: Record<Label, string>;
  font: string;
}

/** As in page.css: what is used where there is no page, such as in tests. */
export const PLAIN: Palette = {
  text: "#1a1b1e",
  dimmed: "#5c636a",
  line: "#dee2e6",
  body: "#ffffff",
  observed: "#7a8796",
  front: "#1c4f82",
  trust: { trusted: "#00664b", caution: "#8a5300", unsupported: "#8e2f5c" },
  font: "sans-serif",
};

function read(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string, otherwise: string) => style.getPropertyValue(name).trim() || otherwise;
  const dark = document.documentElement.dataset.mantineColorScheme === "dark";
  return {
    text: of("--mantine-color-text", PLAIN.text),
    dimmed: dark ? "#a6a7ab" : PLAIN.dimmed,
    line: dark ? "#3b3b3b" : PLAIN.line,
    body: of("--mantine-color-body", PLAIN.body),
    observed: of("--observed", PLAIN.observed),
    front: of("--front", PLAIN.front),
    trust: {
      trusted: of("--trusted", PLAIN.trust.trusted),
      caution: of("--caution", PLAIN.trust.caution),
      unsupported: of("--unsupported", PLAIN.trust.unsupported),
    },
    font: of("--mantine-font-family", PLAIN.font),
  };
}

let known: { scheme: string | undefined; palette: Palette } | null = null;

function current(): Palette {
  const scheme = document.documentElement.dataset.mantineColorScheme;
  if (known === null || known.scheme !== scheme) known = { scheme, palette: read() };
  return known.palette;
}

function subscribe(changed: () => void): () => void {
  const watch = new MutationObserver(changed);
  watch.observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });
  return () => watch.disconnect();
}

/** The colours in use; another scheme gives other ones. */
export function usePalette(): Palette {
  return useSyncExternalStore(subscribe, current);
}

/** A colour that lets through what is behind it. */
export function faint(colour: string, opacity: number): string {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour)?.[1];
  if (hex === undefined) return colour;
  const part = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16);
  return `rgba(${part(0)}, ${part(2)}, ${part(4)}, ${opacity})`;
}
