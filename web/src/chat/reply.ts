/** What was said, cut into pieces that look different: never HTML. */
import type { Chat } from "@/api/types";

/** Characters of a message that the server takes. */
export const LONGEST = 2000;

export type Turn = Chat["conversation"]["turns"][number];
export type Link = Chat["reply"]["links"][number];

export type Piece =
  | { as: "prose"; text: string }
  | { as: "aside"; text: string }
  | { as: "item"; text: string }
  | { as: "formal"; text: string };

const FORMAL = /^\s*(recommend a configuration|reconfigure|what if we change)\s+X\s*=\s*\{/i;
const POINTER = /^\s*\^+\s*$/;
const CELLS = /^ {2,}\S/;

/** The text of a message, line by line; a formal query, a pointed-at text and a table stand in monospace. */
export function pieces(text: string): Piece[] {
  const lines = text.split("\n");
  const found: Piece[] = [];
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i] ?? "";
    const next = lines[i + 1];
    if (next !== undefined && POINTER.test(next)) {
      found.push({ as: "formal", text: `${line}\n${next.trimEnd()}` });
      i += 1;
    } else if (CELLS.test(line)) {
      const first = i;
      while (CELLS.test(lines[i + 1] ?? "")) i += 1;
      found.push({ as: "formal", text: lines.slice(first, i + 1).join("\n") });
    } else if (FORMAL.test(line)) found.push({ as: "formal", text: line });
    else if (line.startsWith("- ")) found.push({ as: "item", text: line.slice(2) });
    else if (/^\(.*\)$/.test(line.trim())) found.push({ as: "aside", text: line.trim() });
    else if (line.trim()) found.push({ as: "prose", text: line });
  }
  return found;
}

/** What stands behind an answer in the words of a conversation: what can be asked next. */
export function afterAnswer(text: string): string {
  return text.split("\n").at(-1) ?? "";
}

/** Whether a turn only notes that the form was used. */
export function isNote(turn: Turn): boolean {
  return turn.who === "person" && /^\(.*\)$/.test(turn.text);
}

/** Words of a message that were taken for columns of another name. */
export function linksIn(text: string, links: readonly Link[]): Link[] {
  const folded = text.toLowerCase();
  const found = new Map<string, Link>();
  for (const link of links) {
    const words = link.words.toLowerCase();
    const other = link.columns.some((name) => name.toLowerCase() !== words);
    if (other && words && folded.includes(words)) found.set(words, link);
  }
  return [...found.values()];
}

/** The message that the person sent before the `back`-th from the end. */
export function earlier(turns: readonly Turn[], back: number): string | undefined {
  const said = turns.filter((turn) => turn.who === "person" && !isNote(turn));
  return said[said.length - back]?.text;
}
