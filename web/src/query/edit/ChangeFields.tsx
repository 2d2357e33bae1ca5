import { Select } from "@mantine/core";
import type { Edit, Space } from "@/api/types";
import { columns, named, unitOf } from "../draft";
import classes from "../question.module.css";
import { changeLacks, editOf, type Turned, turnedOf, type Way } from "../shapes";
import { ColumnSelect } from "./ColumnSelect";
import { useIncomplete } from "./incomplete";
import { LIST } from "./inside";
import { NumberField } from "./NumberField";
import { unitOfField } from "./typed";
import { useFieldsOf } from "./useFieldsOf";
import { ValueField } from "./ValueField";

interface Props {
  space: Space;
  name: string | null;
  edit: Edit | null;
  taken: string[];
  onChange: (name: string, edit: Edit | null) => void;
}

const BLANK: Turned = { way: "set", value: undefined, amount: null, unit: null };
const WAYS = [
  { value: "set", label: "is set to" },
  { value: "times", label: "is multiplied by" },
  { value: "plus", label: "changes by" },
];

/** A parameter and what becomes of it. */
export function ChangeFields({ space, name, edit, taken, onChange }: Props) {
  const [fields, setTurned] = useFieldsOf(edit, turnedOf, editOf);
  const turned = fields ?? BLANK;
  const parameter = name === null ? undefined : named(space, name);
  const { unit } = unitOfField(turned.unit, name === null ? null : unitOf(space, name));
  useIncomplete(name === null ? null : changeLacks(name, turned));
  const free = columns(space, "knob", "context").filter(
    (one) => one.name === name || !taken.includes(one.name),
  );
  function change(next: Turned, of = name) {
    setTurned(next);
    if (of !== null) onChange(of, editOf(next));
  }
  return (
    <div className={classes.fields}>
      <ColumnSelect
        columns={free}
        value={name}
        label="Parameter"
        placeholder="Choose a parameter"
        onChange={(chosen) => change(chosen === name ? turned : BLANK, chosen)}
        autoFocus
      />
      {parameter?.kind === "number" ? (
        <Select
          label="It"
          data={WAYS}
          value={turned.way}
          onChange={(way) => way && change({ ...turned, way: way as Way })}
          allowDeselect={false}
          {...LIST}
        />
      ) : null}
      {parameter && turned.way === "set" ? (
        <ValueField
          key={parameter.name}
          parameter={parameter}
          value={turned.value}
          label="New value"
          unit={turned.unit}
          onChange={(value) => change({ ...turned, value })}
        />
      ) : null}
      {parameter && turned.way !== "set" ? (
        <NumberField
          label={turned.way === "times" ? "Factor" : "Amount (negative: less)"}
          value={turned.amount}
          onChange={(amount) => change({ ...turned, amount })}
          {...(turned.way === "plus" && unit ? { rightSection: unit, rightSectionWidth: 56 } : {})}
        />
      ) : null}
    </div>
  );
}
