/** Parts of a form or a text that show something which is not in the question yet. */
import { createContext, useContext, useEffect, useId, useState } from "react";

type Parts = ReadonlyMap<string, string>;
type Tell = (part: string, lacks: string | null) => void;

/** Who is told of them. In the small form behind a chip nobody is: it says itself what it lacks. */
export const Incomplete = createContext<Tell>(() => undefined);

/** The fields tell, as long as they are there, what they lack; null: nothing. */
export function useIncomplete(lacks: string | null): void {
  const tell = useContext(Incomplete);
  const part = useId();
  useEffect(() => {
    if (lacks === null) return;
    tell(part, lacks);
    return () => tell(part, null);
  }, [tell, part, lacks]);
}

/** What the parts below lack, and what tells it. */
export function useParts(): [string[], Tell] {
  const [parts, setParts] = useState<Parts>(new Map());
  const [tell] = useState<Tell>(
    () => (part: string, lacks: string | null) => setParts((known) => withPart(known, part, lacks)),
  );
  return [[...parts.values()], tell];
}

export function withPart(known: Parts, part: string, lacks: string | null): Parts {
  const next = new Map(known);
  if (lacks === null) next.delete(part);
  else next.set(part, lacks);
  return next;
}

/** What the parts lack, in one line. */
export function toldParts(lacking: readonly string[]): string {
  const [first] = lacking;
  if (first === undefined) return "";
  const more = lacking.length > 1 ? ` (and ${lacking.length - 1} more)` : "";
  return `This is not asked yet: ${first}${more}.`;
}
