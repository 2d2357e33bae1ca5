import { Button, FileButton, Group, NativeSelect, Stack, Text, Textarea } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { $api } from "@/api/client";
import { useList } from "@/api/lists";
import type { About, ModelInfo } from "@/api/types";
import { ProblemNote, sentence } from "@/show/ProblemNote";
import { modelRefusal, safeName } from "./files";
import { type Choices, inputsProblem } from "./learn";
import { SendingBar } from "./SendingBar";
import { listed } from "./study";
import { choose } from "./useChoices";
import { useSending } from "./useSending";

interface Props {
  dataset: string;
  choices: Choices;
  outcomes: readonly string[];
  about: About;
  onChoices: (next: Partial<Choices>) => void;
}

const path = (name: string) => `/api/v1/models/upload?name=${encodeURIComponent(safeName(name))}`;

/** A model of one's own for an outcome, instead of one that is learnt here. */
export function OwnModels({ dataset, choices, outcomes, about, onChoices }: Props) {
  const models = useList("/api/v1/models");
  const [picked, setPicked] = useState("");
  const outcome = outcomes.includes(picked) ? picked : (outcomes[0] ?? "");
  const queries = useQueryClient();
  const { sending, problem, refuse, send, cancel } = useSending<ModelInfo>(`model ${dataset}`);
  function take(file: File | null) {
    if (!file) return;
    const wrong = modelRefusal(file, about.limits.upload_bytes);
    if (wrong) return refuse(wrong);
    send(path(file.name), file, (made) => {
      choose(dataset, ({ models: now }) => ({ models: { ...now, [outcome]: made.id } }));
      void queries.invalidateQueries({ queryKey: ["get", "/api/v1/models"] });
    });
  }
  if (!outcome) return null;
  const known = models.data ?? [];
  const chosen = known.find((one) => one.id === choices.models[outcome]) ?? null;
  return (
    <Stack gap="xs" role="group" aria-label="A model of your own">
      <Text size="sm" fw={600}>
        A model of your own
      </Text>
      <Text size="sm" c="dimmed">
        ONNX, LightGBM, XGBoost, skops, Keras or TorchScript. Pickles are refused, as opening one
        can run anything.
      </Text>
      {outcomes.length > 1 ? (
        <NativeSelect
          label="Predicts"
          value={outcome}
          onChange={(event) => setPicked(event.currentTarget.value)}
          data={[...outcomes]}
        />
      ) : null}
      <NativeSelect
        label={`Model of ${outcome}`}
        value={chosen?.id ?? ""}
        onChange={(event) =>
          onChoices({ models: { ...choices.models, [outcome]: event.currentTarget.value } })
        }
        data={[
          { value: "", label: "learnt here" },
          ...known.map((one) => ({ value: one.id, label: `${one.name} (${one.format})` })),
        ]}
      />
      {sending ? (
        <SendingBar sending={sending} onCancel={cancel} />
      ) : (
        <Group>
          <FileButton onChange={take}>
            {(props) => (
              <Button {...props} size="xs" variant="default">
                Upload a model
              </Button>
            )}
          </FileButton>
        </Group>
      )}
      {problem ? <ProblemNote error={problem} /> : null}
      {chosen ? (
        <Inputs
          key={chosen.id}
          model={chosen.id}
          text={choices.inputs[outcome] ?? ""}
          onText={(text) => onChoices({ inputs: { ...choices.inputs, [outcome]: text } })}
        />
      ) : null}
    </Stack>
  );
}

interface InputsProps {
  model: string;
  text: string;
  onText: (text: string) => void;
}

function Inputs({ model: id, text, onText }: InputsProps) {
  const model = $api.useQuery("get", "/api/v1/models/{id}", { params: { path: { id } } });
  const wrong = inputsProblem(text);
  if (!model.data) return model.error ? <ProblemNote error={model.error} /> : null;
  const { columns } = model.data;
  const says = columns.length
    ? `It takes ${listed(columns)}. Say more only where names differ or labels have codes.`
    : "The file does not say it: one column in each line, in the order of the model. JSON for more.";
  return (
    <Textarea
      label="Which columns it takes"
      description={says}
      error={wrong ? sentence(wrong) : undefined}
      autosize
      minRows={2}
      maxRows={10}
      spellCheck={false}
      value={text}
      onChange={(event) => onText(event.currentTarget.value)}
    />
  );
}
