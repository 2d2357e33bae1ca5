import { Group, Select, Text } from "@mantine/core";
import type { Goal, Kind, Parameter, Space } from "@/api/types";
import { about } from "@/show/values";
import { columns, named } from "../draft";
import classes from "../question.module.css";
import { type Aim, aims, goalLacks, goalOf, likely, type Wish, wishOf, withAim } from "../shapes";
import { ColumnSelect } from "./ColumnSelect";
import { useIncomplete } from "./incomplete";
import { LIST } from "./inside";
import { NumberField } from "./NumberField";
import { useFieldsOf } from "./useFieldsOf";
import { ValueField } from "./ValueField";

interface Props {
  space: Space;
  kind: Kind | null;
  name: string | null;
  goal: Goal | null;
  /** Outcomes that have a goal already. */
  taken: string[];
  /** null: something is missing. */
  onChange: (name: string, goal: Goal | null) => void;
}

/** An outcome and what it should become. */
export function GoalFields({ space, kind, name, goal, taken, onChange }: Props) {
  const [wish, setWish] = useFieldsOf(goal, wishOf, goalOf);
  const outcome = name === null ? undefined : named(space, name);
  useIncomplete(name === null || wish === null ? null : goalLacks(name, wish));
  const free = columns(space, "outcome", "context", "knob").filter(
    (one) => one.name === name || (one.role === "outcome" && !taken.includes(one.name)),
  );
  function change(next: Wish, of = name) {
    setWish(next);
    if (of !== null) onChange(of, goalOf(next));
  }
  return (
    <div className={classes.fields}>
      <ColumnSelect
        columns={free}
        value={name}
        label="Outcome"
        placeholder="Choose an outcome"
        onChange={(chosen) => {
          const found = named(space, chosen);
          if (!found) return;
          const fits = wish !== null && aims(found, kind).includes(wish.aim);
          change(fits ? wish : likely(found, kind === "what-if"), chosen);
        }}
        autoFocus
      />
      {outcome && wish ? (
        <>
          <Select
            label="Should"
            data={aims(outcome, kind)}
            value={wish.aim}
            onChange={(aim) => aim && change(withAim(wish, aim as Aim))}
            allowDeselect={false}
            {...LIST}
          />
          <Amounts outcome={outcome} wish={wish} onChange={change} />
        </>
      ) : null}
    </div>
  );
}

interface AmountsProps {
  outcome: Parameter;
  wish: Wish;
  onChange: (wish: Wish) => void;
}

/** The numbers that a wish needs. */
function Amounts({ outcome, wish, onChange }: AmountsProps) {
  if (outcome.kind === "category")
    return wish.aim === "is" ? (
      <ValueField
        parameter={outcome}
        value={wish.label}
        label="Class"
        onChange={(label) => onChange({ ...wish, label: label ?? null })}
      />
    ) : null;
  const unit = wish.unit ?? outcome.unit;
  const section = unit ? { rightSection: unit, rightSectionWidth: 56 } : {};
  const seen = `in past runs ${about(outcome.low, outcome.unit)} to ${about(outcome.high, outcome.unit)}`;
  const first = (label: string) => (
    <NumberField
      label={label}
      value={wish.first}
      onChange={(given) => onChange({ ...wish, first: given })}
      flex={1}
      {...section}
    />
  );
  switch (wish.aim) {
    case "at most":
    case "at least":
    case "reach":
      return (
        <>
          {first("Value")}
          <Seen text={seen} />
        </>
      );
    case "between":
      return (
        <>
          <Group gap="xs" wrap="nowrap" align="flex-end">
            {first("From")}
            <NumberField
              label="To"
              value={wish.second}
              onChange={(second) => onChange({ ...wish, second })}
              flex={1}
              {...section}
            />
          </Group>
          <Seen text={seen} />
        </>
      );
    case "reduce by":
    case "increase by":
      return (
        <Group gap="xs" wrap="nowrap" align="flex-end">
          <NumberField
            label="At least by"
            value={wish.first}
            onChange={(given) => onChange({ ...wish, first: given })}
            flex={1}
          />
          <Select
            aria-label="Percent or amount"
            w={96}
            data={[
              { value: "share", label: "%" },
              // An outcome may itself be counted in percent: then these are its points.
              { value: "amount", label: unit === "%" ? "points" : (unit ?? "amount") },
            ]}
            value={wish.share ? "share" : "amount"}
            onChange={(of) => onChange({ ...wish, share: of === "share" })}
            allowDeselect={false}
            {...LIST}
          />
        </Group>
      );
    case "stay the same":
    case "no more than now":
    case "no less than now":
      return (
        <NumberField
          label="Within (leave empty for the usual)"
          value={wish.first}
          onChange={(given) => onChange({ ...wish, first: given })}
          rightSection="%"
        />
      );
    default:
      return null;
  }
}

function Seen({ text }: { text: string }) {
  return (
    <Text size="xs" c="dimmed">
      {text}
    </Text>
  );
}
