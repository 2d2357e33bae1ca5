import { Button, Group, Text } from "@mantine/core";
import type { Answer, Query } from "@/api/types";
import { Section } from "@/show/Section";
import { bestMeasured, together } from "./bestMeasured";

interface Props {
  answer: Answer;
  unit: Record<string, string>;
  /** Goes to another question; undefined: the engine is gone. */
  onInstead?: (query: Query) => void;
  busy: boolean;
}

/** What the best past run of the context has and the question leaves open. */
export function BestMeasuredNote({ answer, unit, onInstead, busy }: Props) {
  const found = bestMeasured(answer, unit);
  if (found === null || found.wider === null) return null;
  const { wider, names } = found;
  return (
    <Group gap="sm" mt="xs">
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {`Your question leaves ${together(names)} open; the best run has ${found.open}.`}
      </Text>
      {onInstead ? (
        <Button size="xs" variant="light" loading={busy} onClick={() => onInstead(wider)}>
          Ask for {together(names)} too
        </Button>
      ) : null}
    </Group>
  );
}

/** The best past run of the context, as it was measured: where nothing can be suggested. */
export function BestMeasuredSection(props: Props) {
  const found = bestMeasured(props.answer, props.unit);
  if (found === null) return null;
  return (
    <Section title="Best measured run of this context">
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {`${found.which}: `}
        <Text span inherit fw={600}>
          {found.outcomes}
        </Text>
        {found.settings ? ` with ${found.settings}.` : "."}
      </Text>
      <BestMeasuredNote {...props} />
    </Section>
  );
}
