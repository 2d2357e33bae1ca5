/** What all plots draw alike: marks of trust, axes, and text inside tooltips. */
import type { Config, Label, Parameter, Suggestion } from "@/api/types";
import { number, withInterval, withUnit } from "@/show/values";
import type { Palette } from "./palette";

export const LABELS: readonly Label[] = ["trusted", "caution", "unsupported"];

/** The shapes of show/trust.ts, as ECharts names them. */
export const SYMBOL: Record<Label, string> = {
  trusted: "circle",
  caution: "triangle",
  unsupported: "rect",
};

/** Marks up to which all are drawn again when one is pointed at; of more, that one alone. */
export const MOST_REDRAWN = 200;

/** Text of the person's data, safe inside HTML. */
export function escaped(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;")
    .replace(/'/g, "&#39;");
}

export interface Range {
  low: number;
  high: number;
}

/** From the smallest to the largest number; null: there is none. */
export function rangeOf(...columns: ArrayLike<unknown>[]): Range | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const column of columns)
    for (let at = 0; at < column.length; at += 1) {
      const given = column[at];
      if (typeof given !== "number" || !Number.isFinite(given)) continue;
      if (given < low) low = given;
      if (given > high) high = given;
    }
  return low <= high ? { low, high } : null;
}

/** Whether a range is read better on a logarithmic axis: all above zero, more than two decades. */
export function spreads(range: Range | null): boolean {
  return range !== null && range.low > 0 && range.high / range.low > 100;
}

export function named(parameter: Parameter | undefined, name: string): string {
  const unit = parameter?.kind === "number" ? parameter.unit : null;
  // Many names have the unit already: "memory (MB)".
  return unit && !name.endsWith(`(${unit})`) ? `${name} (${unit})` : name;
}

/** Short labels of an axis: 12 million is `12M`, which leaves room for the plot. */
export function tick(given: number): string {
  const size = Math.abs(given);
  if (size >= 1e15 || (size > 0 && size < 1e-3))
    return given.toExponential(1).replace(".0", "").replace("e+", "e").replace(/-/g, "−");
  for (const [unit, letter] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e4, "k"],
  ] as const)
    if (size >= unit) return `${number(given / (letter === "k" ? 1e3 : unit))}${letter}`;
  return number(given);
}

/** How every axis looks. */
export function axisStyle(palette: Palette) {
  return {
    nameTextStyle: { color: palette.text, fontFamily: palette.font, fontSize: 13 },
    axisLabel: { color: palette.dimmed, fontFamily: palette.font, fontSize: 12, hideOverlap: true },
    axisLine: { show: true, onZero: false, lineStyle: { color: palette.dimmed } },
    axisTick: { lineStyle: { color: palette.dimmed } },
    splitLine: { lineStyle: { color: palette.line, opacity: 0.7 } },
    minorSplitLine: { show: false },
  };
}

export function tooltipStyle(palette: Palette) {
  return {
    backgroundColor: palette.body,
    borderColor: palette.line,
    textStyle: { color: palette.text, fontFamily: palette.font, fontSize: 13 },
    extraCssText: "max-width: min(340px, 86vw); white-space: normal; overflow-wrap: anywhere;",
    confine: true,
    transitionDuration: 0,
  };
}

/** A suggestion as a tooltip tells it: what it predicts, and its settings. */
export function suggestionText(suggestion: Suggestion, index: number, of: ParameterOf): string {
  const outcomes = suggestion.outcomes.map((one) => {
    const { text, ends } = withInterval(one.value, one, one.unit);
    return line(one.name, `${text}${ends ? ` [${ends.join(", ")}]` : ""}`);
  });
  const head = `<b>Suggestion ${index + 1}</b>, ${suggestion.trust.label}`;
  return [
    head,
    ...outcomes,
    "<hr style='opacity:.3;margin:4px 0'>",
    ...settings(suggestion.settings, of),
  ]
    .join("<br>")
    .replace(/<br>(<hr[^>]*>)<br>/, "$1");
}

export type ParameterOf = (name: string) => Parameter | undefined;

const MOST_SETTINGS = 12;

function settings(config: Config, of: ParameterOf): string[] {
  const all = Object.entries(config);
  const told = all.slice(0, MOST_SETTINGS).map(([name, given]) => {
    const parameter = of(name);
    return line(name, withUnit(given, parameter?.kind === "number" ? parameter.unit : null));
  });
  const more = all.length - told.length;
  return more > 0 ? [...told, `and ${more} more`] : told;
}

export function line(name: string, text: string): string {
  return `${escaped(name)}: <b style="font-weight:600">${escaped(text)}</b>`;
}
