import { Group, NativeSelect, Pagination, Stack, Table, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { asProblem } from "@/api/problem";
import type { ColumnsView, DatasetInfo, Role } from "@/api/types";
import { isLearnt } from "@/show/outcomes";
import { count } from "@/show/values";
import { ColumnRow } from "./ColumnRow";
import { type Filter, filtered, PAGE, page, pages } from "./columns";
import { RoleQuestions } from "./RoleQuestions";
import { countRoles, dropSentence, ROLE_MEANS, ROLES, setRoles } from "./study";
import css from "./table.module.css";
import { useChoices } from "./useChoices";
import { useKnownEngine } from "./useKnownEngine";
import type { StudyEditor } from "./useStudy";

interface Props {
  editor: StudyEditor;
  view: ColumnsView;
}

/** All columns: type, role, unit, values, missing; what is wrong can be corrected in place. */
export function ColumnsTab({ info, editor, view }: Props & { info: DatasetInfo }) {
  const [choices] = useChoices(info.id);
  const { engine } = useKnownEngine(info, editor, view, choices);
  const [filter, setFilter] = useState<Filter>({ text: "", role: "all" });
  const [at, setAt] = useState(1);
  const { study, base, edit } = editor;
  const found = filtered(view.columns, study, filter);
  const last = pages(found.length);
  const change = (next: Partial<Filter>) => {
    setFilter({ ...filter, ...next });
    setAt(1);
  };
  const problem = editor.problem ? asProblem(editor.problem) : null;
  const wrong = (name: string) =>
    problem !== null && (problem.name === name || problem.error.includes(`'${name}'`));
  return (
    <Stack gap="sm">
      <Text size="sm">
        Compass has looked at every column. A <b>knob</b> is {means("knob")}, <b>context</b> is{" "}
        {means("context")}, an <b>outcome</b> is {means("outcome")}. Correct what is wrong.
      </Text>
      <RoleQuestions reports={view.columns} study={study} onEdit={edit} />
      <Group justify="space-between" align="end" gap="sm">
        <Group gap="sm" align="end">
          <TextInput
            label="Find a column"
            size="xs"
            value={filter.text}
            onChange={(event) => change({ text: event.currentTarget.value })}
          />
          <RoleFilter editor={editor} view={view} filter={filter} onFilter={change} />
          <SetAll
            shown={found.length}
            onRole={(role) => {
              const names = found.map((report) => report.name);
              edit((now) => setRoles(now, names, role));
            }}
          />
        </Group>
        <Text size="sm" c="dimmed">
          {found.length === view.columns.length
            ? count(found.length, "column")
            : `${found.length} of ${count(view.columns.length, "column")}`}
        </Text>
      </Group>
      <Text size="sm" aria-live="polite" className={css.told}>
        {dropSentence(study, view.columns)}
      </Text>
      <Table.ScrollContainer minWidth={860} scrollAreaProps={REGION}>
        <Table verticalSpacing={6} horizontalSpacing="xs" className={css.table}>
          <Heads />
          <Table.Tbody>
            {page(found, at).map((report) => (
              <ColumnRow
                key={report.name}
                report={report}
                study={study}
                base={base}
                rows={view.cleaning.rows_in}
                known={view.in_full?.columns?.[report.name] ?? NOTHING}
                wrong={wrong(report.name)}
                learnt={engine ? isLearnt(engine, report.name) : null}
                onEdit={edit}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {found.length === 0 ? <Text size="sm">No column has this name and role.</Text> : null}
      {found.length > PAGE ? (
        <Pagination
          size="sm"
          total={last}
          value={Math.min(at, last)}
          onChange={setAt}
          getControlProps={(control) => ({ "aria-label": `${control} page` })}
          getItemProps={(item) => ({ "aria-label": `Page ${item}` })}
        />
      ) : null}
    </Stack>
  );
}

const NOTHING = {}; // the same one every time, or rows would be drawn anew
const REGION = { viewportProps: { tabIndex: 0, role: "region", "aria-label": "Columns" } };

function means(role: Role): string {
  return (
    { knob: "what you can set", context: "given by the job or the machine" }[
      role as "knob" | "context"
    ] ?? ROLE_MEANS[role]
  );
}

function Heads() {
  return (
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Use</Table.Th>
        <Table.Th className={css.column}>Column</Table.Th>
        <Table.Th>Role</Table.Th>
        <Table.Th>Type</Table.Th>
        <Table.Th>Unit</Table.Th>
        <Table.Th>Values</Table.Th>
        <Table.Th className={css.number}>Distinct</Table.Th>
        <Table.Th className={css.number}>Missing</Table.Th>
        <Table.Td />
      </Table.Tr>
    </Table.Thead>
  );
}

interface RoleFilterProps extends Props {
  filter: Filter;
  onFilter: (next: Partial<Filter>) => void;
}

function RoleFilter({ editor, view, filter, onFilter }: RoleFilterProps) {
  const counts = countRoles(editor.study, view.columns);
  return (
    <NativeSelect
      label="Role"
      size="xs"
      value={filter.role}
      onChange={(event) => onFilter({ role: event.currentTarget.value as Filter["role"] })}
      data={[
        { value: "all", label: "all roles" },
        ...ROLES.map((role) => ({ value: role, label: `${role} (${counts[role]})` })),
      ]}
    />
  );
}

interface SetAllProps {
  shown: number;
  onRole: (role: Role) => void;
}

/** One role for all columns that the filter shows, on every page of the list. */
function SetAll({ shown, onRole }: SetAllProps) {
  return (
    <NativeSelect
      label={`Set ${shown === 1 ? "the one" : `all ${shown}`} shown to`}
      size="xs"
      value=""
      disabled={!shown}
      onChange={(event) => {
        const role = event.currentTarget.value;
        if (role) onRole(role as Role);
      }}
      data={[{ value: "", label: "choose" }, ...ROLES]}
    />
  );
}
