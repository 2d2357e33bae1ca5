import { Button, Paper, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { session, setToken } from "@/api/session";

/** Asks for the token of a server that needs one. */
export function TokenPage() {
  const [token, change] = useState("");
  const tried = session.token() !== null;
  const queries = useQueryClient();
  function enter(event: FormEvent) {
    event.preventDefault();
    setToken(token);
    void queries.resetQueries();
  }
  return (
    <Paper withBorder p="lg" maw={480} mx="auto" mt="xl">
      <form onSubmit={enter}>
        <Stack>
          <Title order={1} size="h3">
            This server needs a token
          </Title>
          <Text size="sm">
            Whoever runs it knows the token: <code>compass serve</code> prints it when it starts. It
            is kept in this browser only.
          </Text>
          <PasswordInput
            label="Token"
            value={token}
            onChange={(event) => change(event.currentTarget.value)}
            error={tried && !token ? "The server does not accept the token that was given." : null}
            autoFocus
            autoComplete="off"
          />
          <Button type="submit" disabled={!token.trim()}>
            Go on
          </Button>
        </Stack>
      </form>
    </Paper>
  );
}
