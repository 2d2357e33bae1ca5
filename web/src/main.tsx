import "@mantine/core/styles.css";
import "./app/page.css";
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Failed } from "./api/problem";
import { takeTokenFromLink } from "./api/session";
import { App } from "./app/App";
import { theme } from "./app/theme";

takeTokenFromLink();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      // A server that is being started again comes back; what it refuses, it refuses again.
      retry: (times, error) => error instanceof Failed && error.status === 0 && times < 30,
      retryDelay: (times) => Math.min(500 * 2 ** times, 5000),
      networkMode: "always", // a server on this machine needs no network
    },
    mutations: { networkMode: "always" },
  },
});

// Pasted into an open tab, such a link loads nothing anew. Listened to before the routes are.
window.addEventListener("hashchange", () => {
  if (takeTokenFromLink()) void queries.resetQueries();
});

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <MantineProvider theme={theme} defaultColorScheme="auto">
        <App />
      </MantineProvider>
    </QueryClientProvider>
  </StrictMode>,
);
