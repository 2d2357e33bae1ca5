import { Anchor, Button, Group, Paper, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { ColumnReport, Role, Study } from "@/api/types";
import { Broken } from "@/show/Broken";
import { count } from "@/show/values";
import { unsure } from "./columns";
import { setRole } from "./study";

const FEW = 5;

interface Props {
  reports: readonly ColumnReport[];
  study: Study;
  onEdit: (change: (study: Study) => Study) => void;
}

/** The roles that are guesses: each is confirmed or corrected by a click. */
export function RoleQuestions({ reports, study, onEdit }: Props) {
  const [all, setAll] = useState(false);
  const asked = unsure(reports, study);
  if (!asked.length) return null;
  const shown = all ? asked : asked.slice(0, FEW);
  return (
    <Paper withBorder p="sm" component="section" aria-label="Please check">
      <Stack gap="xs">
        <Text size="sm" fw={600}>
          Please check: {count(asked.length, "role")}{" "}
          {asked.length === 1 ? "is a guess" : "are guesses"}
        </Text>
        {shown.map((report) => (
          <Question
            key={report.name}
            report={report}
            onRole={(role) => onEdit((now) => setRole(now, report.name, role))}
          />
        ))}
        {asked.length > FEW ? (
          <Anchor component="button" size="sm" onClick={() => setAll(!all)}>
            {all ? "Show fewer" : `Show ${asked.length - FEW} more`}
          </Anchor>
        ) : null}
      </Stack>
    </Paper>
  );
}

interface QuestionProps {
  report: ColumnReport;
  onRole: (role: Role) => void;
}

function Question({ report, onRole }: QuestionProps) {
  const { name, role, question } = report;
  return (
    <Group gap="xs" justify="space-between" wrap="wrap">
      <Text size="sm" style={{ flex: "1 1 280px" }}>
        <b>
          <Broken name={name} />
        </b>
        : {question?.why}
      </Text>
      <Group gap={6}>
        {[role, ...(question?.alternatives ?? [])].map((one, place) => (
          <Button
            key={one}
            size="compact-xs"
            variant={place ? "default" : "light"}
            aria-label={`${name} is ${one}`}
            onClick={() => onRole(one)}
          >
            {one}
          </Button>
        ))}
      </Group>
    </Group>
  );
}
