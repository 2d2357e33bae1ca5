import { Button, Group, Paper, Progress, Stack, Text } from "@mantine/core";
import { bytes } from "@/show/values";
import type { Sending } from "./uploads";

/** How much of a file has gone, in bytes. */
export function SendingBar({ sending, onCancel }: { sending: Sending; onCancel: () => void }) {
  const { name, sent, total } = sending;
  const whole = total > 0 && sent >= total;
  const percent = total > 0 ? Math.floor((100 * sent) / total) : 0;
  return (
    <Paper withBorder p="md" aria-busy="true">
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap">
          <Text fw={600} truncate title={name}>
            Uploading {name}
          </Text>
          <Button size="xs" variant="default" onClick={onCancel} flex="none">
            Cancel
          </Button>
        </Group>
        <Progress
          value={percent}
          striped={whole}
          animated={whole}
          aria-label={`Uploading ${name}`}
        />
        <Text size="sm" c="dimmed">
          {whole
            ? `${bytes(total)} sent, the server is taking it in`
            : `${bytes(sent)} of ${bytes(total)}`}
        </Text>
      </Stack>
    </Paper>
  );
}
