import { SegmentedControl, Stack, Text } from "@mantine/core";
import { SIZE_MEANS, SIZES, type Size, sizeSentence, sizeWarning } from "./sizes";

interface Props {
  size: Size;
  rows: number;
  onSize: (size: Size) => void;
}

/** How much of the table to learn from, and what that means. */
export function SizeSwitch({ size, rows, onSize }: Props) {
  const warning = sizeWarning(size, rows);
  return (
    <Stack gap={6}>
      <Text size="sm" fw={600} id="how-much">
        How much to learn from
      </Text>
      <SegmentedControl
        fullWidth
        size="sm"
        aria-labelledby="how-much"
        value={size}
        onChange={(next) => onSize(next as Size)}
        data={SIZES.map((one) => ({
          value: one,
          label: one.slice(0, 1).toUpperCase() + one.slice(1),
        }))}
      />
      <Text size="sm">{SIZE_MEANS[size]}</Text>
      <Text size="sm" c="dimmed" aria-live="polite">
        {sizeSentence(size, rows)}
      </Text>
      {warning ? (
        <Text size="sm" c="var(--caution)">
          ▲ {warning}
        </Text>
      ) : null}
    </Stack>
  );
}
