import { Anchor, Group, MultiSelect, Select, Stack, Textarea } from "@mantine/core";
import { useState } from "react";
import type { Parameter, Space, Value } from "@/api/types";
import { value as shown } from "@/show/values";
import { columns, named } from "../draft";
import { type Comparison, readRule, writeRule } from "../rules";
import { ColumnSelect } from "./ColumnSelect";
import { LIST } from "./inside";
import { ValueField } from "./ValueField";

interface Props {
  space: Space;
  text: string;
  /** An empty text: something is missing. */
  onChange: (text: string) => void;
}

const NUMBERS: { value: Comparison; label: string }[] = [
  { value: "<=", label: "at most (≤)" },
  { value: ">=", label: "at least (≥)" },
  { value: "==", label: "exactly (=)" },
  { value: "!=", label: "not (≠)" },
  { value: "<", label: "less than (<)" },
  { value: ">", label: "more than (>)" },
];
const LABELS: { value: Comparison; label: string }[] = [
  { value: "==", label: "is" },
  { value: "!=", label: "is not" },
  { value: "in", label: "is one of" },
  { value: "not in", label: "is none of" },
];

/** A rule, chosen from lists; or as text, which can say everything. */
export function RuleFields({ space, text, onChange }: Props) {
  const read = readRule(text);
  const known = read !== null && isOffered(named(space, read.name), read.how);
  const [asText, setAsText] = useState(text !== "" && !known);
  const [written, setWritten] = useState(text);
  if (!asText)
    return (
      <Stack gap="xs">
        <Chosen
          space={space}
          text={text}
          onChange={(next) => {
            setWritten(next);
            onChange(next);
          }}
        />
        <Other label="Write it as text" onClick={() => setAsText(true)} />
      </Stack>
    );
  return (
    <Stack gap="xs">
      <Textarea
        label="Rule"
        description="Such as: threads * unroll <= 8, or schedule == 'dynamic' -> chunk >= 4"
        value={written}
        onChange={(event) => {
          setWritten(event.currentTarget.value);
          onChange(event.currentTarget.value.trim());
        }}
        autosize
        minRows={2}
        maxRows={6}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } }}
        data-autofocus
      />
      {written === "" ? <Other label="Choose from lists" onClick={() => setAsText(false)} /> : null}
    </Stack>
  );
}

/** Whether the lists can show it: of numbers, several at once cannot be chosen there. */
function isOffered(parameter: Parameter | undefined, how: Comparison): boolean {
  if (parameter === undefined) return false;
  return (parameter.kind === "category" ? LABELS : NUMBERS).some((one) => one.value === how);
}

function Other({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Anchor
      component="button"
      type="button"
      size="sm"
      c="inherit"
      underline="always"
      onClick={onClick}
      style={{ alignSelf: "start" }}
    >
      {label}
    </Anchor>
  );
}

function Chosen({ space, text, onChange }: Props) {
  const read = readRule(text);
  const [name, setName] = useState(read?.name ?? null);
  const [how, setHow] = useState<Comparison>(read?.how ?? "==");
  const [values, setValues] = useState<Value[]>(read?.values ?? []);
  const parameter = name === null ? undefined : named(space, name);
  const unitIn = (of: string) => (of === read?.name ? read.unit : "");
  function change(of: string, next: Comparison, said: Value[]) {
    setName(of);
    setHow(next);
    setValues(said);
    onChange(said.length ? writeRule({ name: of, how: next, values: said, unit: unitIn(of) }) : "");
  }
  return (
    <>
      <ColumnSelect
        columns={columns(space, "context", "knob", "outcome")}
        value={name}
        label="Column"
        placeholder="Choose a column"
        onChange={(chosen) => {
          if (chosen === name) return;
          change(chosen, named(space, chosen)?.kind === "category" ? "==" : "<=", []);
        }}
        autoFocus
      />
      {name !== null && parameter ? (
        <Group gap="xs" align="flex-start" grow>
          <Select
            aria-label="Comparison"
            data={parameter.kind === "category" ? LABELS : NUMBERS}
            value={how}
            onChange={(next) => next && change(name, next as Comparison, values)}
            allowDeselect={false}
            {...LIST}
          />
          <Compared
            key={name}
            parameter={parameter}
            several={how === "in" || how === "not in"}
            values={values}
            unit={unitIn(name)}
            onChange={(said) => change(name, how, said)}
          />
        </Group>
      ) : null}
    </>
  );
}

interface ComparedProps {
  parameter: Parameter;
  several: boolean;
  values: Value[];
  /** The unit in which the rule is written, or empty. */
  unit: string;
  onChange: (values: Value[]) => void;
}

function Compared({ parameter, several, values, unit, onChange }: ComparedProps) {
  if (!several || parameter.kind !== "category")
    return (
      <ValueField
        parameter={parameter}
        value={values[0]}
        label="Value"
        unit={unit}
        hidden
        onChange={(one) => onChange(one === undefined ? [] : [one])}
      />
    );
  const all = parameter.values;
  return (
    <MultiSelect
      aria-label="Values"
      data={all.map((one, i) => ({ value: String(i), label: shown(one) }))}
      value={values.map((one) => String(all.indexOf(one)))}
      onChange={(chosen) => onChange(chosen.map((i) => all[Number(i)] ?? null))}
      searchable
      {...LIST}
    />
  );
}
