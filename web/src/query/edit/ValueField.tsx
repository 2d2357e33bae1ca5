import { Autocomplete, Select } from "@mantine/core";
import { useState } from "react";
import type { Parameter, Value } from "@/api/types";
import { number, value as shown, withUnit } from "@/show/values";
import { LIST } from "./inside";
import { NumberField } from "./NumberField";
import { unitOfField } from "./typed";

interface Props {
  parameter: Parameter;
  /** undefined: not said yet. */
  value: Value | undefined;
  onChange: (value: Value | undefined) => void;
  label: string;
  hidden?: boolean;
  /** The unit that the value is told in, where it is another one than that of the column. */
  unit?: string | null | undefined;
}

/** A value of a column: one of its labels, one of its allowed numbers, or any number. */
export function ValueField({ parameter, value, onChange, label, hidden, unit: told }: Props) {
  const named = hidden ? { "aria-label": label } : { label };
  if (parameter.kind === "category") {
    // By place: labels may be numbers or truth values that look like another label.
    const at = value === undefined ? -1 : parameter.values.indexOf(value);
    return (
      <Select
        {...named}
        data={parameter.values.map((one, i) => ({ value: String(i), label: shown(one) }))}
        value={at < 0 ? null : String(at)}
        onChange={(i) => onChange(i === null ? undefined : parameter.values[Number(i)])}
        searchable
        limit={200}
        allowDeselect={false}
        {...LIST}
      />
    );
  }
  const { unit: beside, own } = unitOfField(told, parameter.unit);
  const unit = beside ? { rightSection: beside, rightSectionWidth: 56 } : {};
  if (own && parameter.allowed?.length)
    return (
      <Allowed
        {...named}
        {...unit}
        allowed={parameter.allowed}
        value={typeof value === "number" ? value : null}
        onChange={(given) => onChange(given ?? undefined)}
      />
    );
  return (
    <NumberField
      {...named}
      {...unit}
      value={typeof value === "number" ? value : null}
      onChange={(given) => onChange(given ?? undefined)}
      placeholder={own ? `${number(parameter.low)} to ${withUnit(parameter.high, null)}` : ""}
    />
  );
}

interface AllowedProps {
  allowed: number[];
  value: number | null;
  onChange: (value: number | null) => void;
}

/** A number that is offered from a list; another one can be typed. */
function Allowed({ allowed, value, onChange, ...rest }: AllowedProps) {
  const [text, setText] = useState(value === null ? "" : String(value));
  return (
    <Autocomplete
      {...rest}
      data={allowed.map(String)}
      value={text}
      // The list shows everything: it is short, and what is typed only picks from it.
      filter={({ options }) => options}
      onChange={(given) => {
        setText(given);
        const read = Number(given);
        onChange(given.trim() === "" || !Number.isFinite(read) ? null : read);
      }}
      inputMode="decimal"
      {...LIST}
    />
  );
}
