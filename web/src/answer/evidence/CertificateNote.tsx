import { Code, Group, Stack, Text } from "@mantine/core";
import type { Certificate, Suggestion } from "@/api/types";
import { Mark } from "../Mark";
import { proofFacts, proofMark } from "./findings";

interface Props {
  proof: Certificate;
  of: Suggestion;
  /** Whether it is the distance to the starting run that was made small. */
  distance: boolean;
}

/** What is proved about the first suggestion, or about there being none. */
export function CertificateNote({ proof, of, distance }: Props) {
  const facts = proofFacts(proof, distance);
  const mark = proofMark(proof, of);
  return (
    <Stack gap="xs">
      <Text size="sm">
        {mark ? <Mark {...mark}>{proof.status}</Mark> : "The goal is not met"}
        {`: ${proof.reason}`}
        {proof.cut ? " Time ran out before the proof was finished." : ""}
      </Text>
      {facts.length > 0 ? (
        <Group gap="lg">
          {facts.map((one) => (
            <div key={one.name}>
              <Text size="xs" c="dimmed">
                {one.name}
              </Text>
              <Text size="sm">{one.value}</Text>
            </div>
          ))}
        </Group>
      ) : null}
      <Rules title="Cannot hold together" rules={proof.blocking} />
      <Rules title="Left out of the proof" rules={proof.left_out} />
      <Text size="xs" c="dimmed">
        {proof.measured
          ? "A proof speaks of the model, the rules and the runs that were measured."
          : "A proof speaks of the model and the rules alone, not of the machine."}
      </Text>
    </Stack>
  );
}

function Rules({ title, rules }: { title: string; rules: readonly string[] }) {
  if (rules.length === 0) return null;
  return (
    <div>
      <Text size="xs" c="dimmed" mb={2}>
        {title}
      </Text>
      <Group gap="xs">
        {rules.map((one) => (
          <Code key={one}>{one}</Code>
        ))}
      </Group>
    </div>
  );
}
