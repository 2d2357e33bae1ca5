import { Button, Group, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState, useSyncExternalStore } from "react";
import { addKey, session } from "@/api/session";
import { CopyText } from "@/show/CopyText";
import { ProblemNote } from "@/show/ProblemNote";
import { checkKey } from "./checkKey";

/** The key to what is kept here: to use it on another machine, or to go on with another one. */
export function WorkspaceKey() {
  const key = useSyncExternalStore(session.subscribe, session.key);
  const [other, setOther] = useState("");
  const enter = useMutation({
    mutationFn: async (given: string) => {
      await checkKey(given);
      addKey(given);
      setOther("");
    },
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    if (other.trim()) enter.mutate(other.trim());
  }
  return (
    <Stack component="section" gap="sm" maw={620} aria-labelledby="key-title">
      <Title order={2} size="h4" id="key-title">
        On another machine
      </Title>
      <Text size="sm">
        This browser holds the key to your workspace. Enter it in another browser to see the same
        data, engines and answers there. Whoever has the key sees them too.
      </Text>
      {key ? (
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <PasswordInput label="Key of this workspace" value={key} readOnly flex={1} />
          <CopyText text={key} label="Copy" size="sm" />
        </Group>
      ) : null}
      <form onSubmit={submit}>
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <TextInput
            label="Use another key"
            value={other}
            onChange={(event) => setOther(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            flex={1}
          />
          <Button
            type="submit"
            variant="default"
            disabled={!other.trim()}
            loading={enter.isPending}
          >
            Use it
          </Button>
        </Group>
      </form>
      {enter.error ? <ProblemNote error={enter.error} /> : null}
      {enter.isSuccess ? (
        <Text size="sm" role="status">
          This is the other workspace now. The key from before is kept in this browser.
        </Text>
      ) : null}
    </Stack>
  );
}
