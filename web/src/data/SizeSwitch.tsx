import { Group, NumberInput, SegmentedControl, Stack, Text } from "@mantine/core";
import { CHOICE, FEWEST, type Size, sampleFor, sizeSentence, sizeWarning } from "./sizes";

interface Props {
  size: Size;
  rows: number;
  onSize: (size: Size) => void;
}

/** How much of the table to learn from, and what that means. */
export function SizeSwitch({ size, rows, onSize }: Props) {
  const warning = sizeWarning(size, rows);
  const offered = rows > CHOICE || size !== "all";
  return (
    <Stack gap={6}>
      <Text size="sm" fw={600} id="how-much">
        How much to learn from
      </Text>
      {offered ? (
        <SegmentedControl
          fullWidth
          size="sm"
          aria-labelledby="how-much"
          value={size === "all" ? "all" : "sample"}
          onChange={(next) => onSize(next === "all" ? "all" : sampleFor(rows))}
          data={[
            { value: "all", label: "All rows" },
            { value: "sample", label: "A sample" },
          ]}
        />
      ) : null}
      {size === "all" ? null : (
        <Group gap="xs">
          <NumberInput
            size="xs"
            w={120}
            aria-label="Rows of the sample"
            min={FEWEST}
            max={rows}
            step={10_000}
            thousandSeparator=","
            allowDecimal={false}
            value={size}
            onChange={(next) => {
              if (typeof next === "number" && next >= 1) onSize(next);
            }}
          />
          <Text size="sm">rows</Text>
        </Group>
      )}
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
