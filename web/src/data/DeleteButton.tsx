import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "@/api/client";
import { ProblemNote } from "@/show/ProblemNote";

interface Props {
  what: "datasets" | "engines";
  id: string;
  name: string;
  note: string;
  onDeleted?: () => void;
}

/** Deletes something after it was asked whether that is meant. */
export function DeleteButton({ what, id, name, note, onDeleted }: Props) {
  const [asked, setAsked] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const queries = useQueryClient();
  async function remove() {
    setBusy(true);
    setProblem(null);
    try {
      const params = { path: { id } };
      if (what === "datasets") await api.DELETE("/api/v1/datasets/{id}", { params });
      else await api.DELETE("/api/v1/engines/{id}", { params });
      setAsked(false);
      onDeleted?.();
      void queries.invalidateQueries();
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  }
  return (
    <>
      <Button
        size="xs"
        variant="subtle"
        color="gray"
        c="inherit"
        aria-label={`Delete ${name}`}
        onClick={() => setAsked(true)}
      >
        Delete
      </Button>
      <Modal
        opened={asked}
        onClose={() => setAsked(false)}
        title={<Text fw={650}>Delete this?</Text>}
        closeButtonProps={{ "aria-label": "Close" }}
        centered
      >
        <Stack>
          <Text style={{ overflowWrap: "anywhere" }}>
            Once deleted, {name} cannot be brought back. {note}
          </Text>
          {problem ? <ProblemNote error={problem} /> : null}
          <Group justify="end">
            <Button variant="default" onClick={() => setAsked(false)}>
              Keep it
            </Button>
            <Button color="red" loading={busy} onClick={() => void remove()}>
              Delete
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
