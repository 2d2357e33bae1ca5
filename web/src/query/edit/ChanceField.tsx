import { percentOf, shareOf } from "../shapes";
import { NumberField } from "./NumberField";

const USUAL = "80"; // what the server takes where nothing is said

interface Props {
  chance: number | null;
  onChange: (chance: number | null) => void;
}

/** How likely goals have to be met; null: as usual. */
export function ChanceField({ chance, onChange }: Props) {
  return (
    <NumberField
      label="Chance to meet the goals"
      description="How likely a new run has to meet each goal"
      placeholder={USUAL}
      value={chance ? percentOf(chance) : null}
      onChange={(given) => onChange(given && given < 100 ? shareOf(given) : null)}
      min={1}
      max={99.9}
      rightSection="%"
    />
  );
}
