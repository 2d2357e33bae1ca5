/** Trade-offs between several outcomes, in words. */
import type { Answer } from "@/api/types";
import { about } from "@/show/values";
import { configWords, listed } from "./headline";

type Front = NonNullable<Answer["front"]>;
export type Point = Front["points"][number];

const NOTHING = 0.0005; // a change below this share reads as none

export interface TradeOffLine {
  /** Place among the suggestions. */
  at: number;
  values: string[];
  settings: string;
  /** "the least power_w", "a knee: ...", "2 % more runtime and 30 % less power than ...". */
  says: string;
  knee: boolean;
  /** Suggestions, from 1, that it is not told apart from. */
  alike: number[];
  measured: number;
}

/** The trade-offs of an answer that are suggested; null: one outcome, or none is traded off. */
export function tradeOffs(answer: Answer, unit: Record<string, string>): TradeOffLine[] | null {
  const front = answer.front;
  if (!front) return null;
  const told = front.points.filter((one) => !one.idea);
  if (told.length < 2) return null;
  const names = Object.keys(front.directions);
  return told.map((one) => ({
    at: one.place,
    values: names.map((name) => about(one.values[name], answer.units?.[name])),
    settings: configWords(one.settings, unit),
    says: saysOf(one, front),
    knee: one.knee === true,
    alike: (one.alike ?? []).flatMap((other) => {
      const found = front.points[other];
      return found && !found.idea ? [found.place + 1] : [];
    }),
    measured: one.measured ?? 0,
  }));
}

export function outcomesOf(answer: Answer): string[] {
  return Object.keys(answer.front?.directions ?? {});
}

function saysOf(point: Point, front: Front): string {
  const beside = (point.against ?? []).map((one) => ({
    best: one.best,
    words: changes(one.changes),
  }));
  const end = beside.find((one) => one.words === "");
  if (end && beside.every((one) => one.words === "")) return "the best in everything";
  if (end) return `the ${front.directions[end.best] === "maximize" ? "most" : "least"} ${end.best}`;
  const [first] = beside;
  const all = point.knee ? beside : first ? [first] : [];
  return all.map((one) => `${one.words} than at the best ${one.best}`).join("; ");
}

/** "2 % more runtime and 30 % less power". */
function changes(given: Readonly<Record<string, number>>): string {
  const parts = Object.entries(given)
    .filter(([, share]) => Math.abs(share) >= NOTHING)
    .map(([name, share]) => `${percent(Math.abs(share))} ${share > 0 ? "more" : "less"} ${name}`);
  return listed(parts).replace(/, ([^,]*)$/, " and $1");
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(2))} %`;
}
