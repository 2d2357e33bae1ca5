import { Anchor, Checkbox, Collapse, NativeSelect, SimpleGrid, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Draft } from "@/api/types";
import { type Whole, withOption } from "../draft";
import { percentOf, shareOf } from "../shapes";
import { ChanceField } from "./ChanceField";
import { NumberField } from "./NumberField";

interface Props {
  draft: Whole;
  onEdit: (draft: Draft) => void;
}

/** What few people need: how sure to be, repeatability, costs of changes, proofs. */
export function AdvancedFields({ draft, onEdit }: Props) {
  const {
    weights = {},
    seed,
    diversity,
    prove,
    level,
    chance,
    beyond,
    dependencies,
  } = draft.options;
  const used = [seed, diversity, prove, level, chance].some((one) => typeof one === "number");
  const [open, setOpen] = useState(
    used || beyond || !!dependencies || Object.keys(weights).length > 0,
  );
  const named = [...new Set([...draft.ask, ...Object.keys(weights)])];
  const set = (option: Partial<Draft["options"]>) => onEdit(withOption(draft, option));
  return (
    <div>
      <Anchor
        component="button"
        type="button"
        size="sm"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {open ? "Hide" : "Show"} the advanced settings
      </Anchor>
      <Collapse expanded={open}>
        <Stack gap="sm" mt="sm">
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
            <ChanceField chance={chance ?? null} onChange={(given) => set({ chance: given })} />
            <NumberField
              label="Seed"
              description="The same seed gives the same answer"
              value={seed ?? null}
              onChange={(given) => set({ seed: given })}
              min={0}
              allowDecimal={false}
            />
            <NumberField
              label="Diversity"
              description="How different the suggestions should be"
              value={diversity ?? null}
              onChange={(given) => set({ diversity: given })}
              min={0}
              max={1000}
            />
            <NumberField
              label="Seconds for a proof"
              description="0: do not try to prove the answer best"
              value={prove ?? null}
              onChange={(given) => set({ prove: given })}
              min={0}
              max={3600}
            />
            <NumberField
              label="Level of the intervals"
              description="Share of new runs inside them, in percent"
              value={level ? percentOf(level) : null}
              onChange={(given) => set({ level: given && given < 100 ? shareOf(given) : null })}
              min={1}
              max={99.9}
              rightSection="%"
            />
          </SimpleGrid>
          <Checkbox
            label="Also search beyond past runs"
            description="Where no past run of this context has been"
            checked={beyond}
            onChange={(event) => set({ beyond: event.currentTarget.checked })}
          />
          <NativeSelect
            label="Rules that nobody stated"
            description="Rules that every past run obeys, though nobody said so"
            value={dependencies ?? ""}
            onChange={(event) =>
              set({ dependencies: (event.currentTarget.value || null) as typeof dependencies })
            }
            data={[
              { value: "", label: "kept where many runs speak for them" },
              { value: "keep", label: "keep them" },
              { value: "ignore", label: "ignore them" },
            ]}
            maw={420}
          />
          {named.length > 0 ? (
            <>
              <Text size="sm" fw={500}>
                Cost of changing a parameter
              </Text>
              <SimpleGrid cols={{ base: 2, sm: 3 }} spacing="sm">
                {named.map((name) => (
                  <NumberField
                    key={name}
                    label={name}
                    placeholder="1"
                    value={weights[name] ?? null}
                    onChange={(given) => {
                      const { [name]: _, ...rest } = weights;
                      set({ weights: given && given > 0 ? { ...rest, [name]: given } : rest });
                    }}
                    min={0}
                  />
                ))}
              </SimpleGrid>
            </>
          ) : null}
        </Stack>
      </Collapse>
    </div>
  );
}
