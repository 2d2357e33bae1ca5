import { Alert, Button, Code, Group, Text } from "@mantine/core";
import type { Query, Suggestion } from "@/api/types";

interface Props {
  of: Suggestion;
  query: Query;
  /** Asks the question that keeps them; undefined: it cannot be asked any more. */
  onKeep?: (query: Query) => void;
  busy: boolean;
}

/** Dependencies that hold on all past runs, though nobody stated them, and not here. */
export function Breaks({ of, query, onKeep, busy }: Props) {
  const rules = of.breaks;
  if (rules.length === 0) return null;
  const one = rules.length === 1;
  return (
    <Alert
      color="yellow"
      variant="light"
      mt="sm"
      title={`Every past run obeys ${one ? "this rule" : "these rules"}, and this suggestion does not`}
    >
      <Group gap="xs">
        {rules.map((rule) => (
          <Code key={rule} style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
            {rule}
          </Code>
        ))}
      </Group>
      <Text size="sm" mt="xs">
        {one
          ? "Nobody stated it: it may be chance, or something that no run can do without."
          : "Nobody stated them: they may be chance, or something that no run can do without."}
      </Text>
      {onKeep && query.dependencies !== "keep" ? (
        <Button
          size="xs"
          variant="default"
          mt="xs"
          loading={busy}
          onClick={() => onKeep({ ...query, dependencies: "keep" })}
        >
          Keep such rules
        </Button>
      ) : null}
    </Alert>
  );
}
