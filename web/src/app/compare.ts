/** Answers beside each other: which are chosen, and what they decided. */
import type { AnswerInfo } from "@/api/types";
import { about, value } from "@/show/values";

export const MOST = 4; // that fit beside each other

/** The chosen ones with one more, or without it; of too many the oldest choice goes. */
export function toggled(chosen: readonly string[], id: string): string[] {
  if (chosen.includes(id)) return chosen.filter((one) => one !== id);
  return [...chosen, id].slice(-MOST);
}

/** Those that were chosen and are still there, in the order of choosing. */
export function picked(all: readonly AnswerInfo[], chosen: readonly string[]): AnswerInfo[] {
  return chosen.flatMap((id) => all.find((one) => one.id === id) ?? []);
}

/** "threads = 2: runtime 1.23 ms"; "" where nothing was suggested. */
export function decided({ decision, outcomes }: AnswerInfo): string {
  const settings = Object.entries(decision ?? {})
    .map(([name, one]) => `${name} = ${value(one)}`)
    .join(", ");
  const expected = (outcomes ?? [])
    .map((one) => `${one.name} ${about(one.value, one.unit)}`)
    .join(", ");
  return [settings, expected].filter(Boolean).join(": ");
}

export interface Line {
  name: string;
  /** What each answer has of it; null: nothing. */
  cells: (string | null)[];
  differ: boolean;
}

/** The answers line by line: settings first, then what is expected. */
export function lines(answers: readonly AnswerInfo[]): Line[] {
  const line = (name: string, of: (one: AnswerInfo) => string | null): Line => {
    const cells = answers.map(of);
    return { name, cells, differ: new Set(cells).size > 1 };
  };
  const settings = new Set(answers.flatMap((one) => Object.keys(one.decision ?? {})));
  const outcomes = new Set(answers.flatMap((one) => (one.outcomes ?? []).map((it) => it.name)));
  return [
    ...[...settings].map((name) =>
      line(name, ({ decision }) => (decision && name in decision ? value(decision[name]) : null)),
    ),
    ...[...outcomes].map((name) =>
      line(`${name} (expected)`, (one) => {
        const found = one.outcomes?.find((it) => it.name === name);
        return found ? about(found.value, found.unit) : null;
      }),
    ),
  ];
}
