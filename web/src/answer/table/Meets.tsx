import { Text } from "@mantine/core";
import type { Suggestion } from "@/api/types";
import { meeting, sureness } from "../goals";
import { Mark } from "../Mark";

/** Whether a suggestion meets what was asked for, and how sure that is. */
export function Meets({ of }: { of: Suggestion }) {
  const found = meeting(of.outcomes);
  if (found === null) return <Text size="sm">–</Text>;
  if (!found.met)
    return (
      <Mark shape="✘" label="unsupported">
        missed
      </Mark>
    );
  return (
    <>
      <Mark shape="✔" label="trusted">
        met
      </Mark>
      {found.chance === null ? null : (
        <Text size="xs" c="dimmed">
          {sureness(found.chance, found.several)}
        </Text>
      )}
    </>
  );
}
