import { Checkbox, MultiSelect, Stack } from "@mantine/core";
import type { Parameter } from "@/api/types";
import type { Whole } from "../draft";
import { LIST } from "./inside";

interface Props {
  columns: Parameter[];
  draft: Whole;
  /** Choose what stays as it is, instead of what is looked for. */
  keeping?: boolean;
  onChange: (names: string[], everything: boolean) => void;
}

const KNOBS = "Knobs";
const CONTEXT = "Context: usually given";

/** Several parameters, or all knobs. */
export function ParametersField({ columns, draft, keeping = false, onChange }: Props) {
  const names = keeping ? draft.keep : draft.ask;
  const { everything } = draft;
  const list = (role: string) => columns.filter((one) => one.role === role).map((one) => one.name);
  const groups = [
    { group: KNOBS, items: list("knob") },
    { group: CONTEXT, items: list("context") },
  ].filter((one) => one.items.length > 0);
  return (
    <Stack gap="sm">
      {keeping ? null : (
        <Checkbox
          label="Every knob"
          description="All that are not kept, set or limited by a goal"
          checked={everything}
          onChange={(event) => onChange([], event.currentTarget.checked)}
        />
      )}
      {keeping || !everything ? (
        <MultiSelect
          label={keeping ? "Kept parameters" : "Parameters"}
          data={groups}
          value={names}
          onChange={(chosen) => onChange(chosen, false)}
          searchable
          clearable
          limit={200}
          hidePickedOptions
          nothingFoundMessage="No such parameter"
          {...LIST}
          placeholder={names.length ? "" : "Choose"}
          data-autofocus
        />
      ) : null}
    </Stack>
  );
}
