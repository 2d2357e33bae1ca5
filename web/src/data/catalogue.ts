/** The catalogue of public datasets: searched by words, each told in a few facts. */
import type { CatalogueEntry } from "@/api/types";
import { bytes, count } from "@/show/values";

/** Entries that have every word somewhere; those that the server can get come first. */
export function searched(entries: readonly CatalogueEntry[], text: string): CatalogueEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter((entry) => {
    const all = `${entry.name} ${entry.about}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
  return [...found.filter((one) => one.downloads), ...found.filter((one) => !one.downloads)];
}

export function facts(entry: CatalogueEntry): string {
  const told: string[] = [];
  if (entry.rows) told.push(count(entry.rows, "row"));
  if (entry.bytes) told.push(`${bytes(entry.bytes)} to download`);
  told.push(/^none/.test(entry.licence) ? `licence: ${entry.licence}` : entry.licence);
  return told.join(" · ");
}

/** Only addresses that a browser opens as pages become links. */
export function pageOf(entry: CatalogueEntry): string | null {
  return entry.page && /^https?:\/\//.test(entry.page) ? entry.page : null;
}
