import { NativeSelect, NumberInput, Stack, Text } from "@mantine/core";
import { $api } from "@/api/client";
import type { About } from "@/api/types";
import { ProblemNote, sentence } from "@/show/ProblemNote";
import type { Choices } from "./learn";
import { OwnModels } from "./OwnModels";

interface Props {
  dataset: string;
  choices: Choices;
  outcomes: readonly string[];
  about: About;
  onChoices: (next: Partial<Choices>) => void;
}

const SECONDS = 3600;
const SEEDS = 2 ** 32;

/** What hardly anybody has to choose: models, tuning, seed. */
export function Advanced({ dataset, choices, outcomes, about, onChoices }: Props) {
  const plugins = $api.useQuery("get", "/api/v1/plugins");
  const families = (plugins.data ?? []).filter(
    (one) => one.joint === "surrogate" && one.name !== "brought",
  );
  const chosen = families.find((one) => one.name === choices.family);
  return (
    <Stack gap="md">
      {plugins.error ? <ProblemNote error={plugins.error} /> : null}
      <div>
        <NativeSelect
          label="Family of models"
          value={choices.family}
          onChange={(event) => onChoices({ family: event.currentTarget.value })}
          data={[
            { value: "", label: "the best one, by trying all" },
            ...families.map((one) => ({ value: one.name, label: one.name })),
          ]}
        />
        {chosen ? (
          <Text size="sm" c="dimmed" mt={4}>
            {sentence(chosen.what)}
          </Text>
        ) : null}
      </div>
      <NumberInput
        label="Seconds for better settings"
        description="For the model of each outcome. 0: the usual settings."
        min={0}
        max={SECONDS}
        clampBehavior="strict"
        value={choices.tune}
        onChange={(next) => onChoices({ tune: Number(next) || 0 })}
      />
      <NumberInput
        label="Seed"
        description="The same seed gives the same models. Empty: the usual one."
        min={0}
        max={SEEDS - 1}
        allowDecimal={false}
        clampBehavior="strict"
        value={choices.seed ?? ""}
        onChange={(next) => onChoices({ seed: next === "" ? null : Number(next) })}
      />
      <OwnModels
        dataset={dataset}
        choices={choices}
        outcomes={outcomes}
        about={about}
        onChoices={onChoices}
      />
    </Stack>
  );
}
