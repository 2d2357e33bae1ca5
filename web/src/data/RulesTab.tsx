import { Button, Code, Stack, Table, Text, Title } from "@mantine/core";
import type { ColumnsView, RuleView } from "@/api/types";
import { FoundRules } from "./FoundRules";
import { NewRule } from "./NewRule";
import { brokenBy, removable, removeRule } from "./rules";
import css from "./table.module.css";
import type { StudyEditor } from "./useStudy";

interface Props {
  dataset: string;
  editor: StudyEditor;
  view: ColumnsView;
}

/** Rules that every answer obeys, and how many past runs break each. */
export function RulesTab({ dataset, editor, view }: Props) {
  const rules = view.rules ?? [];
  return (
    <Stack gap="lg">
      <Text size="sm">
        Every suggestion obeys these rules. A rule that many past runs break is probably not what
        you mean.
      </Text>
      {rules.length ? (
        <Rules rules={rules} editor={editor} rows={view.cleaning.rows_out} />
      ) : (
        <Text size="sm" c="dimmed">
          There are no rules yet. Without any, every combination of legal values is allowed.
        </Text>
      )}
      <Stack gap="xs" component="section">
        <Title order={2} size="h5">
          Add a rule
        </Title>
        <NewRule dataset={dataset} editor={editor} view={view} />
      </Stack>
      <Stack gap="xs" component="section">
        <Title order={2} size="h5">
          Look for rules
        </Title>
        <FoundRules dataset={dataset} editor={editor} rows={view.cleaning.rows_in} />
      </Stack>
    </Stack>
  );
}

interface RulesProps {
  rules: readonly RuleView[];
  editor: StudyEditor;
  rows: number;
}

function Rules({ rules, editor, rows }: RulesProps) {
  return (
    <Table.ScrollContainer minWidth={480} scrollAreaProps={REGION}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Rule</Table.Th>
            <Table.Th>From</Table.Th>
            <Table.Th className={css.number}>Past runs</Table.Th>
            <Table.Td />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rules.map((rule) => (
            <Table.Tr key={rule.text}>
              <Table.Th scope="row" fw={400}>
                <Code className={css.name}>{rule.text}</Code>
              </Table.Th>
              <Table.Td>{rule.source === "dependency" ? "found in the data" : "written"}</Table.Td>
              <Table.Td className={css.number}>
                <Text
                  size="sm"
                  {...(rule.broken_by ? { fw: 650, c: "var(--caution)" } : { c: "dimmed" })}
                >
                  {rule.broken_by ? "▲ " : ""}
                  {brokenBy(rule, rows)}
                </Text>
              </Table.Td>
              <Table.Td className={css.number}>
                {removable(editor.study, rules, rule) ? (
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    aria-label={`Remove the rule ${rule.text}`}
                    onClick={() => editor.edit((now) => removeRule(now, rules, rule))}
                  >
                    Remove
                  </Button>
                ) : null}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const REGION = { viewportProps: { tabIndex: 0, role: "region", "aria-label": "Rules" } };
