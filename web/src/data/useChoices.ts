import { useCallback, useSyncExternalStore } from "react";
import { keep, kept } from "./kept";
import { type Choices, DEFAULTS } from "./learn";

const known = new Map<string, Choices>();
const listeners = new Set<() => void>();
const place = (dataset: string) => `compass.learn.${dataset}`;

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

export function choicesOf(dataset: string): Choices {
  const found = known.get(dataset) ?? {
    ...DEFAULTS,
    ...kept<Partial<Choices>>(place(dataset)),
  };
  known.set(dataset, found);
  return found;
}

/** Change what was chosen, also where it is not looked at: an upload may end on another page. */
export function choose(dataset: string, change: (now: Choices) => Partial<Choices>): void {
  const now = choicesOf(dataset);
  const next = { ...now, ...change(now) };
  known.set(dataset, next);
  keep(place(dataset), next);
  for (const changed of listeners) changed();
}

/** How to learn from a dataset, as it was chosen last. */
export function useChoices(dataset: string): [Choices, (next: Partial<Choices>) => void] {
  const choices = useSyncExternalStore(
    subscribe,
    useCallback(() => choicesOf(dataset), [dataset]),
  );
  const change = useCallback((next: Partial<Choices>) => choose(dataset, () => next), [dataset]);
  return [choices, change];
}
