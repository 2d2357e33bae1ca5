import { ActionIcon, Checkbox, NativeSelect, Table, Text, TextInput, Tooltip } from "@mantine/core";
import { memo, useState } from "react";
import type { ColumnChoice, ColumnReport, Role, Study } from "@/api/types";
import { Broken } from "@/show/Broken";
import { sentence } from "@/show/ProblemNote";
import { missingOf, valuesOf } from "./columns";
import { LegalValues } from "./LegalValues";
import {
  drop,
  forget,
  include,
  isEdited,
  ROLES,
  roleOf,
  say,
  setKind,
  setRole,
  setUnit,
} from "./study";
import css from "./table.module.css";

const SAID = "as the study says"; // the choices beside it say so already

type Missing = "drop" | "none";

interface Props {
  report: ColumnReport;
  study: Study;
  base: Study;
  rows: number;
  /** What is known about the column in full: found, or said. */
  known: ColumnChoice;
  /** Whether the server refuses what is said about this column. */
  wrong: boolean;
  /** Whether it is learnt, of an outcome; null: the table is not prepared as it stands. */
  learnt: boolean | null;
  onEdit: (change: (study: Study) => Study) => void;
}

/** One column: what it is taken for, to be corrected in place. */
export const ColumnRow = memo(function ColumnRow(props: Props) {
  const { report, study, base, rows, known, wrong, learnt, onEdit } = props;
  const { name } = report;
  const role = roleOf(study, report);
  const used = role !== "ignored";
  const kind = study.columns?.[name]?.kind ?? report.kind;
  return (
    <Table.Tr data-unused={!used || undefined} data-wrong={wrong || undefined}>
      <Table.Td>
        <Checkbox
          checked={used}
          aria-label={`Use ${name}`}
          onChange={() => onEdit((now) => (used ? drop(now, [name]) : include(now, report)))}
        />
      </Table.Td>
      <Table.Th scope="row" className={css.column}>
        <Text size="sm" fw={600} className={css.name}>
          <Broken name={name} />
        </Text>
        {report.note && report.note !== SAID ? (
          <Text size="xs" c="dimmed" className={css.note}>
            {sentence(report.note)}
          </Text>
        ) : null}
        {report.cells ? (
          <Text size="xs" c="dimmed" className={css.note}>
            {sentence(report.cells)}
          </Text>
        ) : null}
      </Table.Th>
      <Table.Td>
        <NativeSelect
          size="xs"
          w={98}
          aria-label={`Role of ${name}`}
          data={[...ROLES]}
          value={role}
          onChange={(event) => {
            const next = event.currentTarget.value as Role;
            onEdit((now) => setRole(now, name, next));
          }}
        />
        {role === "outcome" && learnt !== null ? (
          <Text size="xs" c="dimmed" mt={2}>
            {learnt ? "✓ learnt" : "not learnt yet"}
          </Text>
        ) : null}
      </Table.Td>
      <Table.Td>
        <NativeSelect
          size="xs"
          w={100}
          aria-label={`Type of ${name}`}
          data={["number", "category"]}
          value={kind}
          onChange={(event) => {
            const next = event.currentTarget.value as "number" | "category";
            onEdit((now) => setKind(now, name, next));
          }}
        />
      </Table.Td>
      <Table.Td>
        <Unit
          name={name}
          unit={study.columns?.[name]?.unit ?? report.unit ?? ""}
          disabled={kind !== "number"}
          onUnit={(unit) => onEdit((now) => setUnit(now, name, unit))}
        />
      </Table.Td>
      <Table.Td>
        <Text size="sm" lineClamp={2} className={css.values} title={report.legal}>
          {valuesOf(report, rows)}
        </Text>
        {role === "knob" || role === "context" ? (
          <LegalValues
            report={report}
            choice={known}
            onSay={(said) => onEdit((now) => say(now, name, said))}
          />
        ) : null}
      </Table.Td>
      <Table.Td className={css.number}>{report.distinct.toLocaleString("en-US")}</Table.Td>
      <Table.Td className={css.number}>
        {missingOf(report, rows)}
        {report.missing && (role === "knob" || role === "context") ? (
          <NativeSelect
            size="xs"
            mt={4}
            w={104}
            ml="auto"
            aria-label={`Rows without ${name}`}
            data={[
              { value: "drop", label: "left out" },
              { value: "none", label: "are none" },
            ]}
            value={study.columns?.[name]?.missing ?? known.missing ?? "drop"}
            onChange={(event) => {
              const next = event.currentTarget.value as Missing;
              onEdit((now) => say(now, name, { missing: next }));
            }}
          />
        ) : null}
      </Table.Td>
      <Table.Td>
        {isEdited(study, base, name) ? (
          <Tooltip label="Back to what was found">
            <ActionIcon
              variant="subtle"
              aria-label={`Back to what was found of ${name}`}
              onClick={() => onEdit((now) => forget(now, base, name))}
            >
              <span aria-hidden>↺</span>
            </ActionIcon>
          </Tooltip>
        ) : null}
      </Table.Td>
    </Table.Tr>
  );
});

interface UnitProps {
  name: string;
  unit: string;
  disabled: boolean;
  onUnit: (unit: string) => void;
}

/** A unit as it is typed: kept letter by letter, so that a space in between stays. */
function Unit({ name, unit, disabled, onUnit }: UnitProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <TextInput
      size="xs"
      w={64}
      aria-label={`Unit of ${name}`}
      disabled={disabled}
      value={typed ?? unit}
      maxLength={40}
      spellCheck={false}
      autoComplete="off"
      onBlur={() => setTyped(null)}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        onUnit(event.currentTarget.value);
      }}
    />
  );
}
