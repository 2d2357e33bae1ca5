import { useEffect, useState } from "react";

/** The fields of a form that stand for a part of the draft. Half-filled fields stay as they are
 * until the part itself is changed elsewhere, such as in the conversation. */
export function useFieldsOf<Part, Fields>(
  part: Part | null,
  read: (part: Part) => Fields,
  write: (fields: Fields) => Part | null,
) {
  const [fields, setFields] = useState<Fields | null>(part === null ? null : read(part));
  const text = JSON.stringify(part);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what the part says matters
  useEffect(() => {
    if (part === null) return;
    setFields((now) => {
      const said = now === null ? null : write(now);
      return JSON.stringify(said) === text ? now : read(part);
    });
  }, [text]);
  return [fields, setFields] as const;
}
