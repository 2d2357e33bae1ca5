import { NumberInput, type NumberInputProps } from "@mantine/core";
import { useState } from "react";
import { readNumber, shownNumber } from "./typed";

type Props = Omit<NumberInputProps, "value" | "onChange" | "onBlur"> & {
  value: number | null;
  onChange: (value: number | null) => void;
};

/** A number, or null while there is none. */
export function NumberField({ value, onChange, ...rest }: Props) {
  // -0.5 begins as - and as -0: drawn from the value, they would vanish while one types.
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <NumberInput
      {...rest}
      value={shownNumber(typed, value)}
      hideControls
      onChange={(given) => {
        const text = String(given);
        setTyped(text);
        onChange(readNumber(text));
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
