import { Text } from "@mantine/core";
import type { Suggestion } from "@/api/types";
import { likely, meeting } from "../goals";
import { Mark } from "../Mark";

interface Props {
  of: Suggestion;
  /** The chance that was asked for. */
  asked?: number | null;
}

/** Whether a suggestion meets what was asked for, and how likely a run does. */
export function Meets({ of, asked }: Props) {
  const found = meeting(of.outcomes);
  if (found === null) return <Text size="sm">–</Text>;
  return (
    <>
      {found.met ? (
        <Mark shape="✔" label="trusted">
          met
        </Mark>
      ) : (
        <Mark shape="✘" label="unsupported">
          missed
        </Mark>
      )}
      {found.chance === null ? null : (
        <Text size="xs" c="dimmed">
          {likely(found.chance, asked, found.met && found.several)}
        </Text>
      )}
    </>
  );
}
