/** What was typed and what is under way, kept in this tab over a reload. */
import { inTab } from "@/api/stored";

/** Texts by what they belong to; null forgets one. */
function texts(kind: string) {
  return {
    get: (of: string) => inTab.get(`compass.${kind}.${of}`),
    set: (of: string, text: string | null) => inTab.set(`compass.${kind}.${of}`, text),
  };
}

/** What was measured, by answer. */
export const typedRuns = texts("measured");

/** A job script of one's own, by engine: all answers of one have the same columns. */
export const typedScript = texts("script");

/** The job that takes in what was measured, by answer. */
export const telling = texts("telling");
