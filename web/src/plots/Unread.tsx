import { Text } from "@mantine/core";
import { unreadInWords } from "./among";

/** Rules of the question that the plot above does not look at. */
export function Unread({ rules }: { rules: readonly string[] }) {
  const told = unreadInWords(rules);
  return told === null ? null : (
    <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
      {told}
    </Text>
  );
}
