import { Button, Group, NumberInput, Stack } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { api, data } from "@/api/client";
import type { SynthesizerInfo } from "@/api/types";
import { useTask } from "@/api/useTask";
import { TableChoice } from "@/data/TableChoice";
import { ProblemNote } from "@/show/ProblemNote";
import { Working } from "@/show/Working";
import { RowsView } from "./RowsView";
import { filledSentence } from "./rows";

/** A table whose empty cells are drawn. */
export function FillPart({ of }: { of: SynthesizerInfo }) {
  const [dataset, setDataset] = useState<string>();
  const [draws, setDraws] = useState(1);
  const { running, found, problem, start, cancel } = useTask(
    async (asked: { dataset: string; draws: number }, signal) =>
      data(
        await api.POST("/api/v1/synthesizers/{id}/fill", {
          params: { path: { id: of.id } },
          body: { ...asked, rows: [], where: [] },
          signal,
        }),
      ),
  );
  function fill(event: FormEvent) {
    event.preventDefault();
    if (dataset) start({ dataset, draws });
  }
  return (
    <Stack gap="lg">
      <form onSubmit={fill} aria-label="Which table">
        <Stack gap="sm">
          <TableChoice
            label="Table with empty cells"
            description="Columns that it lacks are all drawn. At most 10,000 rows."
            dataset={dataset}
            place={`fill ${of.id}`}
            bring="Bring a table"
            onChoose={setDataset}
          />
          <Group align="end" gap="md">
            <NumberInput
              label="Draws of each row"
              description="more than one: a distribution"
              w={200}
              min={1}
              max={1000}
              allowDecimal={false}
              value={draws}
              onChange={(next) => {
                if (typeof next === "number" && next >= 1) setDraws(next);
              }}
            />
            <Button type="submit" disabled={!dataset || running !== null}>
              Fill in
            </Button>
          </Group>
        </Stack>
      </form>
      {running ? (
        <Working title="Filling in" stage="drawing what is missing" onCancel={cancel} />
      ) : null}
      {problem ? <ProblemNote error={problem} /> : null}
      {found && !running && !problem ? (
        <RowsView
          page={found.value}
          says={filledSentence(found.value)}
          name={`${of.name} filled`}
        />
      ) : null}
    </Stack>
  );
}
