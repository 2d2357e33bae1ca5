import { Alert, Container } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { goOn, HEALTH, returning } from "@/api/back";
import { api, data } from "@/api/client";
import { asProblem } from "@/api/problem";

const EVERY = 15_000; // ms between looks at a server that is there
const AGAIN = 1500; // and at one that is not

/** Says when the server is gone, and that nothing is lost; once it is back, the page goes on. */
export function ServerState() {
  const { error, failureReason, status } = useQuery({
    queryKey: HEALTH,
    queryFn: async () => data(await api.GET("/healthz")),
    refetchInterval: (query) => (query.state.error ? AGAIN : EVERY),
    retry: false,
  });
  const queries = useQueryClient();
  const [isBack] = useState(returning);
  useEffect(() => {
    if (isBack(status)) goOn(queries);
  }, [isBack, status, queries]);
  const reason = error ?? failureReason;
  if (!reason || asProblem(reason).code !== "offline") return null;
  return (
    <Container size="xl" pt="md">
      <Alert
        color="yellow"
        role="status"
        title="The server cannot be reached"
        styles={{ label: { color: "var(--caution)" } }}
      >
        Nothing is lost: the page goes on as soon as it is back. On this machine it is started with{" "}
        <code>compass serve</code>.
      </Alert>
    </Container>
  );
}
