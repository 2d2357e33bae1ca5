import { Select } from "@mantine/core";
import type { Parameter } from "@/api/types";
import { LIST } from "./inside";

interface Props {
  columns: Parameter[];
  value: string | null;
  onChange: (name: string) => void;
  label: string;
  placeholder?: string;
  autoFocus?: boolean;
}

/** One column of the table, found by typing. */
export function ColumnSelect({ columns, value, onChange, label, ...rest }: Props) {
  return (
    <Select
      label={label}
      data={columns.map((one) => one.name)}
      value={value}
      onChange={(name) => name !== null && onChange(name)}
      searchable
      allowDeselect={false}
      limit={200}
      openOnFocus={false} // opened by itself, the list would hide what stands below it
      nothingFoundMessage="No such column"
      {...LIST}
      data-autofocus={rest.autoFocus || undefined}
      {...(rest.placeholder ? { placeholder: rest.placeholder } : {})}
    />
  );
}
