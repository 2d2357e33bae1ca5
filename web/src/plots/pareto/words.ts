/** What the plot shows, in words: its legend, and a sentence for those who do not see it. */
import type { Answer } from "@/api/types";
import { TRUST } from "@/show/trust";
import { count } from "@/show/values";
import { isSample, runsInWords } from "../among";
import type { LegendEntry } from "../Legend";
import { LABELS } from "../marks";
import { faint, type Palette } from "../palette";
import type { Cloud } from "./cloud";
import { MOST_BARS } from "./option";

export function entries(
  cloud: Cloud,
  palette: Palette,
  others: boolean,
  unread: boolean,
): LegendEntry[] {
  const apart = cloud.otherRows.length;
  const told: LegendEntry[] = [{ shape: "●", colour: palette.observed, text: runs(cloud, unread) }];
  if (others && apart > 0)
    told.push({
      shape: "●",
      colour: faint(palette.observed, 0.3),
      text: `${count(apart, "past run")} of other contexts`,
    });
  if (cloud.line.length > 0)
    told.push({
      shape: cloud.kind === "front" ? "line" : "dashed",
      colour: palette.front,
      text: reached(cloud),
    });
  for (const label of LABELS) {
    const mine = cloud.marks.filter((mark) => mark.label === label).length;
    if (mine > 0)
      told.push({
        shape: TRUST[label].shape,
        colour: palette.trust[label],
        text: `${count(mine, "suggestion")}, ${label}`,
      });
  }
  if (cloud.marks.some((mark) => mark.xRange ?? mark.yRange))
    told.push({
      shape: "bar",
      colour: palette.dimmed,
      text:
        cloud.marks.length > MOST_BARS
          ? `where a new run is expected (first ${MOST_BARS})`
          : "where a new run is expected",
    });
  if (cloud.start !== null)
    told.push({ shape: "◇", colour: palette.text, text: "the starting run" });
  return told;
}

function runs({ matchingRows, otherRows, among }: Cloud, unread: boolean): string {
  const matching = matchingRows.length;
  return runsInWords({ ...among, drawn: matching, matching, apart: otherRows.length > 0, unread });
}

function reached({ kind, among }: Cloud): string {
  if (isSample(among))
    return kind === "front" ? "best trade-offs of the sample" : "best of the sample at each value";
  return kind === "front" ? "best trade-offs that were measured" : "best run of each value";
}

export function summary(cloud: Cloud, axes: { x: string; y: string }, unread: boolean): string {
  const marks = count(cloud.marks.length, "suggestion");
  const front =
    cloud.kind === "front" && cloud.line.length > 0
      ? ` ${count(cloud.line.length, "run")} on the front of both.`
      : "";
  const keys = cloud.marks.length
    ? " The arrow keys go through the suggestions, Enter opens one."
    : "";
  return `Plot of ${axes.y} against ${axes.x}: ${runs(cloud, unread)} and ${marks}.${front}${keys}`;
}

/** Why suggestions are not to be seen, when they are not. */
export function undrawn(
  answer: Answer,
  cloud: Cloud,
  axes: { x: string; y: string },
): string | null {
  const all = answer.suggestions.length;
  if (cloud.marks.length === all) return null;
  return `${count(all - cloud.marks.length, "suggestion")} not shown: ${axes.x} is left open there.`;
}
