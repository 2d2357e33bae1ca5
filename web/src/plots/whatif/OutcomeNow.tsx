import { Group, Paper, Stack, Text } from "@mantine/core";
import type { CurvePoint, Parameter } from "@/api/types";
import { TrustBadge } from "@/show/TrustBadge";
import { about, change, withInterval } from "@/show/values";
import { percent } from "./curves";

interface Props {
  outcome: Parameter;
  now: CurvePoint | null;
  start: CurvePoint | null;
  /** Whether new curves are on their way. */
  updating: boolean;
}

/** What one outcome is predicted to be now, and what it was at the start. */
export function OutcomeNow({ outcome, now, start, updating }: Props) {
  const unit = outcome.kind === "number" ? outcome.unit : null;
  const moved = percent(now?.predicted, start?.predicted);
  const told = now && withInterval(now.predicted, now, unit);
  return (
    <Paper withBorder p="sm" style={{ flex: "1 1 150px", opacity: updating ? 0.75 : 1 }}>
      <Stack gap={2}>
        <Group justify="space-between" gap="4px 8px">
          <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
            {outcome.name}
          </Text>
          {now ? <TrustBadge label={now.label} /> : null}
        </Group>
        <Text size="xl" fw={650} style={{ overflowWrap: "anywhere" }}>
          {told ? told.text : "–"}
        </Text>
        <Text size="sm" c="dimmed">
          {told?.ends ? `a new run: [${told.ends.join(", ")}]` : " "}
        </Text>
        <Text size="sm">
          {start === null || now === null
            ? " "
            : now.predicted === start.predicted
              ? "with the settings of the suggestion"
              : moved === null
                ? `${about(start.predicted, unit)} with those of the suggestion`
                : `${change(moved)} against ${about(start.predicted, unit)}`}
        </Text>
      </Stack>
    </Paper>
  );
}
