import { Alert, Button, List, Stack, Table, Text, Title } from "@mantine/core";
import type { TellView } from "@/api/types";
import { Fold } from "@/show/Fold";
import { TrustBadge } from "@/show/TrustBadge";
import { about, count, value } from "@/show/values";
import { listed } from "../headline";

type TellReport = TellView["report"];
type Best = NonNullable<TellReport["questions"][number]["before"]>;

interface Props {
  made: TellView;
  onGo: (engine: string) => void;
}

/** What the new runs changed, and the way on with the engine that knows them. */
export function TellReportNote({ made: { report, engine }, onGo }: Props) {
  const lost = report.rows - report.used;
  return (
    <Stack gap="md" role="status">
      <Title order={3} size="h5">
        {count(report.used, "new run")} taken in, {count(report.total, "run")} known now
      </Title>
      {lost > 0 ? (
        <Alert color="yellow" variant="light">
          {count(lost, "run")} could not be used, because values are missing or break a rule.
        </Alert>
      ) : null}
      <List size="sm" spacing={4}>
        {report.changes.map((one) => (
          <List.Item key={one}>{one}</List.Item>
        ))}
      </List>
      {report.questions.map((one) => (
        <BeforeAfter key={one.question} before={one.before} after={one.after} />
      ))}
      {report.arrivals.length > 0 ? (
        <Fold title="Each new run: predicted and measured">
          <Arrivals report={report} />
        </Fold>
      ) : null}
      {report.notes.map((one) => (
        <Text key={one} size="sm" c="dimmed">
          {one}
        </Text>
      ))}
      <div>
        <Button onClick={() => onGo(engine.id)}>Ask again with these runs</Button>
      </div>
    </Stack>
  );
}

function BeforeAfter({ before, after }: { before?: Best | null; after?: Best | null }) {
  return (
    <Table.ScrollContainer
      minWidth={420}
      type="native"
      tabIndex={0}
      role="region"
      aria-label="Best suggestion"
    >
      <Table fz="sm" verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Best suggestion</Table.Th>
            <Table.Th>Before</Table.Th>
            <Table.Th>Now</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Table.Tr>
            <Table.Th scope="row">Settings</Table.Th>
            <Table.Td>{settings(before)}</Table.Td>
            <Table.Td>{settings(after)}</Table.Td>
          </Table.Tr>
          <Table.Tr>
            <Table.Th scope="row">Predicted</Table.Th>
            <Table.Td>{outcomes(before)}</Table.Td>
            <Table.Td>{outcomes(after)}</Table.Td>
          </Table.Tr>
          <Table.Tr>
            <Table.Th scope="row">Trust</Table.Th>
            <Table.Td>{before?.label ? <TrustBadge label={before.label} /> : "–"}</Table.Td>
            <Table.Td>{after?.label ? <TrustBadge label={after.label} /> : "–"}</Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function settings(best: Best | null | undefined): string {
  if (!best) return "no suggestion";
  const settings = Object.entries(best.settings).map(([name, one]) => `${name} = ${value(one)}`);
  return settings.length ? listed(settings) : "–";
}

function outcomes(best: Best | null | undefined): string {
  if (!best) return "–";
  return best.outcomes.map((one) => `${one.name} ${about(one.value, one.unit)}`).join(", ");
}

function Arrivals({ report }: { report: TellReport }) {
  return (
    <Table.ScrollContainer
      minWidth={420}
      type="native"
      tabIndex={0}
      role="region"
      aria-label="New runs"
    >
      <Table fz="xs" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Row</Table.Th>
            <Table.Th>Predicted → measured</Table.Th>
            <Table.Th>Trust</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {report.arrivals.map((one) => (
            <Table.Tr key={one.row}>
              <Table.Th scope="row">{one.row}</Table.Th>
              <Table.Td>
                {one.outcomes.map((o) => (
                  <div key={o.outcome}>
                    {o.outcome}: {about(o.predicted, o.unit)} → {about(o.measured, o.unit)}
                    {o.inside ? "" : " (outside)"}
                  </div>
                ))}
              </Table.Td>
              <Table.Td>
                {one.before && one.before !== one.after ? `${one.before} → ` : ""}
                {one.after}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
