import { Autocomplete, Button, Group, Text, TextInput, VisuallyHidden } from "@mantine/core";
import type { Config, Parameter, Space } from "@/api/types";
import { columns } from "@/query/draft";
import { value } from "@/show/values";
import { varying } from "../diff";
import { listed } from "../headline";
import type { Run } from "./measured";
import classes from "./next.module.css";

interface Props {
  run: Run;
  number: number;
  space: Space;
  /** The outcomes that the question is about: they come first. */
  asked: readonly string[];
  /** All runs: what they differ in tells them apart. */
  varying: readonly Run[];
  faults: Record<string, string>;
  disabled: boolean;
  onChange: (run: Run) => void;
  onRemove: () => void;
}

/** One run: what it was, and fields for what was measured. */
export function RunFields(props: Props) {
  const { run, number, space, asked, faults, disabled, onChange, onRemove } = props;
  const outcomes = columns(space, "outcome").sort(
    (a, b) => Number(asked.includes(b.name)) - Number(asked.includes(a.name)),
  );
  return (
    <fieldset className={classes.form} style={{ border: 0, margin: 0, padding: 0 }}>
      <Group justify="space-between" wrap="nowrap" align="start" mb={4}>
        <Text component="legend" size="sm" style={{ overflowWrap: "anywhere" }}>
          <Text span fw={600} inherit>
            Run {number}
          </Text>
          {run.added ? "" : `: ${told(run, props.varying)}`}
        </Text>
        {run.added ? (
          <Button size="compact-xs" variant="subtle" onClick={onRemove} disabled={disabled}>
            Take away<VisuallyHidden> run {number}</VisuallyHidden>
          </Button>
        ) : null}
      </Group>
      {run.added ? (
        <div className={classes.fields} style={{ marginBottom: 8 }}>
          {columns(space, "knob", "context").map((one) => (
            <Field
              key={one.name}
              column={one}
              text={run.config[one.name] ?? ""}
              fault={faults[one.name]}
              disabled={disabled}
              onChange={(text) => onChange({ ...run, config: { ...run.config, [one.name]: text } })}
            />
          ))}
        </div>
      ) : null}
      <div className={classes.fields}>
        {outcomes.map((one) => (
          <Field
            key={one.name}
            column={one}
            text={run.outcomes[one.name] ?? ""}
            fault={faults[one.name]}
            disabled={disabled}
            onChange={(text) =>
              onChange({ ...run, outcomes: { ...run.outcomes, [one.name]: text } })
            }
          />
        ))}
      </div>
    </fieldset>
  );
}

function told(run: Run, all: readonly Run[]): string {
  const names = varying(all.filter((one) => !one.added).map((one) => one.config as Config));
  return listed(names.map((name) => `${name} = ${value(shown(run.config[name]))}`));
}

/** Numbers are shown as elsewhere, though kept as they are. */
function shown(text: string | undefined) {
  if (text === undefined || text === "") return null;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

interface FieldProps {
  column: Parameter;
  text: string;
  fault: string | undefined;
  disabled: boolean;
  onChange: (text: string) => void;
}

function Field({ column, text, fault, disabled, onChange }: FieldProps) {
  const unit = column.kind === "number" && column.unit ? ` (${column.unit})` : "";
  const common = {
    size: "sm",
    label: `${column.name}${unit}`,
    value: text,
    error: fault,
    disabled,
  };
  if (column.kind === "category")
    return (
      <Autocomplete
        {...common}
        data={[...new Set(column.values.filter((one) => one !== null).map(String))]}
        onChange={onChange}
        limit={50}
      />
    );
  return (
    <TextInput
      {...common}
      // A result may also say why a run failed.
      inputMode={column.role === "outcome" ? "text" : "decimal"}
      autoComplete="off"
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
